"""A small assignment and those of the book, and how they are handed in."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENTS = ROOT / "notebooks/assignments"
NAME = "small"
SQUARE = "def square(x):\n    return x * x"
TOTAL = "def total(x):\n    return float(sum(x))"
SCHEME = "4 points, for graders alone"
ESSAY = "Because squares are not negative."


def cell_of(cell, **about):
    """Return a cell marked as nbgrader marks it."""
    common = {"schema_version": 3, "grade": False, "locked": False, "solution": False}
    cell.metadata["nbgrader"] = {**common, "task": False, **about}
    return cell


def _solution(name, text):
    head, body = text.split("\n", 1)
    marked = f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
    return cell_of(new_code_cell(marked), grade_id=name, solution=True)


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
        cell_of(
            new_code_cell("from svmbook.course.checks import check_close"),
            **{"grade_id": "setup", "locked": True},
        ),
        _solution("square", SQUARE),
        cell_of(
            new_code_cell(tests["test_square"]),
            **{"grade_id": "test_square", "grade": True, "locked": True, "points": 3},
        ),
        _solution("total", TOTAL),
        cell_of(
            new_code_cell(tests["test_total"]),
            **{"grade_id": "test_total", "grade": True, "locked": True, "points": 2},
        ),
        cell_of(
            new_markdown_cell(f"Why?\n\n### BEGIN MARK SCHEME\n{SCHEME}\n### END MARK SCHEME"),
            **{"grade_id": "task", "locked": True},
        ),
        cell_of(
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


def of_the_book(name):
    """Return the instructor's notebook of an assignment of the book."""
    return nbformat.read(ASSIGNMENTS / name / f"{name}.ipynb", as_version=4)


def about(cell):
    """Return what nbgrader knows of a cell."""
    return cell.metadata.get("nbgrader", {})


def variants(name):
    """Return what may be handed in for an assignment of the book.

    The solution, another one, and typical mistakes: of each the answers, and the points that the
    tests must give.
    """
    made, points = _submissions(name)
    found = {"the solution": ({}, points), "another solution": (made.RIGHT, points)}
    return found | {kind: (answers, points | lost) for kind, (answers, lost) in made.WRONG.items()}


def combined(name):
    """Return most of the same in fewer submissions: another solution, and mistakes in groups.

    Mistakes in different answers that lose different points stand in one submission. The solution
    itself is left out: nbval runs it, with its tests, in the assignment's notebook.
    """
    made, points = _submissions(name)
    groups = []
    for answers, lost in made.WRONG.values():
        for together, lose in groups:
            if together.keys().isdisjoint(answers) and lose.keys().isdisjoint(lost):
                break
        else:
            groups.append(({}, {}))
            together, lose = groups[-1]
        together.update(answers)
        lose.update(lost)
    found = {f"group {k}": (full, points | lost) for k, (full, lost) in enumerate(groups)}
    return {"another solution": (made.RIGHT, points)} | found


def _submissions(name):
    """Return the module of answers to an assignment, and the points of its tests."""
    path = ROOT / f"tests/course/submissions/{name}.py"
    spec = spec_from_file_location(f"submissions_{name}", path)
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    cells = [cell for cell in of_the_book(name).cells if about(cell).get("grade")]
    points = {about(c)["grade_id"]: about(c)["points"] for c in cells if not about(c)["solution"]}
    return made, points


def filled(course, name, answers):
    """Return an assignment of the book as handed out, with these answers, else the solution's."""
    nb = nbformat.read(course.released(name), as_version=4)
    solution = {about(cell).get("grade_id"): cell.source for cell in of_the_book(name).cells}
    for cell in nb.cells:
        if about(cell).get("solution"):
            item = about(cell)["grade_id"]
            cell.source = answers.get(item, solution[item]).strip()
    return nb
