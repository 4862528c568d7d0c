r"""The rule "leaves of depth L = d" on sonar: effects of class sizes and of the intercept.

Why does this rule fail on sonar? The causes are classes of unequal size and the intercept. With
sixty features the Gram matrix of this leaf kernel is close to the identity. Then the intercept of
the SVM is close to the mean label of the training points or, for a small C, to the label of the
larger class, and every test point is assigned to that class. This suite removes the causes one at a
time. Two of the four data sets have training classes of equal size, and each method is tested with
its intercept and with b = 0.

Protocol: `sonar` is split as in `lin2005`; for "sonar, equal" random training points of the larger
class are removed. `threenorm` in 60 dimensions has 75 or 80 positive and 75 or 70 negative training
points, and 3,000 test points. C is chosen by 5-fold cross-validation on the training points, for
the classifier with its intercept.
"""

from functools import partial

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from ....datasets import threenorm
from ....svm import DualSVC
from ....tables import Table
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell
from .kernels import GRID_WITH_GAMMA, protocol

__all__ = ["DATA_SETS", "METHODS", "SUITE", "carry_out_run", "draw_samples"]

#: Numbers of positive and negative training points: "equal" reduces the larger class to the size of
#: the smaller one, and None keeps all training points of the split.
DATA_SETS = {
    "sonar": None,
    "sonar, equal": "equal",
    "threenorm-60, 80:70": (80, 70),
    "threenorm-60, 75:75": (75, 75),
}
#: Depth of the leaves, and whether the intercept is used for prediction.
METHODS = {
    "L = 20": (20, True),
    "L = 20, b = 0": (20, False),
    "L = 60": (60, True),
    "L = 60, b = 0": (60, False),
}
REFERENCE = "L = 20"


def draw_samples(data_set, run):
    """Return training points, test points and the seed of a run.

    Examples
    --------
    >>> from svmbook.experiments.suites.lin2005.class_shares import draw_samples
    >>> parts = draw_samples("threenorm-60, 80:70", 3)
    >>> int(parts.y_train.sum()), parts.X_test.shape
    (10, (3000, 60))
    """
    class_sizes = DATA_SETS[data_set]
    if data_set.startswith("sonar"):
        parts = protocol("sonar", n_runs=run + 1)[run]
        if class_sizes is None:
            return parts
        smaller_size = np.unique(parts.y_train, return_counts=True)[1].min()
        class_sizes = (smaller_size, smaller_size)
    else:
        parts = GeneratedSamples(partial(threenorm, d=60), n_train=300, n_runs=run + 1)[run]
    # The order of the points within a class is random, so its first points are a random sample.
    rows_by_class = [
        np.flatnonzero(parts.y_train == c)[:size]
        for c, size in zip((1, -1), class_sizes, strict=True)
    ]
    kept_rows = np.sort(np.concatenate(rows_by_class))
    return parts._replace(X_train=parts.X_train[kept_rows], y_train=parts.y_train[kept_rows])


def carry_out_run(data_set, method, run):
    """Carry out one run: choose C, fit, and test with the intercept or without it."""
    parts = draw_samples(data_set, run)
    depth, uses_intercept = METHODS[method]
    folds = StratifiedKFold(5, shuffle=True, random_state=parts.seed)
    grid = {"C": GRID_WITH_GAMMA["C"]}
    search = GridSearchCV(DualSVC(kernel="stump_tree", degree=depth), grid, cv=folds)
    fitted = search.fit(parts.X_train, parts.y_train).best_estimator_
    outputs = fitted.decision_function(parts.X_test)
    if not uses_intercept:
        outputs -= fitted.intercept_[0]
    is_positive = outputs > 0
    return {
        "seed": parts.seed,
        "parameters": search.best_params_,
        "error": round(float(np.mean(is_positive != (parts.y_test > 0))), 6),
        "largest_label_share": round(float(max(is_positive.mean(), 1.0 - is_positive.mean())), 6),
        "intercept": round(float(fitted.intercept_[0]), 6),
        "mean_label": round(float(parts.y_train.mean()), 6),
        "model_size": len(fitted.support_),
    }


def _compare(records):
    """Return mean errors, and differences from L = 20 with its intercept, paired over runs."""
    factors = {"error": 100, "largest_label_share": 100, "intercept": 1, "mean_label": 1}
    return comparison_rows(records, DATA_SETS, METHODS, lambda _: REFERENCE, factors)


def _make_table(rows):
    """Return the table, one row per data set and method."""
    table_rows = [
        [
            row["data_set"],
            row["method"],
            format_cell(row, "error", ".1f"),
            format_cell(row, format_spec="+.1f"),
            f"{row['largest_label_share']:.0f}",
            f"{row['intercept']:+.3f}",
            f"{row['mean_label']:+.2f}",
        ]
        for row in rows
    ]
    columns = ["data", "classifier", "error (%)", f"minus {REFERENCE}"]
    return Table([*columns, "one label (%)", "$b$", "mean label"], table_rows)


SUITE = Suite(
    name="class-shares",
    title="Leaf kernel of depth 60 on sonar and threenorm: equal classes, and no intercept",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    n_runs=50,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
    data_tables={name: "sonar" for name in DATA_SETS if name.startswith("sonar")},
)
