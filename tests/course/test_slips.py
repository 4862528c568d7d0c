"""Common mistakes in handing in: each is graded and reported as the instructor's guide says."""

import nbformat
import pytest
from coursework import ASSIGNMENT, ESSAY, cell_named, table_rows
from slips import ADJACENT_TEXT_MESSAGE, SKIPPED_SLIPS, SLIPS, hand_in_all, student_of

from svmbook.course.grading.grade import grade_submissions
from svmbook.course.grading.student_check import check
from svmbook.course.reports.report import write_report


def test_slips_are_graded_and_reported(course, shell_sandbox, subtests):
    hand_in_all(course)
    total, *graded_submissions = grade_submissions(
        course, ASSIGNMENT, jobs=2, sandbox=shell_sandbox
    )
    graded_by_student = {graded.student: graded for graded in graded_submissions}
    assert total == len(graded_by_student) == len(SLIPS)
    for kind, (_, points, message) in SLIPS.items():
        with subtests.test(kind):
            graded = graded_by_student[student_of(kind)]
            assert graded.score == points
            assert message in "; ".join(graded.notes) if message else graded.notes == []
            if message == ADJACENT_TEXT_MESSAGE:
                check_essay(course, student_of(kind))
    skip_reasons = course.skip_reasons()
    assert len(skip_reasons) == len(SKIPPED_SLIPS)
    for kind, (_, message) in SKIPPED_SLIPS.items():
        (reason,) = (reason for path, reason in skip_reasons.items() if student_of(kind) in path)
        assert message in reason
    page = write_report(course, ASSIGNMENT).read_text("utf-8")
    assert page.count("Left out: ") == len(SKIPPED_SLIPS)


def check_essay(course, student):
    """Check that a misplaced essay was moved to its cell, and needs a manual mark."""
    nb = nbformat.read(course.autograded_path(student, ASSIGNMENT), as_version=4)
    assert cell_named(nb, "essay").source.strip().lstrip("# ") == ESSAY
    with course.gradebook() as book:
        assert book.find_grade("essay", ASSIGNMENT, ASSIGNMENT, student).needs_manual_grade


def test_guide_lists_all_slips():
    table = table_rows("Common mistakes in submissions")
    guide_rows = {kind: (points, message) for kind, points, message in table}
    assert guide_rows.keys() == SLIPS.keys() | SKIPPED_SLIPS.keys()
    for kind, (_, points, message) in SLIPS.items():
        assert guide_rows[kind][0] == str(points)
        assert (message or "nothing") in guide_rows[kind][1]
    for kind, (_, message) in SKIPPED_SLIPS.items():
        assert guide_rows[kind][0] == "not graded" and message in guide_rows[kind][1]


@pytest.mark.parametrize(
    "kind",
    [
        *("answers in two cells", "has every cell twice", "moves the answers to the end"),
        *("deletes a test", "leaves exit() at the end", "saves with a byte order mark"),
        *("calls a variable sum", "overwrites a name of the tests"),
    ],
)
def test_check_gives_students_the_same_points(course, shell_sandbox, kind):
    hand_in_slip, points, message = SLIPS[kind]
    hand_in_slip(course, "one")
    report = check(course.root / "submitted" / "one" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    # The grader restores the missing test and gives its 3 points.
    restored_points = 3.0 if "test_square is missing" in "; ".join(report.notes) else 0.0
    assert sum(result.score for result in report.results) + restored_points == points
    assert message is None or report.notes
