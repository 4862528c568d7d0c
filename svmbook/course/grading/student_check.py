"""Let a student check a notebook: run it and its visible tests as the grader does."""

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
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_locked, is_solution

from ..execution.outcome import Limits, Outcome
from ..execution.run import run_notebook
from ..layout.items import METADATA_KEY, answer_names, cell_key, cell_name, is_test
from ..submissions.identity import enter_id, find_stated_id, is_personalised
from ..submissions.merge import is_unanswered, merge_submission
from ..submissions.read import read_notebook
from .cells import cells_to_run, code_cells, enter_outputs

__all__ = ["CheckReport", "TestResult", "check_notebook"]

NO_ID_NOTE = "the cell student does not contain your id; write, for example, student = 'ann'"


@dataclass(frozen=True)
class TestResult:
    """Result of a test.

    Attributes
    ----------
    item : str
        The name of the test.
    score, max_score : float
        Points given, and the maximum.
    message : str or None
        What is wrong; None if the test passed.
    """

    item: str
    score: float
    max_score: float
    message: str | None


@dataclass(frozen=True)
class CheckReport:
    """Report on a notebook.

    Attributes
    ----------
    results : list of TestResult
        The result of each test, in the order of the notebook.
    notes : list of str
        What the grader will report, and where its run will differ from one in Jupyter.
    """

    results: list
    notes: list = field(default_factory=list)


def check_notebook(path, limits=None):
    """Run a notebook and its visible tests as the grader does, but without a sandbox.

    Parameters
    ----------
    path : Path
        The notebook.
    limits : Limits, optional
        Limits on time and output; memory, disk and processes are not limited.

    Returns
    -------
    CheckReport

    Raises
    ------
    ValueError
        The grader cannot read the file, or the notebook has no tests.
    """
    limits = limits or Limits()
    cells, student_id = read_notebook(path), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicateCellId)  # caused by copied cells
        student_nb = nbformat.reads(path.read_text("utf-8-sig"), as_version=4)
    if not any(is_test(cell) for cell in student_nb.cells):
        raise ValueError(f"{path} has no tests; it is not an assignment as it was handed out.")
    master = _reconstruct_master(student_nb)
    nb, notes = merge_submission(master, cells)
    missing_items, changed_items = _missing_and_changed_items(master)
    notes += [f"cell {item} is missing; the grader restores it" for item in missing_items]
    notes += [f"cell {item} was changed; the grader uses the original" for item in changed_items]
    if is_personalised(master):
        student_id = find_stated_id(cells)
        notes.append(f"your id is {student_id!r}" if student_id else NO_ID_NOTE)
    enter_id(nb, student_id)
    outcome = Outcome()
    run_request = {
        "cells": cells_to_run(nb),
        "answer_names": answer_names(nb),
        "limits": vars(limits),
    }
    with _chdir_to_data_copies(path.resolve().parent, nb, notes):
        run_notebook(run_request, lambda **message: outcome.update(message))
    enter_outputs(nb, outcome)
    notes = [*outcome.notes(limits), *notes, *_failed_cell_notes(nb), *_unanswered_notes(nb)]
    return CheckReport(
        [_test_result(cell, changed_items) for cell in nb.cells if is_test(cell)], notes
    )


@contextmanager
def _chdir_to_data_copies(notebook_folder, nb, notes):
    """Change to a temporary folder with copies of the data files; add notes on missing files."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name in nb.metadata.get(METADATA_KEY, {}).get("files", []):
            if not (notebook_folder / name).is_file():
                notes.append(f"the data file {name} is missing; the grader has it")
                continue
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(notebook_folder / name, Path(folder) / name)
        with chdir(folder):
            yield


def _failed_cell_notes(nb):
    """Yield notes on cells other than tests that stopped with an error."""
    for cell in code_cells(nb):
        errors = [output for output in cell.outputs if output.output_type == "error"]
        if errors and not is_test(cell):
            first_line = next(filter(None, cell.source.splitlines()), "")
            cell_description = (
                f"cell {cell_name(cell)}" if cell_name(cell) else f"the cell {first_line[:40]!r}"
            )
            yield f"{cell_description} stopped: {errors[0].ename}: {errors[0].evalue}"


def _unanswered_notes(nb):
    """Yield notes on manually graded answers that are empty."""
    for cell in nb.cells:
        if is_grade(cell) and is_solution(cell) and is_unanswered(cell):
            yield f"the answer {cell_name(cell)} is empty"


def _reconstruct_master(student_nb):
    """Return the notebook as it was handed out, as far as it can be reconstructed.

    It has the cells that were handed out, once each and in the original order, without answers.
    """
    cells = {cell_key(cell): cell for cell in reversed(student_nb.cells)}
    released_keys = student_nb.metadata.get(METADATA_KEY, {}).get("cells", [*reversed(cells)])
    master = deepcopy(student_nb)
    master.cells = [deepcopy(cells[key]) for key in released_keys if key in cells]
    for cell in master.cells:
        if is_solution(cell):
            cell.source = ""
    return master


def _missing_and_changed_items(nb):
    """Return the names of the cells that are missing, and those of changed locked cells."""
    keys = {cell_key(cell) for cell in nb.cells}
    released_keys = nb.metadata.get(METADATA_KEY, {}).get("cells", ())
    missing_items = [key for key in released_keys if key not in keys and not key.startswith("#")]
    changed_items = [
        cell_name(cell)
        for cell in nb.cells
        if cell_name(cell)
        and is_locked(cell)
        and cell.metadata.nbgrader.get("checksum", compute_checksum(cell)) != compute_checksum(cell)
    ]
    return missing_items, changed_items


def _test_result(cell, changed_items):
    errors = [output for output in cell.outputs if output.output_type == "error"]
    score, max_score = determine_grade(cell)
    message = None
    if cell_name(cell) in changed_items:
        score, message = 0.0, "it was changed and is not counted here"
    elif errors:
        message = ": ".join(filter(None, (errors[0].ename, errors[0].evalue)))
    elif score < max_score:
        message = f"gives {score:g} points"
    return TestResult(cell_name(cell), score, max_score, message)
