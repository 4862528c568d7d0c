"""Hostile and malformed submissions affect neither other marks nor files.

One course contains all kinds of hostile submissions and an honest one. A hostile submission must
not change the mark of another one, or a file outside the folders to which grading writes. The
book's page on coursework has a table of the marks and messages, which is compared row by row.

The nightly test grades all kinds in the sandbox. The other tests take less time. They run code that
affects only its own kernel, and all malformed files, in forked shells, and they run the forbidden
operations together in one sandbox. test_sandbox.py tests the limits on time and output with small
values.
"""

import hashlib

import nbformat
import pytest
from coursework import API_PAGE, ASSIGNMENT, copy_course, table_rows
from hostile_code import CODE_BY_KIND, KINDS_FAILING_IN_SANDBOX, KINDS_SAFE_WITHOUT_SANDBOX
from hostile_submissions import (
    AUTOGRADED_POINTS,
    FILE_KINDS,
    FOLDER_KINDS,
    INVALID_STUDENT_NAMES,
    MAX_SCORES_AND_MESSAGES,
    hand_in_all,
)

from svmbook.course.execution.outcome import Limits
from svmbook.course.execution.sandbox import run_cells
from svmbook.course.grading.grade import grade_submissions
from svmbook.course.reports.feedback import write_feedback
from svmbook.course.reports.report import write_report


def _digests(root, *, excluded_names=()):
    """Return a digest of each file below a folder, except in entries with the excluded names."""
    return {
        path.relative_to(root): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and path.relative_to(root).parts[0] not in excluded_names
    }


def _message_or_error(course, graded):
    """Return the report's message about a submission, or else the first error of its cells."""
    if graded.notes:
        return "; ".join(graded.notes)
    nb = nbformat.read(course.autograded_path(graded.student, ASSIGNMENT), as_version=4)
    outputs = [output for cell in nb.cells for output in cell.get("outputs", ())]
    errors = [output.ename for output in outputs if "ename" in output]
    return f"`{errors[0]}`" if errors else "nothing"


def _attack_table():
    """Return, by kind, the largest possible score and the possible results in the page's table."""
    rows = table_rows("Attacks on the grader that were tested", API_PAGE)
    return {kind: (float(points), messages.split(", or ")) for kind, points, messages in rows}


def check_hostile_submissions(released_course, sandbox, tmp_path, subtests, kinds):
    """Grade these kinds of code and all kinds of files; check marks, files, pages and table."""
    course = copy_course(released_course, tmp_path / "course")
    (tmp_path / "outside.txt").write_text("untouched")
    hand_in_all(course, kinds)
    grading_output_names = ("autograded", "backups", "gradebook.db", ".lock")
    old_digests = _digests(course.root, excluded_names=grading_output_names)
    limits = Limits(seconds=20, cell_seconds=4, memory=2**30, disk=2**24, output=1_000_000)
    n_submissions, *graded_submissions = grade_submissions(
        course, ASSIGNMENT, n_jobs=2, sandbox=sandbox, limits=limits
    )
    expected_students = {*kinds, *FILE_KINDS, *FOLDER_KINDS, "is honest"}
    assert n_submissions == len(graded_submissions) == len(expected_students)
    with subtests.test("files"):
        assert _digests(course.root, excluded_names=grading_output_names) == old_digests
        assert (tmp_path / "outside.txt").read_text() == "untouched"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["course", "outside.txt"]
    table = _attack_table()
    for graded in graded_submissions:
        with subtests.test(graded.student):
            score_limit, message = MAX_SCORES_AND_MESSAGES[graded.student]
            assert graded.score <= score_limit
            if graded.student not in CODE_BY_KIND or score_limit == AUTOGRADED_POINTS:
                assert graded.score == score_limit  # harmless or malformed: exactly this number
            if message is not None:
                assert message in "; ".join(graded.notes)
        with subtests.test("table", kind=graded.student):
            score_limit, messages = table[graded.student]
            assert score_limit == MAX_SCORES_AND_MESSAGES[graded.student][0]
            assert _message_or_error(course, graded) in messages
    with subtests.test("names"):
        assert course.skip_reasons().keys() == {*INVALID_STUDENT_NAMES}
        assert {graded.student for graded in graded_submissions} == expected_students
        assert "Left out: " in write_report(course, ASSIGNMENT).read_text("utf-8")
    with subtests.test("pages"):
        pages = [*write_feedback(course, ASSIGNMENT), write_report(course, ASSIGNMENT)]
        assert len(pages) == len(graded_submissions) + 1
        _check_pages(course, pages)


@pytest.mark.nightly  # the tests below run most of these kinds without the limits
def test_hostile_submissions_affect_only_themselves_in_the_sandbox(
    released_course, sandbox, tmp_path, subtests
):
    check_hostile_submissions(released_course, sandbox, tmp_path, subtests, CODE_BY_KIND)


def test_safe_and_malformed_submissions_affect_only_themselves_in_shells(
    released_course, shell_sandbox, tmp_path, subtests
):
    check_hostile_submissions(
        released_course, shell_sandbox, tmp_path, subtests, KINDS_SAFE_WITHOUT_SANDBOX
    )


def test_forbidden_operations_fail_with_the_errors_in_the_table(sandbox):
    cells = [{"source": CODE_BY_KIND[kind], "kind": "student"} for kind in KINDS_FAILING_IN_SANDBOX]
    outcome = run_cells(cells, Limits(memory=2**30, disk=2**24), sandbox)
    assert outcome.not_run_reason is None
    table = _attack_table()
    for k, kind in enumerate(KINDS_FAILING_IN_SANDBOX):
        errors = [output["ename"] for output in outcome.outputs[k] if "ename" in output]
        assert f"`{errors[-1]}`" in table[kind][1], kind


def test_attack_table_lists_all_kinds_of_submissions():
    assert _attack_table().keys() == MAX_SCORES_AND_MESSAGES.keys()


def _check_pages(course, pages):
    """Check that the pages have no active content and show no hidden test."""
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'" in text
        for active_content in ("<script", "<img src=//", "secret_of_the_test", "<iframe"):
            assert active_content not in text.lower()
    assert all(path.is_relative_to(course.root) for path in pages)
    names = {path.name for path in (course.root / "feedback").rglob("*") if path.is_file()}
    assert names == {f"{ASSIGNMENT}.html"}
