"""Grade submissions: run each notebook in its own sandbox, and enter its marks in the gradebook.

The marks of a submission are entered before its graded notebook is written. A submission counts as
graded if its graded notebook exists and contains the marks of the gradebook. If grading is
interrupted at any time, the next run therefore resumes with the submission that was unfinished.
"""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import is_grade, is_solution
from sqlalchemy.exc import SAWarning

from ...files import write_atomically
from ..execution.outcome import Limits, Outcome
from ..execution.sandbox import SandboxError, find_bubblewrap, run_cells
from ..layout.items import METADATA_KEY, answer_names, cell_name
from ..layout.marks import submission_marks, totals
from ..submissions.identity import enter_id
from ..submissions.merge import merge_submission
from .cells import cells_to_run, code_cells, enter_outputs
from .pending import find_pending

__all__ = ["GradedSubmission", "RunResult", "grade_submissions", "run_submission"]


@dataclass(frozen=True)
class GradedSubmission:
    """Summary of a graded submission.

    Attributes
    ----------
    student : str
        The student.
    score, max_score : float
        Points given so far, and the maximum.
    notes : list of str
        Problems of the submission.
    """

    student: str
    score: float
    max_score: float
    notes: list


def grade_submissions(course, assignment, n_jobs=1, sandbox=None, limits=None, regrade=False):
    """Grade the submissions of an assignment that are not graded yet or have changed.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The name of the assignment, which must have been released.
    n_jobs : int, default=1
        Number of sandboxes at a time.
    sandbox : str, optional
        Path of bubblewrap, or `sandbox.UNSAFE`; by default it is found automatically.
    limits : Limits, optional
        Limits of each submission.
    regrade : bool, default=False
        Whether to grade unchanged submissions again.

    Yields
    ------
    int or GradedSubmission
        First the number of submissions to grade, then each submission when it is graded.

    Raises
    ------
    ValueError
        There is no such assignment, it has not been released, or its items have changed since.
    SandboxError
        bubblewrap is not installed, or it cannot make a sandbox.
    BlockingIOError
        The course is being graded already.
    """
    master = course.master(assignment)
    sandbox = sandbox or find_bubblewrap()
    with course.lock():
        pending_submissions = find_pending(course, assignment, master, regrade)
        yield len(pending_submissions)
        if pending_submissions:
            course.back_up()
        run_options = {
            "sandbox": sandbox,
            "limits": limits,
            "data_files": course.data_files(assignment),
        }
        runs = _run_all(master, pending_submissions, n_jobs, **run_options)
        # Open the gradebook once, because opening it takes longer than entering marks.
        with course.open_gradebook() as gradebook, closing(runs):
            for pending_submission, result in runs:
                yield _save_graded_submission(
                    course, gradebook, assignment, pending_submission, result
                )


def _run_all(master, pending_submissions, n_jobs, **run_options):
    """Run pending submissions; yield each with its `RunResult`."""
    stop_event = run_options["stop_event"] = threading.Event()
    # These are run again one at a time, because others may have slowed them down.
    timed_out_submissions = []
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            futures = {
                pool.submit(
                    _run_pending, master, pending_submission, **run_options
                ): pending_submission
                for pending_submission in pending_submissions
            }
            for future in as_completed(futures):
                pending_submission = futures.pop(future)
                result = _result_or_zero(future.result, master)
                if result.timed_out and n_jobs > 1:
                    timed_out_submissions.append(pending_submission)
                else:
                    yield pending_submission, result
        finally:
            stop_event.set()
            pool.shutdown(wait=False, cancel_futures=True)
    stop_event.clear()
    for pending_submission in timed_out_submissions:
        run = partial(_run_pending, master, pending_submission, **run_options)
        yield pending_submission, _result_or_zero(run, master)


def _run_pending(master, pending_submission, **run_options):
    return run_submission(
        master,
        pending_submission.cells,
        pending_submission.rejection_reason,
        student_id=pending_submission.student_id,
        **run_options,
    )


def _result_or_zero(run, master):
    """Return the result of a run, or preliminary zero marks if the grader itself fails."""
    try:
        return run()
    except SandboxError:
        raise
    except Exception as error:
        zero_result = run_submission(
            master, None, f"the grader failed on this submission: {error!r}"
        )
        return replace(zero_result, is_final=False)


@dataclass(frozen=True)
class RunResult:
    """Result of running a submission.

    Attributes
    ----------
    nb : NotebookNode
        The notebook with all outputs, from which nbgrader reads the marks.
    notes : list of str
        Problems of the submission.
    timed_out : bool
        Whether a time limit was exceeded.
    is_final : bool
        Whether the result is final; if not, the next run grades the submission again.
    locked_cell_errors : dict
        Errors of locked cells in the process that runs the tests, by the name of the cell.
    """

    nb: NotebookNode
    notes: list
    timed_out: bool = False
    is_final: bool = True
    locked_cell_errors: dict = field(default_factory=dict)


def run_submission(master, cells, not_run_reason=None, student_id=None, **run_options):
    """Merge a submission into the master notebook, and run the result.

    Parameters
    ----------
    master : NotebookNode
        The master notebook, from `Course.master`.
    cells : list of tuple or None
        Cells from `read_notebook`; None if the submission could not be read.
    not_run_reason : str, optional
        The reason why nothing is run.
    student_id : str, optional
        The id that determines the numbers in personalised questions.
    **run_options
        Options of `run_cells`: the sandbox, its limits, an event that ends the run, data files.

    Returns
    -------
    RunResult
    """
    nb, notes = merge_submission(master, cells)
    enter_id(nb, student_id)
    outcome = Outcome(not_run_reason=not_run_reason)
    if not_run_reason is None:
        outcome = run_cells(cells_to_run(nb), answer_names=answer_names(nb), **run_options)
    enter_outputs(nb, outcome)
    notes = [*outcome.notes(run_options.get("limits") or Limits()), *notes]
    names = [cell_name(cell) for cell in code_cells(nb)]
    errors = {names[number]: error for number, error in outcome.locked_cell_errors.items()}
    return RunResult(nb, notes, outcome.timed_out, locked_cell_errors=errors)


def _save_graded_submission(course, gradebook, assignment, pending_submission, result):
    """Enter the marks, write the graded notebook, and return a summary."""
    submission, nb = pending_submission.submission, result.nb
    student = submission.student
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # about the order in which nbgrader adds rows
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(
            assignment, student, timestamp=pending_submission.timestamp
        )
    _save_marks(gradebook, assignment, student, nb)
    marks = submission_marks(gradebook.find_submission(assignment, student), assignment)
    path = course.autograded_path(student, assignment)
    notes = [*result.notes, *submission.notes]
    notes += [
        f"{item} has changed since it was marked by hand"
        for item in _changed_answers(path, nb)
        if marks[item].manual_score is not None
    ]
    nb.metadata[METADATA_KEY] = {
        "digest": pending_submission.digest if result.is_final else None,
        "notes": notes,
        "marks": {item: mark.auto_score for item, mark in marks.items()},
    }
    write_atomically(path, nbformat.writes(nb))
    return GradedSubmission(student, *totals(marks), notes)


def _save_marks(gradebook, assignment, student, nb):
    """Save the marks of a notebook with nbgrader, in a gradebook that is open already."""
    saver = SaveAutoGrades()
    # Its method `preprocess` would open the gradebook again.
    saver.gradebook, saver.student_id = gradebook, student
    saver.assignment_id = saver.notebook_id = assignment
    for number, cell in enumerate(nb.cells):
        saver.preprocess_cell(cell, {}, number)


def _changed_answers(path, nb):
    """Return the names of manually graded answers that differ from the last graded notebook."""
    try:
        old_sources = {
            cell_name(cell): cell.source for cell in nbformat.read(path, as_version=4).cells
        }
    except (OSError, ValueError):
        return []
    answers = [cell for cell in nb.cells if is_grade(cell) and is_solution(cell)]
    return [cell_name(cell) for cell in answers if old_sources.get(cell_name(cell)) != cell.source]
