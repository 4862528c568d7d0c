"""Entries in the archives of Moodle and Canvas: the student, and the path of the file."""

import re
import zipfile
import zlib
from collections import Counter
from contextlib import contextmanager, suppress
from unicodedata import normalize

from .roster import normalise_student_name

__all__ = ["choose_paths", "list_entries", "open_archive", "parse_entry"]

# Names of files and folders in archives of Moodle, and of files in archives of Canvas.
MOODLE_PATTERN = re.compile(r"([^_]+)_(\d+)_assignsubmission_[a-z]+_?(.*)")
CANVAS_PATTERN = re.compile(r"(.+?)_(?:LATE_)?(\d+)_(?:\d+_|(?=(?:text|link)\.html$))(.+)")
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
    *parents, file_name = entry.split("/")
    for folder in parents[:2]:  # the first may be a folder that contains all others
        if match := MOODLE_PATTERN.fullmatch(folder):
            break
    else:
        match = MOODLE_PATTERN.fullmatch(file_name) or CANVAS_PATTERN.fullmatch(file_name)
        file_name = match and match[3]
    if not match or file_name in ("", ".", ".."):
        raise ValueError(f"{entry!r} is not named like a submission in Moodle or Canvas.")
    return normalise_student_name(match[1]), match[2], file_name


def choose_paths(entries, folders, assignment):
    """Return the entries by their paths below ``submitted``; raise ValueError if paths are equal.

    The suffix that Canvas adds, as in ``kernels-1.ipynb``, is removed from the name of the
    notebook, unless two files of a student would then have the same name.
    """
    suffixed_pattern = re.compile(rf"{re.escape(assignment)}-\d+\.ipynb")
    parsed = [parse_entry(entry) for entry in entries]
    unsuffixed_files = [
        (*student, f"{assignment}.ipynb" if suffixed_pattern.fullmatch(file_name) else file_name)
        for *student, file_name in parsed
    ]
    counts, paths = Counter(unsuffixed_files), {}
    for entry, unsuffixed_file, (*student, file_name) in zip(
        entries, unsuffixed_files, parsed, strict=True
    ):
        is_unique = counts[unsuffixed_file] == 1
        target_name = unsuffixed_file[-1] if is_unique else file_name
        path = f"{folders[*student]}/{assignment}/{target_name}"
        if path in paths:
            raise ValueError(f"{paths[path]!r} and {entry!r} have the same name; remove one.")
        paths[path] = entry
    return paths
