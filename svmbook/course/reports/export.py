"""Export marks as CSV in the formats of learning platforms."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from ..grading.pending import count_pending
from ..layout.marks import assignment_marks, hours_late, totals

__all__ = ["write_marks"]

# The first columns of the file for each platform, and the entry for a missing mark.
PLATFORMS = {
    "canvas": (["Student", "ID", "SIS User ID", "SIS Login ID", "Section"], ""),
    "moodle": (["ID number"], "-"),
}
# Columns that contain the student's name, by which a platform finds the student: Canvas by the
# login or the name, Moodle by the field that the user chooses when importing.
STUDENT_COLUMNS = ("Student", "SIS Login ID", "ID number")


@dataclass(frozen=True)
class AssignmentResult:
    """One student's total mark for an assignment.

    `n_unmarked` is the number of answers still to be marked by hand. `hours_late` is None if it is
    not known.
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
        ``plain`` has one row per student and assignment. ``moodle`` and ``canvas`` have one row
        per student and one column per assignment, with the headers that these platforms expect.

    Returns
    -------
    list of str
        Notes about missing marks, marks without a submission, files and folders that were left out,
        and students whom the platform will not find.
    """
    results = _assignment_results(course)
    if file_format == "plain":
        rows = _plain_rows(results)
    else:
        rows = _platform_rows(results, *PLATFORMS[file_format])
    csv.writer(file, lineterminator="\n").writerows(rows)
    notes = []
    if n_unmarked := sum(result.n_unmarked for result in results):
        notes.append(f"answers not yet marked by hand: {n_unmarked}; they count as 0 points")
    for student in sorted({result.student for result in results}):
        escaped = _escape_formula(student)
        if file_format != "plain" and escaped != student:
            notes.append(
                f"{student!r} is written as {escaped!r}, so that spreadsheets do not read it as a "
                f"formula; {file_format.title()} will not find this student"
            )
    return [*notes, *_grading_notes(course, results)]


def _assignment_results(course):
    results = []
    with course.open_gradebook() as gradebook:
        for assignment in course.assignment_names():
            hours_by_student = hours_late(gradebook, assignment)
            for student, marks in assignment_marks(gradebook, assignment).items():
                n_unmarked = sum(mark.needs_manual_grade for mark in marks.values())
                result = AssignmentResult(
                    student, assignment, *totals(marks), n_unmarked, hours_by_student.get(student)
                )
                results.append(result)
    # The sort is stable, so the order of the assignments is kept.
    return sorted(results, key=lambda result: result.student)


def _plain_rows(results):
    yield ["student", "assignment", "score", "max_score", "complete", "hours_late"]
    for result in results:
        hours = "" if result.hours_late is None else round(result.hours_late, 4)
        is_complete = not result.n_unmarked
        yield [
            _escape_formula(result.student),
            result.assignment,
            result.score,
            result.max_score,
            is_complete,
            hours,
        ]


def _platform_rows(results, first_columns, missing_mark):
    max_scores, scores_by_student = {}, {}
    for result in sorted(results, key=lambda result: result.assignment):
        max_scores[result.assignment] = result.max_score
        scores_by_student.setdefault(result.student, {})[result.assignment] = result.score
    yield [*first_columns, *max_scores]
    if "Student" in first_columns:
        yield ["    Points Possible", *[""] * (len(first_columns) - 1), *max_scores.values()]
    for student, scores in sorted(scores_by_student.items()):
        student_entries = [
            _escape_formula(student) if column in STUDENT_COLUMNS else ""
            for column in first_columns
        ]
        yield [
            *student_entries,
            *(scores.get(assignment, missing_mark) for assignment in max_scores),
        ]


def _grading_notes(course, results):
    """Yield notes about submissions without a current mark, and marks without a submission."""
    submissions_by_assignment, skip_reasons = course.find_submissions()
    for assignment, submissions in submissions_by_assignment.items():
        if not submissions:
            continue
        try:
            if count := count_pending(course, assignment):
                yield f"{assignment}: submissions not graded, or changed since then: {count}"
        except ValueError as error:  # the assignment has not been released, or has changed since
            yield str(error)
    submitted_pairs = {
        (assignment, submission.student)
        for assignment in submissions_by_assignment
        for submission in submissions_by_assignment[assignment]
    }
    for result in results:
        if (result.assignment, result.student) not in submitted_pairs:
            yield f"{result.assignment}: {result.student!r} has a mark but no submission"
    for path, reason in skip_reasons.items():
        yield f"left out: {path!r}; {reason}"


def _escape_formula(text):
    """Return a text in a form that spreadsheets do not read as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
