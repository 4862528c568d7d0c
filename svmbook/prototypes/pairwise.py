"""What machines share that are local by a similarity, and let pairs of classes vote."""

from __future__ import annotations

from itertools import combinations
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..labels import encode_classes
from .voting import VotingEnsemble

__all__ = ["PairwiseClassifier", "alone", "outputs_of_planes"]

OUTPUT_TOL = 1e-10  # relative to the terms of an output: numerically zero


class PairwiseClassifier(VotingEnsemble):
    r"""Base: similarities :math:`\sigma(x, x') = e^{-\gamma\|x - x'\|^2}`, and votes of pairs.

    An estimator has ``_pairs(X)``, which returns a function of two classes a and b: outputs that
    are positive where the points are of class b, and not of a.
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0.0, None, closed="neither")],
    }

    def _begin(self, X, y):
        """Check training data; return points, labels, each point's number of a label, and gamma."""
        X, classes, codes, _, _ = self._training_data(X, y, None, encode_classes)
        variance = X.var() * X.shape[1]
        scale = 1.0 / variance if variance > 0 else 1.0
        gamma = scale if isinstance(self.gamma, str) else float(self.gamma)
        return X, classes, codes, gamma

    def _outputs(self, X):
        """Return won pairs, and at most a third of a vote for how clearly; one column per class."""
        outputs_of_pair, k = self._pairs(X), len(self.classes_)
        if k == 2:
            return outputs_of_pair(0, 1)
        won, clearly, size = np.zeros((len(X), k)), np.zeros((len(X), k)), np.zeros((len(X), 1))
        for a, b in combinations(range(k), 2):
            F = outputs_of_pair(a, b)
            won[:, b] += F > 0
            won[:, a] += F < 0
            clearly[:, b] += F
            clearly[:, a] -= F
            size[:, 0] += np.abs(F)
        unit = np.where(size > 0, OUTPUT_TOL * size, 1.0)
        clearly = unit * np.rint(clearly / unit)  # sums that differ only by rounding become equal
        return won + clearly / (3.0 * (np.abs(clearly) + 1.0))


def alone(there_a, there_b):
    """Return the output where only one class of a pair is there: +1 or -1; 0 where none is."""
    return there_b.astype(float) - there_a


def outputs_of_planes(X, coef, intercept):
    """Return each point's output of its own hyperplane, zero where only rounding is left of it."""
    F = (coef * X).sum(axis=1) + intercept
    size = np.linalg.norm(coef, axis=1) * np.linalg.norm(X, axis=1) + np.abs(intercept)
    return np.where(np.abs(F) <= OUTPUT_TOL * size, 0.0, F)
