"""Modules import only from lower layers (read from the source); files have at most 350 lines."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "svmbook"
# The layers from top to bottom, and the layers that each imports: only layers below it.
LAYERS = {
    "__init__": {
        "ensembles",
        "logistic",
        "prototypes",
        "svm",
        "unbiased",
    },  # for completion in editors
    "cli": {"course", "experiments"},
    "course": {"files"},
    "course/reports": {"course/grading", "course/layout", "files"},
    "course/grading": {"course/execution", "course/layout", "course/submissions", "files"},
    "course/submissions": {"course/execution", "course/layout", "course/personal", "files"},
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
    "svm": {
        *("base", "dask_input", "gram", "kernel_machine", "kernels", "labels", "progress", "rows"),
        *("shared_passes", "solvers/dual", "solvers/smoothed_hinge", "solvers/start_sample"),
        *("ties", "weights"),
    },
    "unbiased": {
        *("base", "calibration", "gram", "kernel_machine", "kernels", "labels", "solvers/dual"),
        *("solvers/irwls", "ties", "weights"),
    },
    "ensembles": {
        *("base", "dask_input", "gram", "kernel_machine", "kernels", "labels", "moments", "rows"),
        *("solvers/boosting", "solvers/dual", "solvers/logistic", "solvers/low_rank_logistic"),
        *("solvers/smoothed_hinge", "tables", "ties", "weights"),
    },
    "prototypes": {
        "base",
        "calibration",
        "kernels",
        "labels",
        "progress",
        "solvers/batched",
        "ties",
    },
    "logistic": {
        "arguments",
        "base",
        "gram",
        "kernel_machine",
        "labels",
        "solvers/logistic",
        "ties",
    },
    "kernel_machine": {"base", "kernels", "labels"},
    "base": {"dask_input", "labels", "losses", "memory", "multiclass", "weights"},
    "dask_input": {"dask_labels", "moments", "rows", "weights"},
    "dask_labels": {"labels", "rows"},
    "calibration": {"labels", "ties"},
    "solvers": {
        "arguments",
        "solvers/batched",
        "solvers/checks",
        "solvers/dual",
        "solvers/irwls",
        "solvers/logistic",
    },
    "solvers/smoothed_hinge": {
        *("progress", "rows", "solvers/dual", "solvers/hinge_terms", "solvers/one_pass"),
        *("solvers/reduced_hinge", "solvers/start_sample"),
    },
    "solvers/low_rank_logistic": {
        *("gram", "losses", "progress", "rows", "solvers/logistic", "solvers/one_pass"),
        "solvers/start_sample",
    },
    "solvers/hinge_terms": {
        *("gram", "rows", "solvers/one_pass", "solvers/reduced_hinge"),
    },
    "solvers/one_pass": {"rows"},
    "solvers/reduced_hinge": {"gram", "rows", "solvers/dual"},
    "solvers/start_sample": {"rows"},
    "solvers/batched": {"gram", "solvers/checks", "solvers/dual", "ties"},
    "solvers/dual": {"gram", "kernels", "progress", "solvers/checks", "threads", "ties"},
    "solvers/logistic": {
        *("arguments", "gram", "losses", "progress", "solvers/checks", "ties"),
    },
    "solvers/irwls": {"arguments", "losses", "progress", "solvers/checks", "ties"},
    "solvers/boosting": {"progress", "ties", "weights"},
    "solvers/checks": {"arguments", "kernels"},
    "gram": {"kernels", "moments", "rows", "threads", "ties", "weights"},
    "datasets": {"datasets/generators", "datasets/tables"},
    "datasets/generators": {"arguments"},
    "datasets/tables": {"files"},
    "kernels": {"threads", "weights"},
    "moments": {"rows"},
    "losses": set(),
    "labels": set(),
    "arguments": set(),
    "files": set(),
    "memory": set(),
    "progress": set(),
    "multiclass": set(),
    "rows": {"shared_passes"},
    "shared_passes": set(),
    "weights": set(),
    "tables": set(),
    "ties": set(),
    "threads": set(),
    "plotting": set(),
}
# Allowed besides the standard library; matplotlib_inline is for notebooks, PIL for pixel images.
PLOTTING_DEPENDENCIES = {"numpy", "matplotlib", "matplotlib_inline", "PIL"}


def layer_of_module(*parts):
    """Return the layer of a module: the longest name in `LAYERS` that is a prefix of its path."""
    prefixes = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next(prefix for prefix in prefixes if prefix in LAYERS)


def layer_of_file(path):
    return layer_of_module(*path.relative_to(PACKAGE).with_suffix("").parts)


def imported_modules(path):
    """Yield the name of each module that a file imports, and the number of dots before it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


def imported_layers(path):
    """Return the layers that a file imports from, except its own layer."""
    package_parts = path.relative_to(PACKAGE).parent.parts
    layers = set()
    for module, level in imported_modules(path):
        parts = module.split(".") if module else []
        if level:
            parts = [*package_parts[: len(package_parts) - (level - 1)], *parts]
            assert parts, f"{path.name} imports from the package itself; name the module"
            layers.add(layer_of_module(*parts))
        elif parts[0] == "svmbook":
            layers.add(layer_of_module(*parts[1:]))
    return layers - {layer_of_file(path)}


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_are_as_listed_and_from_lower_layers(layer):
    files = [path for path in PACKAGE.rglob("*.py") if layer_of_file(path) == layer]
    assert set().union(*map(imported_layers, files)) == LAYERS[layer]
    lower_layers = list(LAYERS)[list(LAYERS).index(layer) + 1 :]
    assert LAYERS[layer] <= set(lower_layers)


def test_plotting_imports_only_plotting_libraries():
    for path in (PACKAGE / "plotting").glob("*.py"):
        modules = {name.split(".")[0] for name, level in imported_modules(path) if not level}
        assert modules - sys.stdlib_module_names <= PLOTTING_DEPENDENCIES


SOURCE_FOLDERS = ("svmbook", "tests", "tools", "benchmarks")
SOURCE_FILES = sorted(
    path for name in SOURCE_FOLDERS for path in (PACKAGE.parent / name).rglob("*.py")
)


@pytest.mark.parametrize("path", SOURCE_FILES, ids=lambda p: str(p.relative_to(PACKAGE.parent)))
def test_source_file_has_at_most_350_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350
