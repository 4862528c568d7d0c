"""What a student can do at home: run the tests that the notebook shows, in a fresh kernel."""

from __future__ import annotations

from dataclasses import dataclass

import nbformat

from .sandbox import UNSAFE, Limits, run_cells

__all__ = ["Result", "check"]


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
    cells = [cell for cell in nb.cells if cell.cell_type == "code"]
    about = [cell.metadata.get("nbgrader", {}) for cell in cells]
    tests = [bool(of.get("grade") and not of.get("solution")) for of in about]
    if not any(tests):
        raise ValueError(f"{path} has no tests; is it an assignment as it was handed out?")
    work = [
        {"source": cell.source, "graded": test} for cell, test in zip(cells, tests, strict=True)
    ]
    outcome = run_cells(work, Limits(), UNSAFE, folder=path.resolve().parent)
    for number, of in enumerate(about):
        if not tests[number]:
            continue
        message = None if number in outcome.outputs else f"not run: {outcome.reason}"
        for output in outcome.outputs.get(number, ()):
            if output["output_type"] == "error":
                message = f"{output['ename']}: {output['evalue']}"
        yield Result(of["grade_id"], of["points"], message)
