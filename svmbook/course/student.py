"""What a student can do at home: run the tests that the notebook shows, in a fresh kernel."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from .receive import is_test, item_of
from .sandbox import Limits

__all__ = ["Result", "check"]

SECONDS = Limits().cell_seconds
LATE = {"ename": "CellTimeoutError", "evalue": f"not finished after {SECONDS} s", "traceback": []}


@dataclass(frozen=True)
class Result:
    """What became of a test.

    Attributes
    ----------
    item : str
        Its name.
    points : float
        What it is worth.
    message : str or None
        What is wrong; None if it passed.
    """

    item: str
    points: float
    message: str | None


def check(path):
    """Run a notebook, and tell of its tests which pass.

    Parameters
    ----------
    path : Path
        The notebook.

    Yields
    ------
    Result
        Of each test.

    Raises
    ------
    ValueError
        The file is no notebook, or has no tests.
    """
    nb = nbformat.read(path, as_version=4)
    tests = {
        item_of(cell): cell.metadata["nbgrader"]["points"] for cell in nb.cells if is_test(cell)
    }
    if not tests:
        raise ValueError(f"{path} has no tests; is it an assignment as it was handed out?")
    messages = dict.fromkeys(tests, "not run: the kernel died")

    def finished(cell, cell_index, execute_reply):
        errors = [output for output in cell.outputs if output.output_type == "error"]
        said = [": ".join(filter(None, (one.ename, one.evalue))) for one in errors]
        messages[item_of(cell)] = said[0] if said else None

    client = NotebookClient(
        nb,
        kernel_name="python3",
        timeout=SECONDS,
        error_on_timeout=LATE,
        interrupt_on_timeout=True,
        allow_errors=True,
        extra_arguments=["--IPKernelApp.log_level=40"],  # no warnings about the kernel's sockets
        on_cell_executed=finished,
        resources={"metadata": {"path": path.resolve().parent}},
    )
    with suppress(DeadKernelError):  # what comes after is not run
        client.execute()
    for name, points in tests.items():
        yield Result(name, points, messages[name])
