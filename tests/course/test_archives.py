"""Submissions in archives of Moodle and Canvas, and feedback for Moodle."""

import re
import zipfile

import pytest
from click.testing import CliRunner
from coursework import ASSIGNMENT, hand_in

from svmbook.course.cli import course as commands
from svmbook.course.grading.pending import find_pending
from svmbook.course.submissions.archives import unpack_submissions

# A student's folder in an archive of Moodle, or the beginning of a file name.
MOODLE_PREFIX = "Ann Lee_12345_assignsubmission_file"
NOTEBOOK = f"{ASSIGNMENT}.ipynb"


def unpack(course, *entries, roster=None):
    """Unpack an archive with these entries, each of which contains its own name."""
    if roster is not None:
        (course.root / "roster.csv").write_bytes(roster.encode("utf-8"))
    with zipfile.ZipFile(course.root / "submissions.zip", "w") as archive:
        for entry in entries:
            archive.writestr(entry, entry)
    return unpack_submissions(course, ASSIGNMENT, course.root / "submissions.zip")


def submitted_files(course):
    """Return the content of each file in `submitted`, by its path."""
    root = course.root / "submitted"
    return {str(p.relative_to(root)): p.read_text("utf-8") for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("entry", "student", "number"),
    [
        (f"{MOODLE_PREFIX}/{NOTEBOOK}", "Ann Lee", "12345"),
        (f"Kernels-99/{MOODLE_PREFIX}_/sub/{NOTEBOOK}", "Ann Lee", "12345"),
        (f"{MOODLE_PREFIX}_{NOTEBOOK}", "Ann Lee", "12345"),
        (f"submissions/leeann_LATE_77_12345_{ASSIGNMENT}-1.ipynb", "leeann", "77"),
    ],
    ids=["Moodle", "Moodle with a top folder", "Moodle without folders", "Canvas"],
)
def test_students_are_found_by_name_or_number(course, entry, student, number):
    def unpacked_files(roster=None):
        unpack(course, entry, roster=roster)
        return submitted_files(course)

    assert unpacked_files() == {f"{student}/{ASSIGNMENT}/{NOTEBOOK}": entry}
    expected = {f"ann@b.org/{ASSIGNMENT}/{NOTEBOOK}": entry}
    assert unpacked_files(f"\ufeff{student} ; ann@b.org\r\n;\r\n") == expected
    # Moodle removes apostrophes.
    assert unpacked_files(f"{student[:2]}'{student[2:]},ann@b.org") == expected
    assert unpacked_files(f"{student},other\n\n{number}, ann@b.org\n") == expected
    assert not course.skip_reasons() and course.submissions(ASSIGNMENT).keys() == {"ann@b.org"}


def test_every_file_is_unpacked_under_a_safe_name(course):
    messages = unpack(
        course,
        *("__MACOSX/._x", f"{MOODLE_PREFIX}/", f"{MOODLE_PREFIX}/.ipynb_checkpoints/{NOTEBOOK}"),
        *(
            f"{MOODLE_PREFIX}/../../../Small.IPYNB",
            "leeann_77_1_small.html",
            "leeann_77_2_small.zip",
        ),
        *("leeann_77_text.html", f"benbo_78_3_{NOTEBOOK}", f"benbo_78_4_{ASSIGNMENT}-1.ipynb"),
        roster="Ann Lee,ann\n78,ben\n",
    )
    assert messages == [f"{ASSIGNMENT}: 6 files of 3 students", "not in roster.csv: 'leeann (77)'"]
    assert sorted(submitted_files(course)) == [
        f"ann/{ASSIGNMENT}/Small.IPYNB",
        f"ben/{ASSIGNMENT}/{ASSIGNMENT}-1.ipynb",
        f"ben/{ASSIGNMENT}/{NOTEBOOK}",
        *(f"leeann/{ASSIGNMENT}/{name}" for name in ("small.html", "small.zip", "text.html")),
    ]
    pending = find_pending(course, ASSIGNMENT, course.master(ASSIGNMENT))
    notes = [[*p.submission.notes, p.rejection_reason] for p in pending]
    assert notes[0][0] == f"the file 'Small.IPYNB' was graded as {NOTEBOOK}"
    assert notes[1][0] == f"{NOTEBOOK} was graded, not '{ASSIGNMENT}-1.ipynb'"
    assert notes[2] == [f"there is no file {NOTEBOOK}, but 'small.html', 'small.zip', 'text.html'"]


def test_names_are_compared_in_one_unicode_form(course):
    entry = f"Zoe\u0301_5_assignsubmission_file_/{NOTEBOOK}"
    info = zipfile.ZipInfo("x" * len(entry.encode()))
    with zipfile.ZipFile(course.root / "mac.zip", "w") as archive:
        archive.writestr(info, "{}")
    content = (course.root / "mac.zip").read_bytes()  # UTF-8 without its flag, as macOS writes it
    (course.root / "mac.zip").write_bytes(content.replace(info.filename.encode(), entry.encode()))
    for roster, folder in (("", "Zo\u00e9"), ("Zoe\u0301,Ze\u0301", "Z\u00e9")):
        (course.root / "roster.csv").write_text(roster, "utf-8")
        unpack_submissions(course, ASSIGNMENT, course.root / "mac.zip")
        assert submitted_files(course).keys() == {f"{folder}/{ASSIGNMENT}/{NOTEBOOK}"}


def test_next_archive_replaces_the_files_of_the_earlier_one(course):
    hand_in(course, "by mail", b"{}")
    unpack(
        course,
        f"{MOODLE_PREFIX}/{NOTEBOOK}",
        f"{MOODLE_PREFIX}/old.txt",
        "Ben_2_assignsubmission_file_/a.b",
    )
    (course.root / f"submitted/Ann Lee/{ASSIGNMENT}/timestamp.txt").write_text("2026-10-05 18:00")
    messages = unpack(course, entry := f"Ann Lee_12346_assignsubmission_file_/{NOTEBOOK}")
    assert messages[1:] == [
        "earlier submissions removed: 'Ben'",
        f"not changed; check the times: 'Ann Lee/{ASSIGNMENT}/timestamp.txt'",
    ]
    assert submitted_files(course) == {
        f"by mail/{ASSIGNMENT}/{NOTEBOOK}": "{}",
        f"Ann Lee/{ASSIGNMENT}/{NOTEBOOK}": entry,
        f"Ann Lee/{ASSIGNMENT}/timestamp.txt": "2026-10-05 18:00",
    }
    record = (course.root / f"archives/{ASSIGNMENT}.csv").read_text("utf-8").splitlines()
    assert record == [f"Ann Lee/{ASSIGNMENT}/{NOTEBOOK},{entry}"]
    assert not (course.root / "submitted/Ben").exists()


def test_error_leaves_the_submissions_unchanged(course):
    hand_in(course, "cem", b"{}")
    unpack(course, f"{MOODLE_PREFIX}/{NOTEBOOK}")
    old_files = submitted_files(course)
    second_entry = f"Ann Lee_6_assignsubmission_file_/{NOTEBOOK}"
    ben_entry = "Ben_7_assignsubmission_file_x"
    for entries, roster, message in (
        (
            [f"{MOODLE_PREFIX}/{NOTEBOOK}", second_entry],
            "",
            "in roster.csv, write 12345,FOLDER and 6,FOLDER",
        ),
        (
            [f"{MOODLE_PREFIX}/{NOTEBOOK}", ben_entry],
            "Ben,Ann Lee",
            "two students have the folder 'Ann Lee'",
        ),
        (
            [f"{MOODLE_PREFIX}/a/x.txt", f"{MOODLE_PREFIX}/b/x.txt"],
            "",
            "have the same name; remove one",
        ),
        (
            [f"{MOODLE_PREFIX}/x.txt", f"{MOODLE_PREFIX}\\x.txt"],
            "",
            "have the same name; remove one",
        ),
        ([second_entry, "notes.txt"], "", "'notes.txt' is not named like a submission"),
        ([f"{MOODLE_PREFIX}/.."], "", "is not named like a submission"),
        (["*b_7_assignsubmission_file_x"], "", "write 7,FOLDER in roster.csv"),
        ([], "", "no submissions"),
        ([f"cem_7_assignsubmission_file_{NOTEBOOK}"], "", "is not from an archive"),
        ([second_entry], "a,b\n\nAnn Lee,ann,5\n", "roster.csv, line 3: write two fields"),
        ([second_entry], "a;b\na;c\n", "roster.csv, line 2: 'a' already occurs on an earlier line"),
        ([second_entry], "a,../b\n", "roster.csv, line 1: '../b' is not a valid folder name"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            unpack(course, *entries, roster=roster)
    unpack(course, f"{MOODLE_PREFIX}/{NOTEBOOK}", roster="")
    archive_path = course.root / "submissions.zip"
    archive_path.write_bytes(archive_path.read_bytes().replace(b".ipynbAnn", b".ipynbBen"))
    with pytest.raises(ValueError, match="cannot be unpacked: Bad CRC-32"):
        unpack_submissions(course, ASSIGNMENT, archive_path)
    assert submitted_files(course) == old_files and not [*course.root.glob(".unpack-*")]


def test_feedback_is_packed_under_the_file_names_of_moodle(course):
    def run(*args):
        result = CliRunner().invoke(commands, [*args, "--course", str(course.root)])
        return result.exception or result.output.splitlines()

    unpack(course, f"leeann_77_1_{NOTEBOOK}")
    assert "from an archive of Moodle" in str(run("pack", ASSIGNMENT))
    unpack(
        course,
        f"{MOODLE_PREFIX}/{NOTEBOOK}",
        f"{MOODLE_PREFIX}/x.txt",
        "Ben_2_assignsubmission_file_y.txt",
    )
    assert "there is no feedback" in str(run("pack", ASSIGNMENT))
    archive_path = str(course.root / "submissions.zip")
    assert run("unpack", ASSIGNMENT, archive_path) == [f"{ASSIGNMENT}: 3 files of 2 students"]
    for student in ("Ann Lee", "by mail"):
        page = course.feedback_path(student, ASSIGNMENT)
        page.parent.mkdir(parents=True)
        page.write_text("feedback")
    assert run("pack", ASSIGNMENT) == [
        f"pages packed into {course.root / 'feedback.zip'}: 1",
        "no feedback for: 'Ben'",
        "not from the archive, not packed: 'by mail'",
    ]
    with zipfile.ZipFile(course.root / "feedback.zip") as archive:
        assert archive.namelist() == [f"{MOODLE_PREFIX}_{ASSIGNMENT}.html"]
        assert archive.read(archive.namelist()[0]) == b"feedback"
