"""Hostile and malformed submissions, and a function that hands in all kinds of them."""

import json
import os

from coursework import ASSIGNMENT, answered_notebook, cell_named, hand_in
from hostile_code import CODE_BY_KIND, MESSAGES, SCORE_LIMITS
from nbformat.v4 import new_code_cell, new_output

AUTOGRADED_POINTS = 5.0  # the four points of the essay are graded by hand
WRONG_SQUARE = "def square(x): return 0.0"
TEST_NAMES = ("test_square", "test_total")


def _notebook_with_changed_tests(course):
    nb = answered_notebook(course, square=WRONG_SQUARE)
    for name in TEST_NAMES:
        cell_named(nb, name).source = "pass"
    for name in (*TEST_NAMES, "essay"):
        cell_named(nb, name).metadata.nbgrader.points = 1000
    return nb


def _notebook_without(course, *names):
    nb = answered_notebook(course)
    for name in names:
        nb.cells.remove(cell_named(nb, name))
    return nb


def _notebook_with_repeated_cells(course):
    nb = answered_notebook(course)
    nb.cells += [cell.copy() for cell in nb.cells]
    return nb


def _deeply_nested_notebook(course):
    nested = "[" * 200_000 + "]" * 200_000
    text = json.dumps(answered_notebook(course))
    return text.replace('"metadata": {', f'"metadata": {{"x": {nested}, ', 1).encode()


def _notebook_with_scores(course):
    """Return a notebook with a wrong answer, and with scores among the outputs of the tests."""
    nb = answered_notebook(course, square=WRONG_SQUARE)
    for name in TEST_NAMES:
        output = new_output("execute_result", data={"text/plain": "3.0"})
        cell_named(nb, name).outputs = [output]
    return nb


def _notebook_with_invalid_cell_names(course):
    """Return a notebook in which the names of cells are a list and a number."""
    nb = answered_notebook(course)
    for cell, name in zip(nb.cells[1:3], (["square"], 7), strict=True):
        cell.metadata.nbgrader.grade_id = name
    return nb


def _notebook_with_number_as_source(course):
    nb = answered_notebook(course)
    nb.cells[2].source = 7
    return nb


def _notebook_with_cell(course, source):
    nb = answered_notebook(course)
    nb.cells.append(new_code_cell(source))
    return nb


# Kinds of files in place of the notebook: for each kind a function that returns the file, the
# largest number of points that it may get, and a part of the report's message.
FILE_KINDS = {
    "has a script in the essay": (
        lambda course: answered_notebook(
            course, essay="<script>stolen()</script><img src=//evil.example/x>"
        ),
        5,
        None,
    ),
    "has changed the tests": (_notebook_with_changed_tests, 2, None),
    "has deleted a test": (lambda course: _notebook_without(course, "test_square"), 5, "missing"),
    "has deleted the answers and the first cell": (
        lambda course: _notebook_without(course, "square", "total", "setup"),
        0,
        "missing",
    ),
    "has every cell twice": (_notebook_with_repeated_cells, 5, None),
    "is a picture": (lambda course: b"\x89PNG\r\n", 0, "not UTF-8"),
    "is in another encoding": (lambda course: '{"cells": "é"}'.encode("latin-1"), 0, "not UTF-8"),
    "is JSON but not a notebook": (lambda course: b"[1, 2]", 0, "no list of cells"),
    "is empty": (lambda course: b"", 0, "not a notebook"),
    "is nested too deeply": (_deeply_nested_notebook, 0, "nested"),
    "has a score among its outputs": (_notebook_with_scores, 2, None),
    "has lists and numbers as names": (_notebook_with_invalid_cell_names, 5, "missing"),
    "has a number instead of text": (_notebook_with_number_as_source, 0, "is invalid"),
    "is of an old format": (lambda course: b'{"nbformat": 3, "worksheets": []}', 0, "no list of"),
    "has an essay of three million characters": (
        lambda course: answered_notebook(course, essay="x " * 1_500_000),
        0,
        "at most 200000 are allowed",
    ),
    "has an if statement with 15,000 branches": (
        lambda course: _notebook_with_cell(course, "if 0: 0\n" + "elif 0: 0\n" * 15_000),
        5,
        None,
    ),
    "has a cell of 199,000 empty lines": (
        lambda course: _notebook_with_cell(course, "\n" * 199_000 + "0"),
        5,
        None,
    ),
    "is too large": (lambda course: b" " * 21_000_000, 0, "at most 20 are allowed"),
}


def _hand_in_link_to_solutions(course, student):
    folder = course.root / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True)
    (folder / f"{ASSIGNMENT}.ipynb").symlink_to(course.source_path(ASSIGNMENT))


def _hand_in_linked_folder(course, student):
    (course.root / "submitted" / student).mkdir()
    (course.root / "submitted" / student / ASSIGNMENT).symlink_to(
        course.root / "source" / ASSIGNMENT
    )


def _hand_in_pipe_as_notebook(course, student):
    folder = course.root / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"{ASSIGNMENT}.ipynb")


def _hand_in_folder_as_notebook(course, student):
    (course.root / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").mkdir(parents=True)


def _hand_in_with_other_files(course, student):
    folder = hand_in(course, student, answered_notebook(course))
    (folder / "index.html").write_text("<script>stolen()</script>")
    (folder / "numpy.py").write_text("raise SystemExit")


# Kinds of unusual submission folders: for each kind a function that creates a student's folder, and
# the points and the message as in `FILE_KINDS`.
FOLDER_KINDS = {
    "is a link to the solutions": (_hand_in_link_to_solutions, 0, "cannot be opened"),
    "has a link as its folder": (_hand_in_linked_folder, 0, "is a link"),
    "is a pipe": (_hand_in_pipe_as_notebook, 0, "is not a regular file"),
    "is a folder": (_hand_in_folder_as_notebook, 0, "is not a regular file"),
    "contains other files": (_hand_in_with_other_files, 5, None),
}
INVALID_STUDENT_NAMES = (
    "<img src=x onerror=alert(1)>",
    "..; rm -rf *; $(reboot)",
    "M\udcfcller",
    "-",
)
# For each kind the largest number of points, and a part of the report's message or None.
MAX_SCORES_AND_MESSAGES = {
    kind: (SCORE_LIMITS.get(kind, 2), MESSAGES.get(kind)) for kind in CODE_BY_KIND
}
MAX_SCORES_AND_MESSAGES |= {
    kind: tuple(rest) for kind, (_, *rest) in (FILE_KINDS | FOLDER_KINDS).items()
}
MAX_SCORES_AND_MESSAGES["is honest"] = (AUTOGRADED_POINTS, None)


def hand_in_all(course, code_kinds):
    """Hand in an honest notebook, these kinds of code, all `FILE_KINDS` and all `FOLDER_KINDS`."""
    hand_in(course, "is honest", answered_notebook(course))
    for kind in code_kinds:
        hand_in(course, kind, answered_notebook(course, square=CODE_BY_KIND[kind]))
    for kind, (make_file, _, _) in FILE_KINDS.items():
        hand_in(course, kind, make_file(course))
    for kind, (hand_in_folder, _, _) in FOLDER_KINDS.items():
        hand_in_folder(course, kind)
    for name in INVALID_STUDENT_NAMES:
        hand_in(course, name, answered_notebook(course))
