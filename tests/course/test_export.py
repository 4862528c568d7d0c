"""Marks as CSV in the formats of Canvas and Moodle, and notes about missing marks."""

import csv
import io
import re
import shutil
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from coursework import (
    ASSIGNMENT,
    GUIDE,
    answered_notebook,
    copy_course,
    hand_in,
    hand_in_assignment,
)

from svmbook.course.cli import course as commands
from svmbook.course.execution.outcome import Outcome
from svmbook.course.grading import grade as grade_module
from svmbook.course.grading.grade import grade_submissions
from svmbook.course.reports.export import write_marks
from svmbook.course.reports.report import write_report
from svmbook.course.submissions.read import read_timestamp

# Canvas, "How do I import grades in the Gradebook?": the columns of its own export, in its order,
# then one for each assignment; below them a row whose first cell says "Points Possible". Its
# importer (canvas-lms, lib/gradebook_importer.rb) refuses a file whose first header does not
# contain "Student", the second "ID", or the last before the assignments "Section". It finds a
# student by ID, SIS User ID, SIS Login ID or name, and asks about those that it does not find.
CANVAS_COLUMNS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
# MoodleDocs, "Grade import": any columns, of which the form maps one to a user's ID number, email
# address or user name, and others to grade items; "ID number" is the name in Moodle's own export.
# Its importer (grade/import/csv/classes/load_data.php) takes "-" for no mark, and refuses the whole
# file for one user that it does not find.
MOODLE_COLUMNS = ["ID number"]


@pytest.fixture(scope="module")
def graded_course(released_course, tmp_path_factory):
    """A graded course with two assignments, of which the second is a copy of the first."""
    course = copy_course(released_course, tmp_path_factory.mktemp("graded") / "course")
    (course.root / "source/twin").mkdir()
    shutil.copy(course.source_path(ASSIGNMENT), course.root / "source/twin/twin.ipynb")
    course.release("twin")
    nb = answered_notebook(course)
    hand_in_assignment(course, "ann", ASSIGNMENT, nb)
    hand_in_assignment(course, "ann", "twin", nb)
    hand_in_assignment(course, "+HYPERLINK 1", ASSIGNMENT, nb)
    for name in (ASSIGNMENT, "twin"):
        grade_as_if_all_tests_passed(course, name)
    return course


def grade_as_if_all_tests_passed(course, name):
    """Grade an assignment as if all tests passed; return the number of graded submissions."""
    outcome = Outcome(outputs=dict.fromkeys(range(9), ()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade_module, "run_cells", lambda cells, **options: outcome)
        n_submissions, *_ = grade_submissions(course, name, sandbox="unused")
    return n_submissions


@pytest.fixture
def course_copy(graded_course, tmp_path):
    """A copy of the graded course that a test may change."""
    return copy_course(graded_course, tmp_path / "course")


def export(course, file_format):
    """Return the notes and the rows of the marks in a format."""
    out = io.StringIO()
    return write_marks(course, out, file_format), list(csv.reader(io.StringIO(out.getvalue())))


def test_plain_table_has_one_row_per_student_and_assignment(graded_course):
    notes, rows = export(graded_course, "plain")
    assert rows == [
        ["student", "assignment", "score", "max_score", "complete", "hours_late"],
        ["'+HYPERLINK 1", ASSIGNMENT, "5.0", "9.0", "False", ""],
        ["ann", ASSIGNMENT, "5.0", "9.0", "False", ""],
        ["ann", "twin", "5.0", "9.0", "False", ""],
    ]
    assert notes == ["answers not yet marked by hand: 3; they count as 0 points"]


def test_canvas_table_has_its_columns_and_one_row_per_student(graded_course):
    notes, rows = export(graded_course, "canvas")
    assert rows == [
        [*CANVAS_COLUMNS, ASSIGNMENT, "twin"],
        ["    Points Possible", "", "", "", "", "9.0", "9.0"],
        ["'+HYPERLINK 1", "", "", "'+HYPERLINK 1", "", "5.0", ""],
        ["ann", "", "", "ann", "", "5.0", "5.0"],
    ]
    assert "Canvas will not find this student" in notes[1] and len(notes) == 2


def test_moodle_table_has_its_column_and_one_row_per_student(graded_course):
    notes, rows = export(graded_course, "moodle")
    assert rows == [
        [*MOODLE_COLUMNS, ASSIGNMENT, "twin"],
        ["'+HYPERLINK 1", "5.0", "-"],
        ["ann", "5.0", "5.0"],
    ]
    assert notes[1].startswith("'+HYPERLINK 1' is written as \"'+HYPERLINK 1\"")
    assert "Moodle will not find this student" in notes[1] and len(notes) == 2


def test_export_lists_submissions_that_are_not_graded(course_copy, tmp_path):
    hand_in(course_copy, "dan", answered_notebook(course_copy))
    nbformat.write(
        answered_notebook(course_copy, total="0"),
        course_copy.root / f"submitted/ann/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
    )
    (course_copy.root / "submitted/ben").mkdir()
    nbformat.write(answered_notebook(course_copy), course_copy.root / "submitted/ben/small.ipynb")
    args = ["export", "--course", str(course_copy.root), "--output", str(tmp_path / "marks.csv")]
    notes = CliRunner().invoke(commands, args).stderr.splitlines()
    assert notes[1:] == [
        "small: submissions not graded, or changed since then: 2",
        "left out: 'ben'; a notebook belongs in submitted/STUDENT/ASSIGNMENT",
    ]
    assert "ann,small,5.0" in (tmp_path / "marks.csv").read_text()


def test_mark_without_a_submission_is_reported(course_copy):
    shutil.rmtree(course_copy.root / f"submitted/ann/{ASSIGNMENT}")
    notes, _ = export(course_copy, "plain")
    assert f"{ASSIGNMENT}: 'ann' has a mark but no submission" in notes


def test_submission_of_an_unreleased_assignment_is_reported(course_copy):
    hand_in(course_copy, "cem", answered_notebook(course_copy)).rename(
        course_copy.root / "submitted/cem/new"
    )
    (course_copy.root / "source/new").mkdir()
    (course_copy.root / "source/new/new.ipynb").write_bytes(
        course_copy.source_path(ASSIGNMENT).read_bytes()
    )
    notes, _ = export(course_copy, "plain")
    assert notes[1:] == ["new has not been released; run svmbook course release new first."]


def test_hours_late_are_computed_from_timestamps(course_copy):
    with course_copy.open_gradebook() as gradebook:
        for name in (ASSIGNMENT, "twin"):
            gradebook.update_or_create_assignment(name, duedate="2026-10-05 18:00:00 UTC")
    for student, time in (("ann", "06 19:30:00.250 UTC"), ("+HYPERLINK 1", "05 17:59:59 UTC")):
        timestamp_path = course_copy.root / f"submitted/{student}/{ASSIGNMENT}/timestamp.txt"
        timestamp_path.write_text(f"2026-10-{time}\n")
    assert (
        grade_as_if_all_tests_passed(course_copy, ASSIGNMENT) == 2
        and grade_as_if_all_tests_passed(course_copy, ASSIGNMENT) == 0
    )
    _, rows = export(course_copy, "plain")
    assert [row[5] for row in rows[1:]] == ["0.0", "25.5001", ""]
    assert ">25.5<" in write_report(course_copy, ASSIGNMENT).read_text("utf-8")
    with course_copy.open_gradebook() as gradebook:
        gradebook.grant_extension(ASSIGNMENT, "ann", days=1)
    assert export(course_copy, "plain")[1][2][5] == "1.5001"


def test_time_zone_of_a_timestamp_is_converted_to_utc(tmp_path):
    times = ("05 18:00:00 UTC", "05T20:00:00+02:00", "05 18:00:00.0", "05 14:00 -0400", "05 18:00Z")
    for text in times:
        (tmp_path / "timestamp.txt").write_text(f"2026-10-{text}\n")
        assert read_timestamp(tmp_path) == (datetime(2026, 10, 5, 18), None)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"yesterday", b"\xff", b"0001-01-01 00:00:00+01:00", b"2026-13-01 00:00:00", b"12"),
        *(b"2026-10-05 18:00:00 CEST", b"2026-10-05 06:00:00 PM", b"5.10.2026 18:00", None),
        b"2026-10-05 18:00:00." + b"0" * 200,
        "2026-10-0\N{ARABIC-INDIC DIGIT FIVE} 18:00:00".encode(),
    ],
)
def test_invalid_timestamp_is_reported(tmp_path, content):
    (tmp_path / "other").write_text("2026-10-05 18:00:00 UTC")
    if content is None:
        (tmp_path / "timestamp.txt").symlink_to(tmp_path / "other")
    else:
        (tmp_path / "timestamp.txt").write_bytes(content)
    time, note = read_timestamp(tmp_path)
    assert time is None and "timestamp.txt cannot be read" in note
    assert read_timestamp(tmp_path / "none") == (None, None)


def guide_script(start):
    """Return the script of the instructor's guide that starts with this text."""
    (script,) = re.findall(rf"```python\n({start}.*?)```", GUIDE.read_text("utf-8"), re.S)
    return script


MARKS_CSV = """student,assignment,score,max_score,complete,hours_late
'+cem,kernels,10.0,10.0,True,
'+cem,logistic,12.0,12.0,True,0.0
'+cem,project,10.0,20.0,True,24.0
ann,kernels,9.0,10.0,True,0.0
ann,logistic,6.0,12.0,True,25.5
ann,project,15.0,20.0,True,
ben,kernels,5.0,10.0,True,
ben,project,20.0,20.0,True,250.0
"""


def test_script_in_the_guide_computes_final_marks(course_copy, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    script = guide_script("import numpy")
    assert MARKS_CSV.splitlines()[0].split(",") == export(course_copy, "plain")[1][0]
    Path("marks.csv").write_text(MARKS_CSV)
    exec(script, {})
    assert capsys.readouterr().out == "counted as on time: '+cem ann ben\n"
    assert Path("final.csv").read_text().splitlines() == [
        "student,percent",
        "'+cem,63.3",  # one of two equal marks is dropped: (1 + 2 * 0.5 * 0.9) / 3
        "ann,80.0",  # logistic is two days late and dropped: (0.9 + 2 * 0.75) / 3
        "ben,16.7",  # logistic is missing and dropped, the project is eleven days late: 0.5 / 3
    ]
    Path("marks.csv").write_text(MARKS_CSV.replace("True", "False", 1))
    with pytest.raises(AssertionError, match="some answers are not graded yet"):
        exec(script, {})
