"""One-vs-one classification by binary classifiers.

scikit-learn's `OneVsOneClassifier` fits a classifier to each pair of classes and predicts by
majority vote. Ties are decided by the sums of (bounded) decision values.
"""

from itertools import combinations

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.multiclass import OneVsOneClassifier

__all__ = ["couple_probabilities", "fit_one_vs_one", "predict_pairwise_probabilities"]


def fit_one_vs_one(classifier, X, codes, weights):
    """Return a fitted `OneVsOneClassifier` of copies of ``classifier``, one per pair of classes.

    The weights include the class weights, which are computed from all classes.
    """
    template = clone(classifier)
    if "class_weight" in template.get_params():
        template.set_params(class_weight=None)
    with config_context(enable_metadata_routing=True):
        template.set_fit_request(sample_weight=True)
        return OneVsOneClassifier(template).fit(X, codes, sample_weight=weights)


def predict_pairwise_probabilities(one_vs_one, X):
    """Return for each pair (a, b), a < b, the probability of b if the class is a or b."""
    column_sets = one_vs_one.pairwise_indices_ or [slice(None)] * len(one_vs_one.estimators_)
    return np.column_stack(
        [
            model.predict_proba(X[:, columns])[:, 1]
            for model, columns in zip(one_vs_one.estimators_, column_sets, strict=True)
        ]
    )


def couple_probabilities(pairwise_probabilities, n_classes):
    r"""Return the class probabilities that best agree with those of all pairs, :eq:`eq-coupling`.

    With :math:`r_{ab}` the probability of a if the class is a or b, they minimise
    :math:`\sum_{a \ne b} (r_{ba}p_a - r_{ab}p_b)^2` subject to :math:`\sum_a p_a = 1` (Wu, Lin and
    Weng, 2004). This takes one linear system per point.
    """
    n, k = len(pairwise_probabilities), n_classes
    r = np.zeros((n, k, k))
    for (a, b), r_ba in zip(combinations(range(k), 2), pairwise_probabilities.T, strict=True):
        r[:, b, a], r[:, a, b] = r_ba, 1.0 - r_ba
    system = np.ones((n, k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    system[:, range(k), range(k)] = (r**2).sum(axis=1)
    system[:, k, k] = 0.0
    rhs = np.zeros((n, k + 1, 1))
    rhs[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, rhs)[:, :k, 0], 0.0)  # negative only by rounding
    return p / p.sum(axis=1, keepdims=True)
