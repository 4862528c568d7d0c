"""The directive ``{capabilities}``: purpose of each estimator, what it supports, and its limits.

The purpose is the first line of the docstring. Classes, probabilities, weights, sparse matrices,
explanations, certificate and defaults are read from the estimators. Each estimator is fitted to
three classes to see whether it fits one classifier per pair of classes. The number of points fitted
in a minute and the memory needed come from the records of ``benchmarks/bench_estimators.py``.
"""

import inspect

from sklearn.datasets import load_iris
from sklearn.utils.validation import has_fit_parameter
from sphinx.util.docutils import SphinxDirective

import svmbook
from svmbook.experiments import load_records
from svmbook.experiments.running.records import results_folder
from svmbook.tables import Table

RECORDS_NAME = "bench_estimators"
PURPOSE_COLUMNS = ("estimator", "purpose", "defaults")
SUPPORT_COLUMNS = (
    "estimator",
    "classes",
    "probabilities",
    "weights",
    "sparse",
    "explains",
    "certificate",
)
LIMIT_COLUMNS = ("estimator", "points fitted in a minute", "memory (floats)")
THREE_CLASS_DATA = [values[::5] for values in load_iris(return_X_y=True)]  # points and labels
MAX_MEASURED_POINTS = 500_000
#: Hyperparameters whose defaults are shown.
SHOWN_HYPERPARAMETERS = ("C", "lam", "kernel", "penalty", "n_estimators")


def estimators():
    """Yield name and class of each public estimator, in alphabetical order."""
    for name in sorted(svmbook.__all__, key=str.lower):
        if not name.startswith("_"):
            yield name, getattr(svmbook, name)


def purpose_cells(estimator_class):
    """Return the first line of the docstring, without the full stop, and the defaults."""
    parameters = inspect.signature(estimator_class).parameters
    defaults = [
        f"`{p}={parameters[p].default!r}`" for p in SHOWN_HYPERPARAMETERS if p in parameters
    ]
    return inspect.getdoc(estimator_class).splitlines()[0].removesuffix("."), ", ".join(defaults)


def support_cells(estimator_class):
    """Return the cells of an estimator's row, without its name."""
    doc, parameters = estimator_class.__doc__, inspect.signature(estimator_class).parameters
    is_pairwise = estimator_class().fit(*THREE_CLASS_DATA)._is_one_vs_one
    model = estimator_class(kernel="linear") if "kernel" in parameters else estimator_class()
    certificate = "gap" if "relative_gap_" in doc else "none"
    if certificate == "none" and "kkt_residual_" in doc:
        certificate = "stationary point"
    return (
        "any, in pairs" if is_pairwise else "any",
        "yes" if hasattr(estimator_class, "predict_proba") else "calibrate",
        "points, classes" if has_fit_parameter(estimator_class, "sample_weight") else "no",
        "linear kernel" if model._accepts_sparse else "no",
        "yes" if hasattr(estimator_class, "explain") else "no",
        certificate,
    )


def limit_cells(record):
    """Return the cells of a record: estimator, points fitted in a minute, and memory."""
    is_lower_bound = record["n"] >= MAX_MEASURED_POINTS and record["seconds"] < 60.0
    points_cell = f"over {MAX_MEASURED_POINTS:,}"
    if not is_lower_bound:
        points_cell = f"{floor_to_one_digit(record['n_at_one_minute']):,}"
    over_squares, over_data = record["memory_over_squares"], record["memory_over_data"]
    memory_cell = f"{max(over_data, 1.0):.0f} times the data"
    if over_squares > 0.5:
        memory_cell = f"{over_squares:.1f} $n^2$"
    return record["method"], points_cell, memory_cell


def floor_to_one_digit(number):
    """Round a number of at least 1 down to one significant digit."""
    digits = str(int(number))
    return int(digits[0] + "0" * (len(digits) - 1))


class Capabilities(SphinxDirective):
    """Show one of the three tables: ``purposes``, ``support`` or ``limits``."""

    required_arguments = 1

    def run(self):
        if self.arguments == ["purposes"]:
            table = self.table_of_estimators(PURPOSE_COLUMNS, purpose_cells)
        elif self.arguments == ["support"]:
            table = self.table_of_estimators(SUPPORT_COLUMNS, support_cells)
        else:
            self.env.note_dependency(str(results_folder() / f"{RECORDS_NAME}.jsonl"))
            table = Table(
                LIMIT_COLUMNS, [limit_cells(record) for record in load_records(RECORDS_NAME)]
            )
        return self.parse_text_to_nodes(repr(table))

    def table_of_estimators(self, columns, make_cells):
        """Return a table with one row per estimator, whose name links to its documentation."""
        rows = [
            (f"{{class}}`~svmbook.{name}`", *make_cells(estimator_class))
            for name, estimator_class in estimators()
        ]
        return Table(columns, rows)


def setup(app):
    """Register the directive."""
    app.add_directive("capabilities", Capabilities)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
