"""Pairs of submissions with similar code are found even if names or cells of a copy differ."""

import nbformat
from click.testing import CliRunner
from coursework import ASSIGNMENT, answered_notebook, hand_in

from svmbook.course.cli import course as commands
from svmbook.course.submissions.similar import find_similar_pairs


def test_copy_with_other_names_is_found(course):
    long_answer = (
        "def square(number):\n    result = 0.0\n    for step in range(3):\n"
        "        result = result + number * number if step == 1 else result\n    return result"
    )
    renamed_answer = (
        long_answer.replace("number", "q").replace("result", "total_so_far").replace("step", "j")
    )
    hand_in(course, "one", answered_notebook(course, square=long_answer))
    hand_in(course, "copy", answered_notebook(course, square="# all mine\n" + renamed_answer))
    hand_in(
        course, "other", answered_notebook(course, square="import numpy as np\nsquare = np.square")
    )
    hand_in(course, "nothing", nbformat.read(course.released_path(ASSIGNMENT), as_version=4))
    (pair,) = find_similar_pairs(course, ASSIGNMENT, min_score=0.6)
    assert set(pair.students) == {"one", "copy"} and pair.score > 0.9
    assert any("number * number" in line for lines in pair.lines for line in lines)


def test_code_in_additional_cells_is_compared(course):
    helpers = "\n".join(f"def helper_{k}(values):\n    return values[{k}] ** {k}" for k in range(9))
    for student, name in (("one", "values"), ("copy", "q")):
        nb = answered_notebook(course)
        text = helpers.replace("values", name)
        nb.cells.insert(2, {"cell_type": "code", "source": text, "metadata": {}, "outputs": []})
        hand_in(course, student, nb)
    (pair,) = find_similar_pairs(course, ASSIGNMENT)
    assert any("helper_3" in line for line in pair.lines[0])


def test_code_in_cells_with_unknown_names_is_compared_and_blank_lines_are_ignored(course):
    long_answer = (
        "def square(x):\n    parts = [x * k for k in range(5)]\n    return sum(parts) * x / 10"
    )
    hand_in(course, "one", answered_notebook(course, square=long_answer))
    nb = answered_notebook(course, square="")
    metadata = {"nbgrader": {"grade_id": "of-my-own"}}
    cell = {"cell_type": "code", "source": long_answer, "metadata": metadata, "outputs": []}
    nb.cells.insert(2, cell)
    hand_in(course, "copy", nb)
    hand_in(course, "blank", answered_notebook(course, square="x=1\n" + " \n" * 99_000))
    pair = find_similar_pairs(course, ASSIGNMENT)[0]
    assert set(pair.students) == {"one", "copy"}


def test_code_of_students_cannot_control_the_terminal(course):
    line_with_escape = "    parts = [x * k for k in range(5)]  # \x1b]52;c;aGE=\x07\n"
    long_answer = f"def square(x):\n{line_with_escape}    return x * x"
    for student in ("one", "copy"):
        hand_in(course, student, answered_notebook(course, square=long_answer))
    output = (
        CliRunner().invoke(commands, ["similar", ASSIGNMENT, "--course", str(course.root)]).output
    )
    assert "parts = [x * k" in output and "\\x1b]52" in output and "\x1b" not in output
