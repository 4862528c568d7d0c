"""Where exemplar SVMs belong: small clusters in 20 dimensions, some of them nuisance.

In each run 500 training points and 2,000 test points are drawn, the same for all methods. In three
directions both classes are noise of standard deviation 10; in the control it is 1. C, and gamma of
the Gaussian kernel, are chosen by 3-fold cross-validation on the training points. Exemplar SVMs
mine all their negatives, except those "against first negatives". The model size is the number of
ensemble members, support vectors, or training points kept.
"""

from functools import partial

from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from ....prototypes import ExemplarSVM
from ....svm import DualSVC
from ....tables import Table
from ...methods.protocols import Generated
from ...running.suite import Suite
from ..paired import cell, paired_rows
from .sets import WEIGHTED_NEIGHBOURS, nuisance

__all__ = ["METHODS", "REFERENCE", "SUITE", "work"]

DATA_SETS = {"nuisance": nuisance, "control": partial(nuisance, scale=1.0)}
REFERENCE = "5 neighbours, weighted"
SMALL, WIDE = (0.01, 0.1, 1.0), (1.0, 10.0, 100.0)
FIRST = ExemplarSVM(mining=False, positive_weight=1.0, voting="local")
#: Classifier and grid of its parameters.
METHODS = {
    "nearest neighbour": (KNeighborsClassifier(1), {}),
    REFERENCE: (WEIGHTED_NEIGHBOURS, {}),
    "linear SVM": (DualSVC(), {"C": SMALL}),
    "quadratic SVM": (
        DualSVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0),
        {"C": (1e-6, 1e-4, 1e-2)},
    ),
    "Gaussian SVM": (DualSVC(kernel="rbf"), {"C": WIDE, "gamma": (1e-3, 1e-2, 1e-1)}),
    "random forest": (RandomForestClassifier(), {"min_samples_leaf": (9, 3, 1)}),
    "exemplars, against first negatives": (FIRST, {"C": WIDE}),
    "exemplars, majority vote": (ExemplarSVM(voting="count"), {"C": SMALL}),
    "exemplars, probability vote": (ExemplarSVM(), {"C": SMALL}),
    "exemplars, distance-weighted vote": (ExemplarSVM(voting="local"), {"C": SMALL}),
}


def work(data_set, method, run):
    """Do one run: choose the parameters, train, and measure the error on new points."""
    parts = Generated(DATA_SETS[data_set], train=500, test=2000, runs=run + 1)[run]
    model, grid = METHODS[method]
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=parts.seed)
    folds = StratifiedKFold(3, shuffle=True, random_state=parts.seed)
    search = GridSearchCV(model, grid, cv=folds).fit(parts.X_train, parts.y_train)
    return {
        "seed": parts.seed,
        "parameters": search.best_params_,
        "error": round(float(1.0 - search.score(parts.X_test, parts.y_test)), 6),
        "model_size": _size(search.best_estimator_, len(parts.y_train)),
    }


def _size(model, n_train):
    for name in ("prototypes_", "support_", "estimators_"):
        if hasattr(model, name):
            return len(getattr(model, name))
    return n_train


def _compare(records):
    """Return mean errors, and differences to weighted neighbours, paired over runs."""
    return paired_rows(records, DATA_SETS, METHODS, lambda _: REFERENCE, {"error": 100})


def _layout(rows):
    """Return the table: one row per method, one column per data set."""
    of = {(row["method"], row["data_set"]): row for row in rows}
    lines = [
        [m, *(cell(of.get((m, d), {}), "error", ".1f") for d in DATA_SETS)]
        for m in METHODS
        if any((m, d) in of for d in DATA_SETS)
    ]
    return Table(["classifier", *(f"{name} (%)" for name in DATA_SETS)], lines)


SUITE = Suite(
    name="exemplar-nuisance",
    title="Exemplar SVMs and neighbours in 20 dimensions, with and without nuisance directions",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    runs=20,
    work=work,
    compare=_compare,
    layout=_layout,
)
