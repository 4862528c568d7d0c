"""The tests assigned to each module, the places of mutants, and those known to be equivalent."""

import ast
import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EQUIVALENTS_PATH = Path("tests", "equivalent_mutants.txt")
# The tests of each module, as files and folders in tests/; the first matching pattern applies.
TESTS = {
    "svmbook/__init__.py": "test_sklearn_api.py experiments/test_cli.py",
    "svmbook/cli.py": "experiments/test_cli.py course",
    "svmbook/threads.py": "test_threads.py solvers/dual gram",
    "svmbook/base.py": "test_base.py test_parameters.py svm logistic unbiased",
    "svmbook/kernel_machine.py": "test_base.py test_parameters.py test_attributes.py svm logistic",
    "svmbook/memory.py": "test_memory.py",
    "svmbook/progress.py": "test_progress.py",
    "svmbook/arguments.py": "datasets solvers",
    "svmbook/files.py": "datasets course",
    "svmbook/labels.py": "test_labels.py test_base.py svm logistic",
    "svmbook/multiclass.py": "test_multiclass.py",
    "svmbook/weights.py": "test_weights.py test_base.py svm logistic",
    "svmbook/shared_passes.py": "test_rows.py svm/test_path_in_blocks.py",
    "svmbook/dask_labels.py": "test_dask_input.py",
    "svmbook/rows.py": "test_rows.py svm/test_in_blocks.py test_cluster.py",
    "svmbook/moments.py": "test_dask_input.py ensembles",
    "svmbook/dask_input.py": "test_dask_input.py svm/test_in_blocks.py test_cluster.py",
    "svmbook/ties.py": "test_ties.py prototypes solvers/boosting gram",
    "svmbook/tables.py": "test_tables.py experiments/running",
    "svmbook/calibration.py": "test_calibration.py svm unbiased prototypes",
    "svmbook/losses/*": "test_losses.py solvers/irwls solvers/logistic unbiased",
    "svmbook/kernels/*": "kernels test_base.py svm logistic",
    "svmbook/gram/*": "gram solvers",
    "svmbook/solvers/dual/*": "solvers/dual solvers/test_checks.py svm",
    "svmbook/solvers/logistic/*": "solvers/logistic solvers/test_checks.py logistic",
    "svmbook/solvers/irwls/*": "solvers/irwls solvers/test_checks.py unbiased",
    "svmbook/solvers/batched/*": "solvers/batched solvers/test_checks.py prototypes",
    "svmbook/solvers/*": "solvers ensembles",
    "svmbook/svm/*": "svm test_base.py test_parameters.py test_sklearn_api.py",
    "svmbook/logistic/*": "logistic test_base.py test_parameters.py test_sklearn_api.py",
    "svmbook/unbiased/*": "unbiased test_base.py test_parameters.py test_sklearn_api.py",
    "svmbook/ensembles/*": "ensembles kernels/test_ensembles.py test_base.py test_parameters.py "
    "test_sklearn_api.py",
    "svmbook/prototypes/*": "prototypes test_base.py test_parameters.py test_sklearn_api.py",
    "svmbook/datasets/tables/*": "datasets/tables",
    "svmbook/datasets/*": "datasets/generators",
    "svmbook/experiments/methods/*": "experiments/methods",
    "svmbook/experiments/suites/*": "experiments/suites",
    "svmbook/experiments/running/*": "experiments/running experiments/test_reproduce.py "
    "experiments/suites/test_suites.py",
    "svmbook/experiments/*": "experiments/test_reproduce.py experiments/test_cli.py "
    "experiments/test_cli_processes.py",
    "svmbook/plotting/*": "plotting",
    "svmbook/course/*": "course",
}


def module_paths():
    """Return the paths of the package's modules from the root of the repository."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "svmbook").rglob("*.py"))


def assignment_errors():
    """Return the errors of `TESTS`: unmatched modules, unmatched patterns, and missing tests."""
    patterns, paths = list(TESTS), module_paths()
    # The pattern that applies to each module, or the module itself if there is none.
    first_matches = {
        next((pattern for pattern in patterns if fnmatch.fnmatch(path, pattern)), path)
        for path in paths
    }
    return [
        *(f"{name}: no tests are assigned" for name in sorted(first_matches - set(patterns))),
        *(
            f"{pattern}: no module matches this pattern"
            for pattern in patterns
            if pattern not in first_matches
        ),
        *(
            f"{pattern}: tests/{name} does not exist"
            for pattern in patterns
            for name in TESTS[pattern].split()
            if not (ROOT / "tests" / name).exists()
        ),
    ]


def assigned_tests(file, root):
    """Return a module, for its docstring examples, and its test files in a repository copy."""
    names = next(TESTS[pattern] for pattern in TESTS if fnmatch.fnmatch(file, pattern)).split()
    files = [file]
    for path in (Path(root, "tests", name) for name in [*names, "test_interface.py"]):
        # A file may be missing in the tests of another revision.
        paths = [path] if path.is_file() else sorted(path.rglob("test_*.py"))
        files += [str(path.relative_to(root)) for path in paths]
    return list(dict.fromkeys(files))


def statement_lines(tree, line):
    """Return the line range of the statement at a line; None for code that an import runs."""
    is_in_function, statement = False, None
    nodes = [node for node in ast.walk(tree) if hasattr(node, "lineno")]
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_in_function |= node.body[0].lineno <= line <= node.end_lineno
        has_body = isinstance(node, ast.stmt | ast.ExceptHandler) and hasattr(node, "body")
        if not (has_body or isinstance(node, ast.stmt)):
            continue
        last = max(node.lineno, node.body[0].lineno) if has_body else node.end_lineno
        # ast.walk visits outer nodes first, so the last match is the innermost statement.
        if node.lineno <= line <= last:
            statement = node.lineno, last
    return statement if is_in_function else None


def enclosing_name(tree, line):
    """Return the dotted name of the function or class around a line, or 'module'."""
    names = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.lineno <= line <= node.end_lineno
    ]
    return ".".join(names) or "module"


def identifying_lines(mutant):
    """Return the file, place and changed lines of a mutant, which identify it after other edits."""
    lines = [line for line in mutant["diff"].split("\n") if line[:1] in ("-", "+")]
    return "\n".join(
        [f"{mutant['file']} {mutant['place']}", *(f"{x[0]} {x[1:].strip()}" for x in lines)]
    )


def parse_equivalents(text):
    """Return the equivalent mutants and the reasons why they do not change behaviour.

    Each paragraph of the text has the reason after '#', file and place, and the lines with - and +.
    """
    reasons = {}
    for paragraph in text.strip().split("\n\n"):
        lines = paragraph.split("\n")
        reason = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
        reasons["\n".join(line for line in lines if not line.startswith("#"))] = reason
    reasons.pop("", None)
    return reasons
