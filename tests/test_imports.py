"""Imports point downwards: read from the code, not from a run."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "svmbook"
# The rooms from the top down, and what each imports of ours: from rooms below it alone.
ROOMS = {
    "__init__": {"ensembles", "logistic", "prototypes", "svm", "unbiased"},  # for editors
    "cli": {"course", "experiments"},
    "course": {"files"},
    "course/reports": {"course/grading", "course/layout", "files"},
    "course/grading": {"course/execution", "course/layout", "course/submissions", "files"},
    "course/submissions": {"course/execution", "course/layout", "course/personal"},
    "course/layout": {"course/execution", "experiments/running", "files"},
    "course/execution": set(),
    "course/personal": set(),
    "experiments": {"datasets/tables", "experiments/running", "experiments/suites"},
    "experiments/suites": {
        *("calibration", "datasets", "ensembles", "experiments/methods", "experiments/running"),
        *("kernels", "logistic", "losses", "prototypes", "solvers", "solvers/batched"),
        *("solvers/boosting", "svm", "tables", "unbiased"),
    },
    "experiments/running": {"tables", "threads"},
    "experiments/methods": {"gram", "kernels", "solvers/dual", "tables"},
    "svm": {"gram", "kernel_machine", "kernels", "labels", "solvers/dual", "weights"},
    "unbiased": {
        *("base", "calibration", "gram", "kernel_machine", "kernels", "labels", "solvers/dual"),
        *("solvers/irwls", "ties", "weights"),
    },
    "ensembles": {
        *("base", "gram", "kernel_machine", "kernels", "labels", "solvers/boosting"),
        *("solvers/dual", "solvers/logistic", "solvers/smoothed", "tables", "ties", "weights"),
    },
    "prototypes": {"base", "calibration", "labels", "progress", "solvers/batched", "ties"},
    "logistic": {"arguments", "base", "gram", "kernel_machine", "labels", "solvers/logistic"},
    "kernel_machine": {"base", "kernels", "labels"},
    "base": {"labels", "losses", "memory", "multiclass", "weights"},
    "calibration": {"labels", "ties"},
    "solvers": {
        "arguments",
        "solvers/batched",
        "solvers/checks",
        "solvers/dual",
        "solvers/irwls",
        "solvers/logistic",
    },
    "solvers/smoothed": {"losses", "solvers/dual", "solvers/logistic"},
    "solvers/batched": {"gram", "solvers/checks", "solvers/dual", "ties"},
    "solvers/dual": {"gram", "kernels", "progress", "solvers/checks", "threads", "ties"},
    "solvers/logistic": {"arguments", "gram", "losses", "progress", "solvers/checks", "ties"},
    "solvers/irwls": {"arguments", "losses", "progress", "solvers/checks", "ties"},
    "solvers/boosting": {"progress", "ties", "weights"},
    "solvers/checks": {"arguments", "kernels"},
    "gram": {"threads", "ties", "weights"},
    "datasets": {"datasets/generators", "datasets/tables"},
    "datasets/generators": {"arguments"},
    "datasets/tables": {"files"},
    "kernels": {"weights"},
    "losses": set(),
    "labels": set(),
    "arguments": set(),
    "files": set(),
    "memory": set(),
    "progress": set(),
    "multiclass": set(),
    "weights": set(),
    "tables": set(),
    "ties": set(),
    "threads": set(),
    "plotting": set(),
}
# Besides the standard library; the last are Matplotlib's part in a notebook, and its pixels.
OUTSIDE_OF_PLOTTING = {"numpy", "matplotlib", "matplotlib_inline", "PIL"}


def room_of(*parts):
    """Return the room of a module, the longest of the names above that its path begins with."""
    heads = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next(head for head in heads if head in ROOMS)


def room(path):
    return room_of(*path.relative_to(PACKAGE).with_suffix("").parts)


def imports(path):
    """Yield (module, level) for each import statement of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


def ours(path):
    """Return the rooms that a file imports from, its own left out."""
    inside = path.relative_to(PACKAGE).parent.parts
    found = set()
    for module, level in imports(path):
        parts = module.split(".") if module else []
        if level:
            parts = [*inside[: len(inside) - (level - 1)], *parts]
            assert parts, f"{path.name} imports from the package itself; name the module"
            found.add(room_of(*parts))
        elif parts[0] == "svmbook":
            found.add(room_of(*parts[1:]))
    return found - {room(path)}


@pytest.mark.parametrize("name", ROOMS)
def test_imports_are_those_named_and_point_downwards(name):
    files = [path for path in PACKAGE.rglob("*.py") if room(path) == name]
    assert set().union(*map(ours, files)) == ROOMS[name]
    below = list(ROOMS)[list(ROOMS).index(name) + 1 :]
    assert ROOMS[name] <= set(below)


def test_plotting_knows_what_draws_alone():
    for path in (PACKAGE / "plotting").glob("*.py"):
        modules = {name.split(".")[0] for name, level in imports(path) if not level}
        assert modules - sys.stdlib_module_names <= OUTSIDE_OF_PLOTTING


FOLDERS = ("svmbook", "tests", "tools", "benchmarks")
SOURCES = sorted(path for name in FOLDERS for path in (PACKAGE.parent / name).rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE.parent)))
def test_files_stay_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350
