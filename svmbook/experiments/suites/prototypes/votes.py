"""Which voting rule suits exemplar SVMs? Six voting rules beside eight other classifiers.

In each run 300 training points and 2,000 test points are drawn, the same for all methods. For the
Gaussian SVM, the reference of the paired differences, C and gamma are chosen by five-fold
cross-validation; for the localized SVM, with 20 neighbours, by three-fold cross-validation. Nothing
else is chosen: C = 100 for the other SVMs. Five or all points, and five or all members, vote with
weights of one over the squared distance: these four separate the effect of the members from that
of smoothing. The model size is the number of support vectors, leaves (tree), ensemble members, or
training points kept (localized SVM, neighbours).
"""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ....prototypes import ExemplarSVM, LocalizedSVM
from ....prototypes.ensemble import classified
from ....prototypes.negatives import distances
from ....svm import DualSVC
from ....tables import Table, plus_minus
from ...methods.protocols import Generated
from ...running.suite import Suite
from ..paired import paired_rows
from .sets import DATA_SETS, WEIGHTED_NEIGHBOURS, inverse_square

__all__ = [
    "METHODS",
    "REFERENCE",
    "SHAPES",
    "SUITE",
    "VOTES",
    "NearestMembersWeighted",
    "work",
]

REFERENCE = "Gaussian SVM"
RUNS, TRAIN, TEST = 30, 300, 2000


class NearestMembersWeighted(ExemplarSVM):
    """Exemplar SVMs whose ``n_neighbors`` nearest positive members have weighted votes.

    `ExemplarSVM` weights all votes by distance, or counts the nearest. Here the nearest are
    weighted by one over the squared distance, as weighted neighbours are. Only `predict` is
    another; scores remain those of the vote that ``voting`` names.
    """

    def predict(self, X):
        """Return the class with the larger sum of weights."""
        _, positive = classified(X, self.coef_, self.intercept_)
        far = np.where(positive, distances(X, self.exemplars_), np.inf)
        nearest = far.argsort(axis=1)[:, : self.n_neighbors]
        weight = inverse_square(np.take_along_axis(far, nearest, axis=1))  # no vote: zero
        labels = np.array([member.label for member in self.prototypes_])
        votes = [(weight * (labels[nearest] == label)).sum(axis=1) for label in self.classes_]
        return self.classes_[np.argmax(votes, axis=0)]


FIRST = ExemplarSVM(C=100.0, positive_weight=1.0, mining=False)  # against first negatives only
SHAPES = {
    "linear SVM": DualSVC(C=100.0),
    "decision tree": DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2),
    "quadratic SVM": DualSVC(C=100.0, kernel="poly", degree=2, gamma=1.0, coef0=1.0),
    REFERENCE: GridSearchCV(SVC(), {"C": [1, 30, 1000], "gamma": [0.1, 1, 10]}, cv=5),
}
VOTES = {
    "majority vote": clone(FIRST).set_params(voting="count"),
    "vote of the 5 nearest": clone(FIRST).set_params(voting="local", n_neighbors=5),
    "distance-weighted vote": clone(FIRST).set_params(voting="local"),
    "5 nearest members, weighted": NearestMembersWeighted(
        C=100.0, positive_weight=1.0, mining=False, voting="local", n_neighbors=5
    ),
    "probability vote": clone(FIRST).set_params(voting="probability"),
    "LIBSVM's probability vote": clone(FIRST).set_params(voting="libsvm"),
}
NEIGHBOURS = {
    "nearest neighbour": KNeighborsClassifier(1),
    "5 neighbours, weighted": WEIGHTED_NEIGHBOURS,
    "all points, weighted": clone(WEIGHTED_NEIGHBOURS).set_params(n_neighbors=TRAIN),
}
LOCALIZED = GridSearchCV(LocalizedSVM(n_neighbors=20), {"C": [30, 1000], "gamma": [1, 10]}, cv=3)
METHODS = SHAPES | VOTES | NEIGHBOURS | {"localized SVM": LOCALIZED}


def work(data_set, method, run):
    """Do one run: train the classifier, and count its errors on new points."""
    parts = Generated(DATA_SETS[data_set], train=TRAIN, test=TEST, runs=run + 1)[run]
    model = clone(METHODS[method])
    if "random_state" in model.get_params():
        model.set_params(random_state=parts.seed)
    model.fit(parts.X_train, parts.y_train)
    chosen = getattr(model, "best_params_", {})
    return {
        "seed": parts.seed,
        "parameters": {name: float(value) for name, value in chosen.items()},
        "error": round(float(1.0 - model.score(parts.X_test, parts.y_test)), 6),
        "model_size": _size(getattr(model, "best_estimator_", model), len(parts.y_train)),
    }


def _size(model, n_train):
    if isinstance(model, DecisionTreeClassifier):
        return int(model.get_n_leaves())
    if isinstance(model, ExemplarSVM):
        return len(model.prototypes_)
    keeps_all = isinstance(model, LocalizedSVM | KNeighborsClassifier)
    return n_train if keeps_all else len(model.support_)


def _compare(records):
    """Return mean errors in percent, and their differences to the reference, paired over runs."""
    return paired_rows(records, DATA_SETS, METHODS, lambda method: REFERENCE, {"error": 100})


def _of(value, methods, digits=".1f"):
    """Return the layout of one value, one line per method and one column per data set."""

    def layout(rows):
        texts = {}
        for row in rows:
            if value in row:  # the reference has no difference to itself
                text = plus_minus(row[value], row[f"{value}_se"], digits)
                texts[row["method"], row["data_set"]] = text
        lines = [[m, *(texts.get((m, data_set), "") for data_set in DATA_SETS)] for m in methods]
        return Table(["classifier", *DATA_SETS], lines)

    return layout


SUITE = Suite(
    name="exemplar-votes",
    title="Exemplar SVMs and how they vote, beside classifiers of one shape, on four sets",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    runs=RUNS,
    work=work,
    compare=_compare,
    layout=_of("error", METHODS),
    more={
        "shapes": _of("error", SHAPES),
        "votes": _of("error", (*VOTES, *NEIGHBOURS, "localized SVM", REFERENCE)),
        "differences": _of("difference", [m for m in METHODS if m != REFERENCE], "+.1f"),
    },
)
