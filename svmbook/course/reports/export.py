"""Marks as CSV, in the columns that learning platforms read."""

from __future__ import annotations

import csv

from ..layout.marks import marks_of, totals

__all__ = ["export"]


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
        How many answers wait to be read by a person; they count nothing yet.
    """
    names = course.names()
    most, marks, waiting = {}, {}, {}
    with course.gradebook() as book:
        for name in names:
            for student, items in marks_of(book, name).items():
                marks.setdefault(student, {})[name], most[name] = totals(items)
                waiting[student, name] = sum(mark.waits for mark in items.values())
    writer = csv.writer(file, lineterminator="\n")
    used = [name for name in names if name in most]
    if kind == "plain":
        writer.writerow(["student", "assignment", "score", "max_score", "complete"])
        for student, row in sorted(marks.items()):
            for name, score in row.items():
                complete = not waiting[student, name]
                writer.writerow([_cell(student), name, score, most[name], complete])
        return sum(waiting.values())
    head = ["Student", "ID", "SIS Login ID", "Section"] if kind == "canvas" else ["ID number"]
    writer.writerow([*head, *used])
    if kind == "canvas":
        writer.writerow(["    Points Possible", "", "", "", *(most[name] for name in used)])
    for student, row in sorted(marks.items()):
        whose = _cell(student)
        first = [whose, "", whose, ""] if kind == "canvas" else [whose]
        writer.writerow([*first, *(row.get(name, "") for name in used)])
    return sum(waiting.values())


def _cell(text):
    """Return a text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
