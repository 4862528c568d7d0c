"""Folders for the students in an archive, as listed in the file ``roster.csv``."""

import csv
from unicodedata import normalize

from ..layout.submitted import is_valid_student_name

__all__ = ["choose_folders", "normalise_student_name", "read_roster"]

# Moodle removes these characters from names, and replaces underscores with spaces.
REMOVED_CHARACTERS = dict.fromkeys(map(ord, "&<>\"'`|:\\/"))


def read_roster(path):
    """Return the folder of each student, by the student's name or number in archives.

    Parameters
    ----------
    path : Path
        A CSV file without a header line, which need not exist.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        A line is invalid; the message contains its number.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines() if path.exists() else []
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not in UTF-8; save it as CSV UTF-8.") from None
    nonempty_lines = [line for line in lines if line.strip(" ,;\t")]
    rows = csv.reader(lines, delimiter=";" if ";" in "".join(nonempty_lines[:1]) else ",")
    folders = {}
    for row in rows:
        row = [_clean(field) for field in row]
        location = f"{path.name}, line {rows.line_num}"
        if not any(row):
            continue
        if len(row) != 2 or not all(row):
            raise ValueError(f"{location}: write two fields, the student and the folder.")
        row[0] = normalise_student_name(row[0])
        if row[0] in folders:
            raise ValueError(f"{location}: {row[0]!r} already occurs on an earlier line.")
        if not is_valid_student_name(row[1]):
            raise ValueError(f"{location}: {row[1]!r} is not a valid folder name.")
        folders[row[0]] = row[1]
    return folders


def choose_folders(students, roster):
    """Return the folder of each student, by name and number.

    Parameters
    ----------
    students : iterable of tuple
        Name and number of each student.
    roster : dict
        Folders from `read_roster`. Students who are not in it have folders with their names.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        Two students have the same folder, or the name of a folder is invalid.
    """
    folders, numbers_by_folder = {}, {}
    for name, number in students:
        folder = roster.get(number, roster.get(name, name))
        other_number = numbers_by_folder.setdefault(folder, number)
        if not is_valid_student_name(folder):
            raise ValueError(
                f"{folder!r} is not a valid folder name; write {number},FOLDER in roster.csv."
            )
        if other_number != number:
            raise ValueError(
                f"two students have the folder {folder!r}; in roster.csv, write "
                f"{other_number},FOLDER and {number},FOLDER with different folders."
            )
        folders[name, number] = folder
    return folders


def normalise_student_name(text):
    """Return a student's name as Moodle writes it in archives, in Unicode normal form C."""
    return _clean(text.translate(REMOVED_CHARACTERS | {ord("_"): " "}))


def _clean(text):
    """Return a name in Unicode normal form C, without superfluous spaces."""
    return " ".join(normalize("NFC", text).split())
