"""What a student can do at home: run a notebook and its visible tests as the grader does."""

from __future__ import annotations

import shutil
import warnings
from contextlib import chdir, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat.warnings import DuplicateCellId
from nbgrader.utils import (
    compute_checksum,
    determine_grade,
    is_grade,
    is_locked,
    is_solution,
)

from ..execution.outcome import Limits, Outcome
from ..execution.run import run
from ..layout.items import NOTE, answers_of, is_test, item_of, key_of
from ..submissions.identity import enter_id, is_personal, written_id
from ..submissions.merge import is_unanswered, lay_upon
from ..submissions.receive import read_notebook
from .verdicts import cells_to_run, code_cells, enter_outputs

__all__ = ["Checked", "Result", "check"]

NO_ID = "the cell student does not give your id; write student = and the id in quotes"


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
    cells, student = read_notebook(path), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicateCellId)  # of cells that were copied
        handed_in = nbformat.reads(path.read_text("utf-8-sig"), as_version=4)
    if not any(is_test(cell) for cell in handed_in.cells):
        raise ValueError(f"{path} has no tests; is it an assignment as it was handed out?")
    master = _master(handed_in)
    nb, notes = lay_upon(master, cells)
    missing, changed = _differences(master)
    notes += [f"cell {item} is missing; the grader puts it back as it was" for item in missing]
    notes += [
        f"cell {item} was changed; the grader has it as it was handed out" for item in changed
    ]
    if is_personal(master):
        student = written_id(cells)
        notes.append(f"your id is {student!r}" if student else NO_ID)
    enter_id(nb, student)
    outcome = Outcome()
    work = {"cells": cells_to_run(nb), "answers": answers_of(nb), "limits": vars(limits)}
    with _folder_of_grader(path.resolve().parent, nb, notes):
        run(work, lambda **told: outcome.take(told))
    enter_outputs(nb, outcome)
    notes = [*outcome.notes(limits), *notes, *_stopped(nb), *_empty(nb)]
    return Checked([_result(cell, changed) for cell in nb.cells if is_test(cell)], notes)


@contextmanager
def _folder_of_grader(home, nb, notes):
    """Be in a folder with the data files that were handed out, and with nothing else."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name in nb.metadata.get(NOTE, {}).get("files", []):
            if not (home / name).is_file():
                notes.append(f"the data file {name} is missing; the grader has it")
                continue
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(home / name, Path(folder) / name)
        with chdir(folder):
            yield


def _stopped(nb):
    """Yield which cells of the student's stopped with an error."""
    for cell in code_cells(nb):
        errors = [output for output in cell.outputs if output.output_type == "error"]
        if errors and not is_test(cell):
            line = next(filter(None, cell.source.splitlines()), "")
            where = f"cell {item_of(cell)}" if item_of(cell) else f"the cell {line[:40]!r}"
            yield f"{where} stopped: {errors[0].ename}: {errors[0].evalue}"


def _empty(nb):
    """Yield which answers that a person reads are empty."""
    for cell in nb.cells:
        if is_grade(cell) and is_solution(cell) and is_unanswered(cell):
            yield f"the answer {item_of(cell)} is empty"


def _master(handed_in):
    """Return the notebook that the grader lays a submission upon, as far as it can be known here.

    The cells that were handed out, once each and in their order, with no answers.
    """
    cells = {key_of(cell): cell for cell in reversed(handed_in.cells)}
    given = handed_in.metadata.get(NOTE, {}).get("cells", [*reversed(cells)])
    master = deepcopy(handed_in)
    master.cells = [deepcopy(cells[key]) for key in given if key in cells]
    for cell in master.cells:
        if is_solution(cell):
            cell.source = ""
    return master


def _differences(nb):
    """Return the names of the cells that are missing, and of those that were changed."""
    present = {key_of(cell) for cell in nb.cells}
    given = nb.metadata.get(NOTE, {}).get("cells", ())
    missing = [key for key in given if key not in present and not key.startswith("#")]
    changed = [
        item_of(cell)
        for cell in nb.cells
        if item_of(cell)
        and is_locked(cell)
        and cell.metadata.nbgrader.get("checksum", compute_checksum(cell)) != compute_checksum(cell)
    ]
    return missing, changed


def _result(cell, changed):
    errors = [output for output in cell.outputs if output.output_type == "error"]
    score, points = determine_grade(cell)
    message = None
    if item_of(cell) in changed:
        score, message = 0.0, "it was changed, and does not count here"
    elif errors:
        message = ": ".join(filter(None, (errors[0].ename, errors[0].evalue)))
    elif score < points:
        message = f"gives {score:g} points"
    return Result(item_of(cell), score, points, message)
