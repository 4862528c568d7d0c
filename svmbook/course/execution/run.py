"""Run the cells of a submission in a kernel, and tests beside it; tell what each has put out."""

import json
import os
import re
import time
from contextlib import contextmanager

from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook, new_output

from .examiner import Examiner, described
from .peer import NoAnswer
from .source import defined_names, free_names, imported_names, parts_of_test

__all__ = ["KEPT", "run"]

NO_CELL = {"source": ""}  # for texts that belong to none
# A forgotten exit() or quit() does not end the kernel: the cells below it count as well.
NO_EXIT = "get_ipython().ask_exit = lambda: print('exit() has no effect when this is graded')"
SHOWN = 200_000  # characters of one output that are kept
OUTPUTS = ("stream", "display_data", "execute_result", "update_display_data", "error")
# Of what is displayed: nothing that a browser would run. The rest is dropped, and not counted.
KEPT = ("text/plain", "image/png", "image/jpeg")


class Client(NotebookClient):
    """A client that does not take more from a kernel than it was told to.

    Parameters
    ----------
    nb : NotebookNode
        What to run.
    most : int
        Bytes of output.
    **options
        Of `nbclient.NotebookClient`.
    """

    def __init__(self, nb, most, **options):
        super().__init__(nb, **options)
        self.left = most

    def process_message(self, msg, cell, cell_index):
        """Keep an output while there is room, and drop it when there is none."""
        if isinstance(data := msg["content"].get("data"), dict):
            msg["content"]["data"] = {kind: data[kind] for kind in KEPT if kind in data}
        if msg["msg_type"] in OUTPUTS:
            self.left -= len(json.dumps(msg["content"], default=str))
            if self.left < 0:
                return None
        return super().process_message(msg, cell, cell_index)

    def output(self, outs, msg, display_id, cell_index):
        """Keep the beginning of a long text, which may come in many pieces."""
        content = msg["content"]
        if outs and "text" in content and len(outs[-1].get("text", "")) > SHOWN:
            return None
        if isinstance(content.get("text"), str) and len(content["text"]) > SHOWN:
            content["text"] = content["text"][:SHOWN] + "\n... (cut)\n"
        return super().output(outs, msg, display_id, cell_index)


class Ended(Exception):
    """The rest of a notebook cannot be run.

    Parameters
    ----------
    reason : str
        Why.
    outputs : sequence
        What the last cell has put out.
    """

    def __init__(self, reason, outputs=()):
        super().__init__(reason)
        self.outputs = [*outputs]


def run(work, tell, folder=None, settings=None):
    """Run cells in a fresh kernel, one after the other, and tests in this process.

    Parameters
    ----------
    work : dict
        The ``cells`` and ``answers`` of `sandbox.run_cells`, and the ``limits`` as a dict.
    tell : callable
        Is called with what came out of each cell when it has ended.
    folder : path, optional
        Where the kernel starts, by default here. Tests find files relative to here.
    settings : dict, optional
        Environment variables of this process from when the kernel has started.
    """
    limits = work["limits"]
    late = {
        "ename": "CellTimeoutError",
        "evalue": f"not finished after {limits['cell_seconds']} seconds",
        "traceback": [],
    }
    client = Client(
        new_notebook(cells=[new_code_cell(cell["source"]) for cell in [*work["cells"], NO_CELL]]),
        limits["output"],
        timeout=limits["cell_seconds"],
        iopub_timeout=10,
        interrupt_on_timeout=True,
        error_on_timeout=late,
        allow_errors=True,
        kernel_name="python3",
        kernel_manager_class=AsyncKernelManager,
        extra_arguments=["--HistoryManager.hist_file=:memory:", "--IPKernelApp.log_level=40"],
        resources={"metadata": {"path": str(folder or os.getcwd())}},
    )
    end = time.monotonic() + limits["seconds"]
    number = None
    try:
        with (
            client.setup_kernel(),
            _environment({"MPLBACKEND": "agg"} | (settings or {})),
            Examiner(set(work["answers"])) as examiner,
        ):
            kernel = Kernel(client, late)
            kernel.number = len(work["cells"])
            kernel.ask(NO_EXIT)
            tell(started=True)  # from here on what goes wrong is the submission's doing
            examiner.own = _own_names(work["cells"])
            needed, used_later = _needed(work["cells"]), _used_later(work["cells"])
            for number, cell in enumerate(work["cells"]):
                kernel.number = number
                tell(cell=number, **_run_cell(kernel, examiner, cell, number in used_later))
                if kernel.was_late:
                    tell(late=True)
                if client.left < 0:
                    tell(cut=True)
                if number in needed:
                    examiner.begin()
                    if error := examiner.define(cell["source"], kernel.ask):
                        tell(failed=[number, error])
                if time.monotonic() > end:
                    reason = f"the notebook took more than {limits['seconds']} seconds"
                    tell(reason=reason, late=True)
                    break
    except Ended as ended:
        own = number is not None and work["cells"][number]["kind"] != "test"
        tell(reason=str(ended), **({"cell": number, "outputs": ended.outputs} if own else {}))
    tell(done=True)


@contextmanager
def _environment(settings):
    """Set environment variables of this process for a while."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _own_names(cells):
    """Return the names that given cells and tests define."""
    return set().union(*(defined_names(c["source"]) for c in cells if c["kind"] != "own"))


def _needed(cells):
    """Return the numbers of the given cells that define, or may change, what a later test uses."""
    given = [cell["source"] for cell in cells if cell["kind"] == "given"]
    modules = set().union(*map(imported_names, given))
    wanted, needed = set(), set()
    for number, cell in reversed([*enumerate(cells)]):
        source = cell["source"]
        if cell["kind"] == "given":
            touched = defined_names(source) | (free_names(source) - modules)
            brings_any = re.search(r"^[ \t]*from .* import \*", source, re.M)
            if wanted & touched or brings_any:
                needed.add(number)
        if cell["kind"] == "test" or number in needed:
            wanted |= free_names(source)
    return needed


def _used_later(cells):
    """Return the numbers of the tests that define what a later cell uses."""
    used, found = set(), set()
    for number, cell in reversed([*enumerate(cells)]):
        if cell["kind"] == "test":
            found |= {number} if used & defined_names(cell["shown"]) else set()
        else:
            used |= free_names(cell["source"])
    return found


def _run_cell(kernel, examiner, cell, is_used_later):
    """Return the outputs of a cell, and the places of hidden ones among them."""
    if cell["kind"] != "test":
        return {"outputs": kernel.run(cell["source"])}
    outputs, hidden = [], []
    try:
        parts = parts_of_test(cell["source"], set(cell["hidden"]))
    except SyntaxError as error:
        return {"outputs": [new_output("error", **described(error))]}
    examiner.begin()
    for k, (is_hidden, text) in enumerate(parts):
        found = _examine(kernel, examiner, text, is_last=k == len(parts) - 1)
        hidden += range(len(outputs), len(outputs) + len(found)) if is_hidden else ()
        outputs += found
        if kernel.was_late:
            break
    if is_used_later and not kernel.was_late:
        kernel.ask(cell["shown"])
    return {"outputs": outputs, "hidden": hidden}


def _examine(kernel, examiner, text, is_last):
    """Run a part of a test; return the outputs of its answers, its own, and its error."""
    asked = []
    verdict = examiner.run(text, lambda code: asked.extend(kernel.ask(code)))
    if not verdict.ended:
        raise Ended("a test did not end")
    outputs = [one for one in asked if one.output_type == "stream"]
    if verdict.printed:
        outputs.append(new_output("stream", name="stdout", text=verdict.printed))
    error = verdict.error
    if kernel.was_late or (error and error["ename"] == NoAnswer.__name__):
        error = kernel.error or error
    if verdict.points is not None and is_last and not error:
        points = {"text/plain": repr(verdict.points)}
        outputs.append(new_output("execute_result", data=points))
    return outputs + ([new_output("error", **error)] if error else [])


class Kernel:
    """Runs texts in the kernel of a client.

    Parameters
    ----------
    client : Client
        With a kernel that runs.
    late : dict
        The error of a cell that is not finished in time.

    Attributes
    ----------
    number : int
        The cell of the client's notebook that texts belong to.
    error : dict or None
        The error of the last text.
    was_late : bool
        Whether that was not finished in time.
    """

    def __init__(self, client, late):
        self._client, self._late = client, late
        self.number, self.error, self.was_late = 0, None, False

    def run(self, source):
        """Run a cell; return its outputs, with its error even where that was not displayed."""
        outputs = self.ask(source, remembered=True)
        if self.error and not any(output.output_type == "error" for output in outputs):
            outputs.append(new_output("error", **self.error))
        return outputs

    def ask(self, source, remembered=False):
        """Run a text that need not be in the kernel's history; return its outputs."""
        cell, replies = new_code_cell(source), [{"status": "ok"}]  # an empty cell is not sent
        self._client.on_cell_executed = lambda cell, cell_index, execute_reply: replies.append(
            execute_reply["content"]
        )
        try:
            self._client.execute_cell(cell, self.number, store_history=remembered)
        except DeadKernelError:
            raise Ended("the kernel died", cell.outputs) from None
        reply = self._late | replies[-1]
        self.error = {name: reply[name] for name in self._late} if reply["status"] != "ok" else None
        self.was_late = self.error is not None and self.error["ename"] == self._late["ename"]
        return cell.outputs
