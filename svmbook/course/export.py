"""Marks as CSV, in the columns that learning platforms read."""

from __future__ import annotations

import csv

from .grade import waits

__all__ = ["FORMATS", "export"]

FORMATS = ("plain", "moodle", "canvas")


def export(course, file, kind="plain"):
    """Write the marks of all assignments.

    Parameters
    ----------
    course : Course
        The course.
    file : text file
        Where to.
    kind : {"plain", "moodle", "canvas"}, default="plain"
        ``plain`` has a line for each student and assignment. ``moodle`` and ``canvas`` have a line
        for each student and a column for each assignment, under the names these systems expect.

    Returns
    -------
    int
        How many students.
    """
    names = course.names()
    most, marks = {}, {}
    with course.gradebook() as book:
        for name in names:
            for submission in book.assignment_submissions(name):
                student = submission.student
                most[name] = submission.max_score
                waiting = any(map(waits, submission.notebooks[0].grades))
                marks.setdefault(student.id, {})[name] = (submission.score, waiting)
    writer = csv.writer(file, lineterminator="\n")
    used = [name for name in names if name in most]
    if kind == "plain":
        writer.writerow(["student", "assignment", "score", "max_score", "complete"])
        for student, row in sorted(marks.items()):
            for name, (score, waiting) in row.items():
                writer.writerow([_cell(student), name, score, most[name], not waiting])
        return len(marks)
    head = ["Student", "ID", "SIS Login ID", "Section"] if kind == "canvas" else ["ID number"]
    writer.writerow([*head, *used])
    if kind == "canvas":
        writer.writerow(["    Points Possible", "", "", "", *(most[name] for name in used)])
    for student, row in sorted(marks.items()):
        whose = _cell(student)
        first = [whose, "", whose, ""] if kind == "canvas" else [whose]
        writer.writerow([*first, *(row[name][0] if name in row else "" for name in used)])
    return len(marks)


def _cell(text):
    """Return a text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
