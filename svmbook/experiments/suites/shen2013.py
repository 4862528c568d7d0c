r"""Prototype machines beside their rivals: Tables 5.2 to 5.7 of Shen (2013).

Her machines are Weka's in its defaults. The prototypes keep our price of 100. The rivals have the
price 1, a tree by entropy that does not prune, ten rounds of boosting, and a network of one layer
with as many units as half of features and classes (at most 20: with the 1,400 of the messages it
would take an hour a cross-validation), 200 rounds of steps of 0.3 with momentum 0.2, ten points a
step.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ...prototypes import PrototypeSVM, SampledPrototypeSVM
from ...svm import DualSVC
from ..running.suite import Suite
from .shen2013_folds import FOLDS, IN_TURN, SETS, cross_validated, tables, with_noise
from .shen2013_tables import NOISE, RIVALS, accuracies, compare_runs, in_turn, sizes, texts, wins

__all__ = ["METHODS", "SUITE", "work"]

DATA_SETS = (*SETS, IN_TURN, *with_noise(0.1, (*SETS[:-1], IN_TURN)))

OURS = {
    "PSVM by count": PrototypeSVM(voting="count"),
    "PSVM by probability": PrototypeSVM(voting="probability"),
    "PSVM by nearness": PrototypeSVM(),
    "sampled by count": SampledPrototypeSVM(voting="count"),
    "sampled by nearness": SampledPrototypeSVM(),
}
METHODS = (*OURS, *RIVALS)


def work(data_set, method, run):
    """Do one run: a ten-fold cross-validation of one machine."""
    return cross_validated(partial(_machine, method), data_set, run)


def _machine(method, X, y):
    """Return the machine of a method for these points and labels."""
    if method in OURS:
        return OURS[method]
    n_classes = len(np.unique(y))
    if method == "network":
        units = min((X.shape[1] + n_classes) // 2, 20)
        return MLPClassifier(
            (units,),
            activation="logistic",
            solver="sgd",
            learning_rate_init=0.3,
            momentum=0.2,
            nesterovs_momentum=False,
            alpha=0.0,
            batch_size=10,
            max_iter=200,
            tol=0.0,
            n_iter_no_change=201,
        )
    # Ours is exact, and quick where LIBSVM is not; more than two classes are scikit-learn's.
    pairwise = DualSVC if n_classes == 2 else SVC
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)
    return {
        "CART": tree,
        "boosted CART": AdaBoostClassifier(tree, n_estimators=10),
        "linear": pairwise(kernel="linear"),
        # Boosting's weights sum to one, and a price is multiplied by them.
        "boosted linear": AdaBoostClassifier(
            pairwise(kernel="linear", C=len(y) * (1 - 1 / FOLDS)), n_estimators=10
        ),
        "quadratic": pairwise(kernel="poly", degree=2, gamma=1.0, coef0=1.0),
    }[method]


SUITE = Suite(
    name="shen2013",
    title="Shen (2013): prototype machines and their rivals, with and without noise",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=10,
    work=work,
    compare=compare_runs,
    layout=accuracies("PSVM", ""),
    more={
        "sampled": accuracies("sampled", ""),
        "noise": accuracies("PSVM", NOISE),
        "sampled-noise": accuracies("sampled", NOISE),
        "wins": wins,
        "sizes": sizes,
        "messages": texts,
        "spirals": in_turn,
    },
    tables=tables(DATA_SETS),
)
