r"""Beyond Lin (2005): further classifiers on his twelve data sets.

They are LPBoost with a soft margin, gradient boosted trees, random forests, explainable boosting
machines, and an SVM with the leaf kernel of trees whose depth is the number of features. C, tree
depths, minimum leaf sizes and numbers of trees are chosen by the five folds of Table 5.4.
Explainable boosting, which yields an additive model like the stump ensembles, has its default
parameters but no interactions.
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
from .kernels import (
    DATA_SETS,
    GRID_WITH_GAMMA,
    TABLE_NAMES,
    format_error,
    protocol,
    table_by_method,
)

__all__ = ["METHODS", "SUITE", "carry_out_run"]

METHODS = (
    "LPBoost-Stump, soft",
    "gradient boosting",
    "random forest",
    "explainable boosting",
    "SVM-Tree, L = d",
)
LPBOOST_C_GRID = tuple(2.0**k for k in range(-7, 2, 2))
TREE_DEPTHS, TREE_COUNTS = (1, 2, 3), (25, 50, 100, 200)


def carry_out_run(data_set, method, run):
    """Carry out one run: choose the parameters by five folds, fit, and measure the test error."""
    X, y, X_test, y_test, seed = protocol(data_set, n_runs=run + 1)[run]
    y, y_test = (np.where(labels == np.max(y), 1, 0) for labels in (y, y_test))
    model, grid = _estimator_and_grid(method, seed, X.shape[1])
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    if "n_estimators" in grid:
        model = _choose_depth_and_tree_count(model, grid, folds, X, y).fit(X, y)
    elif grid:
        search = GridSearchCV(model, grid, scoring=_negative_error_count, cv=folds)
        model = search.fit(X, y).best_estimator_
    else:
        model.fit(X, y)
    return {
        "seed": seed,
        "parameters": {name: model.get_params()[name] for name in grid},
        "error": round(float(np.mean(model.predict(X_test) != y_test)), 6),
        "model_size": _model_size(model),
    }


def _estimator_and_grid(method, seed, d):
    """Return an estimator and its grid."""
    if method == "LPBoost-Stump, soft":
        return LPBoost(tol=1e-4), {"C": LPBOOST_C_GRID}
    if method == "SVM-Tree, L = d":
        return DualSVC(kernel="stump_tree", degree=d), {"C": GRID_WITH_GAMMA["C"]}
    if method == "gradient boosting":
        grid = {"max_depth": TREE_DEPTHS, "n_estimators": TREE_COUNTS}
        return GradientBoostingClassifier(random_state=seed), grid
    if method == "random forest":
        return RandomForestClassifier(300, random_state=seed), {"min_samples_leaf": (1, 3, 9)}
    # interpret belongs to the book's environment; the package does not depend on it.
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(interactions=0, n_jobs=1, random_state=seed), {}


def _choose_depth_and_tree_count(model, grid, folds, X, y):
    """Return the model with the depth and number of trees that have the fewest validation errors.

    One fit per depth and fold suffices: the first 25 trees of a fit with 200 trees are those of a
    fit with 25 trees.
    """
    depths, tree_counts = grid["max_depth"], grid["n_estimators"]

    def score_stages(model, X, y):
        error_counts = [int((labels != y).sum()) for labels in model.staged_predict(X)]
        return {str(n): -error_counts[n - 1] for n in tree_counts}

    largest_model = clone(model).set_params(n_estimators=max(tree_counts))
    search = GridSearchCV(
        largest_model, {"max_depth": depths}, scoring=score_stages, refit=False, cv=folds
    )
    results = search.fit(X, y).cv_results_
    mean_scores = np.column_stack([results[f"mean_test_{n}"] for n in tree_counts])
    i, j = np.unravel_index(np.argmax(mean_scores), mean_scores.shape)
    return model.set_params(max_depth=depths[i], n_estimators=tree_counts[j])


def _negative_error_count(model, X, y):
    """Return minus the number of errors, whose mean over folds weights all points equally."""
    return -int((model.predict(X) != y).sum())


def _model_size(model):
    """Return the number of stumps, trees, shape functions, or support vectors."""
    for name in ("hypotheses_", "estimators_", "term_features_", "support_"):
        if hasattr(model, name):
            return len(getattr(model, name))
    raise AttributeError(f"{model} has no size")


def _compare(records):
    """Return the mean error for each data set and method."""
    rows = []
    for data_set, method in itertools.product(DATA_SETS, METHODS):
        errors = [
            100 * r["error"] for r in records if (r["data_set"], r["method"]) == (data_set, method)
        ]
        if errors:
            summary = summarise(errors)
            row = {"data_set": data_set, "method": method, "n_runs": summary.n_values}
            rows.append(row | {"error": summary.mean, "error_se": summary.standard_error})
    return rows


def _make_table(rows):
    """Return the table, one row per data set and one column per method."""

    def make_table_rows(name, method_rows):
        return [[name, *(format_error(row, "error") for row in method_rows)]]

    return table_by_method(rows, make_table_rows, "error (%)")


SUITE = Suite(
    name="lin2005-beyond",
    title="Beyond Lin (2005): soft-margin LPBoost, boosted trees, forests, additive models",
    data_sets=DATA_SETS,
    methods=METHODS,
    n_runs=100,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
    data_tables=TABLE_NAMES,
)
