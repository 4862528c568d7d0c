"""What a student can do at home: run a notebook and its visible tests as the grader does."""

from __future__ import annotations

import warnings
from contextlib import chdir
from copy import deepcopy
from dataclasses import dataclass, field

import nbformat
from nbformat.warnings import DuplicateCellId
from nbgrader.utils import compute_checksum, determine_grade, is_locked, is_solution

from ..execution.outcome import Limits, Outcome
from ..execution.run import run
from ..layout.items import NOTE, answers_of, is_test, item_of
from ..submissions.identity import enter_id, is_personal, written_id
from ..submissions.merge import lay_upon
from ..submissions.receive import read_notebook
from .verdicts import cells_to_run, enter_outputs

__all__ = ["Checked", "Result", "check"]


@dataclass(frozen=True)
class Result:
    """What became of a test.

    Attributes
    ----------
    item : str
        Its name.
    score, points : float
        The points that it gives, and what it is worth.
    message : str or None
        What is wrong; None if it passed.
    """

    item: str
    score: float
    points: float
    message: str | None


@dataclass(frozen=True)
class Checked:
    """What became of a notebook.

    Attributes
    ----------
    results : list of Result
        Of each test, in their order.
    notes : list of str
        What the grader will note or treat in another way than Jupyter does.
    """

    results: list
    notes: list = field(default_factory=list)


def check(path, limits=None):
    """Run a notebook and its visible tests as the grader does, but without a sandbox.

    Parameters
    ----------
    path : Path
        The notebook.
    limits : Limits, optional
        What it may use; memory, disk and processes are not limited.

    Returns
    -------
    Checked

    Raises
    ------
    ValueError
        The grader could not read the file, or it has no tests.
    """
    limits = limits or Limits()
    cells = read_notebook(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicateCellId)  # of cells that were copied
        handed_in = nbformat.reads(path.read_text("utf-8-sig"), as_version=4)
    if not any(is_test(cell) for cell in handed_in.cells):
        raise ValueError(f"{path} has no tests; is it an assignment as it was handed out?")
    master = _master(handed_in)
    nb, notes = lay_upon(master, cells)
    notes += _differences(master)
    student = written_id(cells)
    if is_personal(master) and not student:
        notes.append("the cell student does not give your id; write student = and the id in quotes")
    enter_id(nb, student)
    outcome = Outcome()
    work = {"cells": cells_to_run(nb), "answers": answers_of(nb), "limits": vars(limits)}
    with chdir(path.resolve().parent):  # where the tests find data files
        run(work, lambda **told: outcome.take(told))
    enter_outputs(nb, outcome)
    results = [_result(cell) for cell in nb.cells if is_test(cell)]
    return Checked(results, [*([outcome.reason] if outcome.reason else []), *notes])


def _master(handed_in):
    """Return the notebook that the grader lays a submission upon, as far as it can be known here.

    One cell for each item, in the order in which they were handed out, with no answers.
    """
    cells = {item_of(cell): cell for cell in reversed(handed_in.cells) if item_of(cell)}
    items = handed_in.metadata.get(NOTE, {}).get("items", [*reversed(cells)])
    master = deepcopy(handed_in)
    master.cells = [deepcopy(cells[item]) for item in items if item in cells]
    for cell in master.cells:
        if is_solution(cell):
            cell.source = ""
    return master


def _differences(nb):
    """Return in words what is not as it was handed out."""
    present = {item_of(cell) for cell in nb.cells}
    missing = [item for item in nb.metadata.get(NOTE, {}).get("items", ()) if item not in present]
    changed = [
        item_of(cell)
        for cell in nb.cells
        if item_of(cell)
        and is_locked(cell)
        and cell.metadata.nbgrader.get("checksum", compute_checksum(cell)) != compute_checksum(cell)
    ]
    return [
        *(f"cell {item} is missing; the grader puts it back as it was" for item in missing),
        *(f"cell {item} was changed; the grader runs it as it was handed out" for item in changed),
    ]


def _result(cell):
    errors = [output for output in cell.outputs if output.output_type == "error"]
    score, points = determine_grade(cell)
    message = None
    if errors:
        message = ": ".join(filter(None, (errors[0].ename, errors[0].evalue)))
    elif score < points:
        message = f"gives {score:g} points"
    return Result(item_of(cell), score, points, message)
