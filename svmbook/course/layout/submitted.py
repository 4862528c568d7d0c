"""Find submissions in the folder `submitted`: the student, the assignment and the file.

A folder or file with a slightly wrong name is accepted with a note if its meaning is unambiguous.
Everything else is listed with the reason why it cannot be graded.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Submission", "find_submissions", "is_valid_student_name"]

# The characters other than letters, digits and accents that names of students may contain. The set
# is small because nbgrader's pages do not escape names.
ALLOWED_PUNCTUATION = " .@+-_(),\u2011\u2019"
WRONG_PLACE_REASON = "a notebook belongs in submitted/STUDENT/ASSIGNMENT"


@dataclass(frozen=True)
class Submission:
    """One student's submission of an assignment.

    Attributes
    ----------
    student : str
        The student, in Unicode normal form C.
    path : Path
        The path at which the notebook is expected; there may be no file.
    notes : list of str
        Notes about wrong names of the file or its folder.
    """

    student: str
    path: Path
    notes: list = field(default_factory=list)


def find_submissions(root, assignments):
    """Find all submissions in a folder.

    Parameters
    ----------
    root : Path
        The folder, which contains a folder for each student and in it one for each assignment.
    assignments : sequence of str
        The names of the assignments of the course.

    Returns
    -------
    submissions : dict
        For each assignment a list of `Submission`, in the order of the students.
    skip_reasons : dict
        The reasons why other files and folders are not graded, by their relative paths.
    """
    submissions, skip_reasons = {assignment: [] for assignment in assignments}, {}
    candidate_folders = defaultdict(list)
    for entry in sorted(root.iterdir()):
        student = unicodedata.normalize("NFC", entry.name)
        if not is_valid_student_name(entry.name):
            skip_reasons[entry.name] = (
                "a name must contain a letter or digit; besides letters and digits it may contain "
                "only . , @ + - _ ( ) \u2019 and spaces between them"
            )
        elif entry.is_dir():
            for assignment, path in _assignment_paths(entry, assignments, skip_reasons):
                candidate_folders[assignment, student].append(path)
        elif entry.suffix == ".ipynb":
            skip_reasons[entry.name] = WRONG_PLACE_REASON
    for (assignment, student), folders in candidate_folders.items():
        if len(folders) == 1:
            submissions[assignment].append(_submission(student, assignment, *folders))
            continue
        for folder in folders:
            others = ", ".join(repr(str(o.relative_to(root))) for o in folders if o is not folder)
            skip_reasons[str(folder.relative_to(root))] = (
                f"this and {others} may be the same submission; keep only one"
            )
    return submissions, skip_reasons


def _assignment_paths(folder, assignments, skip_reasons):
    """Yield each assignment in a student's folder and its path; record reasons for skips."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        skip_reasons[folder.name] = f"it cannot be read ({error.strerror})"
        return
    similar_paths = {
        assignment: [path for path in paths if _simplify(path.name) == _simplify(assignment)]
        for assignment in assignments
    }
    simplified_names = [_simplify(assignment) for assignment in assignments]
    for assignment in assignments:
        exact_matches = [path for path in paths if path.name == assignment]
        is_unambiguous = simplified_names.count(_simplify(assignment)) == 1
        for path in exact_matches or (similar_paths[assignment] if is_unambiguous else ()):
            yield assignment, path
    for path in paths:
        relative_path = f"{folder.name}/{path.name}"
        matching_assignments = [name for name in assignments if path in similar_paths[name]]
        if path.name in assignments:
            continue
        if existing := [name for name in matching_assignments if (folder / name).exists()]:
            skip_reasons[relative_path] = f"{existing[0]} exists as well, and was graded"
        elif len(matching_assignments) > 1:
            skip_reasons[relative_path] = (
                f"it may be any of {', '.join(matching_assignments)}; rename it"
            )
        elif not matching_assignments and path.suffix == ".ipynb":
            skip_reasons[folder.name] = WRONG_PLACE_REASON
        elif not matching_assignments and path.is_dir() and any(path.glob("*.ipynb")):
            skip_reasons[relative_path] = (
                f"the course has no such assignment; there are {', '.join(assignments)}"
            )


def _submission(student, assignment, folder):
    """Return the submission in a folder, with notes about slightly wrong names."""
    notes = []
    if folder.name != assignment:
        notes.append(f"the folder {folder.name!r} was graded as {assignment}")
    path = folder / f"{assignment}.ipynb"
    other_notebooks = [] if folder.is_symlink() else [p for p in _notebooks(folder) if p != path]
    if os.path.lexists(path):
        prefix = _simplify(assignment)
        if versions := [p.name for p in other_notebooks if _simplify(p.stem).startswith(prefix)]:
            notes.append(f"{path.name} was graded, not {', '.join(map(repr, versions))}")
    elif len(other_notebooks) == 1:
        path = other_notebooks[0]
        notes.append(f"the file {str(path.relative_to(folder))!r} was graded as {assignment}.ipynb")
    return Submission(student, path, notes)


def _notebooks(folder, search_subfolder=True):
    """Return the notebooks in a folder, or in its only subfolder, as in an unzipped archive."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.name[0] != ".")
    except OSError:
        return []
    notebooks = [path for path in paths if path.suffix.lower() == ".ipynb"]
    folders = [path for path in paths if path.is_dir() and path.name != "__MACOSX"]
    if search_subfolder and not notebooks and len(folders) == 1 and not folders[0].is_symlink():
        return _notebooks(folders[0], search_subfolder=False)
    return notebooks


def is_valid_student_name(name):
    """Return whether a name has a letter or digit, and only allowed characters or accents."""
    has_letter_or_digit = any(c.isalnum() for c in name)
    other_characters = {c for c in name if not c.isalnum() and unicodedata.category(c)[0] != "M"}
    has_only_allowed = other_characters <= set(ALLOWED_PUNCTUATION)
    return has_letter_or_digit and has_only_allowed and name == name.strip()


def _simplify(name):
    """Normalise case and Unicode form, and remove spaces and punctuation, to compare names."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).casefold())
