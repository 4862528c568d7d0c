"""Marks as they stand in the gradebook."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Mark", "hours_late", "marks_in", "marks_of", "totals"]


@dataclass(frozen=True)
class Mark:
    """What a student got for an item.

    Attributes
    ----------
    score, most : float
        Points given so far, and points there are.
    by_tests : float or None
        Points that tests gave; None for an answer that a person reads.
    by_hand : float or None
        Points that a person gave in their place.
    waits : bool
        Whether a person has still to read it.
    """

    score: float
    most: float
    by_tests: float | None
    by_hand: float | None
    waits: bool


def marks_of(book, name):
    """Return the marks of all who handed in an assignment.

    Parameters
    ----------
    book : nbgrader.api.Gradebook
        The gradebook, open.
    name : str
        The assignment.

    Returns
    -------
    dict
        Of each student a dict of `Mark` by item, in the order of the notebook.
    """
    return {
        submission.student.id: marks_in(submission, name)
        for submission in book.assignment_submissions(name)
    }


def marks_in(submission, name):
    """Return the marks of one submission of an assignment, a dict of `Mark` by item."""
    notebook = next(notebook for notebook in submission.notebooks if notebook.name == name)
    return {
        grade.name: Mark(
            grade.score,
            grade.max_score,
            grade.auto_score,
            grade.manual_score,
            # nbgrader flags a mark given by hand when its notebook is graded again; it stands.
            bool(grade.needs_manual_grade and grade.manual_score is None),
        )
        for grade in notebook.grades
    }


def hours_late(book, name):
    """Return how many hours after its due date each submission of an assignment was handed in.

    Parameters
    ----------
    book : nbgrader.api.Gradebook
        The gradebook, open.
    name : str
        The assignment.

    Returns
    -------
    dict
        The hours by student, 0 if it was in time. Students are left out where the assignment has no
        due date or the submission no time.
    """
    return {
        one.student.id: one.total_seconds_late / 3600
        for one in book.assignment_submissions(name)
        if one.timestamp is not None and one.assignment.duedate is not None
    }


def totals(marks):
    """Return the points given so far, and the points there are, of a dict of `Mark` by item."""
    return sum(mark.score for mark in marks.values()), sum(mark.most for mark in marks.values())
