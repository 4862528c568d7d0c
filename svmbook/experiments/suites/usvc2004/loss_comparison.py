r"""When the bounded loss reduces the error: case A, with a distant cluster, and two clouds.

Navia-Vazquez et al. (2004) recommend the bounded loss for many points and classifiers of small
capacity, and treat the loss as a parameter to choose. Their tables do not examine this advice. Each
of 100 runs draws training points and 10,000 test points, the same for all methods; in case A each
class has at least two training points. C, and in "chosen loss" also the loss, is chosen by 5-fold
cross-validation on the training points (with fewer folds if the smaller class has fewer points). If
several are tied, the first is chosen; the hinge loss comes first. With a Gaussian kernel, the
prototypes of the bounded loss are all training points, also in the folds.
"""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ....datasets import stdev, usvc_case_a
from ....svm import DualSVC
from ....tables import Table
from ....unbiased import USVC
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell

__all__ = [
    "CASE_A_TRAINING_SIZES",
    "CLASSIFIERS_BY_LOSS",
    "C_GRID",
    "GAMMAS",
    "METHODS",
    "SUITE",
    "carry_out_run",
]


def _case_a_with_two_points_per_class(n, random_state):
    """Draw case A repeatedly until both classes have at least two points."""
    rng = np.random.default_rng(random_state)
    while True:
        X, y = usvc_case_a(n, random_state=int(rng.integers(2**32)))
        if abs(y.sum()) <= n - 4:
            return X, y


CASE_A_TRAINING_SIZES = (10, 20, 50, 100, 500)
CLOUDS_TRAINING_SIZES = (50, 500)
#: Generator and number of training points by data set.
DATA_SETS = {
    f"case-a-{n}": (_case_a_with_two_points_per_class, n) for n in CASE_A_TRAINING_SIZES
} | {f"clouds-{n}": (partial(stdev, 4.0), n) for n in CLOUDS_TRAINING_SIZES}
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0)
CLASSIFIERS_BY_LOSS = {
    "hinge": DualSVC(),
    "s = 2": USVC(),
    "s = 4": USVC(s=4.0),
    "s = 8": USVC(s=8.0),
}
CHOSEN_LOSS = "chosen loss"
DISPLAY_NAMES = {"case-a": "case A", "clouds": "stdev4"}
GAMMAS = (0.1, 1.0, 10.0, 100.0)
GAUSSIAN_DATA_SET = "case-a-100"
#: By method: the losses to choose from, and gamma of the Gaussian kernel or None for a linear one.
METHODS = (
    {loss: ((loss,), None) for loss in CLASSIFIERS_BY_LOSS}
    | {CHOSEN_LOSS: (tuple(CLASSIFIERS_BY_LOSS), None)}
    | {f"gamma = {g:g}, {loss}": ((loss,), g) for g in GAMMAS for loss in ("hinge", "s = 2")}
)


def carry_out_run(data_set, method, run):
    """Carry out one run: choose C, and the loss if there are several, fit, and test."""
    draw, n = DATA_SETS[data_set]
    parts = GeneratedSamples(draw, n_train=n, n_test=10_000, n_runs=run + 1)[run]
    X, y = parts.X_train, parts.y_train
    n_folds = int(min(5, *np.unique(y, return_counts=True)[1]))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=parts.seed)
    losses, gamma = METHODS[method]
    best, fewest_errors = None, np.inf
    for loss in losses:
        for C in C_GRID:
            classifier = _make_classifier(loss, C, gamma, X)
            scores = cross_val_score(classifier, X, y, cv=folds, scoring=_negative_error_count)
            if -scores.sum() < fewest_errors:
                best, fewest_errors = (loss, C), -scores.sum()
    best_loss, best_C = best
    fitted = _make_classifier(best_loss, best_C, gamma, X).fit(X, y)
    return {
        "seed": parts.seed,
        # s = 0 stands for the hinge loss.
        "parameters": {"C": best_C, "s": getattr(CLASSIFIERS_BY_LOSS[best_loss], "s", 0.0)},
        "error": round(float(1.0 - fitted.score(parts.X_test, parts.y_test)), 6),
        "model_size": X.shape[1] if gamma is None else len(fitted.support_vectors_),
    }


def _make_classifier(loss, C, gamma, X):
    """Return an unfitted classifier, with all points as prototypes if its kernel is Gaussian."""
    classifier = clone(CLASSIFIERS_BY_LOSS[loss]).set_params(C=C)
    if gamma is not None:
        classifier.set_params(kernel="rbf", gamma=gamma)
        if isinstance(classifier, USVC):
            classifier.set_params(prototypes=X)
    return classifier


def _negative_error_count(classifier, X, y):
    """Return minus the number of errors, an integer, so that scores have no rounding errors."""
    return -int((classifier.predict(X) != y).sum())


def _hinge_method(method):
    """Return the method with the hinge loss and the same kernel."""
    return f"{method.rpartition(', ')[0]}, hinge" if method.startswith("gamma") else "hinge"


def _compare(records):
    """Return mean errors, and differences from the hinge loss, paired over runs."""
    return comparison_rows(records, DATA_SETS, METHODS, _hinge_method, {"error": 100})


def _make_table_by_size(rows):
    """Return one row per data set: the error with the hinge loss, and differences from it."""
    rows_by_key = {(row["data_set"], row["method"]): row for row in rows}
    other_methods = (*[loss for loss in CLASSIFIERS_BY_LOSS if loss != "hinge"], CHOSEN_LOSS)
    table_rows = []
    for data_set, (_, n) in DATA_SETS.items():
        if (data_set, "hinge") in rows_by_key:
            hinge_cell = format_cell(rows_by_key[data_set, "hinge"], "error", ".1f")
            difference_cells = [
                format_cell(rows_by_key.get((data_set, m), {}), format_spec="+.1f")
                for m in other_methods
            ]
            table_rows.append(
                [DISPLAY_NAMES[data_set.rpartition("-")[0]], n, hinge_cell, *difference_cells]
            )
    return Table(["data", "$n$", "hinge (%)", *other_methods], table_rows)


def _make_table_by_gamma(rows):
    """Return one row per gamma: the error with the hinge loss, and the difference from it."""
    rows_by_method = {row["method"]: row for row in rows if row["data_set"] == GAUSSIAN_DATA_SET}
    table_rows = []
    for gamma in GAMMAS:
        methods = (f"gamma = {gamma:g}, {loss}" for loss in ("hinge", "s = 2"))
        hinge_row, bounded_row = map(rows_by_method.get, methods)
        if hinge_row and bounded_row:
            table_rows.append(
                [
                    f"{gamma:g}",
                    format_cell(hinge_row, "error", ".1f"),
                    format_cell(bounded_row, format_spec="+.1f"),
                ]
            )
    return Table([r"$\gamma$", "hinge (%)", "s = 2, minus hinge"], table_rows)


SUITE = Suite(
    name="usvc-when",
    title="When the bounded loss reduces the error: training sizes, kernel widths, a chosen loss",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    n_runs=100,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table_by_size,
    extra_tables={"widths": _make_table_by_gamma},
    excluded_data_sets={
        m: tuple(d for d in DATA_SETS if d != GAUSSIAN_DATA_SET)
        for m in METHODS
        if m.startswith("gamma")
    },
)
