"""Run the tests of an assignment in a process that never runs code of a submission.

Names defined by locked cells and by earlier tests belong to the tests. Every other name is an
answer: its plain data are copied from the kernel, and its functions are called in the kernel.
"""

from __future__ import annotations

import ast
import builtins
import io
import secrets
import socket
import sys
import threading
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from .peer import Connection, Peer, RemoteObject, ReplyError
from .source import defined_names, free_names, replace_ipython_commands

__all__ = ["Examiner", "PartResult", "error_fields"]

#: Source of the cell by which the kernel serves the requests of a test.
SERVE_CELL_TEMPLATE = (
    "__import__('svmbook.course.execution.kernel_server', None, None, 'serve')"
    ".serve({port}, {key!r})"
)
GRACE_SECONDS = 10.0  # seconds that a test may take after the kernel has stopped responding
# The error of a part until it has been run.
NOT_RUN_ERROR = {"ename": "NotRun", "evalue": "the test was not run", "traceback": []}


@dataclass
class PartResult:
    """Result of one part of a test.

    Attributes
    ----------
    error : dict or None
        Name, message and traceback of the first error; None if the part ran without an error.
    printed_text : str
        Text that the test itself printed.
    score : float or None
        The points that the test gives: the value of its last line, if that is a number.
    ended : bool
        Whether the part ran to its end.
    """

    error: dict | None = field(default_factory=lambda: NOT_RUN_ERROR)
    printed_text: str = ""
    score: float | None = None
    ended: bool = False


class TestPeer(Peer):
    """The tests' side, which restricts what a submission can access.

    A submission may call functions that it was sent. It may use public methods and plain data of
    objects whose classes the notebook defines. Estimators are rebuilt in the kernel from their
    parameters.
    """

    def may_share(self, value):
        """Return whether an object may be sent by reference."""
        cls = value if isinstance(value, type) else type(value)
        is_function = callable(value) and value is not cls
        return is_function or cls.__module__ == "__main__" or isinstance(value, RemoteObject)

    def read_attribute(self, value, name):
        """Return a public attribute of an object whose class the notebook defines."""
        cls = value if isinstance(value, type) else type(value)
        if cls.__module__ == "__main__" and not name.startswith("_"):
            return getattr(value, name)
        raise AttributeError(f"{name} of this object is not accessible to answers")

    def _encode_object(self, value):
        cls = value if isinstance(value, type) else type(value)
        # An import would take a second. A test that uses an estimator has imported it already.
        sklearn_base = sys.modules.get("sklearn.base")
        is_from_notebook = cls.__module__ == "__main__"
        is_estimator = sklearn_base and issubclass(cls, sklearn_base.BaseEstimator)
        if is_from_notebook or not is_estimator:
            return super()._encode_object(value)
        tree = {"kind": "object", "estimator": f"{cls.__module__}.{cls.__qualname__}"}
        if value is cls:
            return tree
        if fitted_attributes := [name for name in vars(value) if name.endswith("_")]:
            raise TypeError(
                f"{cls.__name__} is fitted (it has {fitted_attributes[0]}). Only unfitted "
                "estimators can be sent to another process; let the answer fit it."
            )
        return tree | {"params": self._encode(value.get_params(deep=False))}


class Examiner:
    """Runs locked cells and tests one after the other.

    Parameters
    ----------
    answer_names : set of str
        Names that are answers even if a locked cell or a test has defined them.
    protected_names : set of str
        Names that locked cells and tests define. They are never looked up in the kernel, even if
        the cell that defines them has failed. Otherwise a submission could replace the values
        that tests compare.
    """

    def __init__(self, answer_names, protected_names):
        self._answer_names, self._protected_names = answer_names, protected_names
        self._namespace = {"__name__": "__main__"}
        self._used_names = set()  # by any part so far
        self._defined_names = set()  # by earlier parts of the same test
        self._peer = TestPeer([])
        self._listener = socket.create_server(("127.0.0.1", 0))

    def close(self):
        """Stop listening."""
        self._listener.close()

    def run_locked_cell(self, source, run_in_kernel):
        """Run a locked cell for its definitions, as `run` does; return its error or None."""
        result = self.run(replace_ipython_commands(source), run_in_kernel)
        if not result.error:
            return None
        for name in defined_names(source):  # earlier values would be outdated
            self._namespace.pop(name, None)
        return f"{result.error['ename']}: {result.error['evalue']}"

    def begin_test(self):
        """Begin another test: answers that earlier tests redefined are looked up again."""
        self._defined_names = set()

    def run(self, source, run_in_kernel):
        """Run a part of a test.

        Parameters
        ----------
        source : str
            The code of the part.
        run_in_kernel : callable
            Runs a cell in the kernel, and returns when the cell has ended.

        Returns
        -------
        PartResult
        """
        result, key, old_stdout = PartResult(), secrets.token_hex(16), sys.stdout
        self._peer.connection = None
        worker = threading.Thread(target=self._run_part, args=(source, key, result), daemon=True)
        worker.start()
        try:
            run_in_kernel(SERVE_CELL_TEMPLATE.format(port=self._listener.getsockname()[1], key=key))
        finally:
            self._disconnect(key)
            worker.join(GRACE_SECONDS)
        if worker.is_alive():
            sys.stdout = old_stdout  # the worker has redirected it, and will not restore it
        return result

    def _run_part(self, source, key, result):
        """Wait for the kernel, run the part, and end the connection."""
        connection, answers, error = None, {}, None
        try:
            self._peer.connection = connection = self._accept_kernel(key)
            answers = self._look_up_answers(source)
        except BaseException as exception:  # a submission may send anything over the connection
            error = error_fields(exception)
        try:
            self._namespace.update(answers)
            # Run the part even if the lookup failed, because later parts need its names.
            _execute(source, self._namespace, result)
            new_names = defined_names(source)
            for name in answers.keys() - new_names:
                self._namespace.pop(name, None)
            self._defined_names |= new_names
            result.error = error or result.error
            result.ended = True
        finally:
            if connection is not None:
                with suppress(OSError):
                    connection.send({"end": True})

    def _accept_kernel(self, key):
        """Return the connection to the kernel, whose first message must contain the key."""
        while True:
            kernel_socket, _ = self._listener.accept()
            connection = Connection(kernel_socket)
            try:
                message = connection.receive()
            except ConnectionError:
                message = {}
            if secrets.compare_digest(str(message.get("key")).encode(), key.encode()):
                if message.get("serving"):
                    return connection
                connection.close()
                raise ReplyError("the kernel does not respond")
            connection.close()

    def _disconnect(self, key):
        """Close the connection to the kernel, or stop the worker from waiting for one."""
        connection, self._peer.connection = self._peer.connection, None
        if connection is not None:
            connection.close()
            return
        with suppress(OSError), socket.create_connection(self._listener.getsockname()) as client:
            Connection(client).send({"key": key, "serving": False})

    def _look_up_answers(self, source):
        """Return the answers that a part uses, directly or in functions that it calls, by name."""
        self._used_names |= free_names(source)
        known_names = self._namespace.keys() | vars(builtins).keys() | self._protected_names
        names = self._used_names - (known_names - self._answer_names) - self._defined_names
        names = {name for name in names if not name.startswith("__")}
        answers = self._peer.request("look_up", args=sorted(names))
        if not isinstance(answers, dict):
            raise ReplyError("the answers cannot be looked up")
        return {name: answers[name] for name in names if name in answers}


def _execute(source, namespace, result):
    """Run the statements of a part, and store its text, score and first error in `result`.

    Statements after an error are run too, because they may define names.
    """
    statements, first_error = ast.parse(source, "<test>").body, None
    with redirect_stdout(io.StringIO()) as buffer:
        for statement in statements:
            is_final_expression = statement is statements[-1] and isinstance(statement, ast.Expr)
            tree = (
                ast.Expression(statement.value)
                if is_final_expression
                else ast.Module([statement], [])
            )
            try:
                mode = "eval" if is_final_expression else "exec"
                value = eval(compile(tree, "<test>", mode, dont_inherit=True), namespace)
                if (
                    is_final_expression
                    and isinstance(value, Real)
                    and not isinstance(value, bool | np.bool_)
                ):
                    result.score = float(value)
            except BaseException as exception:
                first_error = first_error or error_fields(exception)
    result.printed_text, result.error = buffer.getvalue(), first_error


def error_fields(exception):
    """Return the name, the message and the traceback of an exception.

    If an answer raised the exception, the traceback is that of the kernel.
    """
    name = type(exception).__name__
    lines = getattr(exception, "traceback_lines", None) or [f"{name}: {exception}\n"]
    return {"ename": name, "evalue": str(exception), "traceback": lines}
