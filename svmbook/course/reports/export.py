"""Export marks as CSV in the formats of learning platforms."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from ..grading.pending import count_pending
from ..layout.marks import assignment_marks, hours_late, totals

__all__ = ["write_marks"]

# The first columns, and the value of a missing mark.
PLATFORMS = {
    "canvas": (["Student", "ID", "SIS User ID", "SIS Login ID", "Section"], ""),
    "moodle": (["ID number"], "-"),
}
# Columns that contain the student's name, by which a platform finds the student: Canvas by the
# login or the name, Moodle by the field that the user chooses when importing.
STUDENT_COLUMNS = ("Student", "SIS Login ID", "ID number")


@dataclass(frozen=True)
class Row:
    """One student's mark for an assignment.

    `n_unmarked` is the number of answers that a person still has to mark. `hours_late` is None if
    it is not known.
    """

    student: str
    assignment: str
    score: float
    max_score: float
    n_unmarked: int
    hours_late: float | None


def write_marks(course, file, file_format="plain"):
    """Write the marks of all assignments.

    Parameters
    ----------
    course : Course
        The course.
    file : text file
        The file to write to.
    file_format : {"plain", "moodle", "canvas"}, default="plain"
        ``plain`` has one line per student and assignment. ``moodle`` and ``canvas`` have one line
        per student and one column per assignment, with the headers that these platforms expect.

    Returns
    -------
    list of str
        Notes about missing marks, and about students whom the platform will not find.
    """
    rows = _rows(course)
    if file_format == "plain":
        lines = _plain_lines(rows)
    else:
        lines = _platform_lines(rows, *PLATFORMS[file_format])
    csv.writer(file, lineterminator="\n").writerows(lines)
    notes = []
    if n_unmarked := sum(row.n_unmarked for row in rows):
        notes.append(f"answers to be marked by hand: {n_unmarked}; they count 0 points until then")
    for student in sorted({row.student for row in rows}):
        escaped = _escape_formula(student)
        if file_format != "plain" and escaped != student:
            notes.append(
                f"{student!r} is written as {escaped!r}, so that spreadsheets do not read it as a "
                f"formula; {file_format.title()} will not find this student"
            )
    return [*notes, *_grading_notes(course, rows)]


def _rows(course):
    rows = []
    with course.gradebook() as gradebook:
        for assignment in course.assignment_names():
            hours = hours_late(gradebook, assignment)
            for student, marks in assignment_marks(gradebook, assignment).items():
                n_unmarked = sum(mark.needs_manual_grade for mark in marks.values())
                rows.append(
                    Row(student, assignment, *totals(marks), n_unmarked, hours.get(student))
                )
    return sorted(rows, key=lambda row: row.student)  # stable: the order of assignments is kept


def _plain_lines(rows):
    yield ["student", "assignment", "score", "max_score", "complete", "hours_late"]
    for row in rows:
        hours = "" if row.hours_late is None else round(row.hours_late, 4)
        is_complete = not row.n_unmarked
        yield [
            _escape_formula(row.student),
            row.assignment,
            row.score,
            row.max_score,
            is_complete,
            hours,
        ]


def _platform_lines(rows, first_columns, missing_mark):
    max_scores, marks = {}, {}
    for row in sorted(rows, key=lambda row: row.assignment):
        max_scores[row.assignment] = row.max_score
        marks.setdefault(row.student, {})[row.assignment] = row.score
    yield [*first_columns, *max_scores]
    if "Student" in first_columns:
        yield ["    Points Possible", *[""] * (len(first_columns) - 1), *max_scores.values()]
    for student, scores in sorted(marks.items()):
        student_columns = [
            _escape_formula(student) if column in STUDENT_COLUMNS else ""
            for column in first_columns
        ]
        yield [
            *student_columns,
            *(scores.get(assignment, missing_mark) for assignment in max_scores),
        ]


def _grading_notes(course, rows):
    """Yield notes about submissions without a current mark, and marks without a submission."""
    submissions_by_assignment, skip_reasons = course.find_submissions()
    for assignment, submissions in submissions_by_assignment.items():
        if not submissions:
            continue
        try:
            if count := count_pending(course, assignment):
                yield f"{assignment}: submissions not graded yet, or changed since: {count}"
        except ValueError as error:  # the assignment has not been released, or has changed since
            yield str(error)
    submitted_pairs = {
        (assignment, submission.student)
        for assignment in submissions_by_assignment
        for submission in submissions_by_assignment[assignment]
    }
    for row in rows:
        if (row.assignment, row.student) not in submitted_pairs:
            yield f"{row.assignment}: {row.student!r} has a mark but no submission"
    for path, reason in skip_reasons.items():
        yield f"left out: {path!r}; {reason}"


def _escape_formula(text):
    """Return a text in a form that spreadsheets do not read as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
