"""What machines share that are local by a similarity, and let pairs of classes vote."""

from __future__ import annotations

from itertools import combinations
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .voting import VotingMachine

__all__ = ["PairwiseMachine", "alone"]

ON_PLANE = 1e-9  # of the margin, which is 1: an output as small as that wins no vote


class PairwiseMachine(VotingMachine):
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
        X, classes, codes, _, _ = self._training_data(X, y, None)
        variance = X.var() * X.shape[1]
        scale = 1.0 / variance if variance > 0 else 1.0
        gamma = scale if isinstance(self.gamma, str) else float(self.gamma)
        return X, classes, codes, gamma

    def _outputs(self, X):
        """Return won pairs, and at most a third of a vote for how clearly; one column per class."""
        outputs_of_pair, k = self._pairs(X), len(self.classes_)
        if k == 2:
            return outputs_of_pair(0, 1)
        won, clearly = np.zeros((len(X), k)), np.zeros((len(X), k))
        for a, b in combinations(range(k), 2):
            F = outputs_of_pair(a, b)
            won[:, b] += F > ON_PLANE
            won[:, a] += F < -ON_PLANE
            clearly[:, b] += F
            clearly[:, a] -= F
        return won + clearly / (3.0 * (np.abs(clearly) + 1.0))


def alone(there_a, there_b):
    """Return the output where only one class of a pair is there: +1 or -1; 0 where none is."""
    return there_b.astype(float) - there_a
