"""A small assignment and the assignments of the book, and functions that hand in answers."""

import json
import os
import re
import shutil
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from unittest import mock

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from svmbook.course.layout import folder as course_folder

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "book/teaching.md"
API_PAGE = ROOT / "book/api/course.md"
ASSIGNMENTS_FOLDER = ROOT / "notebooks/assignments"
ASSIGNMENT = "small"  # the name of the small assignment
SQUARE = "def square(x):\n    return x * x"
TOTAL = "def total(x):\n    return float(sum(x))"
MARK_SCHEME = "4 points, for graders only"
ESSAY = "Because squares are not negative."


def set_nbgrader_metadata(cell, **metadata):
    """Set nbgrader's metadata of a cell, with these and default values; return the cell."""
    defaults = {"schema_version": 3, "grade": False, "locked": False, "solution": False}
    cell.metadata["nbgrader"] = {**defaults, "task": False, **metadata}
    return cell


def nbgrader_metadata(cell):
    """Return nbgrader's metadata of a cell; an empty dict if it has none."""
    return cell.metadata.get("nbgrader", {})


def locked_cell(name, source):
    return set_nbgrader_metadata(new_code_cell(source), grade_id=name, locked=True)


def solution_cell(name, solution, head=""):
    source = f"{head}### BEGIN SOLUTION\n{solution}\n### END SOLUTION"
    return set_nbgrader_metadata(new_code_cell(source), grade_id=name, solution=True)


def scored_test_cell(name, source, points):
    metadata = {"grade_id": name, "grade": True, "locked": True, "points": points}
    return set_nbgrader_metadata(new_code_cell(source), **metadata)


def _function_cell(name, source):
    """Return the answer cell of a function, whose body is the solution."""
    head, body = source.split("\n", 1)
    return solution_cell(name, body, head=f"{head}\n    ")


def instructor_notebook():
    """Return the small assignment's source: two functions for 3 and 2 points, an essay for 4."""
    test_square = (
        "for x in (2.0, -3.0):\n    check_close('square', square(x), x * x)\n"
        "### BEGIN HIDDEN TESTS\nsecret_of_the_test = 1234\n"
        "check_close('square', square(5.0), 25.0)\n### END HIDDEN TESTS"
    )
    question = f"Why?\n\n### BEGIN MARK SCHEME\n{MARK_SCHEME}\n### END MARK SCHEME"
    essay = f"### BEGIN SOLUTION\n{ESSAY}\n### END SOLUTION"
    cells = [
        new_markdown_cell("# A small one"),
        locked_cell("setup", "from svmbook.course.checks import check_close"),
        _function_cell("square", SQUARE),
        scored_test_cell("test_square", test_square, 3),
        _function_cell("total", TOTAL),
        scored_test_cell("test_total", "check_close('total', total([1.0, 2.0]), 3.0)", 2),
        set_nbgrader_metadata(new_markdown_cell(question), grade_id="task", locked=True),
        set_nbgrader_metadata(
            new_markdown_cell(essay), grade_id="essay", grade=True, solution=True, points=4
        ),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def create_course(root, assignments_folder, assignments=None):
    """Create a course with these assignments of a folder, by default all."""
    with mock.patch.dict(os.environ, {"SVMBOOK_ASSIGNMENTS": str(assignments_folder)}):
        return course_folder.create_course(root, assignments)


def copy_course(course, root):
    shutil.copytree(course.root, root)
    return type(course)(root)


def table_rows(heading, page=GUIDE):
    """Return the rows of the table below a heading of a page, by default the instructor's guide.

    A row is a kind of submission, its points and a message.
    """
    _, section = page.read_text(encoding="utf-8").split(f"## {heading}\n")
    table = re.split(r"\n##+ ", section)[0]
    return re.findall(r"^\| (.+) \| (\d|not graded) \| (.+) \|$", table, re.M)


@contextmanager
def edit_source_notebook(course):
    """Yield the instructor's notebook of the small assignment, and write it on exit."""
    nb = nbformat.read(course.source_path(ASSIGNMENT), as_version=4)
    yield nb
    nbformat.write(nb, course.source_path(ASSIGNMENT))


def cell_named(nb, name):
    """Return the cell of a notebook that has a name in nbgrader's metadata."""
    return next(cell for cell in nb.cells if nbgrader_metadata(cell).get("grade_id") == name)


def answered_notebook(course, **answers):
    """Return the released small assignment with these answers, and otherwise correct ones."""
    nb = nbformat.read(course.released_path(ASSIGNMENT), as_version=4)
    for name, answer in ({"square": SQUARE, "total": TOTAL, "essay": ESSAY} | answers).items():
        cell_named(nb, name).source = answer
    return nb


def hand_in(course, student, submission):
    """Write a student's submission of the small assignment; return its folder."""
    return hand_in_assignment(course, student, ASSIGNMENT, submission)


def hand_in_assignment(course, student, assignment, submission):
    """Write a student's submission, a notebook or the bytes of its file; return its folder."""
    folder = course.root / "submitted" / student / assignment
    folder.mkdir(parents=True)
    is_file_content = isinstance(submission, bytes)
    content = submission if is_file_content else json.dumps(submission).encode()
    (folder / f"{assignment}.ipynb").write_bytes(content)
    return folder


def book_assignment(assignment):
    """Return the instructor's notebook of an assignment of the book."""
    return nbformat.read(ASSIGNMENTS_FOLDER / assignment / f"{assignment}.ipynb", as_version=4)


def submission_variants(assignment):
    """Return, by label, submissions of an assignment of the book and the expected points of tests.

    A submission is a dict of answers by item. The submissions are the solution, another solution,
    and one submission for each typical mistake.
    """
    module, points = _variants_module_and_points(assignment)
    correct = {
        "the solution": ({}, points),
        "another solution": (module.ALTERNATIVE_SOLUTION, points),
    }
    wrong = {
        mistake: (answers, points | changed_points)
        for mistake, (answers, changed_points) in module.MISTAKES.items()
    }
    return correct | wrong


def combined_submission_variants(assignment):
    """Return fewer submissions than `submission_variants`, each of which combines mistakes.

    Mistakes are combined if they are in different answers and change the points of different
    tests. The solution itself is omitted, because nbval runs the assignment's notebook.
    """
    module, points = _variants_module_and_points(assignment)
    groups = []
    for answers, changed_points in module.MISTAKES.values():
        for group_answers, group_points in groups:
            if group_answers.keys().isdisjoint(answers) and group_points.keys().isdisjoint(
                changed_points
            ):
                break
        else:
            group_answers, group_points = {}, {}
            groups.append((group_answers, group_points))
        group_answers.update(answers)
        group_points.update(changed_points)
    wrong = {
        f"group {k}": (answers, points | group_points)
        for k, (answers, group_points) in enumerate(groups)
    }
    return {"another solution": (module.ALTERNATIVE_SOLUTION, points)} | wrong


def _variants_module_and_points(assignment):
    """Return the module with variants of an assignment's answers, and the points of its tests."""
    path = ROOT / f"tests/course/submissions/{assignment}.py"
    spec = spec_from_file_location(f"submissions_{assignment}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    all_metadata = map(nbgrader_metadata, book_assignment(assignment).cells)
    graded_metadata = [metadata for metadata in all_metadata if metadata.get("grade")]
    return module, {m["grade_id"]: m["points"] for m in graded_metadata if not m["solution"]}


def answered_book_assignment(course, assignment, answers):
    """Return an assignment of the book with these answers, and otherwise those of the solution."""
    nb = nbformat.read(course.released_path(assignment), as_version=4)
    source_nb = book_assignment(assignment)
    for cell in nb.cells:
        if nbgrader_metadata(cell).get("solution"):
            item = nbgrader_metadata(cell)["grade_id"]
            answer = answers[item] if item in answers else cell_named(source_nb, item).source
            cell.source = answer.strip()
    return nb
