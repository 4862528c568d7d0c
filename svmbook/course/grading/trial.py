"""A trial of an assignment before it is handed out, with its solution and with wrong answers."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import nbformat
from nbgrader.utils import determine_grade, is_grade, is_solution

from ..execution.sandbox import find_sandbox
from ..execution.source import parts_of_test, without_commands
from ..layout.folder import is_for_instructors
from ..layout.items import handed_out, hidden_lines, is_test, item_of
from ..submissions.identity import is_personal
from .grade import run_submission

__all__ = ["Trial", "try_out"]

# Wrong answers: the return values of functions, and the values of other names.
WRONG = {"None": "None", "zero": "0", "an empty array": "__import__('numpy').zeros(0)"}
STUB = "the stub that is handed out"
STUDENTS = ("ann", "ben", "cem")  # ids with which assignments with personal numbers are tried
HINT = (
    "Tests call answers in another process; see 'Tests of your own' in the guide for what a test "
    "can use."
)


@dataclass(frozen=True)
class Trial:
    """Result of a trial.

    Attributes
    ----------
    problems : list of str
        Reasons why the assignment cannot be handed out. Each names a cell or a file.
    weak : list of str
        Tests that give points to certainly wrong answers.
    """

    problems: list
    weak: list


def try_out(course, name, sandbox=None):
    """Run an assignment as the grader does, with its solution and with wrong answers.

    Parameters
    ----------
    course : Course
        The course.
    name : str
        The assignment.
    sandbox : str, optional
        Path of bubblewrap, or `sandbox.UNSAFE`; by default it is found automatically.

    Returns
    -------
    Trial

    Raises
    ------
    ValueError
        There is no such assignment.
    SandboxError
        There is no bubblewrap.
    """
    source = nbformat.read(course.source_path(name), as_version=4)
    problems = [
        f"{item_of(cell)} has no points; set them in Create Assignment."
        for cell in source.cells
        if is_grade(cell) and cell.metadata.nbgrader.get("points") is None
    ]
    problems += [
        f"{file} contains solutions or hidden tests, and would be handed out; move it elsewhere."
        for file, path in course.data_files(name).items()
        if is_for_instructors(path)
    ]
    if problems:
        return Trial(problems, [])
    master = course.master(name)
    problems = [text for cell in master.cells if is_test(cell) for text in _unreadable(cell)]
    if problems:
        return Trial(problems, [])
    visible = nbformat.from_dict(master)
    for cell in visible.cells:
        if is_test(cell):
            cell.source = handed_out(cell)
    solution = [
        (item_of(cell), cell.cell_type, ours.source if is_solution(ours) else handed_out(cell))
        for ours, cell in zip(source.cells, master.cells, strict=True)
    ]
    first, *others = STUDENTS if is_personal(master) else (None,)
    right = {
        "for your solution": (master, solution, first),
        "for your solution with the visible tests only": (visible, solution, first),
    }
    for student in others:
        right[f"for your solution with the numbers of {student!r}"] = master, solution, student
    wrong = {
        kind: (master, [_wrong(cell, value, source) for cell in solution], first)
        for kind, value in WRONG.items()
    }
    wrong[STUB] = master, [(item_of(c), c.cell_type, handed_out(c)) for c in master.cells], first
    where = {"sandbox": sandbox or find_sandbox(), "files": course.data_files(name)}

    def run(nb, cells, student):
        return run_submission(nb, cells, student=student, **where)

    for condition, args in right.items():
        if problems := _failures(run(*args), condition):
            return Trial(problems, [])
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda args: run(*args), wrong.values())
        weak = [
            f"{item} gives {score:g} points to {kind}; make it fail for wrong answers"
            for kind, graded in zip(wrong, results, strict=True)
            for item, score, _, _ in _marks(graded.nb)
            if score > 0
        ]
    return Trial([], weak)


def _unreadable(cell):
    """Yield a message if the code of a test cannot be run."""
    if "\r" in cell.source:
        yield f"{item_of(cell)} has lines that end with \\r; let them end with \\n."
        return
    for version, text, hidden in (
        ("", cell.source, hidden_lines(cell.source)),
        (" without its hidden lines", handed_out(cell), ()),
    ):
        try:
            compile(text, "<test>", "exec", dont_inherit=True)
            parts_of_test(text, set(hidden))
        except SyntaxError as error:
            yield (
                f"{item_of(cell)}{version} is not plain Python: {error.msg}, line {error.lineno}. "
                "Write it without magics (%, !) and without await outside functions, and hide "
                "whole statements."
            )
            return


def _failures(graded, condition):
    """Return messages about tests that do not give all points, and about other problems."""
    failed = [
        f"{item}, a locked cell, fails in the process of the tests ({error}). Open data files by "
        "relative paths, and write plain Python that also runs outside Jupyter."
        for item, error in graded.failed.items()
    ]
    failed += [
        f"{item} gives {score:g} of {points:g} points {condition}: {error or 'no error'}. {HINT}"
        for item, score, points, error in _marks(graded.nb)
        if score != points
    ]
    return failed + [f"{condition}: {note}" for note in graded.notes]


def _marks(nb):
    """Yield the name, the score, the points and the first error of each test."""
    for cell in nb.cells:
        if is_test(cell):
            errors = [f"{out.ename}: {out.evalue}" for out in cell.outputs if "ename" in out]
            yield item_of(cell), *determine_grade(cell), (errors or [None])[0]


def _wrong(cell, value, source):
    """Return a cell that gives wrong answers to the names that the solution defines."""
    item, kind, text = cell
    if kind != "code" or not any(item_of(c) == item and is_solution(c) for c in source.cells):
        return cell
    lines = []
    try:
        statements = ast.parse(without_commands(text)).body
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
    return item, kind, "\n".join(lines)
