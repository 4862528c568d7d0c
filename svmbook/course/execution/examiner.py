"""Run the tests of an assignment, in a process in which no line of a submission runs.

A test has the names that the notebook as handed out and earlier tests have defined. Every other
name is an answer: its plain data are copied from the kernel, and its functions are called there.
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

from .peer import Connection, NoAnswer, Peer, Remote
from .source import defined_names, free_names, without_commands

__all__ = ["Examiner", "Verdict", "described"]

#: What the kernel runs to be asked.
SERVE = "__import__('svmbook.course.execution.answers', None, None, 'serve').serve({port}, {key!r})"
GRACE = 10.0  # seconds that a test may take after the kernel has stopped answering
# The error of a test until it has come to its end.
NOT_RUN = {"ename": "NotRun", "evalue": "the test was not run", "traceback": []}


@dataclass
class Verdict:
    """What became of a part of a test.

    Attributes
    ----------
    error : dict or None
        Name, message and lines of the first error; None only if all was run without one.
    printed : str
        What the test itself printed.
    points : float or None
        The value of its last line, where that is a number.
    ended : bool
        Whether the part came to its end.
    """

    error: dict | None = field(default_factory=lambda: NOT_RUN)
    printed: str = ""
    points: float | None = None
    ended: bool = False


class Tests(Peer):
    """The side of the tests: a submission gets no further than to what it was given.

    It may call functions and use public methods and plain data of objects of the notebook's own
    classes. Estimators are rebuilt in the kernel from their parameters.
    """

    def may_share(self, value):
        """Return whether an object may be sent by reference."""
        kind = value if isinstance(value, type) else type(value)
        is_function = callable(value) and value is not kind
        return is_function or kind.__module__ == "__main__" or isinstance(value, Remote)

    def attribute(self, value, name):
        """Return a public method, or plain data, of an object of the notebook's own classes."""
        kind = value if isinstance(value, type) else type(value)
        if kind.__module__ == "__main__" and not name.startswith("_"):
            return getattr(value, name)
        raise AttributeError(f"{name} of this object is not accessible to answers")

    def _reference(self, value):
        kind = value if isinstance(value, type) else type(value)
        # Not imported here: it takes a second, and a test that has an estimator has loaded it.
        base = sys.modules.get("sklearn.base")
        own = kind.__module__ == "__main__"
        if own or base is None or not issubclass(kind, base.BaseEstimator):
            return super()._reference(value)
        tree = {"kind": "object", "estimator": f"{kind.__module__}.{kind.__qualname__}"}
        if value is kind:
            return tree
        if fitted := [name for name in vars(value) if name.endswith("_")]:
            raise TypeError(
                f"{kind.__name__} is fitted ({fitted[0]}), and only estimators that are not can be "
                "sent to another process; let the answer fit it."
            )
        return tree | {"params": self._encoded(value.get_params(deep=False))}


@dataclass
class Examiner:
    """Runs given cells and tests one after the other.

    Parameters
    ----------
    answers : set of str
        Names that are answers even where a given cell or a test has defined them.
    own : set of str
        Names that given cells and tests define. A submission is never asked for them, even where
        a cell that should have defined them has failed: else it could replace what tests compare.
    """

    answers: set = field(default_factory=set)
    own: set = field(default_factory=set)

    def __post_init__(self):
        """Start with no names."""
        self._names = {"__name__": "__main__"}
        self._wanted, self._made = set(), set()  # names that are used; made by this test
        self._peer = Tests([])
        self._listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *error):
        """Stop listening."""
        self._listener.close()

    def define(self, source, ask_kernel):
        """Run a given cell for what it defines, as `run` does; return its error or None."""
        verdict = self.run(without_commands(source), ask_kernel)
        if not verdict.error:
            return None
        for name in defined_names(source):  # an older value would be another
            self._names.pop(name, None)
        return f"{verdict.error['ename']}: {verdict.error['evalue']}"

    def begin(self):
        """Begin another test: what earlier ones made of answers is forgotten."""
        self._made = set()

    def run(self, source, ask_kernel):
        """Run a part of a test.

        Parameters
        ----------
        source : str
            Its text.
        ask_kernel : callable
            Runs a cell in the kernel, and returns when that has ended.

        Returns
        -------
        Verdict
        """
        verdict, key, stdout = Verdict(), secrets.token_hex(16), sys.stdout
        self._peer.connection = None
        worker = threading.Thread(target=self._run, args=(source, key, verdict), daemon=True)
        worker.start()
        try:
            ask_kernel(SERVE.format(port=self._listener.getsockname()[1], key=key))
        finally:
            self._hang_up(key)
            worker.join(GRACE)
        if worker.is_alive():
            sys.stdout = stdout  # which it has redirected, and will not restore
        return verdict

    def _run(self, source, key, verdict):
        """Wait for the kernel, run the part, and end the kernel's waiting."""
        connection, found, error = None, {}, None
        try:
            self._peer.connection = connection = self._connected(key)
            found = self._look(source)
        except BaseException as problem:  # whatever an answer makes of its side of the connection
            error = described(problem)
        try:
            self._names.update(found)
            _execute(source, self._names, verdict)  # also without answers: others need its names
            made = defined_names(source)
            for name in found.keys() - made:
                self._names.pop(name, None)
            self._made |= made
            verdict.error = error or verdict.error
            verdict.ended = True
        finally:
            if connection is not None:
                with suppress(OSError):
                    connection.send({"end": True})

    def _connected(self, key):
        """Return the connection to the kernel, which says the key first."""
        while True:
            connected, _ = self._listener.accept()
            connection = Connection(connected)
            try:
                said = connection.receive()
            except ConnectionError:
                said = {}
            if secrets.compare_digest(str(said.get("key")).encode(), key.encode()):
                if said.get("wanted"):
                    return connection
                connection.close()
                raise NoAnswer("the kernel does not answer")
            connection.close()

    def _hang_up(self, key):
        """End what waits for the kernel: it will not answer any more."""
        connection, self._peer.connection = self._peer.connection, None
        if connection is not None:
            connection.close()
            return
        with suppress(OSError), socket.create_connection(self._listener.getsockname()) as caller:
            Connection(caller).send({"key": key, "wanted": False})

    def _look(self, source):
        """Return the answers that a part, or what it calls, uses, by their names."""
        self._wanted |= free_names(source)
        known = self._names.keys() | vars(builtins).keys() | self.own
        asked = self._wanted - (known - self.answers) - self._made
        asked = {name for name in asked if not name.startswith("__")}
        found = self._peer.ask("look", args=sorted(asked))
        if not isinstance(found, dict):
            raise NoAnswer("the answers cannot be looked up")
        return {name: found[name] for name in asked if name in found}


def _execute(source, names, verdict):
    """Run the statements of a part one by one; what follows an error may still define names."""
    statements, first = ast.parse(source, "<test>").body, None
    with redirect_stdout(io.StringIO()) as printed:
        for statement in statements:
            last = statement is statements[-1] and isinstance(statement, ast.Expr)
            tree = ast.Expression(statement.value) if last else ast.Module([statement], [])
            try:
                mode = "eval" if last else "exec"
                value = eval(compile(tree, "<test>", mode, dont_inherit=True), names)
                if last and isinstance(value, Real) and not isinstance(value, bool | np.bool_):
                    verdict.points = float(value)
            except BaseException as error:
                first = first or described(error)
    verdict.printed, verdict.error = printed.getvalue(), first


def described(error):
    """Return name, message and lines of an error; of one in an answer the lines of that."""
    lines = getattr(error, "lines", None) or [f"{type(error).__name__}: {error}\n"]
    return {"ename": type(error).__name__, "evalue": str(error), "traceback": lines}
