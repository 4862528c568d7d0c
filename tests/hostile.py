"""Files that mean harm, and those that were only made badly, and how all kinds are handed in."""

import json
import os

from coursework import NAME, answered, hand_in
from hostile_code import CODE
from nbformat.v4 import new_code_cell, new_output

ESSAY_WAITS = 5.0  # what the tests give; the essay's four points wait for a person

MORE = 21_000_000


def _with_essay(course, text):
    return answered(course, essay=text)


def _changed_tests(course):
    nb = answered(course, square="def square(x): return 0.0")
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader.points = 1000
            if cell.cell_type == "code":
                cell.source = "pass"
    return nb


def _without(course, *items):
    nb = answered(course)
    nb.cells = [c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") not in items]
    return nb


def _twice(course):
    nb = answered(course)
    nb.cells += [cell.copy() for cell in nb.cells]
    return nb


def _bomb(course):
    nb = answered(course)
    deep = "[" * 200_000 + "]" * 200_000
    return json.dumps(nb).replace('"metadata": {', f'"metadata": {{"x": {deep}, ', 1).encode()


def _marked(course):
    """Return a wrong answer, with the points of the tests among the outputs."""
    nb = answered(course, square="def square(x): return 0.0")
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.outputs = [new_output("execute_result", data={"text/plain": "3.0"})]
    return nb


def _odd_names(course):
    """Return a notebook in which a cell's name is a list, and that of another a number."""
    nb = answered(course)
    for cell, name in zip(nb.cells[1:3], (["square"], 7), strict=True):
        cell.metadata.nbgrader.grade_id = name
    return nb


def _numbers_for_texts(course):
    nb = answered(course)
    nb.cells[2].source = 7
    return nb


def _with_cells(course, *texts):
    nb = answered(course)
    nb.cells += [new_code_cell(text) for text in texts]
    return nb


# Files in the place of the notebook.
FILES = {
    "has script in its essay": (
        lambda course: _with_essay(course, "<script>stolen()</script><img src=//evil.example/x>"),
        5,
        None,
    ),
    "has changed the tests": (_changed_tests, 2, None),
    "has deleted a test": (lambda course: _without(course, "test_square"), 5, "missing"),
    "has deleted all": (lambda course: _without(course, "square", "total", "setup"), 0, "missing"),
    "has every cell twice": (_twice, 5, None),
    "is no notebook": (lambda course: b"\x89PNG\r\n", 0, "not UTF-8"),
    "is in another encoding": (lambda course: '{"cells": "é"}'.encode("latin-1"), 0, "not UTF-8"),
    "is JSON and no notebook": (lambda course: b"[1, 2]", 0, "no list of cells"),
    "is empty": (lambda course: b"", 0, "no notebook"),
    "is nested without end": (_bomb, 0, "nested"),
    "brings a mark in its outputs": (_marked, 2, None),
    "has lists and numbers as names": (_odd_names, 5, "missing"),
    "has a number in the place of a text": (_numbers_for_texts, 0, "no cell"),
    "is of an old format": (lambda course: b'{"nbformat": 3, "worksheets": []}', 0, "no list of"),
    "has an essay of three million characters": (
        lambda course: _with_essay(course, "x " * 1_500_000),
        0,
        "at most 200000 are read",
    ),
    "asks 15,000 questions": (
        lambda course: _with_cells(course, "if 0: 0\n" + "elif 0: 0\n" * 15_000),
        5,
        None,
    ),
    "has a cell of 199,000 empty lines": (
        lambda course: _with_cells(course, "\n" * 199_000 + "0"),
        5,
        None,
    ),
    "is too large": (lambda course: b" " * MORE, 0, "at most 20 are read"),
}


def _link(course, student):
    folder = course.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").symlink_to(course.source(NAME))


def _linked_folder(course, student):
    (course.root / "submitted" / student).mkdir()
    (course.root / "submitted" / student / NAME).symlink_to(course.root / "source" / NAME)


def _pipe(course, student):
    folder = course.root / "submitted" / student / NAME
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"{NAME}.ipynb")


def _folder(course, student):
    (course.root / "submitted" / student / NAME / f"{NAME}.ipynb").mkdir(parents=True)


def _other_files(course, student):
    folder = hand_in(course, student, answered(course))
    (folder / "index.html").write_text("<script>stolen()</script>")
    (folder / "numpy.py").write_text("raise SystemExit")


PLACES = {
    "is a link to the solutions": (_link, 0, "cannot be opened"),
    "has a link for its folder": (_linked_folder, 0, "is a link"),
    "is a pipe": (_pipe, 0, "is no file"),
    "is a folder": (_folder, 0, "is no file"),
    "brings other files": (_other_files, 5, None),
}
MISNAMED = ("<img src=x onerror=alert(1)>", "..; rm -rf *; $(reboot)", "M\udcfcller", "-")
EXPECTED = {kind: (most, says) for kind, (_, most, says) in (CODE | FILES | PLACES).items()}
EXPECTED["is honest"] = (ESSAY_WAITS, None)


def hand_in_all(course, kinds):
    """Hand in an honest notebook, some kinds of code, and all kinds of files and places."""
    hand_in(course, "is honest", answered(course))
    for kind in kinds:
        hand_in(course, kind, answered(course, square=CODE[kind][0]))
    for kind, (make, _, _) in FILES.items():
        hand_in(course, kind, make(course))
    for kind, (place, _, _) in PLACES.items():
        place(course, kind)
    for name in MISNAMED:
        hand_in(course, name, answered(course))
