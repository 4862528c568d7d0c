"""The trial of an assignment before it is handed out, with its solution and wrong answers."""

import re

import nbformat
import pytest
from click.testing import CliRunner
from coursework import (
    ASSIGNMENT,
    ASSIGNMENTS_FOLDER,
    ROOT,
    answered_notebook,
    cell_named,
    create_course,
    edit_source_notebook,
    hand_in,
)

from svmbook.course.cli import course as commands
from svmbook.course.grading import trial as trial_module
from svmbook.course.grading.grade import grade_submissions
from svmbook.course.grading.trial import try_out


def replace_cells(course, **sources):
    """Replace the text of cells of the instructor's notebook; return the course."""
    with edit_source_notebook(course) as nb:
        for name, source in sources.items():
            cell_named(nb, name).source = source
    return course


def test_valid_assignment_has_no_problems_and_no_weak_tests(course, shell_sandbox):
    trial = try_out(course, ASSIGNMENT, shell_sandbox)
    assert (trial.problems, trial.weak_test_messages) == ([], [])


# Tests of the answer `square` in the styles of different instructors.
TEST_STYLES = {
    "partial credit": "right = [float(square(x)) == x * x for x in (2.0, 3.0)]\n"
    "score = 1.5 * sum(right)\nscore",
    "a hidden part in a block": "for x in (2.0, 5.0):\n    assert square(x) >= x\n"
    "    ### BEGIN HIDDEN TESTS\n    assert square(x) == x * x\n    ### END HIDDEN TESTS",
    "isinstance": "assert isinstance(square(2.0), float)\nassert square(2.0) != 3.0",
    "callable": "assert callable(square)\nassert 3.9 < square(2.0) < 4.1",
    "only hidden": "### BEGIN HIDDEN TESTS\nassert square(5.0) == 25.0\n### END HIDDEN TESTS",
    "expected exception": "try:\n    square('a')\nexcept TypeError:\n    pass\n"
    "else:\n    raise AssertionError('square takes only numbers')",
}


def test_common_styles_of_tests_have_no_problems(course, shell_sandbox):
    with edit_source_notebook(course) as nb:
        position = nb.cells.index(cell_named(nb, "test_square"))
        for number, text in enumerate(TEST_STYLES.values()):
            cell = nbformat.from_dict(nb.cells[position])
            cell.source, cell.metadata.nbgrader.grade_id, cell.id = text, f"t{number}", f"t{number}"
            nb.cells.insert(position, cell)
    trial = try_out(course, ASSIGNMENT, shell_sandbox)
    assert (trial.problems, trial.weak_test_messages) == ([], [])


INVALID_TESTS = {
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
        "test_square gives 0 of 3 points for your solution with the visible tests only: NameError",
    ),
}


def test_locked_cell_that_fails_outside_jupyter_is_reported(course, shell_sandbox):
    text = "display(1)\nfrom svmbook.course.checks import check_close"
    problems = try_out(replace_cells(course, setup=text), ASSIGNMENT, shell_sandbox).problems
    assert "The locked cell setup fails in the process that runs the tests" in "\n".join(problems)


@pytest.mark.parametrize("kind", INVALID_TESTS)
def test_invalid_test_is_reported_with_its_name(course, shell_sandbox, kind):
    text, message = INVALID_TESTS[kind]
    (problem,) = try_out(
        replace_cells(course, test_square=text), ASSIGNMENT, shell_sandbox
    ).problems
    assert re.search(message, problem), problem


def test_test_that_gives_points_to_wrong_answers_is_reported_as_weak(course, shell_sandbox):
    trial = try_out(replace_cells(course, test_square="y = square(2.0)"), ASSIGNMENT, shell_sandbox)
    assert trial.problems == []
    assert [text.split(";")[0] for text in trial.weak_test_messages] == [
        "test_square gives 3 points to None",
        "test_square gives 3 points to zero",
        "test_square gives 3 points to an empty array",
    ]
    replace_cells(course, test_square="square(2.0)\n")
    (problem,) = try_out(course, ASSIGNMENT, shell_sandbox).problems
    assert (
        "test_square gives 0 of 3 points for your solution: PointsError: the test gives" in problem
    )
    trial = try_out(replace_cells(course, test_square="x = 1"), ASSIGNMENT, shell_sandbox)
    assert (
        "test_square gives 3 points to the stub that is handed out" in trial.weak_test_messages[-1]
    )


def test_weak_test_does_not_affect_the_points_of_other_tests(course, shell_sandbox):
    replace_cells(course, test_square="assert callable(square)").release(ASSIGNMENT)
    hand_in(course, "one", answered_notebook(course))
    _, graded = grade_submissions(course, ASSIGNMENT, sandbox=shell_sandbox)
    assert graded.score == 5 and graded.notes == []


def test_release_refuses_problems_and_lists_weak_tests(course, shell_sandbox, monkeypatch):
    monkeypatch.setattr(trial_module, "find_bubblewrap", lambda: shell_sandbox)
    replace_cells(course, test_square="assert square(2.0) == 5.0")
    result = CliRunner().invoke(commands, ["release", ASSIGNMENT, "--course", str(course.root)])
    assert "test_square gives 0 of 3 points" in str(result.exception) and result.exit_code == 1
    replace_cells(course, test_square="y = square(2.0)")
    result = CliRunner().invoke(commands, ["release", ASSIGNMENT, "--course", str(course.root)])
    assert result.exit_code == 0 and result.output.count("weak: test_square") == 3


# The test starts six sandboxes per assignment and eight per set of questions. In each run of the
# tests, nbval runs the solutions of assignments, and test_questions.py those of questions.
@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    sorted(
        path.stem
        for part in ("assignments/*", "questions")
        for path in ROOT.glob(f"notebooks/{part}/*.ipynb")
    ),
)
def test_assignments_and_questions_of_the_book_have_no_problems(name, sandbox, tmp_path):
    course = create_course(tmp_path / "course", ASSIGNMENTS_FOLDER, [name])
    trial = try_out(course, name, sandbox)
    assert (trial.problems, trial.weak_test_messages) == ([], [])


def test_problems_that_nbgrader_does_not_explain_are_reported(course):
    with edit_source_notebook(course) as nb:
        cell_named(nb, "test_square").source += "\r"
    (problem,) = try_out(course, ASSIGNMENT, "unused").problems
    assert "test_square has lines that end with" in problem
    with edit_source_notebook(course) as nb:
        del cell_named(nb, "test_square").metadata.nbgrader["points"]
    (problem,) = try_out(course, ASSIGNMENT, "unused").problems
    assert problem == "test_square has no points; set them in Create Assignment."
    config_path = course.root / "nbgrader_config.py"
    other_delimiter = 'c.ClearHiddenTests.begin_test_delimeter = "BEGIN X"\n'
    config_path.write_text(config_path.read_text() + other_delimiter)
    with pytest.raises(ValueError, match="sets other delimiters for ClearHiddenTests"):
        course.master(ASSIGNMENT)
