"""Marks as CSV, in the columns that learning platforms read."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from ..grading.pending import count_pending
from ..layout.marks import hours_late, marks_of, totals

__all__ = ["export"]

# The first columns, and what stands for a mark that there is not. A student's name stands in those
# columns by which a platform can find somebody: Canvas by the login or else the name, Moodle by
# whichever of its fields the user of its import form chooses.
PLATFORMS = {
    "canvas": (["Student", "ID", "SIS User ID", "SIS Login ID", "Section"], ""),
    "moodle": (["ID number"], "-"),
}
NAMED = ("Student", "SIS Login ID", "ID number")


@dataclass(frozen=True)
class Row:
    """One student's mark for an assignment, how many answers wait to be read, and how late it is.

    The hours are None where they are not known.
    """

    student: str
    assignment: str
    score: float
    most: float
    waits: int
    hours_late: float | None


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
    list of str
        What the marks do not contain yet, and which students the platform will not find.
    """
    rows = _rows(course)
    lines = _plain(rows) if kind == "plain" else _for_platform(rows, *PLATFORMS[kind])
    csv.writer(file, lineterminator="\n").writerows(lines)
    notes = []
    if waits := sum(row.waits for row in rows):
        notes.append(f"{waits} answers wait to be read; they count nothing yet")
    for student in sorted({row.student for row in rows}):
        written = _cell(student)
        if kind != "plain" and written != student:
            notes.append(
                f"{student!r} is written as {written!r}, so that no spreadsheet takes it for a "
                f"formula; {kind.title()} will not find this student"
            )
    return [*notes, *_not_graded(course, rows)]


def _rows(course):
    rows = []
    with course.gradebook() as book:
        for name in course.names():
            late = hours_late(book, name)
            for student, marks in marks_of(book, name).items():
                waits = sum(mark.waits for mark in marks.values())
                rows.append(Row(student, name, *totals(marks), waits, late.get(student)))
    return sorted(rows, key=lambda row: row.student)  # assignments stay in their order


def _plain(rows):
    yield ["student", "assignment", "score", "max_score", "complete", "hours_late"]
    for row in rows:
        late = "" if row.hours_late is None else round(row.hours_late, 4)
        yield [_cell(row.student), row.assignment, row.score, row.most, not row.waits, late]


def _for_platform(rows, first, missing):
    most, marks = {}, {}
    for row in sorted(rows, key=lambda row: row.assignment):
        most[row.assignment] = row.most
        marks.setdefault(row.student, {})[row.assignment] = row.score
    yield [*first, *most]
    if "Student" in first:
        yield ["    Points Possible", *[""] * (len(first) - 1), *most.values()]
    for student, scores in sorted(marks.items()):
        whose = [_cell(student) if column in NAMED else "" for column in first]
        yield [*whose, *(scores.get(name, missing) for name in most)]


def _not_graded(course, rows):
    """Yield what lies in `submitted` and has no mark for what it is, and marks for what is gone."""
    found, left_out = course.handed_in()
    for name, submissions in found.items():
        if not submissions:
            continue
        try:
            if count := count_pending(course, name):
                yield f"{name}: {count} submissions are not graded yet, or have changed since"
        except ValueError as error:  # it was not released, or has changed since
            yield str(error)
    there = {(name, one.student) for name in found for one in found[name]}
    for row in rows:
        if (row.assignment, row.student) not in there:
            yield f"{row.assignment}: {row.student!r} has a mark, and no submission any more"
    for who, why in left_out.items():
        yield f"left out: {who!r}; {why}"


def _cell(text):
    """Return a text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
