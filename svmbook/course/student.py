"""What a student can do at home: run the tests that the notebook shows, in a fresh kernel."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

__all__ = ["Result", "check"]

SECONDS = 60  # for a cell, as when it is graded
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
    tests = [cell for cell in nb.cells if _about(cell).get("grade") and cell.cell_type == "code"]
    tests = [cell for cell in tests if not _about(cell).get("solution")]
    if not tests:
        raise ValueError(f"{path} has no tests; is it an assignment as it was handed out?")
    for cell in tests:
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        nb,
        timeout=SECONDS,
        error_on_timeout=LATE,
        interrupt_on_timeout=True,
        allow_errors=True,
        extra_arguments=["--IPKernelApp.log_level=40"],  # no warnings about the kernel's sockets
        resources={"metadata": {"path": path.resolve().parent}},
    )
    with suppress(DeadKernelError):  # what comes after is not run
        client.execute()
    for cell in tests:
        message = None if cell.execution_count else "not run: the kernel died"
        for output in cell.outputs:
            if output.output_type == "error":
                message = ": ".join(filter(None, (output.ename, output.evalue)))
        yield Result(_about(cell)["grade_id"], _about(cell)["points"], message)


def _about(cell):
    return cell.metadata.get("nbgrader", {})
