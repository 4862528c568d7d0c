"""Entries in the archives of Moodle and Canvas: the student, and the path of the file."""

import re
import zipfile
import zlib
from collections import Counter
from contextlib import contextmanager, suppress
from unicodedata import normalize

from .roster import moodle_name

__all__ = ["choose_paths", "list_entries", "open_archive", "parse_entry"]

MOODLE_NAME = re.compile(r"([^_]+)_(\d+)_assignsubmission_[a-z]+_?(.*)")  # file or folder name
CANVAS_NAME = re.compile(r"(.+?)_(?:LATE_)?(\d+)_(?:\d+_|(?=(?:text|link)\.html$))(.+)")
SKIPPED_NAMES = {".ipynb_checkpoints", "__MACOSX", ".DS_Store"}
UTF8_FLAG = 0x800  # marks an entry name as UTF-8; macOS does not set it


@contextmanager
def open_archive(path):
    """Open a zip file; raise ValueError if it is damaged or encrypted."""
    try:
        with zipfile.ZipFile(path) as zip_file:
            yield zip_file
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be unpacked: {str(error).rstrip('.')}.") from None


def list_entries(zip_file):
    """Return the names of the files in an archive, in Unicode normal form C, and each ``ZipInfo``.

    Folders are left out, and so are files that macOS and Jupyter add.
    """
    entries, infos = [], []
    for info in zip_file.infolist():
        name = info.filename
        if not info.flag_bits & UTF8_FLAG:
            with suppress(UnicodeError):
                name = name.encode("cp437").decode()
        name = normalize("NFC", name.replace("\\", "/"))
        if not name.endswith("/") and SKIPPED_NAMES.isdisjoint(name.split("/")):
            entries.append(name)
            infos.append(info)
    return entries, infos


def parse_entry(entry):
    """Return the student's name and number, and the file's name, or raise ValueError."""
    *parents, file = entry.split("/")
    for folder in parents[:2]:  # the first may be a folder that contains all others
        if match := MOODLE_NAME.fullmatch(folder):
            break
    else:
        match = MOODLE_NAME.fullmatch(file) or CANVAS_NAME.fullmatch(file)
        file = match and match[3]
    if not match or file in ("", ".", ".."):
        raise ValueError(f"{entry!r} is not named like a submission in Moodle or Canvas.")
    return moodle_name(match[1]), match[2], file


def choose_paths(entries, folders, assignment):
    """Return the entries by their paths below ``submitted``; raise ValueError if two are equal.

    The suffix of Canvas, as in ``kernels-1.ipynb``, is removed from the name of the assignment,
    unless two files of a student would then have the same name.
    """
    suffixed_name = re.compile(rf"{re.escape(assignment)}-\d+\.ipynb")
    parsed = [parse_entry(entry) for entry in entries]
    unsuffixed_files = [
        (*student, f"{assignment}.ipynb" if suffixed_name.fullmatch(file) else file)
        for *student, file in parsed
    ]
    counts, paths = Counter(unsuffixed_files), {}
    for entry, unsuffixed_file, (*student, file) in zip(
        entries, unsuffixed_files, parsed, strict=True
    ):
        is_unique = counts[unsuffixed_file] == 1
        name = unsuffixed_file[-1] if is_unique else file
        path = f"{folders[*student]}/{assignment}/{name}"
        if path in paths:
            raise ValueError(f"{paths[path]!r} and {entry!r} have the same name; remove one.")
        paths[path] = entry
    return paths
