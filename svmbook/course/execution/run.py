"""Run the cells of a submission in a kernel and the tests in this process; report their outputs."""

import json
import os
import re
import time
from contextlib import closing, contextmanager

from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook, new_output

from .examiner import Examiner, error_fields
from .peer import ReplyError
from .source import defined_names, free_names, imported_names, split_test

__all__ = ["KEPT_MIME_TYPES", "run_notebook"]

EMPTY_CELL = {"source": ""}  # for code that belongs to no cell
# A forgotten exit() or quit() must not end the kernel, because the cells below it are graded too.
DISABLE_EXIT = "get_ipython().ask_exit = lambda: print('exit() has no effect during grading')"
MAX_OUTPUT_LENGTH = 200_000  # characters of one output that are kept
OUTPUT_TYPES = ("stream", "display_data", "execute_result", "update_display_data", "error")
# Displayed data that a browser does not execute. Other data are dropped before output is measured.
KEPT_MIME_TYPES = ("text/plain", "image/png", "image/jpeg")


class Client(NotebookClient):
    """A client that limits the output it accepts from a kernel.

    Parameters
    ----------
    nb : NotebookNode
        The notebook to run.
    max_output : int
        Bytes of output to accept.
    **options
        Options of `nbclient.NotebookClient`.
    """

    def __init__(self, nb, max_output, **options):
        super().__init__(nb, **options)
        self.remaining_output = max_output

    def process_message(self, msg, cell, cell_index):
        """Drop an output if it exceeds the limit."""
        if isinstance(data := msg["content"].get("data"), dict):
            msg["content"]["data"] = {mime: data[mime] for mime in KEPT_MIME_TYPES if mime in data}
        if msg["msg_type"] in OUTPUT_TYPES:
            self.remaining_output -= len(json.dumps(msg["content"], default=str))
            if self.remaining_output < 0:
                return None
        return super().process_message(msg, cell, cell_index)

    def output(self, outs, msg, display_id, cell_index):
        """Keep only the beginning of a long text, which may arrive in many messages."""
        content = msg["content"]
        if outs and "text" in content and len(outs[-1].get("text", "")) > MAX_OUTPUT_LENGTH:
            return None
        if isinstance(content.get("text"), str) and len(content["text"]) > MAX_OUTPUT_LENGTH:
            content["text"] = content["text"][:MAX_OUTPUT_LENGTH] + "\n... (cut)\n"
        return super().output(outs, msg, display_id, cell_index)


class RunAbortedError(Exception):
    """The rest of a notebook cannot be run.

    Parameters
    ----------
    reason : str
        Why the rest cannot be run.
    outputs : sequence
        Outputs of the last cell.
    """

    def __init__(self, reason, outputs=()):
        super().__init__(reason)
        self.outputs = [*outputs]


def run_notebook(run_request, report, kernel_folder=None, test_environment=None):
    """Run cells in a fresh kernel, one after the other, and tests in this process.

    Parameters
    ----------
    run_request : dict
        The ``cells`` and ``answer_names`` of `sandbox.run_cells`, and the ``limits`` as a dict.
    report : callable
        Called with the items of messages for `Outcome.update` as keyword arguments, for example
        with the outputs of a cell when it has ended.
    kernel_folder : path, optional
        Working directory of the kernel, by default that of this process. Tests always run in the
        working directory of this process.
    test_environment : dict, optional
        Environment variables of the tests. This process sets them after the kernel has started, so
        that the kernel does not inherit them.
    """
    limits, answer_names = run_request["limits"], set(run_request["answer_names"])
    timeout_error = {
        "ename": "CellTimeoutError",
        "evalue": f"not finished after {limits['cell_seconds']} seconds",
        "traceback": [],
    }
    cells = [new_code_cell(cell["source"]) for cell in [*run_request["cells"], EMPTY_CELL]]
    client = Client(
        new_notebook(cells=cells),
        limits["output"],
        timeout=limits["cell_seconds"],
        iopub_timeout=10,
        interrupt_on_timeout=True,
        error_on_timeout=timeout_error,
        allow_errors=True,
        kernel_name="python3",
        kernel_manager_class=AsyncKernelManager,
        extra_arguments=["--HistoryManager.hist_file=:memory:", "--IPKernelApp.log_level=40"],
        resources={"metadata": {"path": str(kernel_folder or os.getcwd())}},
    )
    deadline = time.monotonic() + limits["seconds"]
    number = None
    try:
        with (
            client.setup_kernel(),
            _temporary_environment({"MPLBACKEND": "agg"} | (test_environment or {})),
            closing(Examiner(answer_names, _protected_names(run_request["cells"]))) as examiner,
        ):
            kernel = Kernel(client, timeout_error)
            kernel.cell_number = len(run_request["cells"])
            kernel.execute(DISABLE_EXIT)
            report(started=True)  # later failures are caused by the submission
            needed_cell_numbers = _needed_locked_cell_numbers(run_request["cells"])
            reused_test_numbers = _reused_test_numbers(run_request["cells"])
            for number, cell in enumerate(run_request["cells"]):
                kernel.cell_number = number
                is_used_later = number in reused_test_numbers
                report(cell=number, **_run_cell(kernel, examiner, cell, is_used_later))
                if kernel.timed_out:
                    report(timed_out=True)
                if client.remaining_output < 0:
                    report(truncated=True)
                if number in needed_cell_numbers:
                    examiner.begin_test()
                    if error := examiner.run_locked_cell(cell["source"], kernel.execute):
                        report(locked_cell_error=[number, error])
                if time.monotonic() > deadline:
                    not_run_reason = f"the notebook took more than {limits['seconds']} seconds"
                    report(not_run_reason=not_run_reason, timed_out=True)
                    break
    except RunAbortedError as error:
        message = {"not_run_reason": str(error)}
        if number is not None and run_request["cells"][number]["kind"] != "test":
            message |= {"cell": number, "outputs": error.outputs}
        report(**message)
    report(done=True)


@contextmanager
def _temporary_environment(variables):
    """Set environment variables of this process for the duration of a block."""
    old_values = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in old_values.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _protected_names(cells):
    """Return the names that locked cells and tests define, which a submission cannot replace."""
    return set().union(*(defined_names(c["source"]) for c in cells if c["kind"] != "student"))


def _needed_locked_cell_numbers(cells):
    """Return the numbers of the locked cells that define or may change names that tests use."""
    locked_sources = [cell["source"] for cell in cells if cell["kind"] == "locked"]
    names_of_imports = set().union(*map(imported_names, locked_sources))
    used_names, needed_numbers = set(), set()
    for number, cell in reversed([*enumerate(cells)]):
        source = cell["source"]
        if cell["kind"] == "locked":
            possibly_changed_names = defined_names(source) | (free_names(source) - names_of_imports)
            has_star_import = re.search(r"^[ \t]*from .* import \*", source, re.M)
            if used_names & possibly_changed_names or has_star_import:
                needed_numbers.add(number)
        if cell["kind"] == "test" or number in needed_numbers:
            used_names |= free_names(source)
    return needed_numbers


def _reused_test_numbers(cells):
    """Return the numbers of the tests that define names that a later cell uses."""
    used_names, test_numbers = set(), set()
    for number, cell in reversed([*enumerate(cells)]):
        if cell["kind"] != "test":
            used_names |= free_names(cell["source"])
        elif used_names & defined_names(cell["visible_source"]):
            test_numbers.add(number)
    return test_numbers


def _run_cell(kernel, examiner, cell, is_used_later):
    """Run a cell; return its outputs, and for a test the positions of hidden outputs among them."""
    if cell["kind"] != "test":
        return {"outputs": kernel.run_cell(cell["source"])}
    outputs, hidden_positions = [], []
    try:
        parts = split_test(cell["source"], set(cell["hidden_line_numbers"]))
    except SyntaxError as error:
        return {"outputs": [new_output("error", **error_fields(error))]}
    examiner.begin_test()
    for k, (is_hidden, source) in enumerate(parts):
        part_outputs = _run_test_part(kernel, examiner, source, is_last=k == len(parts) - 1)
        if is_hidden:
            hidden_positions += range(len(outputs), len(outputs) + len(part_outputs))
        outputs += part_outputs
        if kernel.timed_out:
            break
    if is_used_later and not kernel.timed_out:
        kernel.execute(cell["visible_source"])
    return {"outputs": outputs, "hidden_positions": hidden_positions}


def _run_test_part(kernel, examiner, source, is_last):
    """Run a part of a test; return its printed text, its score and its error as outputs."""
    kernel_outputs = []
    result = examiner.run(source, lambda code: kernel_outputs.extend(kernel.execute(code)))
    if not result.ended:
        raise RunAbortedError("a test did not end")
    outputs = [output for output in kernel_outputs if output.output_type == "stream"]
    if result.printed_text:
        outputs.append(new_output("stream", name="stdout", text=result.printed_text))
    error = result.error
    if kernel.timed_out or (error and error["ename"] == ReplyError.__name__):
        error = kernel.error or error
    if result.score is not None and is_last and not error:
        data = {"text/plain": repr(result.score)}
        outputs.append(new_output("execute_result", data=data))
    return outputs + ([new_output("error", **error)] if error else [])


class Kernel:
    """Runs code in the kernel of a client.

    Parameters
    ----------
    client : Client
        A client whose kernel is running.
    timeout_error : dict
        The error of a cell that is not finished in time.

    Attributes
    ----------
    cell_number : int
        The number of the cell in the client's notebook to which the code belongs.
    error : dict or None
        The error of the last call.
    timed_out : bool
        Whether the last call was not finished in time.
    """

    def __init__(self, client, timeout_error):
        self._client, self._timeout_error = client, timeout_error
        self.cell_number, self.error, self.timed_out = 0, None, False

    def run_cell(self, source):
        """Run a cell; return its outputs, with its error even if the kernel did not display it."""
        outputs = self.execute(source, store_history=True)
        if self.error and not any(output.output_type == "error" for output in outputs):
            outputs.append(new_output("error", **self.error))
        return outputs

    def execute(self, source, store_history=False):
        """Run code, by default without an entry in the kernel's history; return its outputs."""
        cell, replies = new_code_cell(source), [{"status": "ok"}]  # an empty cell is not sent
        self._client.on_cell_executed = lambda cell, cell_index, execute_reply: replies.append(
            execute_reply["content"]
        )
        try:
            self._client.execute_cell(cell, self.cell_number, store_history=store_history)
        except DeadKernelError:
            raise RunAbortedError("the kernel died", cell.outputs) from None
        timeout_error = self._timeout_error
        reply = timeout_error | replies[-1]
        self.error = None
        if reply["status"] != "ok":
            self.error = {name: reply[name] for name in timeout_error}
        self.timed_out = self.error is not None and self.error["ename"] == timeout_error["ename"]
        return cell.outputs
