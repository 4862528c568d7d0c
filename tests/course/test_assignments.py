"""Assignments of the book: the solution gets all points, and each typical mistake loses some."""

import re

import pytest
from coursework import (
    ASSIGNMENTS_FOLDER,
    GUIDE,
    answered_book_assignment,
    book_assignment,
    combined_submission_variants,
    create_course,
    hand_in_assignment,
    nbgrader_metadata,
    submission_variants,
)

from svmbook.course.grading.grade import grade_submissions
from svmbook.course.layout.marks import assignment_marks

ASSIGNMENT_NAMES = sorted(path.parent.name for path in ASSIGNMENTS_FOLDER.glob("*/*.ipynb"))


@pytest.fixture(scope="module")
def unreleased_course(tmp_path_factory):
    """A course with all assignments of the folder, none released yet."""
    return create_course(tmp_path_factory.mktemp("unreleased") / "course", ASSIGNMENTS_FOLDER)


def grade_and_check_marks(course, name, submissions, sandbox):
    """Release an assignment, grade submissions of it, and compare their marks with the expected."""
    course.release(name)
    for student, (answers, _) in submissions.items():
        hand_in_assignment(course, student, name, answered_book_assignment(course, name, answers))
    n_submissions, *graded_submissions = grade_submissions(course, name, n_jobs=2, sandbox=sandbox)
    assert n_submissions == len(graded_submissions) and not any(
        submission.notes for submission in graded_submissions
    )
    with course.open_gradebook() as gradebook:
        marks = assignment_marks(gradebook, name)
    for student, (_, expected) in submissions.items():
        auto_scores = {item: mark.auto_score for item, mark in marks[student].items()}
        assert {k: v for k, v in auto_scores.items() if v is not None} == expected, student


# Forked shells suffice, because they run the tests with the grader's own code. Bubblewrap and the
# limits do not depend on the assignment.
@pytest.mark.parametrize("name", ASSIGNMENT_NAMES)
def test_solutions_get_all_points_and_mistakes_lose_some(name, shell_sandbox, unreleased_course):
    grade_and_check_marks(
        unreleased_course, name, combined_submission_variants(name), shell_sandbox
    )


@pytest.mark.nightly  # the test above combines mistakes and uses no sandbox
@pytest.mark.parametrize("name", ASSIGNMENT_NAMES)
def test_each_mistake_loses_its_points_in_the_sandbox(name, sandbox, tmp_path):
    course = create_course(tmp_path / "course", ASSIGNMENTS_FOLDER, [name])
    grade_and_check_marks(course, name, submission_variants(name), sandbox)


@pytest.mark.parametrize("name", ASSIGNMENT_NAMES)
def test_assignment_and_guide_state_the_same_points_and_time(name):
    cells = book_assignment(name).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    minutes = int(re.search(r"\*\*Time\*\* (\d+) minutes", text)[1])
    assert 60 <= minutes <= 120
    graded_cells = [cell for cell in cells if nbgrader_metadata(cell).get("grade")]
    essays = [cell for cell in graded_cells if nbgrader_metadata(cell)["solution"]]
    assert essays and text.count("BEGIN MARK SCHEME") == len(essays)
    tests = [cell for cell in graded_cells if cell not in essays]
    assert all("### BEGIN HIDDEN TESTS" in cell.source for cell in tests)
    assert len(submission_variants(name)) >= 5
    test_points, essay_points = (
        sum(nbgrader_metadata(cell)["points"] for cell in part) for part in (tests, essays)
    )
    assert f"**Points** {test_points + essay_points}." in text
    row_pattern = (
        rf"^\| `{name}` \| \{{ref\}}`[a-z-]+` \| {minutes} \| {test_points} \| {essay_points} \|$"
    )
    assert re.search(row_pattern, GUIDE.read_text(encoding="utf-8"), re.M)
