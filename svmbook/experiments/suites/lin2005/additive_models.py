"""Additive models compared with boosted trees, on three medical tables.

The additive models are logistic regression, stump ensembles, and boosting without interactions.
Boosted trees with interactions are the alternative. Each run splits a table anew, with 70 % of the
rows for training. Parameters are chosen by the log loss of five folds of the training rows.
"""

import itertools
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ....datasets import load
from ....ensembles import StumpEnsembleLogistic
from ....tables import Table, plus_minus
from ...methods.protocols import run_seed
from ...methods.statistics import compare, summarise
from ...running.suite import Suite

__all__ = ["DATA_SETS", "METHODS", "SUITE", "carry_out_run", "split"]

SEX, CHOLESTEROL = 1, 4  # columns of "heart"
HIGH_CHOLESTEROL = 330  # above this value the shape function of cholesterol decreases
DATA_SETS = ("heart", "diabetes", "wdbc")
METHODS = (
    "stumps",
    "stumps, 16 knots",
    "linear",
    "boosted trees",
    "boosted trees, no pairs",
    "boosted trees, default",
    "explainable boosting",
    "explainable boosting, no pairs",
)
TEST_SHARE, DECIMALS = 0.3, 4
MAX_ROUNDS = 5000  # a tenth of the default; even so, some fits with interactions take minutes
LAMBDAS = tuple(2.0**k for k in range(-7, 6, 2))
C_GRID = tuple(2.0**k for k in range(-9, 4, 2))
TREE_GRID = {"max_leaf_nodes": (2, 4, 8, 31), "max_iter": (25, 50, 100, 200)}


def split(data_set, run):
    """Return training and test points of a run; class 1 consists of the patients with the disease.

    Examples
    --------
    >>> from svmbook.experiments.suites.lin2005.additive_models import split
    >>> X, y, X_test, y_test = split("wdbc", run=0)
    >>> X.shape, X_test.shape
    ((398, 30), (171, 30))
    """
    table = load(data_set)
    y = np.unique(table.target, return_inverse=True)[1]
    X, X_test, y, y_test = train_test_split(
        table.data, y, test_size=TEST_SHARE, stratify=y, random_state=run_seed(0, run)
    )
    return X, y, X_test, y_test


def carry_out_run(data_set, method, run):
    """Carry out one run: choose the parameters, fit, and measure error and log loss."""
    X, y, X_test, y_test = split(data_set, run)
    seed = run_seed(0, run, purpose=1)
    estimator, grid = _estimator_and_grid(method, seed)
    model = Pipeline([("scaler", StandardScaler()), ("classifier", estimator)])
    if grid:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        pipeline_grid = {f"classifier__{name}": values for name, values in grid.items()}
        model = GridSearchCV(model, pipeline_grid, scoring="neg_log_loss", cv=folds).fit(X, y)
        model = model.best_estimator_
    else:
        model.fit(X, y)
    probabilities = model.predict_proba(X_test)[:, 1]
    record = {
        "seed": seed,
        "parameters": {name: model[-1].get_params()[name] for name in grid},
        "error": round(float(np.mean((probabilities > 0.5) != y_test)), 6),
        "log_loss": round(float(log_loss(y_test, probabilities)), 6),
        "model_size": _model_size(model[-1]),
    }
    if data_set != "wdbc" and method in ("stumps, 16 knots", "explainable boosting, no pairs"):
        record |= {
            "shapes": _shape_functions(model),
            "intercept": round(float(model[-1].intercept_[0]), DECIMALS),
        }
        if data_set == "heart" and method.startswith("stumps"):
            record |= _cholesterol_shape_functions(model, X, y)
            record |= _patient_summary(np.vstack([X, X_test]), np.append(y, y_test))
    return record


def _cholesterol_shape_functions(model, X, y):
    """Return the shape functions of cholesterol from two further fits.

    One fit omits the patient with the largest value, the other the feature sex.
    """
    is_included = X[:, CHOLESTEROL] < X[:, CHOLESTEROL].max()
    columns = [j for j in range(X.shape[1]) if j != SEX]
    shapes_without_largest = _shape_functions(clone(model).fit(X[is_included], y[is_included]))
    shapes_without_sex = _shape_functions(clone(model).fit(X[:, columns], y))
    return {
        "cholesterol_shape_without_largest": shapes_without_largest[CHOLESTEROL],
        "cholesterol_shape_without_sex": shapes_without_sex[columns.index(CHOLESTEROL)],
    }


def _patient_summary(X, y):
    """Return the numbers of patients by sex and disease, and the patients with high cholesterol."""
    is_woman, has_high_value = X[:, SEX] == 0, X[:, CHOLESTEROL] > HIGH_CHOLESTEROL
    rows = np.column_stack([X[has_high_value][:, [CHOLESTEROL, SEX]], y[has_high_value]])
    return {
        "sick_and_all_women": [int(y[is_woman].sum()), int(is_woman.sum())],
        "sick_and_all_men": [int(y[~is_woman].sum()), int((~is_woman).sum())],
        # For each patient the cholesterol, the sex, and whether the patient is sick.
        "high_cholesterol_patients": sorted(map(list, rows.tolist()), reverse=True),
    }


def _estimator_and_grid(method, seed):
    """Return an estimator and its grid."""
    if method.startswith("explainable"):
        # interpret belongs to the book's environment; the package does not depend on it.
        from interpret.glassbox import ExplainableBoostingClassifier

        interaction_options = {"interactions": 0} if method.endswith("no pairs") else {}
        options = {"max_rounds": MAX_ROUNDS, "n_jobs": 1, "random_state": seed}
        return ExplainableBoostingClassifier(**options, **interaction_options), {}
    trees = HistGradientBoostingClassifier(random_state=seed)
    additive_trees = clone(trees).set_params(interaction_cst="no_interactions")
    stumps = StumpEnsembleLogistic(feature_scale=None)
    return {
        "stumps": (stumps, {"lam": LAMBDAS}),
        "stumps, 16 knots": (clone(stumps).set_params(n_knots=16), {"lam": LAMBDAS}),
        "linear": (LogisticRegression(max_iter=1000), {"C": C_GRID}),
        "boosted trees": (trees, TREE_GRID),
        "boosted trees, no pairs": (additive_trees, TREE_GRID),
        "boosted trees, default": (trees, {}),
    }[method]


def _model_size(classifier):
    """Return the number of parameters: values at knots, weights, or leaves."""
    if hasattr(classifier, "shape_functions_"):
        return sum(len(shape.values) for shape in classifier.shape_functions_)
    if hasattr(classifier, "term_scores_"):
        return sum(scores.size for scores in classifier.term_scores_)
    if hasattr(classifier, "coef_"):
        return classifier.coef_.size
    return sum(tree.get_n_leaf_nodes() for stage in classifier._predictors for tree in stage)


def _shape_functions(model):
    """Return the knots or thresholds and the values of each shape function.

    Knots and thresholds have the unit of the feature.
    """
    scaler, classifier = model
    if hasattr(classifier, "shape_functions_"):
        knots_and_values = [(shape.knots, shape.values) for shape in classifier.shape_functions_]
    else:  # the first and last scores belong to missing and unknown values
        scores = [scores[1:-1] for scores in classifier.term_scores_]
        bin_edges = [bins[0] for bins in classifier.bins_]
        knots_and_values = list(zip(bin_edges, scores, strict=True))
    scaled_shapes = zip(knots_and_values, scaler.mean_, scaler.scale_, strict=True)
    return [
        [np.round(mean + scale * knots, DECIMALS).tolist(), np.round(values, DECIMALS).tolist()]
        for (knots, values), mean, scale in scaled_shapes
    ]


def _compare(records):
    """Return mean errors and log losses, and their paired differences from the first method."""
    records_by_key = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for data_set, method in itertools.product(DATA_SETS, METHODS):
        runs = sorted(run for d, m, run in records_by_key if (d, m) == (data_set, method))
        runs = [run for run in runs if (data_set, METHODS[0], run) in records_by_key]
        run_records, reference_records = (
            [records_by_key[data_set, m, run] for run in runs] for m in (method, METHODS[0])
        )
        if len(run_records) < 2:
            continue
        row = {"data_set": data_set, "method": method, "n_runs": len(run_records)}
        for name, factor in (("error", 100.0), ("log_loss", 1.0)):
            values, reference_values = (
                [factor * r[name] for r in group] for group in (run_records, reference_records)
            )
            summary = summarise(values)
            row |= {name: summary.mean, f"{name}_se": summary.standard_error}
            if method != METHODS[0]:
                result = compare(values, reference_values, test_share=TEST_SHARE)
                row |= {f"{name}_difference": result.difference}
                row |= {f"{name}_low": result.low, f"{name}_high": result.high}
        row["model_size"] = float(np.mean([r["model_size"] for r in run_records]))
        row["seconds"] = float(np.mean([r["seconds"] for r in run_records]))
        rows.append(row)
    return rows


def _make_table(rows, field="log_loss", heading="log loss", decimals=3):
    """Return the table of one measure: its mean, and the difference from the first method."""
    table_rows = []
    for row in rows:
        mean = plus_minus(row[field], row[f"{field}_se"], f".{decimals}f")
        difference_cell = ""
        if f"{field}_difference" in row:
            difference, low, high = (
                f"{row[f'{field}_{key}']:+.{decimals}f}" for key in ("difference", "low", "high")
            )
            difference_cell = f"{difference} ({low} to {high})"
        table_rows.append([row["data_set"], row["method"], mean, difference_cell])
    return Table(["data", "model", heading, f"minus {METHODS[0]}"], table_rows)


SUITE = Suite(
    name="glass-boxes",
    title="Additive models compared with boosted trees, on three medical tables",
    data_sets=DATA_SETS,
    methods=METHODS,
    n_runs=10,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
    extra_tables={"errors": partial(_make_table, field="error", heading="error (%)", decimals=1)},
    data_tables={name: name for name in DATA_SETS},
)
