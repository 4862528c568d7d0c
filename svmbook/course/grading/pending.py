"""What is to be graded: what was handed in and is not graded yet, or has changed since."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime

from nbgrader.api import MissingEntry
from nbgrader.utils import is_grade

from ..layout.handed_in import Submission
from ..layout.items import NOTE, item_of
from ..layout.marks import marks_of
from ..submissions.identity import is_personal, settle_id, written_id
from ..submissions.receive import Rejected, read_notebook, read_timestamp

__all__ = ["Pending", "count_pending", "find_pending", "reasons_of"]


@dataclass(frozen=True)
class Pending:
    """A submission that is to be graded: its cells or why there are none, its time, its numbers."""

    submission: Submission
    cells: list | None
    reason: str | None
    handed_in: datetime | None
    digest: str
    numbers: str | None = None


def find_pending(course, name, master, again=False):
    """Return the submissions that are to be graded.

    Parameters
    ----------
    course : Course
        The course.
    name : str
        The assignment.
    master : NotebookNode
        Its notebook, from `Course.master`.
    again : bool, default=False
        Whether those that are graded are among them.

    Returns
    -------
    list of Pending

    Raises
    ------
    ValueError
        The assignment was not released, or its items have changed since.
    """
    entered, pending = _entered(course, name, master), []
    tasks = [(cell.cell_type, cell.source, cell.metadata.get("nbgrader")) for cell in master.cells]
    tasks += [(file, _digest_of_file(path)) for file, path in course.data_files(name).items()]
    ids = course.ids() if is_personal(master) else None
    for student, submission in course.submissions(name).items():
        (cells, reason), numbers, handed_in, notes = _read(course, submission), None, None, []
        if cells is not None:
            handed_in, *notes = read_timestamp(submission.path.parent)
        if cells is not None and ids is not None:
            numbers, note = settle_id(student, written_id(cells), ids)
            notes.append(note)
        submission = replace(submission, notes=[*submission.notes, *filter(None, notes)])
        known = [str(one) for one in (handed_in, numbers) if one is not None]
        digest = _digest(tasks, cells, reason, submission.notes, *known)
        before = _note(course.autograded(student, name))
        if again or (before.get("digest"), before.get("marks")) != (digest, entered.get(student)):
            pending.append(Pending(submission, cells, reason, handed_in, digest, numbers))
    return pending


def count_pending(course, name):
    """Return how many submissions of an assignment `grade` would grade, and raise as it does."""
    return len(find_pending(course, name, course.master(name)))


def reasons_of(course, name, student):
    """Return what was not as it should be with a submission that was graded.

    Parameters
    ----------
    course : Course
        The course.
    name, student : str
        The assignment and the student.

    Returns
    -------
    list of str
        The reasons, most often none.
    """
    return _note(course.autograded(student, name)).get("reasons", [])


def _entered(course, name, master):
    """Return the marks of each student by tests as they stand in the gradebook."""
    with course.gradebook() as book:
        try:
            cells = book.find_notebook(name, name).grade_cells
        except MissingEntry:
            raise ValueError(
                f"{name} was not released; run svmbook course release {name} first."
            ) from None
        if {cell.name: cell.max_score for cell in cells} != {
            item_of(cell): cell.metadata.nbgrader["points"]
            for cell in master.cells
            if is_grade(cell)
        }:
            raise ValueError(
                f"items of {name} have changed since it was released; run svmbook course release "
                f"{name} again, and tell those who have the older one."
            )
        return {
            student: {item: mark.by_tests for item, mark in marks.items()}
            for student, marks in marks_of(book, name).items()
        }


def _read(course, submission):
    below = submission.path.relative_to(course.root / "submitted")
    try:
        return read_notebook(submission.path, within=len(below.parts) - 1), None
    except Rejected as error:
        return None, str(error)


def _digest(*parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _digest_of_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _note(path):
    """Return what was noted when a notebook was graded; nothing if it is not there."""
    try:
        return json.loads(path.read_bytes())["metadata"][NOTE]
    except (OSError, ValueError, KeyError):
        return {}
