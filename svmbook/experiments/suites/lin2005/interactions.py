r"""Additive models on data with an interaction of growing strength.

Question: how much does an additive model lose through the interaction in the log odds
:math:`3(x_1 + x_2 + c\,x_1x_2)`? Is the loss visible in the errors, or only in the predicted
probabilities?

Protocol: each run draws 300 training and 3,000 test points, the same for all methods. Parameters
are chosen by 5-fold cross-validation, with the log loss for additive models and with the accuracy
for the SVM.
"""

import itertools
from functools import partial

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from ....ensembles import StumpEnsembleLogistic
from ....tables import Table
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import format_cell, paired_summaries

__all__ = [
    "LAMBDAS",
    "METHODS",
    "SUITE",
    "add_product",
    "carry_out_run",
    "draw_samples",
    "draw_with_interaction",
]

ADDITIVE, PRODUCT, GAUSSIAN = METHODS = ("additive", "additive with product", "Gaussian SVM")
LAMBDAS = tuple(2.0**k for k in range(-3, 6, 4))
#: Paired differences: reference, field, factor, and format in the table.
DIFFERENCES = {
    "log_loss_difference": (PRODUCT, "log_loss", 1.0, "+.3f"),
    "difference_from_product": (PRODUCT, "error", 100.0, "+.1f"),
    "difference": (GAUSSIAN, "error", 100.0, "+.1f"),
}
GAUSSIAN_GRID = {"C": (0.1, 1.0, 10.0), "gamma": (0.1, 0.5)}


def draw_with_interaction(c, n, random_state=None):
    """Draw points whose log odds are 3 (x1 + x2 + c x1 x2).

    Examples
    --------
    >>> from svmbook.experiments.suites.lin2005 import interactions
    >>> X, y = interactions.draw_with_interaction(4, 100, random_state=0)
    >>> X.shape, sorted({*y.tolist()})
    ((100, 2), [-1, 1])
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-1, 1, (n, 2))
    log_odds = 3 * (X.sum(axis=1) + c * X[:, 0] * X[:, 1])
    return X, np.where(log_odds + rng.logistic(size=n) > 0, 1, -1)


DATA_SETS = {f"c = {c}": partial(draw_with_interaction, c) for c in (0, 1, 2, 4)}


def add_product(X):
    """Return the two features, and their product as a third feature."""
    return np.column_stack([X, X[:, 0] * X[:, 1]])


def draw_samples(data_set, run):
    """Return training points, test points and seed of a run."""
    return GeneratedSamples(DATA_SETS[data_set], n_runs=run + 1)[run]


def carry_out_run(data_set, method, run):
    """Carry out one run: choose the parameters, fit, and measure error and log loss."""
    parts = draw_samples(data_set, run)
    feature_map = add_product if method == PRODUCT else np.asarray
    stumps = StumpEnsembleLogistic(feature_scale=None, n_knots=16)
    search = GridSearchCV(stumps, {"lam": LAMBDAS}, scoring="neg_log_loss")
    if method == GAUSSIAN:
        search = GridSearchCV(SVC(), GAUSSIAN_GRID)
    model = search.fit(feature_map(parts.X_train), parts.y_train).best_estimator_
    X_test = feature_map(parts.X_test)
    record = {"seed": parts.seed, "parameters": search.best_params_}
    record["error"] = round(float(1.0 - model.score(X_test, parts.y_test)), 6)
    if method == GAUSSIAN:
        return record | {"model_size": int(model.n_support_.sum())}
    return record | {
        "model_size": sum(len(shape.values) for shape in model.shape_functions_),
        "log_loss": round(float(log_loss(parts.y_test, model.predict_proba(X_test))), 6),
    }


def _compare(records):
    """Return mean errors in percent, and paired differences of errors and of log losses."""
    rows = []
    for data_set, method in itertools.product(DATA_SETS, METHODS):
        summaries = paired_summaries(records, data_set, method, GAUSSIAN)
        if summaries is None:
            continue
        row = {"data_set": data_set, "method": method, "n_runs": summaries[0].n_values}
        row |= {"error": summaries[0].mean, "error_se": summaries[0].standard_error}
        for name, (reference, field, factor, _) in DIFFERENCES.items():
            if method not in (reference, GAUSSIAN):
                pair = paired_summaries(
                    records, data_set, method, reference, field=field, factor=factor
                )
                if pair:
                    row |= {name: pair[1].mean, f"{name}_se": pair[1].standard_error}
        rows.append(row)
    return rows


def _make_table(rows):
    """Return the table, one row per strength of the interaction."""
    rows_by_key, table_rows = {(row["data_set"], row["method"]): row for row in rows}, []
    for data_set in dict.fromkeys(row["data_set"] for row in rows):
        additive, product, gaussian = (
            rows_by_key.get((data_set, method), {}) for method in METHODS
        )
        cells = [
            format_cell(additive, name, format_spec)
            for name, (*_, format_spec) in DIFFERENCES.items()
        ]
        cells += [format_cell(row, "error", ".1f") for row in (additive, product, gaussian)]
        table_rows.append([data_set.removeprefix("c = "), *cells])
    difference_headings = (
        "log loss, difference from product",
        "error, difference from product",
        "error, difference from Gaussian",
    )
    error_headings = ("additive", "with product", "Gaussian SVM")
    return Table(["$c$", *difference_headings, *error_headings], table_rows)


SUITE = Suite(
    name="interactions",
    title="Additive models on data with an interaction of growing strength",
    data_sets=tuple(DATA_SETS),
    methods=METHODS,
    n_runs=30,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
