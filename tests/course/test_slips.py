"""Common mistakes in submissions are graded and reported as the instructor's guide says."""

import nbformat
import pytest
from coursework import ASSIGNMENT, ESSAY, cell_named, table_rows
from slips import ADJACENT_TEXT_MESSAGE, SKIPPED_SLIPS, SLIPS, hand_in_all, student_of

from svmbook.course.grading.grade import grade_submissions
from svmbook.course.grading.student_check import check_notebook
from svmbook.course.reports.report import write_report


def test_slips_are_graded_and_reported(course, shell_sandbox, subtests):
    hand_in_all(course)
    n_submissions, *graded_submissions = grade_submissions(
        course, ASSIGNMENT, n_jobs=2, sandbox=shell_sandbox
    )
    graded_by_student = {graded.student: graded for graded in graded_submissions}
    assert n_submissions == len(graded_by_student) == len(SLIPS)
    for slip, (_, points, message) in SLIPS.items():
        with subtests.test(slip):
            graded = graded_by_student[student_of(slip)]
            assert graded.score == points
            assert message in "; ".join(graded.notes) if message else graded.notes == []
            if message == ADJACENT_TEXT_MESSAGE:
                check_that_essay_was_moved(course, student_of(slip))
    skip_reasons = course.skip_reasons()
    assert len(skip_reasons) == len(SKIPPED_SLIPS)
    for slip, (_, message) in SKIPPED_SLIPS.items():
        (reason,) = (reason for path, reason in skip_reasons.items() if student_of(slip) in path)
        assert message in reason
    page = write_report(course, ASSIGNMENT).read_text("utf-8")
    assert page.count("Left out: ") == len(SKIPPED_SLIPS)


def check_that_essay_was_moved(course, student):
    """Check that a misplaced essay was moved to its cell and must be graded manually."""
    nb = nbformat.read(course.autograded_path(student, ASSIGNMENT), as_version=4)
    assert cell_named(nb, "essay").source.strip().lstrip("# ") == ESSAY
    with course.open_gradebook() as gradebook:
        assert gradebook.find_grade("essay", ASSIGNMENT, ASSIGNMENT, student).needs_manual_grade


def test_guide_lists_all_slips():
    table = table_rows("Common mistakes in submissions")
    guide_rows = {slip: (points, message) for slip, points, message in table}
    assert guide_rows.keys() == SLIPS.keys() | SKIPPED_SLIPS.keys()
    for slip, (_, points, message) in SLIPS.items():
        assert guide_rows[slip][0] == str(points)
        assert (message or "nothing") in guide_rows[slip][1]
    for slip, (_, message) in SKIPPED_SLIPS.items():
        assert guide_rows[slip][0] == "not graded" and message in guide_rows[slip][1]


@pytest.mark.parametrize(
    "slip",
    [
        *("answers in two cells", "has every cell twice", "moves the answers to the end"),
        *("deletes a test", "leaves exit() at the end", "saves with a byte order mark"),
        *("calls a variable sum", "overwrites a name of the tests"),
    ],
)
def test_student_check_gives_the_same_points_as_grading(course, shell_sandbox, slip):
    submit, points, message = SLIPS[slip]
    submit(course, "one")
    report = check_notebook(course.root / "submitted" / "one" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb")
    # The grader restores the missing test and gives its 3 points.
    restored_points = 3.0 if "test_square is missing" in "; ".join(report.notes) else 0.0
    assert sum(result.score for result in report.results) + restored_points == points
    assert message is None or report.notes
