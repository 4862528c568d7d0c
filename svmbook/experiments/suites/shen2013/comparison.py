r"""Prototype SVMs compared with other classifiers: Tables 5.2 to 5.7 of Shen (2013).

Her classifiers are those of Weka with its defaults. Our prototype SVMs have C = 100. The other SVMs
have C = 1, trees use the entropy criterion, and boosting has ten rounds. The network has one hidden
layer with half as many units as there are features and classes, but at most 20. (The messages have
1,400 features, and with more units a cross-validation would take an hour.) The network is trained
for 200 epochs with learning rate 0.3, momentum 0.2 and batches of ten points. Her trees (C4.5) are
pruned by a pessimistic estimate of their error. For our trees, single and boosted, the pruning is
chosen by three-fold cross-validation inside each training set.

With sampling, LIBSVM's vote, which the thesis uses, is run without noise only. A cross-validation
takes a minute on average, more than ten times as long as with the other votes.
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
from .cross_validation import (
    CLEAN_DATA_SETS,
    N_FOLDS,
    SPIRALS_INTERLEAVED,
    cross_validate,
    data_tables,
    names_with_noise,
)
from .result_tables import (
    BASELINES,
    NOISE_SUFFIX,
    accuracy_table_maker,
    compare_methods,
    make_message_table,
    make_size_table,
    make_spirals_table,
    make_win_table,
)

__all__ = ["METHODS", "SUITE", "carry_out_run"]

DATA_SETS = (
    *CLEAN_DATA_SETS,
    SPIRALS_INTERLEAVED,
    *names_with_noise(0.1, (*CLEAN_DATA_SETS[:-1], SPIRALS_INTERLEAVED)),
)

SAMPLED_LIBSVM_VOTE = "sampled, LIBSVM's vote"
PROTOTYPE_METHODS = {
    "PSVM, majority vote": PrototypeSVM(voting="majority"),
    "PSVM, probability vote": PrototypeSVM(voting="probability"),
    "PSVM, LIBSVM's vote": PrototypeSVM(voting="cv_probability"),
    "PSVM, distance-weighted vote": PrototypeSVM(),
    "sampled, majority vote": SampledPrototypeSVM(voting="majority"),
    SAMPLED_LIBSVM_VOTE: SampledPrototypeSVM(voting="cv_probability"),
    "sampled, distance-weighted vote": SampledPrototypeSVM(),
}
METHODS = (*PROTOTYPE_METHODS, *BASELINES)
CCP_ALPHAS = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0)  # bits per point, the strongest pruning first
N_ROUNDS = 10


class _WekaAdaBoost(AdaBoostClassifier):
    """AdaBoost that keeps a first learner no better than chance, as Weka does."""

    def fit(self, X, y, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except ValueError as error:
            if "worse than random" not in str(error):
                raise
        uniform_weights = np.full(len(y), 1.0 / len(y))
        self.estimators_ = [clone(self.estimator).fit(X, y, sample_weight=uniform_weights)]
        self.estimator_weights_ = np.ones(1)
        return self


def carry_out_run(data_set, method, run):
    """Carry out one run: a ten-fold cross-validation of one classifier."""
    return cross_validate(partial(_make_estimator, method), data_set, run)


def _make_estimator(method, X, y):
    """Return the estimator of a method; some depend on the numbers of features and classes."""
    if method in PROTOTYPE_METHODS:
        return PROTOTYPE_METHODS[method]
    n_classes = len(np.unique(y))
    if method == "network":
        n_hidden = min((X.shape[1] + n_classes) // 2, 20)
        return MLPClassifier(
            (n_hidden,),
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
    # DualSVC is exact, and fast where LIBSVM is slow; SVC is used for more than two classes.
    svm_class = DualSVC if n_classes == 2 else SVC
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)
    # The weights of boosting sum to one and multiply C. This C makes their product 1 on average.
    base_svm = svm_class(kernel="linear", C=len(y) * (1 - 1 / N_FOLDS))
    return {
        "CART": _pruning_search(tree, "ccp_alpha"),
        "boosted CART": _pruning_search(
            _WekaAdaBoost(tree, n_estimators=N_ROUNDS), "estimator__ccp_alpha"
        ),
        "linear": svm_class(kernel="linear"),
        "boosted linear": _WekaAdaBoost(base_svm, n_estimators=N_ROUNDS),
        "quadratic": svm_class(kernel="poly", degree=2, gamma=1.0, coef0=1.0),
    }[method]


def _pruning_search(estimator, alpha_name):
    """Return the grid search for the pruning parameter, whose name is ``alpha_name``."""
    # The folds are shuffled, because the points of the spirals are sorted by their radius.
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(estimator, {alpha_name: CCP_ALPHAS}, cv=folds)


SUITE = Suite(
    name="shen2013",
    title="Shen (2013): prototype SVMs and other classifiers, with and without noise",
    data_sets=DATA_SETS,
    methods=METHODS,
    n_runs=10,
    carry_out_run=carry_out_run,
    excluded_data_sets={
        SAMPLED_LIBSVM_VOTE: tuple(name for name in DATA_SETS if NOISE_SUFFIX in name)
    },
    compare=compare_methods,
    make_table=accuracy_table_maker("PSVM", ""),
    extra_tables={
        "sampled": accuracy_table_maker("sampled", ""),
        "noise": accuracy_table_maker("PSVM", NOISE_SUFFIX),
        "sampled-noise": accuracy_table_maker("sampled", NOISE_SUFFIX),
        "wins": make_win_table,
        "sizes": make_size_table,
        "messages": make_message_table,
        "spirals": make_spirals_table,
    },
    data_tables=data_tables(DATA_SETS),
)
