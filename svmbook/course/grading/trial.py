"""A trial of an assignment before it is handed out, with its solution and with wrong answers."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import nbformat
from nbgrader.utils import determine_grade, is_grade, is_solution

from ..execution.sandbox import find_bubblewrap
from ..execution.source import replace_ipython_commands, split_test
from ..layout.folder import contains_solutions_or_hidden_tests
from ..layout.items import cell_name, hidden_line_numbers, is_test, released_source
from ..submissions.identity import is_personalised
from .grade import run_submission

__all__ = ["TrialReport", "try_out"]

# Wrong answers as source code: what functions return, and what other names are set to.
WRONG_VALUES = {"None": "None", "zero": "0", "an empty array": "__import__('numpy').zeros(0)"}
STUB_LABEL = "the stub that is handed out"
TRIAL_IDS = ("ann", "ben", "cem")  # student ids with which personalised questions are tried
TEST_HINT = (
    "Tests call answers in another process; see 'Tests of your own' in the guide for what a test "
    "can use."
)


@dataclass(frozen=True)
class TrialReport:
    """Report on a trial.

    Attributes
    ----------
    problems : list of str
        Reasons why the assignment cannot be handed out.
    weak_test_messages : list of str
        Messages about tests that give points to answers that are certainly wrong.
    """

    problems: list
    weak_test_messages: list


def try_out(course, assignment, sandbox=None):
    """Run an assignment as the grader does, with its solution and with wrong answers.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The name of the assignment.
    sandbox : str, optional
        Path of bubblewrap, or `sandbox.UNSAFE`; by default it is found automatically.

    Returns
    -------
    TrialReport

    Raises
    ------
    ValueError
        There is no such assignment.
    SandboxError
        bubblewrap is not installed, or it cannot make a sandbox.
    """
    source_nb = nbformat.read(course.source_path(assignment), as_version=4)
    problems = [
        f"{cell_name(cell)} has no points; set them in Create Assignment."
        for cell in source_nb.cells
        if is_grade(cell) and cell.metadata.nbgrader.get("points") is None
    ]
    problems += [
        f"{name} contains solutions or hidden tests, and would be handed out; move it elsewhere."
        for name, path in course.data_files(assignment).items()
        if contains_solutions_or_hidden_tests(path)
    ]
    if problems:
        return TrialReport(problems, [])
    master = course.master(assignment)
    problems = [
        problem for cell in master.cells if is_test(cell) for problem in _syntax_problems(cell)
    ]
    if problems:
        return TrialReport(problems, [])
    visible_master = nbformat.from_dict(master)
    for cell in visible_master.cells:
        if is_test(cell):
            cell.source = released_source(cell)
    solution_cells = [
        (
            cell_name(cell),
            cell.cell_type,
            source_cell.source if is_solution(source_cell) else released_source(cell),
        )
        for source_cell, cell in zip(source_nb.cells, master.cells, strict=True)
    ]
    first_id, *other_ids = TRIAL_IDS if is_personalised(master) else (None,)
    solution_run_arguments = {
        "for your solution": (master, solution_cells, first_id),
        "for your solution with the visible tests only": (visible_master, solution_cells, first_id),
    }
    for student_id in other_ids:
        solution_run_arguments[f"for your solution with the numbers of {student_id!r}"] = (
            master,
            solution_cells,
            student_id,
        )
    wrong_answer_run_arguments = {
        label: (
            master,
            [_with_wrong_answers(cell, value, source_nb) for cell in solution_cells],
            first_id,
        )
        for label, value in WRONG_VALUES.items()
    }
    stub_cells = [(cell_name(cell), cell.cell_type, released_source(cell)) for cell in master.cells]
    wrong_answer_run_arguments[STUB_LABEL] = master, stub_cells, first_id
    run_options = {
        "sandbox": sandbox or find_bubblewrap(),
        "data_files": course.data_files(assignment),
    }

    def run(nb, cells, student_id):
        return run_submission(nb, cells, student_id=student_id, **run_options)

    for condition, args in solution_run_arguments.items():
        if problems := _run_problems(run(*args), condition):
            return TrialReport(problems, [])
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda args: run(*args), wrong_answer_run_arguments.values())
        weak_test_messages = [
            f"{item} gives {score:g} points to {label}; make it fail for wrong answers"
            for label, result in zip(wrong_answer_run_arguments, results, strict=True)
            for item, score, _, _ in _test_results(result.nb)
            if score > 0
        ]
    return TrialReport([], weak_test_messages)


def _syntax_problems(cell):
    """Yield a message if the code of a test cannot be run."""
    if "\r" in cell.source:
        yield f"{cell_name(cell)} has lines that end with \\r; change the line endings to \\n."
        return
    for version, text, numbers in (
        ("", cell.source, hidden_line_numbers(cell.source)),
        (" without its hidden lines", released_source(cell), ()),
    ):
        try:
            compile(text, "<test>", "exec", dont_inherit=True)
            split_test(text, set(numbers))
        except SyntaxError as error:
            yield (
                f"{cell_name(cell)}{version} is not plain Python: {error.msg}, "
                f"line {error.lineno}. Write it without magics (%, !) and without await outside "
                "functions, and hide whole statements."
            )
            return


def _run_problems(result, condition):
    """Return messages about tests that do not give all points, and about other problems."""
    messages = [
        f"The locked cell {item} fails in the process that runs the tests ({error}). Open data "
        "files by relative paths, and write plain Python that also runs outside Jupyter."
        for item, error in result.locked_cell_errors.items()
    ]
    messages += [
        f"{item} gives {score:g} of {max_score:g} points {condition}: {error or 'no error'}. "
        f"{TEST_HINT}"
        for item, score, max_score, error in _test_results(result.nb)
        if score != max_score
    ]
    return messages + [f"{condition}: {note}" for note in result.notes]


def _test_results(nb):
    """Yield the name, the score, the maximum score and the first error (or None) of each test."""
    for cell in nb.cells:
        if is_test(cell):
            errors = [f"{out.ename}: {out.evalue}" for out in cell.outputs if "ename" in out]
            yield cell_name(cell), *determine_grade(cell), (errors or [None])[0]


def _with_wrong_answers(cell, value, source_nb):
    """Return a cell that assigns wrong answers to the names that the solution defines."""
    item, cell_type, text = cell
    if cell_type != "code" or not any(
        cell_name(c) == item and is_solution(c) for c in source_nb.cells
    ):
        return cell
    lines = []
    try:
        statements = ast.parse(replace_ipython_commands(text)).body
    except SyntaxError:  # the run of the solution reports it
        return cell
    for node in statements:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines.append(f"def {node.name}(*args, **kwargs): return {value}")
        elif isinstance(node, ast.ClassDef):
            lines.append(f"class {node.name}:\n    def __init__(self, *args, **kwargs): pass")
            lines.append(f"    def __getattr__(self, name): return lambda *a, **k: {value}")
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            lines += [f"{name} = {value}" for name in sorted(names)]
    return item, cell_type, "\n".join(lines)
