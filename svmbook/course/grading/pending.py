"""Submissions to be graded: those that are not graded yet or have changed since."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime

from nbgrader.api import MissingEntry
from nbgrader.utils import is_grade

from ..layout.items import METADATA_KEY, cell_name
from ..layout.marks import assignment_marks
from ..layout.submitted import Submission
from ..submissions.identity import choose_id, find_stated_id, is_personalised
from ..submissions.read import SubmissionError, read_notebook, read_timestamp

__all__ = ["PendingSubmission", "count_pending", "find_pending", "recorded_notes"]


@dataclass(frozen=True)
class PendingSubmission:
    """A submission to be graded.

    Attributes
    ----------
    submission : Submission
        The student, the path of the notebook, and notes.
    cells : list of tuple or None
        Cells from `read_notebook`; None if the notebook could not be read.
    rejection_reason : str or None
        The reason why the notebook could not be read; None if it could.
    timestamp : datetime or None
        The time of the submission, if it is known.
    digest : str
        Digest of everything that the marks depend on.
    student_id : str or None
        The id that determines the numbers in personalised questions; None if it is not needed.
    """

    submission: Submission
    cells: list | None
    rejection_reason: str | None
    timestamp: datetime | None
    digest: str
    student_id: str | None = None


def find_pending(course, assignment, master, regrade=False):
    """Return the submissions to be graded.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The name of the assignment.
    master : NotebookNode
        The master notebook, from `Course.master`.
    regrade : bool, default=False
        Whether to include submissions that are graded already.

    Returns
    -------
    list of PendingSubmission

    Raises
    ------
    ValueError
        The assignment has not been released, or its items have changed since its release.
    """
    auto_scores, pending = _auto_scores(course, assignment, master), []
    assignment_parts = [
        (cell.cell_type, cell.source, cell.metadata.get("nbgrader")) for cell in master.cells
    ]
    assignment_parts += [
        (name, _digest_of_file(path)) for name, path in course.data_files(assignment).items()
    ]
    ids = course.student_ids() if is_personalised(master) else None
    for student, submission in course.submissions(assignment).items():
        cells, rejection_reason = _read_cells(course, submission)
        student_id, timestamp, notes = None, None, []
        if cells is not None:
            timestamp, *notes = read_timestamp(submission.path.parent)
        if cells is not None and ids is not None:
            student_id, note = choose_id(student, find_stated_id(cells), ids)
            notes.append(note)
        submission = replace(submission, notes=[*submission.notes, *filter(None, notes)])
        known_parts = [str(value) for value in (timestamp, student_id) if value is not None]
        digest = _digest(assignment_parts, cells, rejection_reason, submission.notes, *known_parts)
        metadata = _read_metadata(course.autograded_path(student, assignment))
        if regrade or (metadata.get("digest"), metadata.get("marks")) != (
            digest,
            auto_scores.get(student),
        ):
            pending.append(
                PendingSubmission(
                    submission, cells, rejection_reason, timestamp, digest, student_id
                )
            )
    return pending


def count_pending(course, assignment):
    """Return how many submissions `grade_submissions` would grade, or raise ValueError."""
    return len(find_pending(course, assignment, course.master(assignment)))


def recorded_notes(course, assignment, student):
    """Return the problems that grading recorded in a student's graded notebook."""
    return _read_metadata(course.autograded_path(student, assignment)).get("notes", [])


def _auto_scores(course, assignment, master):
    """Return, for each student, the scores in the gradebook that were given by tests.

    Raise ValueError if the assignment has not been released, or its items have changed since.
    """
    with course.open_gradebook() as gradebook:
        try:
            cells = gradebook.find_notebook(assignment, assignment).grade_cells
        except MissingEntry:
            raise ValueError(
                f"{assignment} has not been released; "
                f"run svmbook course release {assignment} first."
            ) from None
        if {cell.name: cell.max_score for cell in cells} != {
            cell_name(cell): cell.metadata.nbgrader["points"]
            for cell in master.cells
            if is_grade(cell)
        }:
            raise ValueError(
                f"items of {assignment} have changed since it was released; run svmbook course "
                f"release {assignment} again, and inform students who have the older version."
            )
        return {
            student: {item: mark.auto_score for item, mark in marks.items()}
            for student, marks in assignment_marks(gradebook, assignment).items()
        }


def _read_cells(course, submission):
    """Return the cells of a submission and None, or None and the reason why it was rejected."""
    relative_path = submission.path.relative_to(course.root / "submitted")
    try:
        return read_notebook(submission.path, n_checked_parents=len(relative_path.parts) - 1), None
    except SubmissionError as error:
        return None, str(error)


def _digest(*parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _digest_of_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_metadata(path):
    """Return this package's metadata in a graded notebook; an empty dict if there is none."""
    try:
        return json.loads(path.read_bytes())["metadata"][METADATA_KEY]
    except (OSError, ValueError, KeyError):
        return {}
