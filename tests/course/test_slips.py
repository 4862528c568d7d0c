"""Honest students slip: each slip has its verdict, and none loses a point that it should have."""

import re
from pathlib import Path

import nbformat
import pytest
from coursework import ESSAY, NAME, about
from slips import BESIDE, LEFT_OUT, SLIPS, hand_in_all, student_of

from svmbook.course.grading.grade import grade
from svmbook.course.grading.student import check
from svmbook.course.reports.report import report

GUIDE = Path(__file__).resolve().parents[2] / "book/teaching.md"


def test_every_slip_has_its_verdict(course, shells, subtests):
    hand_in_all(course)
    total, *done = grade(course, NAME, jobs=2, sandbox=shells)
    done = {one.student: one for one in done}
    assert total == len(done) == len(SLIPS)
    for kind, (_, points, says) in SLIPS.items():
        with subtests.test(kind):
            one = done[student_of(kind)]
            assert one.score == points
            assert says in "; ".join(one.reasons) if says else one.reasons == []
            if says == BESIDE:
                check_essay(course, student_of(kind))
    left_out = course.left_out()
    assert len(left_out) == len(LEFT_OUT)
    for kind, (_, says) in LEFT_OUT.items():
        (why,) = (why for where, why in left_out.items() if student_of(kind) in where)
        assert says in why
    page = report(course, NAME).read_text("utf-8")
    assert page.count("Left out: ") == len(LEFT_OUT)


def check_essay(course, student):
    """An essay stands in its place, wherever it was written, and waits to be read."""
    nb = nbformat.read(course.autograded(student, NAME), as_version=4)
    (essay,) = (cell for cell in nb.cells if about(cell).get("grade_id") == "essay")
    assert essay.source.strip().lstrip("# ") == ESSAY
    with course.gradebook() as book:
        assert book.find_grade("essay", NAME, NAME, student).needs_manual_grade


def test_the_guide_has_all_slips():
    text = GUIDE.read_text(encoding="utf-8")
    _, table = text.split("### Common mistakes in submissions")
    lines = re.findall(r"^\| (.+) \| (\d|not graded) \| (.+) \|$", table.split("###")[0], re.M)
    said = {kind: (points, words) for kind, points, words in lines}
    assert said.keys() == SLIPS.keys() | LEFT_OUT.keys()
    for kind, (_, points, says) in SLIPS.items():
        assert said[kind][0] == str(points)
        assert (says or "nothing") in said[kind][1]
    for kind, (_, says) in LEFT_OUT.items():
        assert said[kind][0] == "not graded" and says in said[kind][1]


@pytest.mark.parametrize(
    "kind",
    [
        *("answers in two cells", "has every cell twice", "moves the answers to the end"),
        *("deletes a test", "leaves exit() at the end", "saves with a byte order mark"),
        *("calls a variable sum", "overwrites a name of the tests"),
    ],
)
def test_a_student_learns_the_same_at_home(course, shells, kind):
    make, points, says = SLIPS[kind]
    make(course, "one")
    found = check(course.root / "submitted" / "one" / NAME / f"{NAME}.ipynb")
    assert sum(result.score for result in found.results) + found_missing(found) == points
    assert (says is None) or found.notes


def found_missing(found):
    """Return the points of tests that are not in the notebook; the grader puts them back."""
    return 3.0 if any("test_square is missing" in note for note in found.notes) else 0.0
