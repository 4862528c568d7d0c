r"""Beyond Lin (2005): what else there is for his twelve sets.

A soft margin for the linear program, gradient boosted trees, random forests, explainable boosting
machines, which like the stump machine are sums of functions of one feature, and the kernel of the
leaves of trees with a depth that is the number of features. Prices, depths and numbers of trees are
chosen by the five folds of Table 5.4; the explainable machine keeps its defaults, without
interactions.
"""

import itertools

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from ....ensembles import LPBoost
from ....svm import DualSVC
from ...methods.statistics import summarise
from ...running.suite import Suite
from .kernels import DATA_SETS, TABLES, WIDE, by_method, cell, protocol

__all__ = ["METHODS", "SUITE", "work"]

METHODS = (
    "LPBoost-Stump, soft",
    "gradient boosting",
    "random forest",
    "explainable boosting",
    "SVM-Tree, L = d",
)
PRICES = tuple(2.0**k for k in range(-7, 2, 2))
DEPTHS, TREES = (1, 2, 3), (25, 50, 100, 200)


def work(data_set, method, run):
    """Do one run: choose the parameters by five folds, fit, and count the errors."""
    X, y, X_test, y_test, seed = protocol(data_set, runs=run + 1)[run]
    y, y_test = (np.where(labels == np.max(y), 1, 0) for labels in (y, y_test))
    machine, grid = _candidates(method, seed, X.shape[1])
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    if "n_estimators" in grid:
        machine = _staged(machine, grid, folds, X, y).fit(X, y)
    elif grid:
        machine = GridSearchCV(machine, grid, scoring=_fewest, cv=folds).fit(X, y).best_estimator_
    else:
        machine.fit(X, y)
    return {
        "seed": seed,
        "parameters": {name: machine.get_params()[name] for name in grid},
        "error": round(float(np.mean(machine.predict(X_test) != y_test)), 6),
        "model_size": _size(machine),
    }


def _candidates(method, seed, d):
    """Return a machine, and the values of its parameters."""
    if method == "LPBoost-Stump, soft":
        return LPBoost(tol=1e-4), {"C": PRICES}
    if method == "SVM-Tree, L = d":
        return DualSVC(kernel="stump_tree", degree=d), {"C": WIDE["C"]}
    if method == "gradient boosting":
        grid = {"max_depth": DEPTHS, "n_estimators": TREES}
        return GradientBoostingClassifier(random_state=seed), grid
    if method == "random forest":
        return RandomForestClassifier(300, random_state=seed), {"min_samples_leaf": (1, 3, 9)}
    # Of the book's environment, not of the package's.
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(interactions=0, n_jobs=1, random_state=seed), {}


def _staged(machine, grid, folds, X, y):
    """Return the machine with the best depth and number of trees.

    The first 25 trees of 200 are the 25 trees of a smaller machine, so one fit serves every number.
    """
    depths, trees = grid["max_depth"], grid["n_estimators"]

    def scores(machine, X, y):
        wrong = [int((labels != y).sum()) for labels in machine.staged_predict(X)]
        return {str(count): -wrong[count - 1] for count in trees}

    largest = clone(machine).set_params(n_estimators=max(trees))
    search = GridSearchCV(largest, {"max_depth": depths}, scoring=scores, refit=False, cv=folds)
    found = search.fit(X, y).cv_results_
    means = np.column_stack([found[f"mean_test_{count}"] for count in trees])
    depth, count = np.unravel_index(np.argmax(means), means.shape)
    return machine.set_params(max_depth=depths[depth], n_estimators=trees[count])


def _fewest(machine, X, y):
    """Return minus the number of errors: a fold counts as much as it has points."""
    return -int((machine.predict(X) != y).sum())


def _size(machine):
    """Return the number of hypotheses, or what stands for them: stumps, trees, curves, points."""
    for name in ("hypotheses_", "estimators_", "term_features_", "support_"):
        if hasattr(machine, name):
            return len(getattr(machine, name))
    raise AttributeError(f"{machine} has no size")


def _compare(records):
    """Return the mean error of each data set and method."""
    rows = []
    for data_set, method in itertools.product(DATA_SETS, METHODS):
        errors = [
            100 * r["error"] for r in records if (r["data_set"], r["method"]) == (data_set, method)
        ]
        if errors:
            ours = summarise(errors)
            row = {"data_set": data_set, "method": method, "runs": ours.runs}
            rows.append(row | {"reproduced": ours.mean, "reproduced_error": ours.error})
    return rows


def _layout(rows):
    return by_method(rows, lambda name, here: [[name, *(cell(row) for row in here)]], "error (%)")


SUITE = Suite(
    name="lin2005-beyond",
    title="Beyond Lin (2005): soft linear programs, boosted trees, forests, glass boxes",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=100,
    work=work,
    compare=_compare,
    layout=_layout,
    tables=TABLES,
)
