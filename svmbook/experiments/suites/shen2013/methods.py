r"""Prototype SVMs beside their rivals: Tables 5.2 to 5.7 of Shen (2013).

Her classifiers are those of Weka with its defaults. The prototypes keep our C = 100. The rivals
have C = 1, a tree by entropy, ten rounds of boosting, and a network with one hidden layer of half
as many units as features and classes (at most 20: with the 1,400 features of the messages it would
take an hour per cross-validation), trained for 200 epochs of steps of 0.3 with momentum 0.2, ten
points per step. Her trees (C4.5) are pruned by a pessimistic estimate of their error. Ours, single
and boosted, choose their pruning by three folds inside each training set.

Her vote with sampling is run without noise only: a cross-validation takes a minute on average, ten
times as long as with the other votes.
"""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ....prototypes import PrototypeSVM, SampledPrototypeSVM
from ....svm import DualSVC
from ...running.suite import Suite
from .folds import FOLDS, IN_TURN, SETS, cross_validated, tables, with_noise
from .printed import NOISE, RIVALS, accuracies, compare_runs, in_turn, sizes, texts, wins

__all__ = ["METHODS", "SUITE", "work"]

DATA_SETS = (*SETS, IN_TURN, *with_noise(0.1, (*SETS[:-1], IN_TURN)))

SLOW = "sampled by LIBSVM"
OURS = {
    "PSVM by count": PrototypeSVM(voting="count"),
    "PSVM by probability": PrototypeSVM(voting="probability"),
    "PSVM by LIBSVM": PrototypeSVM(voting="libsvm"),
    "PSVM by nearness": PrototypeSVM(),
    "sampled by count": SampledPrototypeSVM(voting="count"),
    SLOW: SampledPrototypeSVM(voting="libsvm"),
    "sampled by nearness": SampledPrototypeSVM(),
}
METHODS = (*OURS, *RIVALS)
PRUNING = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0)  # bits per point, the strongest first
ROUNDS = 10


class _AdaBoost(AdaBoostClassifier):
    """AdaBoost that, as Weka's, keeps its first learner where that is no better than chance."""

    def fit(self, X, y, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except ValueError as error:
            if "worse than random" not in str(error):
                raise
        uniform = np.full(len(y), 1.0 / len(y))
        self.estimators_ = [clone(self.estimator).fit(X, y, sample_weight=uniform)]
        self.estimator_weights_ = np.ones(1)
        return self


def work(data_set, method, run):
    """Do one run: a ten-fold cross-validation of one classifier."""
    return cross_validated(partial(_machine, method), data_set, run)


def _machine(method, X, y):
    """Return the classifier of a method for these points and labels."""
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
    # The weights of boosting sum to one and multiply C.
    line = pairwise(kernel="linear", C=len(y) * (1 - 1 / FOLDS))
    return {
        "CART": _pruned(tree, "ccp_alpha"),
        "boosted CART": _pruned(_AdaBoost(tree, n_estimators=ROUNDS), "estimator__ccp_alpha"),
        "linear": pairwise(kernel="linear"),
        "boosted linear": _AdaBoost(line, n_estimators=ROUNDS),
        "quadratic": pairwise(kernel="poly", degree=2, gamma=1.0, coef0=1.0),
    }[method]


def _pruned(estimator, parameter):
    """Return the search for the pruning; shuffled, as the spirals are sorted by their radius."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(estimator, {parameter: PRUNING}, cv=folds)


SUITE = Suite(
    name="shen2013",
    title="Shen (2013): prototype machines and their rivals, with and without noise",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=10,
    work=work,
    left_out={SLOW: tuple(name for name in DATA_SETS if NOISE in name)},
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
