"""Archives of Moodle and Canvas: unpack submissions, and pack feedback for Moodle."""

import csv
import io
import os
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ...files import write_atomically
from .archive_entries import choose_paths, list_entries, open_archive, parse_entry
from .roster import choose_folders, read_roster

__all__ = ["pack_feedback", "unpack_submissions"]


def unpack_submissions(course, assignment, archive):
    """Unpack the submissions of an assignment, which replace those of its earlier archive.

    The file ``archives/ASSIGNMENT.csv`` records the entry from which each file came. An error in
    the archive or in ``roster.csv`` leaves ``submitted`` unchanged.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The name of the assignment.
    archive : path
        The zip file.

    Returns
    -------
    list of str
        The numbers of files and students, then what the instructor should check.

    Raises
    ------
    ValueError
        The archive or the roster is invalid, or another file would be replaced.
    """
    course.source_path(assignment)
    roster, submitted = read_roster(course.root / "roster.csv"), course.root / "submitted"
    with course.lock(), TemporaryDirectory(dir=course.root, prefix=".unpack-") as temporary:
        old_record = _read_record(_record_path(course, assignment))
        with open_archive(archive) as zip_file:
            entries, infos = list_entries(zip_file)
            folders = choose_folders([parse_entry(entry)[:2] for entry in entries], roster)
            new_record = choose_paths(entries, folders, assignment)
            _check_paths(submitted, new_record, old_record)
            for path, info in zip(new_record, infos, strict=True):
                _create_parent(Path(temporary, path)).write_bytes(zip_file.read(info))
        _remove_files(submitted, old_record)
        csv_file = io.StringIO(newline="")
        csv.writer(csv_file).writerows(new_record.items())
        write_atomically(_record_path(course, assignment), csv_file.getvalue())
        for path in new_record:
            shutil.move(Path(temporary, path), _create_parent(submitted / path))
    unlisted_students = [
        student for student in folders if roster and roster.keys().isdisjoint(student)
    ]
    old_folders = {Path(path).parts[0] for path in old_record}
    timestamps = {f"{folder}/{assignment}/timestamp.txt" for folder in old_folders}
    kept_timestamps = [
        path for path in timestamps - new_record.keys() if (submitted / path).exists()
    ]
    return [
        f"{assignment}: {len(new_record)} files of {len(folders)} students",
        *_note_if_any(
            "not in roster.csv", [f"{name} ({number})" for name, number in unlisted_students]
        ),
        *_note_if_any("earlier submissions removed", old_folders - set(folders.values())),
        *_note_if_any("not changed; check the times", kept_timestamps),
    ]


def pack_feedback(course, assignment):
    """Write the feedback on unpacked submissions to ``feedback.zip``, with Moodle's file names.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The name of the assignment.

    Returns
    -------
    list of str
        The number of pages, then the students without a page, and the students whose page was
        not packed because their submission is not from the archive.

    Raises
    ------
    ValueError
        The submissions did not come from an archive of Moodle, or there is no feedback.
    """
    course.source_path(assignment)
    record = _read_record(_record_path(course, assignment))
    if not any("_assignsubmission_" in entry for entry in record.values()):
        raise ValueError(f"no submission of {assignment} was unpacked from an archive of Moodle.")
    students = {Path(path).parts[0]: parse_entry(entry)[:2] for path, entry in record.items()}
    pages = {folder: course.feedback_path(folder, assignment) for folder in students}
    folders_without_page = [folder for folder, page in pages.items() if not page.exists()]
    if len(folders_without_page) == len(pages):
        raise ValueError(f"there is no feedback; run svmbook course feedback {assignment} first.")
    with zipfile.ZipFile(course.root / "feedback.zip", "w") as zip_file:
        for folder, (name, number) in students.items():
            if folder not in folders_without_page:
                entry = f"{name}_{number}_assignsubmission_file_{assignment}.html"
                zip_file.write(pages[folder], entry)
    all_pages = (course.root / "feedback").glob(f"*/{assignment}/{assignment}.html")
    folders_with_page = {page.parts[-3] for page in all_pages}
    return [
        f"pages packed into {zip_file.filename}: {len(pages) - len(folders_without_page)}",
        *_note_if_any("no feedback for", folders_without_page),
        *_note_if_any("not from the archive, not packed", folders_with_page - pages.keys()),
    ]


def _check_paths(submitted, new_record, old_record):
    """Raise ValueError if there are no files, or if another file would be replaced."""
    if not new_record:
        raise ValueError("there are no submissions in the archive.")
    for path in new_record.keys() - old_record.keys():
        if os.path.lexists(submitted / path):
            raise ValueError(f"submitted/{path} is not from an archive; move it away.")


def _record_path(course, assignment):
    return course.root / "archives" / f"{assignment}.csv"


def _read_record(path):
    """Return the entry from which each file came, by its path below ``submitted``."""
    text = path.read_bytes().decode() if path.exists() else ""
    return dict(csv.reader(io.StringIO(text, newline="")))


def _remove_files(submitted, paths):
    """Remove files, and the folders of students that are then empty."""
    for path in paths:
        (submitted / path).unlink(missing_ok=True)
        with suppress(OSError):  # the folder contains other files
            (submitted / path).parent.rmdir()
            (submitted / path).parents[1].rmdir()


def _create_parent(path):
    """Create the parent folder of a path, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _note_if_any(text, names):
    """Return a list with one note about these names, or an empty list if there are none."""
    return [f"{text}: {', '.join(map(repr, sorted(names)))}"] if names else []
