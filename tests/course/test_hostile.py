"""Submissions that mean harm, and those that were only made badly: none reaches beyond itself.

One course has them all, with an honest submission among them. Each is said to end with a mark and a
note; no other mark, and no file outside the folders that grading writes, may be touched by any.
What each achieved is a table of the instructor's guide, which is compared line by line.

All kinds go through the sandbox at their limits nightly. In between, those that only deceive the
tests run in forked shells, with all the files; those that ask for what they may not have share one
sandbox; those that take too long, or too much, are in test_sandbox.py, at small limits.
"""

import hashlib
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from coursework import NAME
from hostile import ESSAY_WAITS, EXPECTED, FILES, MISNAMED, PLACES, hand_in_all
from hostile_code import CODE, DECEIVING, REFUSED

from svmbook.course.execution.outcome import Limits
from svmbook.course.execution.sandbox import run_cells
from svmbook.course.grading.grade import grade
from svmbook.course.reports.feedback import feedback
from svmbook.course.reports.report import report

GUIDE = Path(__file__).resolve().parents[2] / "book/teaching.md"


def _digests(root, *, without=()):
    """Return a digest of each file below a folder, but for some folders of it."""
    return {
        path.relative_to(root): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and path.relative_to(root).parts[0] not in without
    }


def _met(course, one):
    """Return what became of a submission, in the words of the report or of its own cell."""
    if one.reasons:
        return "; ".join(one.reasons)
    nb = nbformat.read(course.autograded(one.student, NAME), as_version=4)
    errors = [out.ename for cell in nb.cells for out in cell.get("outputs", ()) if "ename" in out]
    return f"`{errors[0]}`" if errors else "nothing"


def _table_of_the_guide():
    """Return what the guide says of each kind: its points at most, and what it may have met."""
    _, tried = GUIDE.read_text(encoding="utf-8").split("### Attacks on the grader that were tested")
    lines = re.findall(r"^\| (.+) \| (\d) \| (.+) \|$", tried, re.M)
    return {kind: (float(most), met.split(", or ")) for kind, most, met in lines}


def check_all(released, sandbox, tmp_path, subtests, kinds):
    """Grade kinds of code and all kinds of files; look at marks, files, pages and the guide."""
    shutil.copytree(released.root, tmp_path / "course")
    course = type(released)(tmp_path / "course")
    (tmp_path / "beside.txt").write_text("untouched")
    hand_in_all(course, kinds)
    written = ("autograded", "backups", "gradebook.db", ".lock")
    before = _digests(course.root, without=written)
    limits = Limits(seconds=20, cell_seconds=4, memory=2**30, disk=2**24, output=1_000_000)
    total, *done = grade(course, NAME, jobs=2, sandbox=sandbox, limits=limits)
    expected = {*kinds, *FILES, *PLACES, "is honest"}
    assert total == len(done) == len(expected)
    with subtests.test("files"):
        assert _digests(course.root, without=written) == before
        assert (tmp_path / "beside.txt").read_text() == "untouched"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.txt", "course"]
    for one in done:
        with subtests.test(one.student):
            most, says = EXPECTED[one.student]
            assert one.score <= most
            if one.student not in CODE or most == ESSAY_WAITS:
                assert one.score == most  # what is only made badly loses no more than it must
            if says is not None:
                assert says in "; ".join(one.reasons)
    with subtests.test("names"):
        assert course.left_out().keys() == {*MISNAMED}
        assert {one.student for one in done} == expected
        assert "Left out: " in report(course, NAME).read_text("utf-8")
    with subtests.test("pages"):
        _look_at_pages(course, [*feedback(course, NAME), report(course, NAME)], len(done) + 1)
    said = _table_of_the_guide()
    for one in done:
        with subtests.test("guide", kind=one.student):
            most, met = said[one.student]
            assert most == EXPECTED[one.student][0]
            assert _met(course, one) in met


@pytest.mark.nightly
def test_each_gets_what_it_earned_and_reaches_nothing_else(released, sandbox, tmp_path, subtests):
    check_all(released, sandbox, tmp_path, subtests, CODE)


def test_deceivers_and_bad_files_get_what_they_earned(released, shells, tmp_path, subtests):
    check_all(released, shells, tmp_path, subtests, DECEIVING)


def test_what_is_asked_for_in_vain_is_refused_as_the_guide_says(sandbox):
    cells = [{"source": CODE[kind][0], "kind": "own"} for kind in REFUSED]
    outcome = run_cells(cells, Limits(memory=2**30, disk=2**24), sandbox)
    assert outcome.reason is None
    said = _table_of_the_guide()
    for number, kind in enumerate(REFUSED):
        errors = [output["ename"] for output in outcome.outputs[number] if "ename" in output]
        assert f"`{errors[-1]}`" in said[kind][1], kind


def test_the_guide_has_all_kinds():
    assert _table_of_the_guide().keys() == EXPECTED.keys()


def _look_at_pages(course, pages, expected):
    """Nothing on the pages is there to be run, or tells a hidden test."""
    assert len(pages) == expected
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'" in text
        for bad in ("<script", "<img src=//", "secret_of_the_test", "<iframe"):
            assert bad not in text.lower()
    assert all(path.is_relative_to(course.root) for path in pages)
    kept = {path.name for path in (course.root / "feedback").rglob("*") if path.is_file()}
    assert kept == {f"{NAME}.html"}
