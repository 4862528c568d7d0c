"""Marks as CSV: the columns that Canvas and Moodle read, and what is missing in them."""

import csv
import io
import shutil

import nbformat
import pytest
from click.testing import CliRunner
from coursework import NAME, answered, hand_in, hand_in_as

from svmbook.course.cli import course as commands
from svmbook.course.execution.outcome import Outcome
from svmbook.course.grading import grade as grading
from svmbook.course.grading.grade import grade
from svmbook.course.reports.export import export

# Canvas, "How do I import grades in the Gradebook?": the columns of its own export, in its order,
# then one for each assignment; below them a row whose first cell says "Points Possible". Its
# importer (canvas-lms, lib/gradebook_importer.rb) refuses a file whose first header does not
# contain "Student", the second "ID", or the last before the assignments "Section". It finds a
# student by ID, SIS User ID, SIS Login ID or name, and asks about those that it does not find.
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
# MoodleDocs, "Grade import": any columns, of which the form maps one to a user's ID number, email
# address or user name, and others to grade items; "ID number" is the name in Moodle's own export.
# Its importer (grade/import/csv/classes/load_data.php) takes "-" for no mark, and refuses the whole
# file for one user that it does not find.
MOODLE = ["ID number"]


@pytest.fixture(scope="module")
def marked(released, tmp_path_factory):
    """A course with two assignments, the second a copy of the first, and the marks of its tests."""
    root = tmp_path_factory.mktemp("marked") / "course"
    shutil.copytree(released.root, root)
    course = type(released)(root)
    (root / "source/twin").mkdir()
    shutil.copy(course.source(NAME), root / "source/twin/twin.ipynb")
    course.release("twin")
    nb = answered(course)
    hand_in_as(course, "ann", NAME, nb)
    hand_in_as(course, "ann", "twin", nb)
    hand_in_as(course, "+HYPERLINK 1", NAME, nb)
    passed = Outcome(outputs=dict.fromkeys(range(9), ()))  # no test has an error
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "run_cells", lambda *given: passed)
        for name in (NAME, "twin"):
            assert len([*grade(course, name, sandbox="unused")]) > 1
    return course


@pytest.fixture
def copied(marked, tmp_path):
    """The same, to be changed."""
    shutil.copytree(marked.root, tmp_path / "course")
    return type(marked)(tmp_path / "course")


def exported(course, kind):
    out = io.StringIO()
    return export(course, out, kind), list(csv.reader(io.StringIO(out.getvalue())))


def test_the_plain_table_has_a_line_for_each_student_and_assignment(marked):
    notes, lines = exported(marked, "plain")
    assert lines == [
        ["student", "assignment", "score", "max_score", "complete"],
        ["'+HYPERLINK 1", NAME, "5.0", "9.0", "False"],
        ["ann", NAME, "5.0", "9.0", "False"],
        ["ann", "twin", "5.0", "9.0", "False"],
    ]
    assert notes == ["3 answers wait to be read; they count nothing yet"]


def test_canvas_finds_its_columns_students_and_points(marked):
    notes, lines = exported(marked, "canvas")
    assert lines == [
        [*CANVAS, NAME, "twin"],
        ["    Points Possible", "", "", "", "", "9.0", "9.0"],
        ["'+HYPERLINK 1", "", "", "'+HYPERLINK 1", "", "5.0", ""],
        ["ann", "", "", "ann", "", "5.0", "5.0"],
    ]
    assert "Canvas will not find this student" in notes[1] and len(notes) == 2


def test_moodle_finds_its_columns_and_a_dash_for_no_mark(marked):
    notes, lines = exported(marked, "moodle")
    assert lines == [
        [*MOODLE, NAME, "twin"],
        ["'+HYPERLINK 1", "5.0", "-"],
        ["ann", "5.0", "5.0"],
    ]
    assert notes[1].startswith("'+HYPERLINK 1' is written as \"'+HYPERLINK 1\"")
    assert "Moodle will not find this student" in notes[1] and len(notes) == 2


def test_marks_are_written_whole_and_what_is_not_graded_is_told(copied, tmp_path):
    hand_in(copied, "late", answered(copied))
    nbformat.write(answered(copied, total="0"), copied.root / f"submitted/ann/{NAME}/{NAME}.ipynb")
    (copied.root / "submitted/ben").mkdir()
    nbformat.write(answered(copied), copied.root / "submitted/ben/small.ipynb")
    words = ["export", "--course", str(copied.root), "--output", str(tmp_path / "marks.csv")]
    told = CliRunner().invoke(commands, words).stderr.splitlines()
    assert told[1:] == [
        "small: 2 submissions are not graded yet, or have changed since",
        "left out: 'ben'; a notebook belongs in submitted/STUDENT/ASSIGNMENT",
    ]
    assert "ann,small,5.0" in (tmp_path / "marks.csv").read_text()


def test_submissions_of_what_was_not_released_are_told(copied):
    hand_in(copied, "cem", answered(copied)).rename(copied.root / "submitted/cem/new")
    (copied.root / "source/new").mkdir()
    (copied.root / "source/new/new.ipynb").write_bytes(copied.source(NAME).read_bytes())
    notes, _ = exported(copied, "plain")
    assert notes[1:] == ["new was not released; run svmbook course release new first."]
