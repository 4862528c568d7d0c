"""The commands as instructors and students type them, and their error messages."""

import nbformat
import pytest
from click.testing import CliRunner
from coursework import (
    ASSIGNMENT,
    TOTAL,
    answered_notebook,
    cell_named,
    create_course,
    edit_source_notebook,
    hand_in,
)
from nbformat.v4 import new_code_cell, new_markdown_cell

from svmbook.course.cli import check_notebook as check_command
from svmbook.course.cli import course as commands
from svmbook.course.grading import trial
from svmbook.course.grading.grade import grade_submissions
from svmbook.course.grading.student_check import check_notebook
from svmbook.course.layout.folder import Course
from svmbook.course.reports.report import write_report


def test_commands_release_grade_and_export_a_new_course(
    assignments_folder, tmp_path, monkeypatch, sandbox
):
    monkeypatch.setenv("SVMBOOK_ASSIGNMENTS", str(assignments_folder))
    root = tmp_path / "autumn"

    def run(*args, code=0):
        result = CliRunner().invoke(commands, [*args, "--course", str(root)])
        assert result.exit_code == code, result.output
        return result.output

    assert CliRunner().invoke(commands, ["init", str(root)]).output.endswith("autumn: small\n")
    with monkeypatch.context() as patch:  # the trial starts seven kernels; test_trial.py tests it
        patch.setattr(trial, "try_out", lambda *args: trial.TrialReport([], []))
        assert "small.ipynb" in run("release", ASSIGNMENT)
    course = Course(root)
    hand_in(course, "ann", answered_notebook(course))
    hand_in(course, "ben", b"{}")
    (root / "submitted/cem").mkdir()
    nbformat.write(answered_notebook(course), root / "submitted/cem/small.ipynb")
    output = run("grade", ASSIGNMENT, "--jobs", "2")
    assert "small: 2 graded, 0 unchanged" in output
    assert "'ben': 0 of 9; the file is not" in output
    assert "left out: 'cem'; a notebook belongs in" in output
    assert "small: 0 graded, 2 unchanged" in run("grade", ASSIGNMENT)
    assert "small: 2 graded" in run("grade", ASSIGNMENT, "--regrade", "--unsafe")
    assert "feedback: 2\n" in run("feedback", ASSIGNMENT)
    assert "small.html" in run("report", ASSIGNMENT)
    output = run("export", "--format", "moodle")
    assert "ann,5.0\nben,0.0\n" in output and "answers not yet marked by hand: 1;" in output
    assert "no pair of submissions" in run("similar", ASSIGNMENT)


def test_student_sees_which_tests_pass_and_which_did_not_run(course, tmp_path):
    path = tmp_path / "mine.ipynb"
    nb = answered_notebook(course, total="import os\ndef total(x): os._exit(1)")
    nb.metadata.kernelspec.name = "my-kernel"
    nbformat.write(nb, path)
    result = CliRunner().invoke(check_command, [str(path)])
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "test_square     3  passed",
        "test_total      2  failed: NotRun: the kernel died",
        "note: the kernel died",
    ]


def test_student_can_run_the_visible_tests(course, tmp_path):
    path = tmp_path / "mine.ipynb"
    nbformat.write(answered_notebook(course, total=TOTAL.replace("sum(x)", "0.0 * sum(x)")), path)
    results = check_notebook(path).results
    assert [(r.item, r.max_score, r.message is None) for r in results] == [
        ("test_square", 3, True),
        ("test_total", 2, False),
    ]
    assert "total is 0, which is not right" in results[1].message


def test_check_reports_stopped_cells_and_unanswered_questions(course, shell_sandbox, tmp_path):
    with edit_source_notebook(course) as nb:
        nb.cells.insert(-1, new_markdown_cell("## Your turn"))
    course.release(ASSIGNMENT)
    nb = answered_notebook(course, essay="*Your answer.*", square="1 +", total="%pdb on\n" + TOTAL)
    nb.cells.append(new_code_cell("1 / 0"))
    nbformat.write(nb, tmp_path / "mine.ipynb")
    report = check_notebook(tmp_path / "mine.ipynb")
    assert report.notes[0].startswith("cell square stopped: SyntaxError")
    assert report.notes[1:] == [
        "the cell '1 / 0' stopped: ZeroDivisionError: division by zero",
        "the answer essay is empty",
    ]


@pytest.mark.usefixtures("shell_sandbox")
def test_changed_test_gives_no_points_in_check(course, tmp_path):
    nb = answered_notebook(course)
    cell_named(nb, "test_square").source = "pass"
    nbformat.write(nb, tmp_path / "mine.ipynb")
    first, second = check_notebook(tmp_path / "mine.ipynb").results
    assert first.score == 0 and "was changed" in first.message and second.message is None


def test_missing_course_assignment_or_marks_raise_errors(course, assignments_folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="not the folder of a course"):
        Course(tmp_path)
    with pytest.raises(ValueError, match="no assignment 'other'; there are: small"):
        course.source_path("other")
    with pytest.raises(ValueError, match="no assignment"):
        course.source_path("../small")
    with pytest.raises(ValueError, match="no submission of small has been graded"):
        write_report(course, ASSIGNMENT)
    with pytest.raises(ValueError, match="no assignment 'none'; there are small"):
        create_course(tmp_path / "new", assignments_folder, ["none"])
    unreleased_course = create_course(tmp_path / "new", assignments_folder)
    with pytest.raises(ValueError, match="has not been released"):
        next(grade_submissions(unreleased_course, ASSIGNMENT, sandbox="unused"))


def test_init_does_not_overwrite_assignments(course, assignments_folder):
    course.source_path(ASSIGNMENT).write_text(course.source_path(ASSIGNMENT).read_text() + "\n")
    edited_content = course.source_path(ASSIGNMENT).read_bytes()
    create_course(course.root, assignments_folder)
    assert course.source_path(ASSIGNMENT).read_bytes() == edited_content
