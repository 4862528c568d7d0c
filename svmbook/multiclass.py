"""More than two classes for classifiers that are trained on two: one against one.

scikit-learn's `OneVsOneClassifier` trains the pairs of classes and lets them vote; of tied classes
the one with the larger sum of (bounded) outputs wins.
"""

from itertools import combinations

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.multiclass import OneVsOneClassifier

__all__ = ["coupled", "fit_pairs", "pair_probabilities"]


def fit_pairs(classifier, X, codes, weights):
    """Return the ensemble of a classifier trained on each pair of classes.

    The weights contain the class weights, which are computed from all classes.
    """
    binary = clone(classifier)
    if "class_weight" in binary.get_params():
        binary.set_params(class_weight=None)
    with config_context(enable_metadata_routing=True):
        binary.set_fit_request(sample_weight=True)
        return OneVsOneClassifier(binary).fit(X, codes, sample_weight=weights)


def pair_probabilities(pairs, X):
    """Return for each pair (a, b), a < b, the probability of b if the class is a or b."""
    columns = pairs.pairwise_indices_ or [slice(None)] * len(pairs.estimators_)
    return np.column_stack(
        [
            binary.predict_proba(X[:, own])[:, 1]
            for binary, own in zip(pairs.estimators_, columns, strict=True)
        ]
    )


def coupled(of_pairs, n_classes):
    r"""Return class probabilities that agree best with those of all pairs, :eq:`eq-coupling`.

    With :math:`r_{ab}` the probability of a if the class is a or b, they minimise
    :math:`\sum_{a \ne b} (r_{ba}p_a - r_{ab}p_b)^2` subject to :math:`\sum_a p_a = 1` (Wu, Lin and
    Weng, 2004): one linear system for each point.
    """
    n, k = len(of_pairs), n_classes
    r = np.zeros((n, k, k))
    for (a, b), r_ba in zip(combinations(range(k), 2), of_pairs.T, strict=True):
        r[:, b, a], r[:, a, b] = r_ba, 1.0 - r_ba
    system = np.ones((n, k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    system[:, range(k), range(k)] = (r**2).sum(axis=1)
    system[:, k, k] = 0.0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)  # negative only by rounding
    return p / p.sum(axis=1, keepdims=True)
