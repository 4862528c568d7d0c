"""Two questions that *Exploring Classification* leaves open about the forest.

Would logistic regression do better with more data? Softmax and the report's linear SVMs, one per
kind against the rest, train on 500 to 10,080 plots, the first of a random order of two thirds of
the 15,120, and are tested on the last third. C (for softmax 1 / lambda) is chosen by 3-fold
cross-validation among the report's five values. And its Figure 8, by its own protocol: the SVMs
train on 1,000 plots for each C and are tried on 1,000 others ("1000 + 1000"). Features are
standardised by the training plots. Ten random divisions.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from ...datasets import load
from ...logistic import KernelLogisticRegression
from ...svm import DualSVC
from ...tables import Table
from ..methods.protocols import run_seed
from ..methods.statistics import most_frequent, summarise
from ..running.suite import Suite
from .exploring import C_GRID
from .forest import PART, answers
from .paired import cell

__all__ = ["FIGURE_8", "METHODS", "SIZES", "SUITE", "work"]

SIZES = (500, 1000, 2520, 5040, 10_080)
FIGURE_8 = "1000 + 1000"
METHODS = {
    "softmax": lambda C: KernelLogisticRegression(kernel="linear", lam=1.0 / C),
    "SVMs against the rest": lambda C: OneVsRestClassifier(DualSVC(C=C)),
}


def work(data_set, method, run):
    """Do one run: choose C, fit, and test on the last third of the plots."""
    table, make = load("covtype"), METHODS[method]
    order = np.random.RandomState(run_seed(0, run)).permutation(len(table.target))
    n = 1000 if data_set == FIGURE_8 else int(data_set)
    train, test = order[:n], order[2 * PART :]
    scaler = StandardScaler().fit(table.data[train])
    X, y = scaler.transform(table.data[train]), table.target[train]
    if data_set == FIGURE_8:
        others = order[n : 2 * n]
        tried = [(X, y, scaler.transform(table.data[others]), table.target[others])]
    else:
        folds = StratifiedKFold(3, shuffle=True, random_state=run_seed(0, run, purpose=1))
        tried = [(X[fit], y[fit], X[check], y[check]) for fit, check in folds.split(X, y)]
    wrong = {C: sum(_errors(make(C), run, *parts) for parts in tried) for C in C_GRID}
    best = min(C_GRID, key=lambda C: (wrong[C], C))
    final = _errors(make(best), run, X, y, scaler.transform(table.data[test]), table.target[test])
    return {
        "seed": run_seed(0, run),
        "parameters": {"C": best},
        "error": round(final / len(test), 6),
        "model_size": X.shape[1],
    }


def _errors(classifier, run, X, y, X_new, y_new):
    """Return the number of errors on new plots."""
    return int((answers(classifier.fit(X, y), X_new, run)[0] != y_new).sum())


def _compare(records):
    """Return the mean success of each number of plots, and the C chosen most often."""
    rows = []
    for data_set in SUITE.data_sets:
        for method in METHODS:
            runs = [r for r in records if (r["data_set"], r["method"]) == (data_set, method)]
            if len(runs) < 2:
                continue
            success = summarise([100 * (1 - r["error"]) for r in runs])
            row = {"data_set": data_set, "method": method, "runs": success.runs}
            row |= {"success": success.mean, "success_se": success.error}
            chosen, times = most_frequent(r["parameters"]["C"] for r in runs)
            rows.append(row | {"chosen": chosen, "chosen_runs": times})
    return rows


def _layout(rows):
    """Return the table, one row per number of training plots."""
    of = {(row["data_set"], row["method"]): row for row in rows}
    lines = []
    for data_set in SUITE.data_sets:
        here = [of.get((data_set, method)) for method in METHODS]
        if any(here):
            cells = [cell(row or {}, "success", ".1f") for row in here]
            chosen = [f"{row['chosen']:g} ({row['chosen_runs']})" if row else "" for row in here]
            lines.append([data_set, *cells, *chosen])
    columns = [f"{method}: success (%)" for method in METHODS]
    columns += [f"{method}: $C$ (runs)" for method in METHODS]
    return Table(["training plots", *columns], lines)


SUITE = Suite(
    name="exploring-more",
    title="Exploring Classification: more data for logistic regression, and Figure 8 as described",
    data_sets=(*map(str, SIZES), FIGURE_8),
    methods=tuple(METHODS),
    runs=10,
    work=work,
    compare=_compare,
    layout=_layout,
    tables=dict.fromkeys((*map(str, SIZES), FIGURE_8), "covtype"),
    left_out={"softmax": (FIGURE_8,)},
)
