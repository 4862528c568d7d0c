r"""Hinge loss and bounded loss on two overlapping clouds, for small and large training sets.

When does the bounded loss increase the error? This experiment is not a reproduction. The data are
those of `svmbook.datasets.stdev` with spreads 4 and 1.5. Each of 100 runs draws training points,
500 validation points for the choice of C, and 10,000 test points, the same for all methods of a
data set. Methods with "C = 1" have fixed parameters.
"""

import itertools
from functools import partial

from sklearn.base import clone

from ....datasets import stdev
from ....svm import DualSVC
from ....tables import Table, plus_minus
from ....unbiased import USVC
from ...methods.protocols import GeneratedSamples, run_seed
from ...running.suite import Suite
from ..paired import comparison_rows

__all__ = ["C_GRID", "DATA_SETS", "METHODS", "SUITE", "carry_out_run", "draw_samples"]

SPREADS, TRAINING_SIZES = (4.0, 1.5), (20, 50, 100, 400)
#: Spread of the clouds and number of training points by data set.
DATA_SETS = {f"stdev{spread:g}-{n}": (spread, n) for spread in SPREADS for n in TRAINING_SIZES}
C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
GAUSSIAN_KERNEL = {"kernel": "rbf", "gamma": 0.1}
#: Estimator and values of C by method.
METHODS = {
    "linear, hinge": (DualSVC(), C_GRID),
    "linear, s = 2": (USVC(s=2.0), C_GRID),
    "Gaussian, hinge": (DualSVC(**GAUSSIAN_KERNEL), C_GRID),
    "Gaussian, s = 2": (USVC(s=2.0, **GAUSSIAN_KERNEL), C_GRID),
    "Gaussian, s = 8": (USVC(s=8.0, **GAUSSIAN_KERNEL), C_GRID),
    "Gaussian, C = 1, hinge": (DualSVC(**GAUSSIAN_KERNEL), (1.0,)),
    "Gaussian, C = 1, s = 2": (USVC(s=2.0, **GAUSSIAN_KERNEL), (1.0,)),
    "Gaussian, C = 1, s = 8": (USVC(s=8.0, **GAUSSIAN_KERNEL), (1.0,)),
}
# Only small data sets, since these classifiers have one kernel per training point.
GAUSSIAN_DATA_SETS = ("stdev4-20", "stdev4-50")


def draw_samples(data_set, run):
    """Return the training points, test points and seed of a run, and its validation points.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004.overlap import draw_samples
    >>> parts, (X, y) = draw_samples("stdev4-20", 3)
    >>> parts.X_train.shape, X.shape
    ((20, 2), (500, 2))
    """
    spread, n = DATA_SETS[data_set]
    draw = partial(stdev, spread)
    parts = GeneratedSamples(draw, n_train=n, n_test=10_000, n_runs=run + 1)[run]
    return parts, draw(500, random_state=run_seed(0, run, purpose=3))


def carry_out_run(data_set, method, run):
    """Carry out one run: choose C by validation error (the smallest if tied), and test."""
    parts, validation = draw_samples(data_set, run)
    estimator, grid = METHODS[method]
    if isinstance(estimator, USVC):  # one kernel per training point; ignored by a linear kernel
        estimator = clone(estimator).set_params(prototypes=parts.X_train)
    fitted_models = [
        clone(estimator).set_params(C=C).fit(parts.X_train, parts.y_train) for C in grid
    ]
    best = max(fitted_models, key=lambda model: model.score(*validation))
    is_linear = best.kernel == "linear"
    return {
        "seed": parts.seed,
        "parameters": {"C": best.C},
        "error": round(float(1.0 - best.score(parts.X_test, parts.y_test)), 6),
        "train_error": round(float(1.0 - best.score(parts.X_train, parts.y_train)), 6),
        "model_size": int(best.coef_.size if is_linear else len(best.support_vectors_)),
    }


def _hinge_method(method):
    """Return the method with the hinge loss, the same kernel and the same values of C."""
    return f"{method.rpartition(', ')[0]}, hinge"


def _compare(records):
    """Return mean errors, and differences from the hinge loss, paired over runs."""
    factors = {"error": 100, "train_error": 100}
    return comparison_rows(records, DATA_SETS, METHODS, _hinge_method, factors)


def _table_maker(field, format_spec):
    """Return a function that makes a table: one row per spread and method, one column per size."""

    def make_table(rows):
        cells = {
            (row["data_set"], row["method"]): plus_minus(
                row[field], row[f"{field}_se"], format_spec
            )
            for row in rows
            if field in row
        }
        table_rows = []
        for spread, method in itertools.product(SPREADS, METHODS):
            table_row = [cells.get((f"stdev{spread:g}-{n}", method), "") for n in TRAINING_SIZES]
            if any(table_row):
                table_rows.append([f"{spread:g}", method, *table_row])
        return Table(["spread", "method", *(f"$n = {n}$" for n in TRAINING_SIZES)], table_rows)

    return make_table


SUITE = Suite(
    name="usvc-overlap",
    title="Hinge loss and bounded loss on overlapping clouds",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    n_runs=100,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_table_maker("error", ".2f"),
    extra_tables={
        "differences": _table_maker("difference", "+.2f"),
        "training": _table_maker("train_error", ".1f"),
    },
    excluded_data_sets={
        m: tuple(d for d in DATA_SETS if d not in GAUSSIAN_DATA_SETS)
        for m in METHODS
        if m.startswith("Gaussian")
    },
)
