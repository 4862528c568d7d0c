"""Cells in a forked IPython, in the place of a kernel in a sandbox.

A kernel in a sandbox costs two seconds of processor time, most of it for imports. Here a server
that has read the modules forks for each notebook, in a tenth of that. Everything that the grader
decides is the grader's own code; what is left out is bubblewrap, the limits and the messages of
Jupyter, so no cell may run here that does harm.
"""

import json
import multiprocessing
import sys
import threading
from contextlib import contextmanager

from forked import answer
from nbclient.exceptions import DeadKernelError
from nbformat import from_dict

from svmbook.course.execution import run
from svmbook.course.execution.outcome import Outcome

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["IPython.core.interactiveshell", "matplotlib.pyplot", "sklearn.svm", "svmbook.course.checks"]
)
SHELLS = "forked shells"  # in the place of a sandbox
ONE_AT_A_TIME = threading.Lock()  # Python 3.11 may fail where two threads parse at the same time
SECONDS = 120  # for one cell, on a machine with other work to do


class Shell:
    """What `run` wants of a client: it runs cells, and tells what was replied.

    Parameters
    ----------
    nb : NotebookNode
        What will be run.
    most : int
        Bytes of output, which nobody counts here.
    **options
        Of the client of a kernel, and of no meaning here.
    """

    left = 1  # bytes of output

    def __init__(self, nb, most, **options):
        self.on_cell_executed = None

    @contextmanager
    def setup_kernel(self):
        """Fork the process that runs the cells, and end it."""
        self._pipe, theirs = FORKS.Pipe()
        process = FORKS.Process(target=answer, args=(theirs,))
        sys.audit("tests.process")  # for tests/budget.py: the server's process starts it
        process.start()
        theirs.close()
        try:
            yield
        finally:
            process.kill()
            process.join()
            process.close()
            self._pipe.close()

    def execute_cell(self, cell, number, store_history=True):
        """Run a cell; its outputs are its own, and the reply goes to `on_cell_executed`."""
        cell.outputs = []
        if not cell.source.strip():
            return
        try:
            self._pipe.send((cell.source, store_history))
            if not self._pipe.poll(SECONDS):
                raise TimeoutError(f"cell {number} is not finished after {SECONDS} seconds")
            outputs, reply = self._pipe.recv()
        except (EOFError, ConnectionError) as error:
            raise DeadKernelError("Kernel died") from error
        cell.outputs = from_dict(outputs)
        self.on_cell_executed(cell=cell, cell_index=number, execute_reply={"content": reply})


def run_here(cells, limits=None, sandbox=None, stop=None, answers=(), files=None):
    """Do what `sandbox.run_cells` does, with a forked shell and without limits and data files.

    `run.Client` must be `Shell` meanwhile; the fixture ``shells`` sees to it.
    """
    outcome = Outcome()
    work = {"cells": cells, "answers": [*answers]}
    work["limits"] = {"seconds": 10 * SECONDS, "cell_seconds": SECONDS, "output": 0}
    with ONE_AT_A_TIME:
        run.run(work, lambda **line: outcome.update(json.loads(json.dumps(line))))
    return outcome
