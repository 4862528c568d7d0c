"""Two questions that *Exploring Classification* leaves open about forest cover.

Would logistic regression do better with more data? Softmax regression trains on the first 500 to
10,080 plots of the first two parts of a division in three, and is tested on the third. C = 1 / lam
is chosen on the last third of its training plots, after which it is fitted to all of them.

And Figure 8 by its own protocol, "1000 + 1000": linear SVMs, one class against the rest, train on
1,000 plots of part one for each C and are validated on 1,000 plots of part two. The divisions are
those of the suite "exploring-forest".
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
from ..paired import cell
from .forest import PART, answers
from .parameters import C_GRID

__all__ = ["FIGURE_8", "METHODS", "SIZES", "SUITE", "work"]

SIZES = (500, 1000, 2520, 5040, 10_080)
FIGURE_8 = "1000 + 1000"
FIGURE_8_PLOTS = 1000  # plots of each part in Figure 8
SOFTMAX = "softmax"
#: Whether a method standardises the features, by its training plots.
METHODS = {SOFTMAX: True, "svm-scaled": True, "svm-raw": False}


def work(data_set, method, run):
    """Do one run: choose C on validation plots, fit, and test on the third part."""
    table = load("covtype")
    order = np.random.RandomState(run_seed(0, run)).permutation(len(table.target))
    if data_set == FIGURE_8:
        few = FIGURE_8_PLOTS
        plots = np.concatenate([order[:few], order[PART:][:few]])
    else:
        plots = order[: int(data_set)]
        few = len(plots) - len(plots) // 3  # validated on the last third
    errors = [_error(table, plots[:few], plots[few:], method, C, run) for C in C_GRID]
    best = C_GRID[int(np.argmin(errors))]
    train = plots[:few] if data_set == FIGURE_8 else plots
    return {
        "seed": run_seed(0, run),
        "parameters": {"C": best},
        "error": _error(table, train, order[2 * PART :], method, best, run),
        "validation_errors": errors,
        "model_size": table.data.shape[1],
    }


def _error(table, train, new, method, C, run):
    """Return the error on new plots of a classifier trained on some."""
    X, X_new = table.data[train], table.data[new]
    if METHODS[method]:
        scaler = StandardScaler().fit(X)
        X, X_new = scaler.transform(X), scaler.transform(X_new)
    if method == SOFTMAX:
        classifier = KernelLogisticRegression(kernel="linear", lam=1.0 / C)
    else:
        classifier = OneVsRestClassifier(DualSVC(C=C))
    labels, _ = answers(classifier.fit(X, table.target[train]), X_new, run)
    return round(float(np.mean(labels != table.target[new])), 6)


def _compare(records):
    """Return a row per line: mean success, mean validation errors, and the C chosen most often."""
    rows = []
    for data_set in SUITE.data_sets:
        for method in METHODS:
            runs = [r for r in records if (r["data_set"], r["method"]) == (data_set, method)]
            if not runs:
                continue
            success = summarise([100 * (1 - r["error"]) for r in runs])
            chosen, times = most_frequent(r["parameters"]["C"] for r in runs)
            errors = 100 * np.array([r["validation_errors"] for r in runs])
            lowest = errors <= errors.min(axis=1, keepdims=True)
            rows.append(
                {
                    "data_set": data_set,
                    "method": method,
                    "runs": success.runs,
                    "success": success.mean,
                    "success_se": success.error,
                    "chosen": chosen,
                    "chosen_runs": times,
                    "validation": errors.mean(axis=0).tolist(),
                    "lowest_runs": lowest.sum(axis=0).tolist(),
                }
            )
    return rows


def _layout(rows):
    """Return the table of softmax regression, one row per number of training plots."""
    lines = [
        [
            row["data_set"],
            cell(row, "success", ".1f"),
            f"{row['chosen']:g} ({row['chosen_runs']})",
        ]
        for row in rows
        if row["method"] == SOFTMAX
    ]
    return Table(["training plots", "success (%)", "$C$ (divisions)"], lines)


def _layout_figure_8(rows):
    """Return Figure 8: mean validation errors, and in how many divisions each C is the best."""
    lines = [
        [
            row["method"],
            *(
                f"{error:.1f} ({times})"
                for error, times in zip(row["validation"], row["lowest_runs"], strict=True)
            ),
        ]
        for row in rows
        if row["data_set"] == FIGURE_8
    ]
    lines = [["printed", *["blank"] * len(C_GRID)], *lines]
    return Table(["error (%) at $C=$", *(f"{C:g}" for C in C_GRID)], lines)


SUITE = Suite(
    name="exploring-more",
    title="Exploring Classification: more data for logistic regression, and Figure 8 as described",
    data_sets=(*map(str, SIZES), FIGURE_8),
    methods=tuple(METHODS),
    runs=10,
    work=work,
    compare=_compare,
    layout=_layout,
    more={"figure-8": _layout_figure_8},
    tables=dict.fromkeys((*map(str, SIZES), FIGURE_8), "covtype"),
    left_out={SOFTMAX: (FIGURE_8,)}
    | {method: tuple(map(str, SIZES)) for method in METHODS if method != SOFTMAX},
)
