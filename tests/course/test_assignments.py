"""Each assignment of the book: its solution gets all points, a typical mistake loses its own."""

import re

import pytest
from coursework import (
    ASSIGNMENTS,
    ROOT,
    about,
    combined,
    filled,
    hand_in_as,
    of_the_book,
    variants,
)

from svmbook.course.grading.grade import grade
from svmbook.course.layout.folder import create
from svmbook.course.layout.marks import marks_of

NAMES = sorted(path.parent.name for path in ASSIGNMENTS.glob("*/*.ipynb"))


@pytest.fixture(scope="module")
def autumn(tmp_path_factory):
    """A course with all assignments of the book, none released yet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVMBOOK_ASSIGNMENTS", str(ASSIGNMENTS))
        return create(tmp_path_factory.mktemp("autumn") / "course")


def check_marks(course, name, handed, sandbox):
    """Hand in answers to an assignment, and compare the marks with those expected."""
    course.release(name)
    for student, (answers, _) in handed.items():
        hand_in_as(course, student, name, filled(course, name, answers))
    total, *done = grade(course, name, jobs=2, sandbox=sandbox)
    assert total == len(done) and not any(one.reasons for one in done)
    with course.gradebook() as book:
        found = marks_of(book, name)
    for student, (_, expected) in handed.items():
        marks = {item: mark.by_tests for item, mark in found[student].items()}
        given = {item: points for item, points in marks.items() if points is not None}
        assert given == expected, student


# In forked shells: what a variant is given depends on the tests, which run in the grader's own code
# there too. Bubblewrap and the limits are those of all assignments.
@pytest.mark.parametrize("name", NAMES)
def test_solutions_get_all_and_mistakes_lose_their_own(name, shells, autumn):
    check_marks(autumn, name, combined(name), shells)


@pytest.mark.nightly  # each mistake alone, and in the sandbox with its limits
@pytest.mark.parametrize("name", NAMES)
def test_marks_in_the_sandbox_are_those_of_each_mistake(name, sandbox, tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBOOK_ASSIGNMENTS", str(ASSIGNMENTS))
    check_marks(create(tmp_path / "course", [name]), name, variants(name), sandbox)


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_says_what_it_asks(name):
    cells = of_the_book(name).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    points = sum(about(cell).get("points", 0) for cell in cells)
    assert f"**Points** {points}." in text
    minutes = int(re.search(r"\*\*Time\*\* (\d+) minutes", text)[1])
    assert 60 <= minutes <= 120
    essays = [c for c in cells if about(c).get("grade") and about(c).get("solution")]
    assert essays and text.count("BEGIN MARK SCHEME") == len(essays)
    tests = [c for c in cells if about(c).get("grade") and not about(c).get("solution")]
    assert all("### BEGIN HIDDEN TESTS" in cell.source for cell in tests)
    assert len(variants(name)) >= 5
    by_tests, by_hand = (sum(about(c)["points"] for c in part) for part in (tests, essays))
    guide = (ROOT / "book/teaching.md").read_text(encoding="utf-8")
    line = rf"^\| `{name}` \| \{{ref\}}`[a-z-]+` \| {minutes} \| {by_tests} \| {by_hand} \|$"
    assert re.search(line, guide, re.M)
