"""A small assignment, and how to hand it in."""

import json

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

NAME = "small"
SQUARE = "def square(x):\n    return x * x"
TOTAL = "def total(x):\n    return float(sum(x))"
ESSAY = "Because squares are not negative."


def _cell(cell, **about):
    common = {"schema_version": 3, "grade": False, "locked": False, "solution": False}
    cell.metadata["nbgrader"] = {**common, "task": False, **about}
    return cell


def _solution(name, text):
    head, body = text.split("\n", 1)
    marked = f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
    return _cell(new_code_cell(marked), grade_id=name, solution=True)


def source():
    """Return the instructor's notebook: two items of 3 and 2 points, and an essay of 4."""
    tests = {
        "test_square": (
            "for x in (2.0, -3.0):\n    check_close('square', square(x), x * x)\n"
            "### BEGIN HIDDEN TESTS\nsecret_of_the_test = 1234\n"
            "check_close('square', square(5.0), 25.0)\n### END HIDDEN TESTS"
        ),
        "test_total": "check_close('total', total([1.0, 2.0]), 3.0)",
    }
    cells = [
        new_markdown_cell("# A small one"),
        _cell(
            new_code_cell("from svmbook.course.checks import check_close"),
            **{"grade_id": "setup", "locked": True},
        ),
        _solution("square", SQUARE),
        _cell(
            new_code_cell(tests["test_square"]),
            **{"grade_id": "test_square", "grade": True, "locked": True, "points": 3},
        ),
        _solution("total", TOTAL),
        _cell(
            new_code_cell(tests["test_total"]),
            **{"grade_id": "test_total", "grade": True, "locked": True, "points": 2},
        ),
        _cell(
            new_markdown_cell(f"### BEGIN SOLUTION\n{ESSAY}\n### END SOLUTION"),
            **{"grade_id": "essay", "grade": True, "solution": True, "points": 4},
        ),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def answered(course, **answers):
    """Return the notebook as handed out, with these answers and otherwise the right ones."""
    nb = nbformat.read(course.released(NAME), as_version=4)
    answers = {"square": SQUARE, "total": TOTAL, "essay": ESSAY} | answers
    for cell in nb.cells:
        item = cell.metadata.get("nbgrader", {}).get("grade_id")
        if item in answers:
            cell.source = answers[item]
    return nb


def hand_in(course, student, nb):
    """Write what a student hands in for the small assignment: a notebook, or bytes."""
    return hand_in_as(course, student, NAME, nb)


def hand_in_as(course, student, name, nb):
    """Write what a student hands in for an assignment; return the folder."""
    folder = course.root / "submitted" / student / name
    folder.mkdir(parents=True)
    content = nb if isinstance(nb, bytes) else json.dumps(nb).encode()
    (folder / f"{name}.ipynb").write_bytes(content)
    return folder
