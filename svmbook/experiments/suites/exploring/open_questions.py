"""Two questions that *Exploring Classification* leaves open about forest cover.

Does logistic regression have a smaller error with more data? The table is split into three parts
as in the suite "exploring-forest". Softmax regression is trained on the first 500 to 10,080 plots
of the first two parts, and tested on the third. C = 1 / lam is chosen on the last third of the
training plots, and the classifier is then fitted to all of them.

What does Figure 8 look like under its stated protocol, "1000 + 1000"? For each C, linear
one-vs-rest SVMs are trained on 1,000 plots of the first part and validated on 1,000 plots of the
second part.
"""

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from ....datasets import load
from ....logistic import KernelLogisticRegression
from ....svm import DualSVC
from ....tables import Table
from ...methods.protocols import run_seed
from ...methods.statistics import most_frequent, summarise
from ...running.suite import Suite
from ..paired import format_cell, group_runs
from .forest_cover import PART_SIZE, predict_labels
from .parameters import C_GRID

__all__ = ["FIGURE_8", "METHODS", "SUITE", "TRAINING_SIZES", "carry_out_run"]

TRAINING_SIZES = (500, 1000, 2520, 5040, 10_080)
FIGURE_8 = "1000 + 1000"
FIGURE_8_PART_SIZE = 1000  # training plots, and validation plots, of Figure 8
SOFTMAX = "softmax"
#: For each method, whether it standardises the features, with the statistics of the training plots.
IS_STANDARDISED = {SOFTMAX: True, "svm-scaled": True, "svm-raw": False}
METHODS = tuple(IS_STANDARDISED)


def carry_out_run(data_set, method, run):
    """Carry out one run: choose C on validation plots, fit, and test on the third part."""
    table = load("covtype")
    order = np.random.RandomState(run_seed(0, run)).permutation(len(table.target))
    if data_set == FIGURE_8:
        n_train = FIGURE_8_PART_SIZE
        indices = np.concatenate([order[:n_train], order[PART_SIZE:][:n_train]])
    else:
        indices = order[: int(data_set)]
        n_train = len(indices) - len(indices) // 3  # the last third is the validation set
    split = indices[:n_train], indices[n_train:]
    errors = [_fit_and_measure_error(table, split, method, C, run) for C in C_GRID]
    best_C = C_GRID[int(np.argmin(errors))]
    train = indices[:n_train] if data_set == FIGURE_8 else indices
    return {
        "seed": run_seed(0, run),
        "parameters": {"C": best_C},
        "error": _fit_and_measure_error(
            table, (train, order[2 * PART_SIZE :]), method, best_C, run
        ),
        "validation_errors": errors,
        "model_size": table.data.shape[1],
    }


def _fit_and_measure_error(table, split, method, C, run):
    """Fit a classifier on the training plots, and return its error on the test plots."""
    train, test = split
    X, X_test = table.data[train], table.data[test]
    if IS_STANDARDISED[method]:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    if method == SOFTMAX:
        classifier = KernelLogisticRegression(kernel="linear", lam=1.0 / C)
    else:
        classifier = OneVsRestClassifier(DualSVC(C=C))
    labels, _ = predict_labels(classifier.fit(X, table.target[train]), X_test, run)
    return round(float(np.mean(labels != table.target[test])), 6)


def _compare(records):
    """Return one row per data set and method, with mean accuracy and the C chosen most often."""
    rows = []
    for row, run_records in group_runs(records, SUITE.data_sets, METHODS):
        accuracy = summarise([100 * (1 - r["error"]) for r in run_records])
        row |= {"accuracy": accuracy.mean, "accuracy_se": accuracy.standard_error}
        row["chosen_C"], row["n_chosen"] = most_frequent(r["parameters"]["C"] for r in run_records)
        errors = 100 * np.array([r["validation_errors"] for r in run_records])
        is_lowest = errors <= errors.min(axis=1, keepdims=True)
        row["validation_errors"] = errors.mean(axis=0).tolist()
        row["n_runs_lowest"] = is_lowest.sum(axis=0).tolist()
        rows.append(row)
    return rows


def _make_table(rows):
    """Return the table of softmax regression, one row per number of training plots."""
    table_rows = [
        [
            row["data_set"],
            format_cell(row, "accuracy", ".1f"),
            f"{row['chosen_C']:g} ({row['n_chosen']})",
        ]
        for row in rows
        if row["method"] == SOFTMAX
    ]
    return Table(["training plots", "success (%)", "$C$ (splits)"], table_rows)


def _make_figure_8_table(rows):
    """Return Figure 8: for each C the mean validation error, and in how many runs it is lowest."""
    table_rows = [
        [
            row["method"],
            *(
                f"{error:.1f} ({n_runs})"
                for error, n_runs in zip(
                    row["validation_errors"], row["n_runs_lowest"], strict=True
                )
            ),
        ]
        for row in rows
        if row["data_set"] == FIGURE_8
    ]
    table_rows = [["reported", *["blank"] * len(C_GRID)], *table_rows]
    return Table(["error (%) at $C=$", *(f"{C:g}" for C in C_GRID)], table_rows)


SUITE = Suite(
    name="exploring-more",
    title="Exploring Classification: more data for logistic regression, and Figure 8 as described",
    data_sets=(*map(str, TRAINING_SIZES), FIGURE_8),
    methods=METHODS,
    n_runs=10,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
    extra_tables={"figure-8": _make_figure_8_table},
    data_tables=dict.fromkeys((*map(str, TRAINING_SIZES), FIGURE_8), "covtype"),
    excluded_data_sets={SOFTMAX: (FIGURE_8,)}
    | {method: tuple(map(str, TRAINING_SIZES)) for method in METHODS if method != SOFTMAX},
)
