r"""When does the bounded loss pay? Case A, which has a clump, and clouds that have none.

Navia-Vazquez et al. (2004) advise it for many points and classifiers of small capacity, and call
the loss a parameter to choose. No table of theirs looks. 100 runs: each draws training points (in
case A again, if a class has fewer than two) and 10,000 test points, the same for all methods.
Five-fold cross-validation on the training points (as many folds as the smaller class has points, if
fewer) chooses C, and in "chosen loss" the loss as well; the first of equal candidates wins, and the
hinge loss comes first. Gaussian kernels have one basis function per training point, also in folds.
"""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ....datasets import stdev, usvc_case_a
from ....svm import DualSVC
from ....tables import Table
from ....unbiased import USVC
from ...methods.protocols import Generated
from ...running.suite import Suite
from ..paired import cell, paired_rows

__all__ = ["C_GRID", "GAMMAS", "LOSSES", "METHODS", "SIZES", "SUITE", "work"]


def _two_of_each(n, random_state):
    """Draw case A until both classes have at least two points."""
    rng = np.random.default_rng(random_state)
    while True:
        X, y = usvc_case_a(n, random_state=int(rng.integers(2**32)))
        if abs(y.sum()) <= n - 4:
            return X, y


SIZES = (10, 20, 50, 100, 500)
CLOUD_SIZES = (50, 500)
#: Generator and number of training points by data set.
DATA_SETS = {f"case-a-{n}": (_two_of_each, n) for n in SIZES} | {
    f"clouds-{n}": (partial(stdev, 4.0), n) for n in CLOUD_SIZES
}
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0)
LOSSES = {"hinge": DualSVC(), "s = 2": USVC(), "s = 4": USVC(s=4.0), "s = 8": USVC(s=8.0)}
CHOSEN_LOSS = "chosen loss"
NAMES = {"case-a": "case A", "clouds": "stdev4"}
GAMMAS = (0.1, 1.0, 10.0, 100.0)
GAUSSIAN_DATA_SET = "case-a-100"
#: Losses to choose from, and gamma of the Gaussian kernel or None for a linear classifier.
METHODS = (
    {loss: ((loss,), None) for loss in LOSSES}
    | {CHOSEN_LOSS: (tuple(LOSSES), None)}
    | {f"gamma = {g:g}, {loss}": ((loss,), g) for g in GAMMAS for loss in ("hinge", "s = 2")}
)


def work(data_set, method, run):
    """Do one run: choose C, and the loss where it is open, fit, and test."""
    draw, n = DATA_SETS[data_set]
    parts = Generated(draw, train=n, test=10_000, runs=run + 1)[run]
    X, y = parts.X_train, parts.y_train
    folds = min(5, *np.unique(y, return_counts=True)[1])
    folds = StratifiedKFold(int(folds), shuffle=True, random_state=parts.seed)
    losses, gamma = METHODS[method]
    best, fewest = None, np.inf
    for loss in losses:
        for C in C_GRID:
            classifier = _classifier(loss, C, gamma, X)
            scores = cross_val_score(classifier, X, y, cv=folds, scoring=_minus_errors)
            if -scores.sum() < fewest:
                best, fewest = (loss, C), -scores.sum()
    fitted = _classifier(*best, gamma, X).fit(X, y)
    return {
        "seed": parts.seed,
        "parameters": {"C": best[1], "s": getattr(LOSSES[best[0]], "s", 0.0)},  # 0: hinge
        "error": round(float(1.0 - fitted.score(parts.X_test, parts.y_test)), 6),
        "model_size": X.shape[1] if gamma is None else len(fitted.support_vectors_),
    }


def _classifier(loss, C, gamma, X):
    """Return a classifier; one with a Gaussian kernel may use all training points."""
    classifier = clone(LOSSES[loss]).set_params(C=C)
    if gamma is not None:
        classifier.set_params(kernel="rbf", gamma=gamma)
        if isinstance(classifier, USVC):
            classifier.set_params(prototypes=X)
    return classifier


def _minus_errors(classifier, X, y):
    """Return minus the number of errors: a whole number, the same on every machine."""
    return -int((classifier.predict(X) != y).sum())


def _hinge(method):
    """Return the method with the hinge loss and the same kernel."""
    return f"{method.rpartition(', ')[0]}, hinge" if method.startswith("gamma") else "hinge"


def _compare(records):
    """Return mean errors, and differences to the hinge loss, paired over runs."""
    return paired_rows(records, DATA_SETS, METHODS, _hinge, {"error": 100})


def _table_by_size(rows):
    """Return one row per data set: the error with the hinge loss, and what other losses add."""
    of = {(row["data_set"], row["method"]): row for row in rows}
    others = (*[loss for loss in LOSSES if loss != "hinge"], CHOSEN_LOSS)
    lines = []
    for data_set, (_, n) in DATA_SETS.items():
        if (data_set, "hinge") in of:
            first = cell(of[data_set, "hinge"], "error", ".1f")
            cells = [cell(of.get((data_set, m), {}), digits="+.1f") for m in others]
            lines.append([NAMES[data_set.rpartition("-")[0]], n, first, *cells])
    return Table(["data", "$n$", "hinge (%)", *others], lines)


def _table_by_gamma(rows):
    """Return one row per gamma: the error with the hinge loss, and the difference to it."""
    of = {row["method"]: row for row in rows if row["data_set"] == GAUSSIAN_DATA_SET}
    lines = []
    for gamma in GAMMAS:
        hinge, bounded = (of.get(f"gamma = {gamma:g}, {loss}") for loss in ("hinge", "s = 2"))
        if hinge and bounded:
            lines.append([f"{gamma:g}", cell(hinge, "error", ".1f"), cell(bounded, digits="+.1f")])
    return Table([r"$\gamma$", "hinge (%)", "s = 2, minus hinge"], lines)


SUITE = Suite(
    name="usvc-when",
    title="When the bounded loss pays: training sizes, kernel widths, and a chosen loss",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    runs=100,
    work=work,
    compare=_compare,
    layout=_table_by_size,
    more={"widths": _table_by_gamma},
    left_out={
        m: tuple(d for d in DATA_SETS if d != GAUSSIAN_DATA_SET)
        for m in METHODS
        if m.startswith("gamma")
    },
)
