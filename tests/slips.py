"""Everyday slips of honest students in the small assignment, and how they are graded.

Each slip has a function of the course and the student that writes the submission, the expected
points by tests, of five, and words that the report must contain, or None.
"""

import json
import unicodedata

import nbformat
from coursework import ESSAY, NAME, SQUARE, TOTAL, about, answered, hand_in
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

NEARBY_TEXT = "the text beside it was taken for it"


def _notebook(change=None, **answers):
    """Return a function that hands in a notebook with these answers, after changing its cells."""

    def make(course, student):
        nb = answered(course, **answers)
        if change:
            change(nb)
        hand_in(course, student, nb)

    return make


def _index(nb, item):
    return next(k for k, cell in enumerate(nb.cells) if about(cell).get("grade_id") == item)


def _code(item, text):
    """Insert a code cell below an item."""
    return _notebook(lambda nb: nb.cells.insert(_index(nb, item) + 1, new_code_cell(text)))


def _essay_below(nb):
    nb.cells.append(new_markdown_cell(ESSAY))


def _essay_raw(nb):
    nb.cells.insert(_index(nb, "essay") + 1, new_raw_cell(ESSAY))


def _essay_in_comments(nb):
    nb.cells.insert(_index(nb, "essay") + 1, new_code_cell(f"# {ESSAY}"))


def _essay_above(nb):
    nb.cells.insert(_index(nb, "essay"), new_markdown_cell(ESSAY))


def _essay_in_the_question(nb):
    nb.cells[_index(nb, "task")].source += f"\n\n{ESSAY}"


def _without(*items):
    return lambda nb: [nb.cells.pop(_index(nb, item)) for item in items]


def _own_cell_instead(nb):
    nb.cells[_index(nb, "square")].metadata = {}


def _extra_line(item):
    def change(nb):
        nb.cells[_index(nb, item)].source += "\nprint('looked at')"

    return change


def _kind(item, kind):
    def change(nb):
        nb.cells[_index(nb, item)].cell_type = kind

    return change


def _split(nb):
    k = _index(nb, "square")
    second = nb.cells[k].copy()
    nb.cells[k].source, second.source = "def times(x, y): return x * y", SQUARE
    nb.cells.insert(k + 1, second)


def _answers_last(nb):
    nb.cells.sort(key=lambda cell: bool(about(cell).get("solution")))


def _twice(nb):
    nb.cells += [cell.copy() for cell in nb.cells]


def _outputs(nb):
    nb.metadata.widgets = {"state": {"x": 1}}
    for cell in nb.cells:
        cell.attachments = {"a.png": {"image/png": "AAAA"}}
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="old\n")]


def _without_metadata(nb):
    nb.metadata = {}
    for cell in nb.cells:
        cell.metadata = {}


def _other_kernel(nb):
    nb.metadata.kernelspec = {"name": "my-env", "display_name": "Mine", "language": "python"}


def _named(folder=NAME, file=f"{NAME}.ipynb", content=None):
    """Return a function that hands in a notebook, or other content, under other names."""

    def make(course, student):
        path = course.root / "submitted" / student / folder / file
        path.parent.mkdir(parents=True)
        path.write_bytes(json.dumps(answered(course)).encode() if content is None else content)

    return make


def _two_files(course, student):
    _named(file="small (1).ipynb")(course, student)
    (course.root / "submitted" / student / NAME / "small (2).ipynb").write_text("{}")


def _older_file_beside(course, student):
    _named()(course, student)
    (course.root / "submitted" / student / NAME / "small (1).ipynb").write_text("{}")


def _bom(course, student):
    content = b"\xef\xbb\xbf" + json.dumps(answered(course)).encode()
    _named(content=content)(course, student)


def _files_beside(course, student):
    folder = hand_in(course, student, answered(course))
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "small-checkpoint.ipynb").write_text("{}")
    (folder / "notes.pdf").write_bytes(b"%PDF")
    (folder / "small.py").write_text("raise SystemExit")


SLIPS = {
    "writes the essay in a new cell below": (
        _notebook(_essay_below, essay="*Your answer.*"),
        5,
        NEARBY_TEXT,
    ),
    "writes the essay in a new cell above": (
        _notebook(_essay_above, essay="*Your answer.*"),
        5,
        NEARBY_TEXT,
    ),
    "writes the essay in a raw cell below": (
        _notebook(_essay_raw, essay="*Your answer.*"),
        5,
        NEARBY_TEXT,
    ),
    "writes the essay in comments of a code cell below": (
        _notebook(_essay_in_comments, essay="*Your answer.*"),
        5,
        NEARBY_TEXT,
    ),
    "pastes a picture into the essay": (
        _notebook(essay="![proof](attachment:photo.png)"),
        5,
        "a picture that was pasted into a text is not kept",
    ),
    "writes the essay into the question": (
        _notebook(_essay_in_the_question, essay="*Your answer.*"),
        5,
        NEARBY_TEXT,
    ),
    "adds a remark to the question": (
        _notebook(_essay_in_the_question),
        5,
        "what was added to it stands below it",
    ),
    "deletes the cell of the essay": (_notebook(_without("essay")), 5, "missing: essay"),
    "answers in a new cell below the stub": (_code("square", SQUARE), 5, None),
    "answers in two cells": (_notebook(_split), 5, "2 pieces"),
    "deletes an answer's cell and writes one of its own": (
        _notebook(_own_cell_instead),
        5,
        "missing",
    ),
    "deletes a test": (_notebook(_without("test_square")), 5, "missing: test_square"),
    "deletes the first cell": (_notebook(_without("setup")), 5, "missing: setup"),
    "adds a line to a test": (_notebook(_extra_line("test_square")), 5, "test_square had been"),
    "adds a line to a given cell": (_notebook(_extra_line("setup")), 5, "setup had been changed"),
    "makes an answer's cell Markdown": (_notebook(_kind("square", "markdown")), 5, "another kind"),
    "makes the essay's cell code": (_notebook(_kind("essay", "code")), 5, "another kind"),
    "moves the answers to the end": (_notebook(_answers_last), 5, None),
    "has every cell twice": (_notebook(_twice), 5, None),
    "leaves %pdb on": (_code("setup", "%pdb on\n1 / 0"), 5, None),
    "leaves exit() at the end": (_code("test_total", "exit()"), 5, None),
    "leaves quit in the middle": (_code("square", "quit"), 5, None),
    "leaves input() in a cell": (_code("setup", "name = input('Your name? ')"), 5, None),
    "leaves magics": (
        _code("setup", "%matplotlib inline\n%timeit -n1 -r1 1 + 1\n!echo x"),
        5,
        None,
    ),
    "leaves a cell with an error": (_code("setup", "undefined + 1"), 5, None),
    "leaves a cell that is no Python": (_code("setup", "for x in"), 5, None),
    "overwrites a name of the tests": (_code("square", "check_close = x = None"), 5, None),
    "imports all of NumPy": (_code("setup", "from numpy import *"), 5, None),
    "calls a variable sum": (_code("total", "sum = 0"), 3, None),
    "turns warnings into errors": (
        _code("setup", "import warnings\nwarnings.simplefilter('error')"),
        5,
        None,
    ),
    "lets NumPy raise": (_code("setup", "import numpy as np\nnp.seterr(all='raise')"), 5, None),
    "prints in an answer": (
        _notebook(square=SQUARE.replace("return", "print(x); return")),
        5,
        None,
    ),
    "draws in an answer": (
        _notebook(square=f"import matplotlib.pyplot as plt\n{SQUARE}\nplt.plot([1]); plt.show()"),
        5,
        None,
    ),
    "counts calls in a global variable": (
        _notebook(
            square="calls = 0\ndef square(x):\n    global calls\n    calls += 1\n    return x * x"
        ),
        5,
        None,
    ),
    "answers with NumPy's numbers": (
        _notebook(
            square="import numpy as np\ndef square(x): return np.float64(x) ** 2",
            total="import numpy as np\ndef total(x): return np.array(x).sum().astype(int)",
        ),
        5,
        None,
    ),
    "answers with a lambda": (_notebook(square="square = lambda x: x * x"), 5, None),
    "answers with a partial function": (
        _notebook(square="from functools import partial\nsquare = partial(pow, exp=2)"),
        5,
        None,
    ),
    "answers with a cached function": (
        _notebook(square=f"from functools import cache\n@cache\n{SQUARE}"),
        5,
        None,
    ),
    "answers with a method": (
        _notebook(square="class A:\n    def f(self, x): return x * x\nsquare = A().f"),
        5,
        None,
    ),
    "forgets an answer": (_notebook(total=TOTAL.replace("return", "")), 3, None),
    "saves outputs, widgets and attachments": (_notebook(_outputs), 5, None),
    "saves it by a program that drops all metadata": (_notebook(_without_metadata), 5, NEARBY_TEXT),
    "has another kernel": (_notebook(_other_kernel), 5, None),
    "calls the file small (1).ipynb": (_named(file="small (1).ipynb"), 5, "was taken for small"),
    "calls the file Small.IPYNB": (_named(file="Small.IPYNB"), 5, "was taken for small"),
    "calls the folder Small": (_named(folder="Small"), 5, "the folder 'Small' was taken"),
    "calls the folder s-mall": (_named(folder="s-mall"), 5, "was taken for small"),
    "has an accent in two characters": (_notebook(), 5, None),
    "hands in two files": (_two_files, 0, "but 'small (1).ipynb', 'small (2).ipynb'"),
    "hands in an older file as well": (
        _older_file_beside,
        5,
        "small.ipynb was graded, and not 'small (1).ipynb'",
    ),
    "hands in a folder within the folder": (
        _named(file=f"{NAME}/{NAME}.ipynb"),
        5,
        "the file 'small/small.ipynb' was taken for small.ipynb",
    ),
    "saves with a byte order mark": (_bom, 5, None),
    "hands in other files as well": (_files_beside, 5, None),
    "hands in a zip file": (_named(file="small.zip", content=b"PK"), 0, "but 'small.zip'"),
    "hands in an empty file": (_named(content=b""), 0, "no notebook"),
    "hands in a page": (_named(file="small.html", content=b"<html>"), 0, "but 'small.html'"),
}


def _without_folder(course, student):
    _named()(course, student)
    submitted = course.root / "submitted" / student
    (submitted / NAME / f"{NAME}.ipynb").rename(submitted / f"{NAME}.ipynb")
    (submitted / NAME).rmdir()


# Submissions that are not graded, and words from the message that lists them.
LEFT_OUT = {
    "hands in no folder": (_without_folder, "a notebook belongs in"),
    "calls the folder hw1": (_named(folder="hw1"), "the course has no such assignment"),
}


def hand_in_all(course):
    """Hand in all slips, each as a student of its own."""
    for kind, (make, *_) in (SLIPS | LEFT_OUT).items():
        make(course, unicodedata.normalize("NFD", student_of(kind)))


def student_of(kind):
    """Return the name of the student who hands in a slip."""
    return "José" if "accent" in kind else f"student {[*SLIPS, *LEFT_OUT].index(kind)}"
