"""Run cells in a forked IPython shell instead of a kernel in a sandbox.

A kernel in a sandbox takes two seconds of processor time, most of it for imports. Here a server
that has imported the modules forks for each notebook, in a tenth of that time. The code of the
grader runs unchanged. There is no sandbox and no resource limit, so the cells must be harmless.
"""

import json
import multiprocessing
import sys
import threading
from contextlib import contextmanager

from forked_shell import run_cells_from_pipe
from nbclient.exceptions import DeadKernelError
from nbformat import from_dict

from svmbook.course.execution import run
from svmbook.course.execution.outcome import Outcome

FORK_CONTEXT = multiprocessing.get_context("forkserver")
FORK_CONTEXT.set_forkserver_preload(
    ["IPython.core.interactiveshell", "matplotlib.pyplot", "sklearn.svm", "svmbook.course.checks"]
)
SHELL_SANDBOX = "forked shells"  # replaces the path of bubblewrap; there is no sandbox
RUN_LOCK = threading.Lock()  # Python 3.11 may fail if two threads parse at the same time
MAX_CELL_SECONDS = 120  # limit for one cell, generous because the computer may be busy


class ShellClient:
    """Replacement for the kernel client of `run`, which runs the cells in a forked shell.

    Parameters
    ----------
    nb : NotebookNode
        The notebook, which is not used here.
    max_output : int
        Limit of the output in bytes, which does not apply here.
    **options
        Options of a kernel client, which have no effect here.
    """

    remaining_output = 1  # remaining bytes of output, never used up

    def __init__(self, nb, max_output, **options):
        self.on_cell_executed = None

    @contextmanager
    def setup_kernel(self):
        """Fork the process that runs the cells, and kill it at the end of the block."""
        self._pipe, child_pipe = FORK_CONTEXT.Pipe()
        process = FORK_CONTEXT.Process(target=run_cells_from_pipe, args=(child_pipe,))
        sys.audit("tests.process")  # counted by tests/budget.py, which cannot see the server fork
        process.start()
        child_pipe.close()
        try:
            yield
        finally:
            process.kill()
            process.join()
            process.close()
            self._pipe.close()

    def execute_cell(self, cell, cell_index, store_history=True):
        """Run a cell, store its outputs in it, and pass the reply to `on_cell_executed`."""
        cell.outputs = []
        if not cell.source.strip():
            return
        try:
            self._pipe.send((cell.source, store_history))
            if not self._pipe.poll(MAX_CELL_SECONDS):
                raise TimeoutError(
                    f"cell {cell_index} is not finished after {MAX_CELL_SECONDS} seconds"
                )
            outputs, reply = self._pipe.recv()
        except (EOFError, ConnectionError) as error:
            raise DeadKernelError("Kernel died") from error
        cell.outputs = from_dict(outputs)
        self.on_cell_executed(cell=cell, cell_index=cell_index, execute_reply={"content": reply})


def run_cells_in_shell(
    cells, limits=None, sandbox=None, stop_event=None, answer_names=(), data_files=None
):
    """Run cells as `sandbox.run_cells` does, but in a forked shell.

    The arguments ``limits``, ``sandbox``, ``stop_event`` and ``data_files`` have no effect.
    `run.Client` must be replaced by `ShellClient`, as the fixture ``shell_sandbox`` does.
    """
    outcome = Outcome()
    run_request = {"cells": cells, "answer_names": [*answer_names]}
    run_request["limits"] = {
        "seconds": 10 * MAX_CELL_SECONDS,
        "cell_seconds": MAX_CELL_SECONDS,
        "output": 0,
    }
    with RUN_LOCK:
        run.run_notebook(run_request, lambda **line: outcome.update(json.loads(json.dumps(line))))
    return outcome
