"""Imports point downwards: read from the code, not from a run."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "svmbook"
# What each part may import of ours; a part not named here may not exist.
ALLOWED = {
    "__init__": {"logistic", "svm"},
    "labels": set(),
    "weights": set(),
    "kernels": set(),
    "losses": set(),
    "tables": set(),
    "threads": set(),
    "plotting": set(),
    "datasets": set(),
    "gram": {"kernels", "threads"},
    "solvers": {"gram", "kernels", "losses", "threads"},
    "calibration": {"labels", "solvers"},
    "base": {"gram", "kernels", "labels", "losses", "solvers", "weights"},
    "svm": {"base", "gram", "kernels", "labels", "solvers", "weights"},
    "logistic": {"base", "gram", "kernels", "labels", "losses", "solvers", "weights"},
    "experiments": {
        "datasets",
        "gram",
        "kernels",
        "logistic",
        "solvers",
        "svm",
        "tables",
        "threads",
    },
}
OUTSIDE_OF_PLOTTING = {"__future__", "importlib", "numpy", "matplotlib"}


def part_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path):
    """Yield (module, level) for each import statement of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


def ours(path):
    """Return the parts of the package that a file imports, its own part left out."""
    inside = path.relative_to(PACKAGE).parent.parts
    found = set()
    for module, level in imports(path):
        if level:
            base = inside[: len(inside) - (level - 1)]
            parts = (*base, *module.split(".")) if module else base
            assert parts, f"{path.name} imports from the package itself; name the module"
            found.add(parts[0])
        elif module.split(".")[0] == "svmbook":
            found.add([*module.split("."), "__init__"][1])
    return found - {part_of(path)}


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_point_downwards(path):
    assert ours(path) <= ALLOWED[part_of(path)]


def test_plotting_knows_numpy_and_matplotlib_alone():
    for path in (PACKAGE / "plotting").glob("*.py"):
        modules = {name.split(".")[0] for name, level in imports(path) if not level}
        assert modules <= OUTSIDE_OF_PLOTTING


FOLDERS = ("svmbook", "tests", "tools", "benchmarks")
SOURCES = sorted(path for name in FOLDERS for path in (PACKAGE.parent / name).rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE.parent)))
def test_files_stay_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350
