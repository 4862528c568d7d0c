"""Readable models beside boosted trees, on three medical tables.

Sums of functions of one feature: logistic regression, the stump machine, and boosting that may not
combine features; and boosted trees that may. Each run divides a table anew, 70 to 30. What there is
to choose is chosen by the log loss of five folds of the training rows.
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

__all__ = ["DATA_SETS", "METHODS", "SUITE", "split", "work"]

SEX, CHOLESTEROL = 1, 4  # columns of "heart"
HIGH = 330  # cholesterol from where its curve falls
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
TEST_SHARE, DIGITS = 0.3, 4
ROUNDS = 5000  # a tenth of the default; even so some fits with pairs take minutes
LAMBDAS = tuple(2.0**k for k in range(-7, 6, 2))
PRICES = tuple(2.0**k for k in range(-9, 4, 2))
TREES = {"max_leaf_nodes": (2, 4, 8, 31), "max_iter": (25, 50, 100, 200)}


def split(data_set, run):
    """Return training and test points of a run; class 1 is the disease.

    Examples
    --------
    >>> from svmbook.experiments.suites.lin2005.glass_boxes import split
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


def work(data_set, method, run):
    """Do one run: choose the parameters, fit, and judge the forecasts on the test rows."""
    X, y, X_test, y_test = split(data_set, run)
    seed = run_seed(0, run, purpose=1)
    machine, grid = _candidates(method, seed)
    model = Pipeline([("scaler", StandardScaler()), ("machine", machine)])
    if grid:
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        named = {f"machine__{name}": values for name, values in grid.items()}
        model = GridSearchCV(model, named, scoring="neg_log_loss", cv=folds).fit(X, y)
        model = model.best_estimator_
    else:
        model.fit(X, y)
    forecast = model.predict_proba(X_test)[:, 1]
    record = {
        "seed": seed,
        "parameters": {name: model[-1].get_params()[name] for name in grid},
        "error": round(float(np.mean((forecast > 0.5) != y_test)), 6),
        "log_loss": round(float(log_loss(y_test, forecast)), 6),
        "model_size": _size(model[-1]),
    }
    if data_set != "wdbc" and method in ("stumps, 16 knots", "explainable boosting, no pairs"):
        record |= {
            "shapes": _shapes(model),
            "intercept": round(float(model[-1].intercept_[0]), DIGITS),
        }
        if data_set == "heart" and method.startswith("stumps"):
            record |= _cholesterol(model, X, y)
            record |= _sexes(np.vstack([X, X_test]), np.append(y, y_test))
    return record


def _cholesterol(model, X, y):
    """Return the curve of cholesterol without its largest value, and of a model without the sex."""
    rest = X[:, CHOLESTEROL] < X[:, CHOLESTEROL].max()
    others = [j for j in range(X.shape[1]) if j != SEX]
    return {
        "without_the_last": _shapes(clone(model).fit(X[rest], y[rest]))[CHOLESTEROL],
        "without_sex": _shapes(clone(model).fit(X[:, others], y))[others.index(CHOLESTEROL)],
    }


def _sexes(X, y):
    """Return how many women and men of the whole table are sick, and who has high cholesterol."""
    is_woman, high = X[:, SEX] == 0, X[:, CHOLESTEROL] > HIGH
    rows = np.column_stack([X[high][:, [CHOLESTEROL, SEX]], y[high]])
    return {
        "sick_of_women": [int(y[is_woman].sum()), int(is_woman.sum())],
        "sick_of_men": [int(y[~is_woman].sum()), int((~is_woman).sum())],
        "high": sorted(map(list, rows.tolist()), reverse=True),  # cholesterol, sex, sick
    }


def _candidates(method, seed):
    """Return a machine, and the values of its parameters."""
    trees = HistGradientBoostingClassifier(random_state=seed)
    if method.startswith("explainable"):
        # Of the book's environment, not of the package's.
        from interpret.glassbox import ExplainableBoostingClassifier

        pairs = {"interactions": 0} if method.endswith("no pairs") else {}
        options = {"max_rounds": ROUNDS, "n_jobs": 1, "random_state": seed}
        return ExplainableBoostingClassifier(**options, **pairs), {}
    return {
        "stumps": (StumpEnsembleLogistic(feature_scale=None), {"lam": LAMBDAS}),
        "stumps, 16 knots": (
            StumpEnsembleLogistic(feature_scale=None, n_knots=16),
            {"lam": LAMBDAS},
        ),
        "linear": (LogisticRegression(max_iter=1000), {"C": PRICES}),
        "boosted trees": (trees, TREES),
        "boosted trees, no pairs": (
            clone(trees).set_params(interaction_cst="no_interactions"),
            TREES,
        ),
        "boosted trees, default": (trees, {}),
    }[method]


def _size(machine):
    """Return how many numbers hold the function: values at knots, weights, leaves."""
    if hasattr(machine, "shape_functions_"):
        return sum(len(shape.values) for shape in machine.shape_functions_)
    if hasattr(machine, "term_scores_"):
        return sum(scores.size for scores in machine.term_scores_)
    if hasattr(machine, "coef_"):
        return machine.coef_.size
    return sum(tree.get_n_leaf_nodes() for stage in machine._predictors for tree in stage)


def _shapes(model):
    """Return each feature's curve, in its own unit: where it bends or jumps, and its values."""
    scaler, machine = model
    if hasattr(machine, "shape_functions_"):
        pairs = [(shape.knots, shape.values) for shape in machine.shape_functions_]
    else:  # its first and last scores are those of missing and unknown values
        scores = [scores[1:-1] for scores in machine.term_scores_]
        pairs = [(bins[0], values) for bins, values in zip(machine.bins_, scores, strict=True)]
    units = zip(pairs, scaler.mean_, scaler.scale_, strict=True)
    return [
        [np.round(mean + scale * knots, DIGITS).tolist(), np.round(values, DIGITS).tolist()]
        for (knots, values), mean, scale in units
    ]


def _compare(records):
    """Return mean error and log loss, and the difference to the first method, paired."""
    of = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for data_set, method in itertools.product(DATA_SETS, METHODS):
        runs = sorted(run for d, m, run in of if (d, m) == (data_set, method))
        both = [run for run in runs if (data_set, METHODS[0], run) in of]
        if len(both) < 2:
            continue
        row = {"data_set": data_set, "method": method, "runs": len(both)}
        for name, unit in (("error", 100.0), ("log_loss", 1.0)):
            mine, first = (
                [unit * of[data_set, m, run][name] for run in both] for m in (method, METHODS[0])
            )
            found = summarise(mine)
            row |= {name: found.mean, f"{name}_standard_error": found.error}
            if method != METHODS[0]:
                against = compare(mine, first, test_share=TEST_SHARE)
                row |= {
                    f"{name}_more": against.difference,
                    f"{name}_low": against.low,
                    f"{name}_high": against.high,
                }
        row["size"] = float(np.mean([of[data_set, method, run]["model_size"] for run in both]))
        row["seconds"] = float(np.mean([of[data_set, method, run]["seconds"] for run in both]))
        rows.append(row)
    return rows


def _layout(rows, name="log_loss", head="log loss", digits=3):
    """Return the table of one measure: its mean, and the difference to the first method."""
    lines = []
    for row in rows:
        mean = plus_minus(row[name], row[f"{name}_standard_error"], f".{digits}f")
        more = ""
        if f"{name}_more" in row:
            more, low, high = (f"{row[f'{name}_{k}']:+.{digits}f}" for k in ("more", "low", "high"))
            more = f"{more} ({low} to {high})"
        lines.append([row["data_set"], row["method"], mean, more])
    return Table(["data", "model", head, f"minus {METHODS[0]}"], lines)


SUITE = Suite(
    name="glass-boxes",
    title="Readable models beside boosted trees, on three medical tables",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=10,
    work=work,
    compare=_compare,
    layout=_layout,
    more={"errors": partial(_layout, name="error", head="error (%)", digits=1)},
    tables={name: name for name in DATA_SETS},
)
