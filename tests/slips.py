"""Everyday slips of honest students in the small assignment, and how they are graded.

Each slip has a function of the course and the student that writes the submission, the expected
points by tests, and words that the report must contain.
"""

import json
import unicodedata

import nbformat
from coursework import ESSAY, NAME, SQUARE, TOTAL, answered_notebook, hand_in, nbgrader_metadata
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

STUB = "*Your answer.*"
NEARBY_TEXT = "the adjacent text was graded instead"


def _slip(make, points=5, words=None):
    """Return how a slip is handed in, its points of five, and words of the report, if any."""
    return make, points, words


def _notebook(change=None, **answers):
    """Return a function that hands in a notebook with these answers, after changing its cells."""

    def make(course, student):
        nb = answered_notebook(course, **answers)
        if change:
            change(nb)
        hand_in(course, student, nb)

    return make


def _index(nb, item):
    return next(
        k for k, cell in enumerate(nb.cells) if nbgrader_metadata(cell).get("grade_id") == item
    )


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
    nb.cells.sort(key=lambda cell: bool(nbgrader_metadata(cell).get("solution")))


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
        path.write_bytes(
            json.dumps(answered_notebook(course)).encode() if content is None else content
        )

    return make


def _two_files(course, student):
    _named(file="small (1).ipynb")(course, student)
    (course.root / "submitted" / student / NAME / "small (2).ipynb").write_text("{}")


def _older_file_beside(course, student):
    _named()(course, student)
    (course.root / "submitted" / student / NAME / "small (1).ipynb").write_text("{}")


def _bom(course, student):
    content = b"\xef\xbb\xbf" + json.dumps(answered_notebook(course)).encode()
    _named(content=content)(course, student)


def _files_beside(course, student):
    folder = hand_in(course, student, answered_notebook(course))
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "small-checkpoint.ipynb").write_text("{}")
    (folder / "notes.pdf").write_bytes(b"%PDF")
    (folder / "small.py").write_text("raise SystemExit")


SLIPS = {
    "writes the essay in a new cell below": _slip(
        _notebook(_essay_below, essay=STUB), words=NEARBY_TEXT
    ),
    "writes the essay in a new cell above": _slip(
        _notebook(_essay_above, essay=STUB), words=NEARBY_TEXT
    ),
    "writes the essay in a raw cell below": _slip(
        _notebook(_essay_raw, essay=STUB), words=NEARBY_TEXT
    ),
    "writes the essay in comments of a code cell below": _slip(
        _notebook(_essay_in_comments, essay=STUB), words=NEARBY_TEXT
    ),
    "pastes a picture into the essay": _slip(
        _notebook(essay="![proof](attachment:photo.png)"),
        words="a picture that was pasted into a text is not kept",
    ),
    "writes the essay into the question": _slip(
        _notebook(_essay_in_the_question, essay=STUB), words=NEARBY_TEXT
    ),
    "adds a remark to the question": _slip(
        _notebook(_essay_in_the_question), words="the additions are kept below it"
    ),
    "deletes the cell of the essay": _slip(_notebook(_without("essay")), words="missing: essay"),
    "answers in a new cell below the stub": _slip(_code("square", SQUARE)),
    "answers in two cells": _slip(_notebook(_split), words="2 pieces"),
    "deletes an answer's cell and adds a new one": _slip(
        _notebook(_own_cell_instead), words="missing"
    ),
    "deletes a test": _slip(_notebook(_without("test_square")), words="missing: test_square"),
    "deletes the first cell": _slip(_notebook(_without("setup")), words="missing: setup"),
    "adds a line to a test": _slip(
        _notebook(_extra_line("test_square")), words="test_square had been"
    ),
    "adds a line to a locked cell": _slip(
        _notebook(_extra_line("setup")), words="setup had been changed"
    ),
    "makes an answer's cell Markdown": _slip(
        _notebook(_kind("square", "markdown")), words="wrong cell type"
    ),
    "makes the essay's cell code": _slip(
        _notebook(_kind("essay", "code")), words="wrong cell type"
    ),
    "moves the answers to the end": _slip(_notebook(_answers_last)),
    "has every cell twice": _slip(_notebook(_twice)),
    "leaves %pdb on": _slip(_code("setup", "%pdb on\n1 / 0")),
    "leaves exit() at the end": _slip(_code("test_total", "exit()")),
    "leaves quit in the middle": _slip(_code("square", "quit")),
    "leaves input() in a cell": _slip(_code("setup", "name = input('Your name? ')")),
    "leaves magics": _slip(_code("setup", "%matplotlib inline\n%timeit -n1 -r1 1 + 1\n!echo x")),
    "leaves a cell with an error": _slip(_code("setup", "undefined + 1")),
    "leaves a cell that is not Python": _slip(_code("setup", "for x in")),
    "overwrites a name of the tests": _slip(_code("square", "check_close = x = None")),
    "imports all of NumPy": _slip(_code("setup", "from numpy import *")),
    "calls a variable sum": _slip(_code("total", "sum = 0"), points=3),
    "turns warnings into errors": _slip(
        _code("setup", "import warnings\nwarnings.simplefilter('error')")
    ),
    "lets NumPy raise": _slip(_code("setup", "import numpy as np\nnp.seterr(all='raise')")),
    "prints in an answer": _slip(_notebook(square=SQUARE.replace("return", "print(x); return"))),
    "draws in an answer": _slip(
        _notebook(square=f"import matplotlib.pyplot as plt\n{SQUARE}\nplt.plot([1]); plt.show()")
    ),
    "counts calls in a global variable": _slip(
        _notebook(
            square="calls = 0\ndef square(x):\n    global calls\n    calls += 1\n    return x * x"
        )
    ),
    "answers with NumPy's numbers": _slip(
        _notebook(
            square="import numpy as np\ndef square(x): return np.float64(x) ** 2",
            total="import numpy as np\ndef total(x): return np.array(x).sum().astype(int)",
        )
    ),
    "answers with a lambda": _slip(_notebook(square="square = lambda x: x * x")),
    "answers with a partial function": _slip(
        _notebook(square="from functools import partial\nsquare = partial(pow, exp=2)")
    ),
    "answers with a cached function": _slip(
        _notebook(square=f"from functools import cache\n@cache\n{SQUARE}")
    ),
    "answers with a method": _slip(
        _notebook(square="class A:\n    def f(self, x): return x * x\nsquare = A().f")
    ),
    "forgets an answer": _slip(_notebook(total=TOTAL.replace("return", "")), points=3),
    "saves outputs, widgets and attachments": _slip(_notebook(_outputs)),
    "saves the notebook with a program that drops all metadata": _slip(
        _notebook(_without_metadata), words=NEARBY_TEXT
    ),
    "uses a different kernel": _slip(_notebook(_other_kernel)),
    "calls the file small (1).ipynb": _slip(
        _named(file="small (1).ipynb"), words="was graded as small"
    ),
    "calls the file Small.IPYNB": _slip(_named(file="Small.IPYNB"), words="was graded as small"),
    "calls the folder Small": _slip(_named(folder="Small"), words="the folder 'Small' was graded"),
    "calls the folder s-mall": _slip(_named(folder="s-mall"), words="was graded as small"),
    "has a name with a decomposed accent": _slip(_notebook()),
    "hands in two files": _slip(
        _two_files, points=0, words="but 'small (1).ipynb', 'small (2).ipynb'"
    ),
    "hands in an older file as well": _slip(
        _older_file_beside, words="small.ipynb was graded, and not 'small (1).ipynb'"
    ),
    "hands in a folder within the folder": _slip(
        _named(file=f"{NAME}/{NAME}.ipynb"),
        words="the file 'small/small.ipynb' was graded as small.ipynb",
    ),
    "saves with a byte order mark": _slip(_bom),
    "hands in other files as well": _slip(_files_beside),
    "hands in a zip file": _slip(
        _named(file="small.zip", content=b"PK"), points=0, words="but 'small.zip'"
    ),
    "hands in an empty file": _slip(_named(content=b""), points=0, words="not a notebook"),
    "hands in an HTML page": _slip(
        _named(file="small.html", content=b"<html>"), points=0, words="but 'small.html'"
    ),
}


def _without_folder(course, student):
    _named()(course, student)
    submitted = course.root / "submitted" / student
    (submitted / NAME / f"{NAME}.ipynb").rename(submitted / f"{NAME}.ipynb")
    (submitted / NAME).rmdir()


# Submissions that are not graded, and words from the message that lists them.
LEFT_OUT = {
    "hands in a notebook outside the assignment folder": (_without_folder, "a notebook belongs in"),
    "calls the folder hw1": (_named(folder="hw1"), "the course has no such assignment"),
}


def hand_in_all(course):
    """Hand in all slips, each as a student of its own."""
    for kind, (make, *_) in (SLIPS | LEFT_OUT).items():
        make(course, unicodedata.normalize("NFD", student_of(kind)))


def student_of(kind):
    """Return the name of the student who hands in a slip."""
    return "José" if "accent" in kind else f"student {[*SLIPS, *LEFT_OUT].index(kind)}"
