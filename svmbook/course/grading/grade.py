"""Grade what was handed in: each notebook in a sandbox of its own, marks into the gradebook.

A submission is done when its graded notebook is written, which happens after its marks are, and
these are those of the gradebook; so grading that was ended at any moment goes on where it was, and
does the last one again.
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

from ...files import write_whole
from ..execution.outcome import Limits, Outcome
from ..execution.sandbox import SandboxError, find_sandbox, run_cells
from ..layout.items import NOTE, answers_of, item_of
from ..layout.marks import marks_in, totals
from ..submissions.identity import enter_id
from ..submissions.merge import lay_upon
from .pending import find_pending
from .verdicts import cells_to_run, code_cells, enter_outputs

__all__ = ["Graded", "Judged", "grade", "run_submission"]


@dataclass(frozen=True)
class Graded:
    """One submission that was graded.

    Attributes
    ----------
    student : str
        Whose it is.
    score, most : float
        Points given so far, and points there are.
    reasons : list of str
        What was not as it should be.
    """

    student: str
    score: float
    most: float
    reasons: list


def grade(course, name, jobs=1, sandbox=None, limits=None, again=False):
    """Grade the submissions of an assignment that are not graded yet, or have changed.

    Parameters
    ----------
    course : Course
        The course.
    name : str
        The assignment, which must have been released.
    jobs : int, default=1
        Sandboxes at a time.
    sandbox : str, optional
        Path of bubblewrap, or `sandbox.UNSAFE`; by default it is looked for.
    limits : Limits, optional
        What each submission may use.
    again : bool, default=False
        Whether those that are graded are done again.

    Yields
    ------
    Graded or int
        First how many there are to do, then each as it is done.

    Raises
    ------
    ValueError
        There is no such assignment, it was not released, or its items have changed since.
    SandboxError
        There is no bubblewrap.
    BlockingIOError
        The course is being graded already.
    """
    master = course.master(name)
    sandbox = sandbox or find_sandbox()
    with course.alone():
        pending = find_pending(course, name, master, again)
        yield len(pending)
        if pending:
            course.back_up()
        common = {"sandbox": sandbox, "limits": limits, "files": course.data_files(name)}
        results = _run_all(master, pending, jobs, **common)
        # One gradebook for all: opening it takes longer than entering marks.
        with course.gradebook() as book, closing(results):
            for one, judged in results:
                yield _record(course, book, name, one, judged)


def _run_all(master, pending, jobs, **common):
    """Run submissions; yield each with its `Judged` result."""
    stop = common["stop"] = threading.Event()
    late = []  # perhaps only because of what ran beside them
    with ThreadPoolExecutor(jobs) as pool:
        try:
            futures = {pool.submit(_run, master, one, **common): one for one in pending}
            for future in as_completed(futures):
                one = futures.pop(future)
                judged = _judged(future.result, master)
                if judged.late and jobs > 1:
                    late.append(one)
                else:
                    yield one, judged
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
    stop.clear()
    for one in late:
        yield one, _judged(partial(_run, master, one, **common), master)


def _run(master, one, **common):
    return run_submission(master, one.cells, one.reason, student=one.numbers, **common)


def _judged(work, master):
    """Return what came of a submission; of one that the grader cannot take, zeros for now."""
    try:
        return work()
    except SandboxError:
        raise
    except Exception as error:
        failed = run_submission(master, None, f"the grader failed on it: {error!r}")
        return replace(failed, final=False)


@dataclass(frozen=True)
class Judged:
    """What came of a submission.

    Attributes
    ----------
    nb : NotebookNode
        The notebook with all outputs, as nbgrader reads marks from it.
    notes : list of str
        What was not as it should be.
    late : bool
        Whether a limit on time was met.
    final : bool
        Whether it need not be tried once more by the next run.
    failed : dict
        Errors of given cells in the process of the tests, by their names.
    """

    nb: NotebookNode
    notes: list
    late: bool = False
    final: bool = True
    failed: dict = field(default_factory=dict)


def run_submission(master, cells, reason=None, student=None, **where):
    """Lay a submission upon the instructor's notebook, and run it.

    Parameters
    ----------
    master : NotebookNode
        The instructor's notebook, from `Course.master`.
    cells : list of tuple or None
        As read by `read_notebook`; None where nothing could be read.
    reason : str, optional
        Why nothing is run.
    student : str, optional
        With whose numbers, where questions differ from student to student.
    **where
        As `run_cells` takes it: the sandbox, its limits, an event that ends the run, data files.

    Returns
    -------
    Judged
    """
    nb, notes = lay_upon(master, cells)
    enter_id(nb, student)
    outcome = Outcome(reason=reason)
    if reason is None:
        outcome = run_cells(cells_to_run(nb), answers=answers_of(nb), **where)
    enter_outputs(nb, outcome)
    notes = [*outcome.notes(where.get("limits") or Limits()), *notes]
    code = code_cells(nb)
    failed = {item_of(code[number]): error for number, error in outcome.failed.items()}
    return Judged(nb, notes, outcome.late, failed=failed)


def _record(course, book, name, pending, judged):
    """Enter the marks, write the graded notebook, and return what was given."""
    student, nb = pending.submission.student, judged.nb
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # of the order in which nbgrader adds its rows
        book.update_or_create_student(student)
        book.update_or_create_submission(name, student, timestamp=pending.handed_in)
    _save_marks(book, name, student, nb)
    marks = marks_in(book.find_submission(name, student), name)
    path = course.autograded(student, name)
    changed = [item for item in _changed(path, nb) if marks[item].by_hand is not None]
    reasons = [*judged.notes, *pending.submission.notes]
    reasons += [f"{item} has changed since it was marked by hand" for item in changed]
    by_tests = {item: mark.by_tests for item, mark in marks.items()}
    nb.metadata[NOTE] = {
        "digest": pending.digest if judged.final else None,
        "reasons": reasons,
        "marks": by_tests,
    }
    write_whole(path, nbformat.writes(nb))
    return Graded(student, *totals(marks), reasons)


def _save_marks(book, name, student, nb):
    """Let nbgrader save the marks of a notebook, in a gradebook that is open already.

    Its `preprocess` would open another one, which takes longer than entering the marks.
    """
    saver = SaveAutoGrades()
    saver.gradebook, saver.student_id = book, student
    saver.assignment_id = saver.notebook_id = name
    for number, cell in enumerate(nb.cells):
        saver.preprocess_cell(cell, {}, number)


def _changed(path, nb):
    """Return the answers for a person to read that are not those of an earlier graded notebook."""
    try:
        before = {item_of(cell): cell.source for cell in nbformat.read(path, as_version=4).cells}
    except (OSError, ValueError):
        return []
    answers = [cell for cell in nb.cells if is_grade(cell) and is_solution(cell)]
    return [item_of(cell) for cell in answers if before.get(item_of(cell)) != cell.source]
