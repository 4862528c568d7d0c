"""Common mistakes in submissions of the small assignment (slips), and how they are graded.

Each slip consists of a function that writes a student's submission with this mistake to a course,
the expected points for tests, and a text that the grader's notes must contain (None: no notes).
"""

import json
import unicodedata

import nbformat
from coursework import (
    ASSIGNMENT,
    ESSAY,
    SQUARE,
    TOTAL,
    answered_notebook,
    hand_in,
    nbgrader_metadata,
)
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

STUB = "*Your answer.*"
ADJACENT_TEXT_MESSAGE = "the adjacent text was graded instead"


def _slip(submit, points=5, message=None):
    """Return a slip: its function, its points (at most five), and a text of the notes or None."""
    return submit, points, message


def _submitter(change=None, **answers):
    """Return a function that changes a notebook with these answers and submits it."""

    def submit(course, student):
        nb = answered_notebook(course, **answers)
        if change:
            change(nb)
        hand_in(course, student, nb)

    return submit


def _cell_index(nb, item):
    return next(
        k for k, cell in enumerate(nb.cells) if nbgrader_metadata(cell).get("grade_id") == item
    )


def _code_submitter(item, source):
    """Return a function that submits a notebook with a new code cell below an item."""
    return _submitter(lambda nb: nb.cells.insert(_cell_index(nb, item) + 1, new_code_cell(source)))


def _put_essay_below(nb):
    nb.cells.append(new_markdown_cell(ESSAY))


def _put_essay_in_a_raw_cell(nb):
    nb.cells.insert(_cell_index(nb, "essay") + 1, new_raw_cell(ESSAY))


def _put_essay_in_comments(nb):
    nb.cells.insert(_cell_index(nb, "essay") + 1, new_code_cell(f"# {ESSAY}"))


def _put_essay_above(nb):
    nb.cells.insert(_cell_index(nb, "essay"), new_markdown_cell(ESSAY))


def _add_essay_to_the_question(nb):
    nb.cells[_cell_index(nb, "task")].source += f"\n\n{ESSAY}"


def _cell_remover(*items):
    """Return a function that deletes these cells from a notebook."""
    return lambda nb: [nb.cells.pop(_cell_index(nb, item)) for item in items]


def _replace_answer_cell(nb):
    nb.cells[_cell_index(nb, "square")].metadata = {}


def _line_adder(item):
    """Return a function that adds a line to a cell of a notebook."""

    def change(nb):
        nb.cells[_cell_index(nb, item)].source += "\nprint('looked at')"

    return change


def _cell_type_setter(item, cell_type):
    """Return a function that sets the type of a cell of a notebook."""

    def change(nb):
        nb.cells[_cell_index(nb, item)].cell_type = cell_type

    return change


def _split_answer(nb):
    k = _cell_index(nb, "square")
    second = nb.cells[k].copy()
    nb.cells[k].source, second.source = "def times(x, y): return x * y", SQUARE
    nb.cells.insert(k + 1, second)


def _move_answers_to_the_end(nb):
    nb.cells.sort(key=lambda cell: bool(nbgrader_metadata(cell).get("solution")))


def _repeat_cells(nb):
    nb.cells += [cell.copy() for cell in nb.cells]


def _add_outputs_and_attachments(nb):
    nb.metadata.widgets = {"state": {"x": 1}}
    for cell in nb.cells:
        cell.attachments = {"a.png": {"image/png": "AAAA"}}
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="old\n")]


def _remove_metadata(nb):
    nb.metadata = {}
    for cell in nb.cells:
        cell.metadata = {}


def _change_kernel(nb):
    nb.metadata.kernelspec = {"name": "my-env", "display_name": "Mine", "language": "python"}


def _file_submitter(folder=ASSIGNMENT, file=f"{ASSIGNMENT}.ipynb", content=None):
    """Return a function that submits a correct notebook, or other content, as a given file."""

    def submit(course, student):
        path = course.root / "submitted" / student / folder / file
        path.parent.mkdir(parents=True)
        path.write_bytes(
            json.dumps(answered_notebook(course)).encode() if content is None else content
        )

    return submit


def _hand_in_two_files(course, student):
    _file_submitter(file="small (1).ipynb")(course, student)
    (course.root / "submitted" / student / ASSIGNMENT / "small (2).ipynb").write_text("{}")


def _hand_in_an_older_file_as_well(course, student):
    _file_submitter()(course, student)
    (course.root / "submitted" / student / ASSIGNMENT / "small (1).ipynb").write_text("{}")


def _hand_in_with_byte_order_mark(course, student):
    content = b"\xef\xbb\xbf" + json.dumps(answered_notebook(course)).encode()
    _file_submitter(content=content)(course, student)


def _hand_in_other_files_as_well(course, student):
    folder = hand_in(course, student, answered_notebook(course))
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "small-checkpoint.ipynb").write_text("{}")
    (folder / "notes.pdf").write_bytes(b"%PDF")
    (folder / "small.py").write_text("raise SystemExit")


SLIPS = {
    "writes the essay in a new cell below": _slip(
        _submitter(_put_essay_below, essay=STUB), message=ADJACENT_TEXT_MESSAGE
    ),
    "writes the essay in a new cell above": _slip(
        _submitter(_put_essay_above, essay=STUB), message=ADJACENT_TEXT_MESSAGE
    ),
    "writes the essay in a raw cell below": _slip(
        _submitter(_put_essay_in_a_raw_cell, essay=STUB), message=ADJACENT_TEXT_MESSAGE
    ),
    "writes the essay in comments of a code cell below": _slip(
        _submitter(_put_essay_in_comments, essay=STUB), message=ADJACENT_TEXT_MESSAGE
    ),
    "pastes a picture into the essay": _slip(
        _submitter(essay="![proof](attachment:photo.png)"),
        message="an image pasted into a text is not kept",
    ),
    "writes the essay into the question": _slip(
        _submitter(_add_essay_to_the_question, essay=STUB), message=ADJACENT_TEXT_MESSAGE
    ),
    "adds a remark to the question": _slip(
        _submitter(_add_essay_to_the_question), message="the additions are kept below it"
    ),
    "deletes the cell of the essay": _slip(
        _submitter(_cell_remover("essay")), message="missing: essay"
    ),
    "answers in a new cell below the stub": _slip(_code_submitter("square", SQUARE)),
    "answers in two cells": _slip(_submitter(_split_answer), message="2 pieces"),
    "deletes an answer's cell and adds a new one": _slip(
        _submitter(_replace_answer_cell), message="missing"
    ),
    "deletes a test": _slip(
        _submitter(_cell_remover("test_square")), message="missing: test_square"
    ),
    "deletes the first cell": _slip(_submitter(_cell_remover("setup")), message="missing: setup"),
    "adds a line to a test": _slip(
        _submitter(_line_adder("test_square")), message="test_square had been"
    ),
    "adds a line to a locked cell": _slip(
        _submitter(_line_adder("setup")), message="setup had been changed"
    ),
    "makes an answer's cell Markdown": _slip(
        _submitter(_cell_type_setter("square", "markdown")), message="wrong cell type"
    ),
    "makes the essay's cell code": _slip(
        _submitter(_cell_type_setter("essay", "code")), message="wrong cell type"
    ),
    "moves the answers to the end": _slip(_submitter(_move_answers_to_the_end)),
    "has every cell twice": _slip(_submitter(_repeat_cells)),
    "leaves %pdb on": _slip(_code_submitter("setup", "%pdb on\n1 / 0")),
    "leaves exit() at the end": _slip(_code_submitter("test_total", "exit()")),
    "leaves quit in the middle": _slip(_code_submitter("square", "quit")),
    "leaves input() in a cell": _slip(_code_submitter("setup", "name = input('Your name? ')")),
    "leaves magics": _slip(
        _code_submitter("setup", "%matplotlib inline\n%timeit -n1 -r1 1 + 1\n!echo x")
    ),
    "leaves a cell with an error": _slip(_code_submitter("setup", "undefined + 1")),
    "leaves a cell that is not Python": _slip(_code_submitter("setup", "for x in")),
    "overwrites a name of the tests": _slip(_code_submitter("square", "check_close = x = None")),
    "imports all of NumPy": _slip(_code_submitter("setup", "from numpy import *")),
    "calls a variable sum": _slip(_code_submitter("total", "sum = 0"), points=3),
    "turns warnings into errors": _slip(
        _code_submitter("setup", "import warnings\nwarnings.simplefilter('error')")
    ),
    "lets NumPy raise": _slip(
        _code_submitter("setup", "import numpy as np\nnp.seterr(all='raise')")
    ),
    "prints in an answer": _slip(_submitter(square=SQUARE.replace("return", "print(x); return"))),
    "draws in an answer": _slip(
        _submitter(square=f"import matplotlib.pyplot as plt\n{SQUARE}\nplt.plot([1]); plt.show()")
    ),
    "counts calls in a global variable": _slip(
        _submitter(
            square="calls = 0\ndef square(x):\n    global calls\n    calls += 1\n    return x * x"
        )
    ),
    "answers with NumPy's numbers": _slip(
        _submitter(
            square="import numpy as np\ndef square(x): return np.float64(x) ** 2",
            total="import numpy as np\ndef total(x): return np.array(x).sum().astype(int)",
        )
    ),
    "answers with a lambda": _slip(_submitter(square="square = lambda x: x * x")),
    "answers with a partial function": _slip(
        _submitter(square="from functools import partial\nsquare = partial(pow, exp=2)")
    ),
    "answers with a cached function": _slip(
        _submitter(square=f"from functools import cache\n@cache\n{SQUARE}")
    ),
    "answers with a method": _slip(
        _submitter(square="class A:\n    def f(self, x): return x * x\nsquare = A().f")
    ),
    "forgets an answer": _slip(_submitter(total=TOTAL.replace("return", "")), points=3),
    "saves outputs, widgets and attachments": _slip(_submitter(_add_outputs_and_attachments)),
    "saves the notebook with a program that drops all metadata": _slip(
        _submitter(_remove_metadata), message=ADJACENT_TEXT_MESSAGE
    ),
    "uses a different kernel": _slip(_submitter(_change_kernel)),
    "calls the file small (1).ipynb": _slip(
        _file_submitter(file="small (1).ipynb"), message="was graded as small"
    ),
    "calls the file Small.IPYNB": _slip(
        _file_submitter(file="Small.IPYNB"), message="was graded as small"
    ),
    "calls the folder Small": _slip(
        _file_submitter(folder="Small"), message="the folder 'Small' was graded"
    ),
    "calls the folder s-mall": _slip(
        _file_submitter(folder="s-mall"), message="was graded as small"
    ),
    "has a name with a decomposed accent": _slip(_submitter()),
    "hands in two files": _slip(
        _hand_in_two_files, points=0, message="but 'small (1).ipynb', 'small (2).ipynb'"
    ),
    "hands in an older file as well": _slip(
        _hand_in_an_older_file_as_well, message="small.ipynb was graded, not 'small (1).ipynb'"
    ),
    "hands in a folder within the folder": _slip(
        _file_submitter(file=f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb"),
        message="the file 'small/small.ipynb' was graded as small.ipynb",
    ),
    "saves with a byte order mark": _slip(_hand_in_with_byte_order_mark),
    "hands in other files as well": _slip(_hand_in_other_files_as_well),
    "hands in a zip file": _slip(
        _file_submitter(file="small.zip", content=b"PK"), points=0, message="but 'small.zip'"
    ),
    "hands in an empty file": _slip(
        _file_submitter(content=b""), points=0, message="not a notebook"
    ),
    "hands in an HTML page": _slip(
        _file_submitter(file="small.html", content=b"<html>"),
        points=0,
        message="but 'small.html'",
    ),
}


def _hand_in_without_folder(course, student):
    _file_submitter()(course, student)
    submitted = course.root / "submitted" / student
    (submitted / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").rename(submitted / f"{ASSIGNMENT}.ipynb")
    (submitted / ASSIGNMENT).rmdir()


# Slips because of which a submission is not graded: a function that writes the submission, and a
# text that the reason must contain.
SKIPPED_SLIPS = {
    "hands in a notebook outside the assignment folder": (
        _hand_in_without_folder,
        "a notebook belongs in",
    ),
    "calls the folder hw1": (
        _file_submitter(folder="hw1"),
        "the course has no such assignment",
    ),
}


def hand_in_all(course):
    """Submit every slip, each in the name of a different student."""
    for slip, (submit, *_) in (SLIPS | SKIPPED_SLIPS).items():
        submit(course, unicodedata.normalize("NFD", student_of(slip)))


def student_of(slip):
    """Return the name of the student who submits a slip."""
    return "José" if "accent" in slip else f"student {[*SLIPS, *SKIPPED_SLIPS].index(slip)}"
