"""Exemplar SVMs on small clusters in 20 dimensions, three of which are nuisance directions.

Each run draws 500 training points and 2,000 test points, the same for all methods. In three
directions both classes are noise of standard deviation 10, or 1 in the control. C, and gamma of the
Gaussian kernel, are chosen by 3-fold cross-validation on the training points. Exemplar SVMs are
trained with mining of negatives, except those "against first negatives", which keep their initial
negatives. The model size is the number of ensemble members, of support vectors, or of stored
training points.
"""

from functools import partial

from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from ....prototypes import ExemplarSVM
from ....svm import DualSVC
from ....tables import Table
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell
from .data_sets import WEIGHTED_NEIGHBOURS, nuisance, with_seed

__all__ = ["METHODS", "REFERENCE", "SUITE", "carry_out_run"]

DATA_SETS = {"nuisance": nuisance, "control": partial(nuisance, scale=1.0)}
REFERENCE = "5 neighbours, weighted"
LOW_C_GRID, HIGH_C_GRID = (0.01, 0.1, 1.0), (1.0, 10.0, 100.0)
EXEMPLAR_SVM_WITHOUT_MINING = ExemplarSVM(mining=False, positive_weight=1.0, voting="local")
#: Classifier and grid by method.
METHODS = {
    "nearest neighbour": (KNeighborsClassifier(1), {}),
    REFERENCE: (WEIGHTED_NEIGHBOURS, {}),
    "linear SVM": (DualSVC(), {"C": LOW_C_GRID}),
    "quadratic SVM": (
        DualSVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0),
        {"C": (1e-6, 1e-4, 1e-2)},
    ),
    "Gaussian SVM": (DualSVC(kernel="rbf"), {"C": HIGH_C_GRID, "gamma": (1e-3, 1e-2, 1e-1)}),
    "random forest": (RandomForestClassifier(), {"min_samples_leaf": (9, 3, 1)}),
    "exemplars, against first negatives": (EXEMPLAR_SVM_WITHOUT_MINING, {"C": HIGH_C_GRID}),
    "exemplars, majority vote": (ExemplarSVM(voting="majority"), {"C": LOW_C_GRID}),
    "exemplars, probability vote": (ExemplarSVM(), {"C": LOW_C_GRID}),
    "exemplars, distance-weighted vote": (ExemplarSVM(voting="local"), {"C": LOW_C_GRID}),
}


def carry_out_run(data_set, method, run):
    """Carry out one run: choose the parameters, fit, and measure the error on test points."""
    parts = GeneratedSamples(DATA_SETS[data_set], n_train=500, n_test=2000, n_runs=run + 1)[run]
    estimator, grid = METHODS[method]
    folds = StratifiedKFold(3, shuffle=True, random_state=parts.seed)
    search = GridSearchCV(with_seed(estimator, parts.seed), grid, cv=folds)
    search.fit(parts.X_train, parts.y_train)
    return {
        "seed": parts.seed,
        "parameters": search.best_params_,
        "error": round(float(1.0 - search.score(parts.X_test, parts.y_test)), 6),
        "model_size": _model_size(search.best_estimator_, len(parts.y_train)),
    }


def _model_size(model, n_train):
    """Return the number of ensemble members, support vectors, or stored training points."""
    for name in ("members_", "support_", "estimators_"):
        if hasattr(model, name):
            return len(getattr(model, name))
    return n_train


def _compare(records):
    """Return mean errors, and paired differences from weighted neighbours."""
    return comparison_rows(records, DATA_SETS, METHODS, lambda _: REFERENCE, {"error": 100})


def _make_table(rows):
    """Return the table, one row per method and one column per data set."""
    rows_by_key = {(row["method"], row["data_set"]): row for row in rows}
    table_rows = [
        [m, *(format_cell(rows_by_key.get((m, d), {}), "error", ".1f") for d in DATA_SETS)]
        for m in METHODS
    ]
    headings = ["classifier", *(f"{name} (%)" for name in DATA_SETS)]
    return Table(headings, [table_row for table_row in table_rows if any(table_row[1:])])


SUITE = Suite(
    name="exemplar-nuisance",
    title="Exemplar SVMs and neighbours in 20 dimensions, with and without nuisance directions",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    n_runs=20,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
