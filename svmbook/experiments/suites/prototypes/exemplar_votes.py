"""Which voting rule suits exemplar SVMs? Six voting rules compared with eight other classifiers.

Each run draws 300 training points and 2,000 test points, the same for all methods. For the Gaussian
SVM, the reference of the paired differences, C and gamma are chosen by five-fold cross-validation.
For the localized SVM, with 20 neighbours, they are chosen by three-fold cross-validation. The other
SVMs have C = 100. Four methods separate the effect of the members from that of smoothing: five or
all points, and five or all members, vote with the weights 1 / distance^2. The model size is the
number of support vectors, leaves (tree), ensemble members, or stored training points (localized
SVM, neighbours).
"""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ....prototypes import ExemplarSVM, LocalizedSVM
from ....prototypes.ensemble import evaluate_hyperplanes
from ....prototypes.negatives import distances
from ....svm import DualSVC
from ....tables import Table
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell
from .data_sets import DATA_SETS, WEIGHTED_NEIGHBOURS, inverse_square, with_seed

__all__ = [
    "EXEMPLAR_SVMS",
    "GLOBAL_CLASSIFIERS",
    "METHODS",
    "REFERENCE",
    "SUITE",
    "WeightedNearestExemplarSVM",
    "carry_out_run",
    "table_by_data_set",
]

REFERENCE = "Gaussian SVM"
N_RUNS, N_TRAIN, N_TEST = 30, 300, 2000


class WeightedNearestExemplarSVM(ExemplarSVM):
    """Exemplar SVMs with a distance-weighted vote of the ``n_neighbors`` nearest positive members.

    `ExemplarSVM` has a distance-weighted vote of all positive members, or a majority vote of the
    nearest. Here the nearest vote with the weights 1 / distance^2, as weighted neighbours do. Only
    `predict` differs; the decision function is still that of ``voting``.
    """

    def predict(self, X):
        """Return the class with the largest sum of weights."""
        _, is_positive = evaluate_hyperplanes(X, self.coef_, self.intercept_)
        member_distances = np.where(is_positive, distances(X, self.exemplars_), np.inf)
        nearest = member_distances.argsort(axis=1)[:, : self.n_neighbors]
        # A member that is not positive has infinite distance and so the weight zero.
        weights = inverse_square(np.take_along_axis(member_distances, nearest, axis=1))
        labels = np.array([member.label for member in self.members_])
        weight_sums = [
            (weights * (labels[nearest] == label)).sum(axis=1) for label in self.classes_
        ]
        return self.classes_[np.argmax(weight_sums, axis=0)]


EXEMPLAR_SVM_WITHOUT_MINING = ExemplarSVM(C=100.0, positive_weight=1.0, mining=False)
GLOBAL_CLASSIFIERS = {
    "linear SVM": DualSVC(C=100.0),
    "decision tree": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2),
    "quadratic SVM": DualSVC(C=100.0, kernel="poly", degree=2, gamma=1.0, coef0=1.0),
    REFERENCE: GridSearchCV(SVC(), {"C": [1, 30, 1000], "gamma": [0.1, 1, 10]}, cv=5),
}
EXEMPLAR_SVMS = {
    "majority vote": clone(EXEMPLAR_SVM_WITHOUT_MINING).set_params(voting="majority"),
    "vote of the 5 nearest": clone(EXEMPLAR_SVM_WITHOUT_MINING).set_params(
        voting="local", n_neighbors=5
    ),
    "distance-weighted vote": clone(EXEMPLAR_SVM_WITHOUT_MINING).set_params(voting="local"),
    "5 nearest members, weighted": WeightedNearestExemplarSVM(
        C=100.0, positive_weight=1.0, mining=False, voting="local", n_neighbors=5
    ),
    "probability vote": clone(EXEMPLAR_SVM_WITHOUT_MINING).set_params(voting="probability"),
    "LIBSVM's probability vote": clone(EXEMPLAR_SVM_WITHOUT_MINING).set_params(
        voting="cv_probability"
    ),
}
NEIGHBOUR_CLASSIFIERS = {
    "nearest neighbour": KNeighborsClassifier(1),
    "5 neighbours, weighted": WEIGHTED_NEIGHBOURS,
    "all points, weighted": clone(WEIGHTED_NEIGHBOURS).set_params(n_neighbors=N_TRAIN),
}
LOCALIZED_SVM = GridSearchCV(
    LocalizedSVM(n_neighbors=20), {"C": [30, 1000], "gamma": [1, 10]}, cv=3
)
METHODS = (
    GLOBAL_CLASSIFIERS | EXEMPLAR_SVMS | NEIGHBOUR_CLASSIFIERS | {"localized SVM": LOCALIZED_SVM}
)


def carry_out_run(data_set, method, run):
    """Carry out one run: fit the classifier, and measure its error on test points."""
    generator = DATA_SETS[data_set]
    parts = GeneratedSamples(generator, n_train=N_TRAIN, n_test=N_TEST, n_runs=run + 1)[run]
    model = with_seed(METHODS[method], parts.seed).fit(parts.X_train, parts.y_train)
    best_params = getattr(model, "best_params_", {})
    return {
        "seed": parts.seed,
        "parameters": {name: float(value) for name, value in best_params.items()},
        "error": round(float(1.0 - model.score(parts.X_test, parts.y_test)), 6),
        "model_size": _model_size(getattr(model, "best_estimator_", model), len(parts.y_train)),
    }


def _model_size(model, n_train):
    if isinstance(model, DecisionTreeClassifier):
        return int(model.get_n_leaves())
    if isinstance(model, ExemplarSVM):
        return len(model.members_)
    stores_all_points = isinstance(model, LocalizedSVM | KNeighborsClassifier)
    return n_train if stores_all_points else len(model.support_)


def _compare(records):
    """Return mean errors in percent, and paired differences from the reference."""
    return comparison_rows(records, DATA_SETS, METHODS, lambda _: REFERENCE, {"error": 100})


def table_by_data_set(rows, methods=METHODS, data_sets=DATA_SETS, field="error", format_spec=".1f"):
    """Return the table of one field, one row per method and one column per data set."""
    rows_by_key = {(row["method"], row["data_set"]): row for row in rows}
    table_rows = [
        [m, *(format_cell(rows_by_key.get((m, d), {}), field, format_spec) for d in data_sets)]
        for m in methods
    ]
    return Table(["classifier", *data_sets], table_rows)


SUITE = Suite(
    name="exemplar-votes",
    title="Exemplar SVMs with six voting rules, and eight other classifiers, on four data sets",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    n_runs=N_RUNS,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=table_by_data_set,
    extra_tables={
        "shapes": partial(table_by_data_set, methods=GLOBAL_CLASSIFIERS),
        "votes": partial(
            table_by_data_set,
            methods=(*EXEMPLAR_SVMS, *NEIGHBOUR_CLASSIFIERS, "localized SVM", REFERENCE),
        ),
        "differences": partial(
            table_by_data_set,
            methods=[m for m in METHODS if m != REFERENCE],
            field="difference",
            format_spec="+.1f",
        ),
    },
)
