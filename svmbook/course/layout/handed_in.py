"""What lies in the folder of submissions: whose it is, for which assignment, in which file.

A folder or a file whose name is nearly right is taken where only one can be meant, and noted.
Everything else that was handed in is listed with what was found.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Submission", "find_submissions"]

# Beside letters and digits in the names of students; pages of nbgrader show them as they are.
SIGNS = " .@+-_(),\u2011\u2019"
WRONG_PLACE = "a notebook belongs in submitted/STUDENT/ASSIGNMENT"


@dataclass(frozen=True)
class Submission:
    """One student's submission of an assignment.

    Attributes
    ----------
    student : str
        Whose it is, with letters and accents composed (NFC).
    path : Path
        The notebook, which need not exist.
    notes : list of str
        What of its names was not as it should be.
    """

    student: str
    path: Path
    notes: list = field(default_factory=list)


def find_submissions(root, names):
    """Look through the folder of submissions.

    Parameters
    ----------
    root : Path
        The folder, with a folder for each student, and in it one for each assignment.
    names : sequence of str
        The assignments of the course.

    Returns
    -------
    found : dict
        Of each assignment a list of `Submission`, in the order of the students.
    left_out : dict
        Why other things in the folder are not graded, by their paths from it.
    """
    found, left_out, handed_in = {name: [] for name in names}, {}, defaultdict(list)
    for folder in sorted(root.iterdir()):
        student = unicodedata.normalize("NFC", folder.name)
        if not _of_a_student(folder.name):
            left_out[folder.name] = "name the folder with letters, digits, spaces or .@+-_(),"
        elif folder.is_dir():
            for name, place in _assignments(folder, names, left_out):
                handed_in[name, student].append(place)
        elif folder.suffix == ".ipynb":
            left_out[folder.name] = WRONG_PLACE
    for (name, student), places in handed_in.items():
        if len(places) == 1:
            found[name].append(_submission(student, name, *places))
            continue
        for place in places:
            others = ", ".join(repr(str(o.relative_to(root))) for o in places if o is not place)
            left_out[str(place.relative_to(root))] = f"it may be the same as {others}; keep one"
    return found, left_out


def _assignments(folder, names, left_out):
    """Yield the assignments in a student's folder, each with its place."""
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        left_out[folder.name] = f"it cannot be read ({error.strerror})"
        return
    inside = [place for place in inside if not place.name.startswith(".")]
    near = {name: [p for p in inside if _plain(p.name) == _plain(name)] for name in names}
    for name in names:
        exact = [place for place in inside if place.name == name]
        alike = [other for other in names if _plain(other) == _plain(name)]
        for place in exact or (near[name] if alike == [name] else ()):
            yield name, place
    for place in inside:
        where = f"{folder.name}/{place.name}"
        meant = [name for name in names if place in near[name]]
        if place.name in names:
            continue
        if any((folder / name).exists() for name in meant):
            left_out[where] = f"{meant[0]} is there as well, and was graded"
        elif len(meant) > 1:
            left_out[where] = f"it may be any of {', '.join(meant)}; rename it"
        elif not meant and place.suffix == ".ipynb":
            left_out[folder.name] = WRONG_PLACE
        elif not meant and place.is_dir() and any(place.glob("*.ipynb")):
            left_out[where] = f"the course has no such assignment; there are {', '.join(names)}"


def _submission(student, name, place):
    """Return the submission at a place: of nearly right names, what is meant."""
    notes = []
    if place.name != name:
        notes.append(f"the folder {place.name!r} was taken for {name}")
    path = place / f"{name}.ipynb"
    others = [] if place.is_symlink() else [one for one in _notebooks(place) if one != path]
    if os.path.lexists(path):
        if more := [one.name for one in others if _plain(one.stem).startswith(_plain(name))]:
            notes.append(f"{path.name} was graded, and not {', '.join(map(repr, more))}")
    elif len(others) == 1:
        path = others[0]
        notes.append(f"the file {str(path.relative_to(place))!r} was taken for {name}.ipynb")
    return Submission(student, path, notes)


def _notebooks(folder, deeper=True):
    """Return the notebooks in a folder, or else in the only one in it: zip files come so."""
    try:
        inside = sorted(one for one in folder.iterdir() if one.name[0] != ".")
    except OSError:
        return []
    found = [one for one in inside if one.suffix.lower() == ".ipynb"]
    folders = [one for one in inside if one.is_dir() and one.name != "__MACOSX"]
    if deeper and not found and len(folders) == 1 and not folders[0].is_symlink():
        return _notebooks(folders[0], deeper=False)
    return found


def _of_a_student(name):
    """Return whether a folder may be that of a student; accents may stand for themselves."""
    letters = [c for c in name if c.isalnum()]
    others = {c for c in name if not c.isalnum() and unicodedata.category(c)[0] != "M"}
    return bool(letters) and others <= set(SIGNS) and name == name.strip()


def _plain(name):
    """Return a name without what is easily mistaken: case, accents' form, spaces and dashes."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).casefold())
