"""Marks in the gradebook."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Mark", "assignment_marks", "hours_late", "submission_marks", "totals"]


@dataclass(frozen=True)
class Mark:
    """The mark of a student for an item.

    Attributes
    ----------
    score, max_score : float
        Points given so far, and the maximum.
    auto_score : float or None
        Points given by tests; None for a manually graded answer.
    manual_score : float or None
        Points given by a person, which replace those given by tests.
    needs_manual_grade : bool
        Whether a person still has to mark the item.
    """

    score: float
    max_score: float
    auto_score: float | None
    manual_score: float | None
    needs_manual_grade: bool


def assignment_marks(gradebook, assignment):
    """Return the marks of all submissions of an assignment.

    Parameters
    ----------
    gradebook : nbgrader.api.Gradebook
        The gradebook, open.
    assignment : str
        The name of the assignment.

    Returns
    -------
    dict
        For each student a dict of `Mark` by item, in the order of the notebook.
    """
    return {
        submission.student.id: submission_marks(submission, assignment)
        for submission in gradebook.assignment_submissions(assignment)
    }


def submission_marks(submission, assignment):
    """Return the marks of one submission of an assignment, a dict of `Mark` by item."""
    notebook = next(notebook for notebook in submission.notebooks if notebook.name == assignment)
    return {
        grade.name: Mark(
            grade.score,
            grade.max_score,
            grade.auto_score,
            grade.manual_score,
            # When a notebook is graded again, nbgrader sets the flag even for items with a manual
            # mark, which remains valid.
            bool(grade.needs_manual_grade and grade.manual_score is None),
        )
        for grade in notebook.grades
    }


def hours_late(gradebook, assignment):
    """Return how late each submission of an assignment is.

    Parameters
    ----------
    gradebook : nbgrader.api.Gradebook
        The gradebook, open.
    assignment : str
        The name of the assignment.

    Returns
    -------
    dict
        Hours after the due date by student, 0 if the submission was on time. The dict omits
        students if the assignment has no due date or the submission has no timestamp.
    """
    return {
        submission.student.id: submission.total_seconds_late / 3600
        for submission in gradebook.assignment_submissions(assignment)
        if submission.timestamp is not None and submission.assignment.duedate is not None
    }


def totals(marks):
    """Return the sums of the scores and of the maximum scores of a dict of `Mark` by item."""
    values = marks.values()
    return sum(mark.score for mark in values), sum(mark.max_score for mark in values)
