"""An assignment is tried out before it is handed out: with its solution, and with wrong answers."""

import re

import nbformat
import pytest
from click.testing import CliRunner
from coursework import ASSIGNMENTS, NAME, ROOT, about, answered, hand_in

from svmbook.course.cli import course as commands
from svmbook.course.grading import trial as trials
from svmbook.course.grading.grade import grade
from svmbook.course.grading.trial import try_out
from svmbook.course.layout.folder import create


def with_cells(course, **sources):
    """Give cells of the instructor's notebook other texts."""
    nb = nbformat.read(course.source(NAME), as_version=4)
    for cell in nb.cells:
        cell.source = sources.get(about(cell).get("grade_id"), cell.source)
    nbformat.write(nb, course.source(NAME))
    return course


def test_a_good_assignment_has_no_problem_and_no_weak_test(course, shells):
    trial = try_out(course, NAME, shells)
    assert (trial.problems, trial.weak) == ([], [])


WHAT_INSTRUCTORS_WRITE = {
    "partial credit": "right = [float(square(x)) == x * x for x in (2.0, 3.0)]\n"
    "score = 1.5 * sum(right)\nscore",
    "a hidden part in a block": "for x in (2.0, 5.0):\n    assert square(x) >= x\n"
    "    ### BEGIN HIDDEN TESTS\n    assert square(x) == x * x\n    ### END HIDDEN TESTS",
    "isinstance": "assert isinstance(square(2.0), float)\nassert square(2.0) != 3.0",
    "callable": "assert callable(square)\nassert 3.9 < square(2.0) < 4.1",
    "only hidden": "### BEGIN HIDDEN TESTS\nassert square(5.0) == 25.0\n### END HIDDEN TESTS",
    "an exception that is asked for": "try:\n    square('a')\nexcept TypeError:\n    pass\n"
    "else:\n    raise AssertionError('square takes numbers alone')",
}


def test_what_instructors_write_works(course, shells):
    nb = nbformat.read(course.source(NAME), as_version=4)
    place = next(k for k, c in enumerate(nb.cells) if about(c).get("grade_id") == "test_square")
    for number, text in enumerate(WHAT_INSTRUCTORS_WRITE.values()):
        cell = nbformat.from_dict(nb.cells[place])
        cell.source, cell.metadata.nbgrader.grade_id, cell.id = text, f"t{number}", f"t{number}"
        nb.cells.insert(place, cell)
    nbformat.write(nb, course.source(NAME))
    trial = try_out(course, NAME, shells)
    assert (trial.problems, trial.weak) == ([], [])


REFUSED = {
    "magic": ("%timeit square(2.0)", "test_square is not plain Python.*without magics"),
    "shell": ("!ls\nassert square(2.0) == 4.0", "test_square is not plain Python"),
    "await": ("await square(2.0)", "test_square.*await"),
    "source": (
        "import inspect\nassert 'x' in inspect.getsource(square)",
        "test_square gives 0 of 3 points for your solution: TypeError.*another process",
    ),
    "solution": (
        "assert square(2.0) == 5.0",
        "test_square gives 0 of 3 points for your solution: AssertionError",
    ),
    "empty block": (
        "for x in (2.0,):\n    ### BEGIN HIDDEN TESTS\n    assert square(x) == 4.0\n"
        "    ### END HIDDEN TESTS",
        "test_square without its hidden lines is not plain Python",
    ),
    "hidden name": (
        "### BEGIN HIDDEN TESTS\nright = 4.0\n### END HIDDEN TESTS\nassert square(2.0) == right",
        "test_square gives 0 of 3 points for your solution as students see the test: NameError",
    ),
}


def test_a_locked_cell_that_fails_beside_jupyter_is_named(course, shells):
    text = "display(1)\nfrom svmbook.course.checks import check_close"
    problems = try_out(with_cells(course, setup=text), NAME, shells).problems
    assert any("setup, a locked cell, fails where tests need its names" in one for one in problems)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_does_not_work_is_refused_with_the_name_of_the_cell(course, shells, kind):
    text, says = REFUSED[kind]
    (problem,) = try_out(with_cells(course, test_square=text), NAME, shells).problems
    assert re.search(says, problem), problem


def test_a_test_that_passes_for_wrong_answers_is_named(course, shells):
    trial = try_out(with_cells(course, test_square="y = square(2.0)"), NAME, shells)
    assert trial.problems == []
    assert [text.split(";")[0] for text in trial.weak] == [
        "test_square gives 3 points to None",
        "test_square gives 3 points to zero",
        "test_square gives 3 points to an empty array",
    ]
    with_cells(course, test_square="square(2.0)\n")
    (problem,) = try_out(course, NAME, shells).problems
    assert (
        "test_square gives 0 of 3 points for your solution: PointsError: the test gives" in problem
    )
    trial = try_out(with_cells(course, test_square="x = 1"), NAME, shells)
    assert "test_square gives 3 points to the stub that is handed out" in trial.weak[-1]


def test_one_weak_test_does_not_take_the_points_of_others(course, shells):
    with_cells(course, test_square="assert callable(square)").release(NAME)
    hand_in(course, "one", answered(course))
    _, done = grade(course, NAME, sandbox=shells)
    assert done.score == 5 and done.reasons == []


def test_release_refuses_what_does_not_work_and_tells_what_is_weak(course, shells, monkeypatch):
    monkeypatch.setattr(trials, "find_sandbox", lambda: shells)
    with_cells(course, test_square="assert square(2.0) == 5.0")
    result = CliRunner().invoke(commands, ["release", NAME, "--course", str(course.root)])
    assert "test_square gives 0 of 3 points" in str(result.exception) and result.exit_code == 1
    with_cells(course, test_square="y = square(2.0)")
    result = CliRunner().invoke(commands, ["release", NAME, "--course", str(course.root)])
    assert result.exit_code == 0 and result.output.count("weak: test_square") == 3


@pytest.mark.nightly  # each assignment in six sandboxes, and each set of questions in eight
@pytest.mark.parametrize(
    "name",
    sorted(
        path.stem
        for part in ("assignments/*", "questions")
        for path in ROOT.glob(f"notebooks/{part}/*.ipynb")
    ),
)
def test_assignments_of_the_book_have_no_problem_and_no_weak_test(
    name, sandbox, tmp_path, monkeypatch
):
    monkeypatch.setenv("SVMBOOK_ASSIGNMENTS", str(ASSIGNMENTS))
    trial = try_out(create(tmp_path / "course", [name]), name, sandbox)
    assert (trial.problems, trial.weak) == ([], [])


def test_what_nbgrader_would_not_take_is_said_in_words(course):
    source = nbformat.read(course.source(NAME), 4)
    for cell in source.cells:
        if about(cell).get("grade_id") == "test_square":
            cell.source += "\r"
    nbformat.write(source, course.source(NAME))
    (problem,) = try_out(course, NAME, "unused").problems
    assert "test_square has lines that end with" in problem
    for cell in source.cells:
        if about(cell).get("grade_id") == "test_square":
            del cell.metadata.nbgrader["points"]
    nbformat.write(source, course.source(NAME))
    (problem,) = try_out(course, NAME, "unused").problems
    assert problem == "test_square has no points; set them in Create Assignment."
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.ClearHiddenTests.begin_test_delimeter = "BEGIN X"\n')
    with pytest.raises(ValueError, match="sets other delimiters for ClearHiddenTests"):
        course.master(NAME)
