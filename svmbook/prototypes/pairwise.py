"""Base class of similarity-based classifiers with one-vs-one voting."""

from __future__ import annotations

from itertools import combinations
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import apply_in_blocks
from ..kernels.kernel import resolve_gamma
from ..labels import encode_classes
from .gap_check import GapCheckedClassifier

__all__ = ["PairwiseClassifier", "rowwise_outputs", "single_class_output"]

OUTPUT_TOL = 1e-10  # relative to the terms of an output: smaller outputs are numerically zero


class PairwiseClassifier(GapCheckedClassifier):
    r"""Base class of one-vs-one classifiers with similarity :math:`e^{-\gamma\|x - x'\|^2}`.

    A subclass defines ``_pair_output_function(X)``. It returns a function of two class indices
    a and b, whose value is one output per point of X, positive where class b is predicted. Query
    points are processed in blocks; ``_floats_per_query()`` is the memory needed per query point,
    in floats.
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0.0, None, closed="neither")],
    }

    def _validate_training_data(self, X, y):
        """Validate training data; return points, classes, class indices, and gamma."""
        X, classes, codes, _, _ = self._begin_fit(X, y, None, encode_classes)
        return X, classes, codes, resolve_gamma(self.gamma, X, np.ones(len(X)))

    def _decision_values(self, X):
        return apply_in_blocks(self._outputs_of_block, X, self._floats_per_query())

    def _outputs_of_block(self, X):
        """Return votes of the pairs plus confidences in (-1/3, 1/3); one column per class."""
        outputs_of_pair, k = self._pair_output_function(X), len(self.classes_)
        if k == 2:
            return outputs_of_pair(0, 1)
        votes, output_sums = np.zeros((len(X), k)), np.zeros((len(X), k))
        abs_sum = np.zeros((len(X), 1))
        for a, b in combinations(range(k), 2):
            F = outputs_of_pair(a, b)
            votes[:, b] += F > 0
            votes[:, a] += F < 0
            output_sums[:, b] += F
            output_sums[:, a] -= F
            abs_sum[:, 0] += np.abs(F)
        resolution = np.where(abs_sum > 0, OUTPUT_TOL * abs_sum, 1.0)
        # Sums that differ only by rounding become equal.
        output_sums = resolution * np.rint(output_sums / resolution)
        return votes + output_sums / (3.0 * (np.abs(output_sums) + 1.0))


def single_class_output(has_a, has_b):
    """Return -1 where only class a is present, +1 where only b is, and 0 otherwise."""
    return has_b.astype(float) - has_a


def rowwise_outputs(X, coef, intercept):
    """Return the output of hyperplane i at row i of X, zero where it is only rounding error."""
    F = (coef * X).sum(axis=1) + intercept
    scale = np.linalg.norm(coef, axis=1) * np.linalg.norm(X, axis=1) + np.abs(intercept)
    return np.where(np.abs(F) <= OUTPUT_TOL * scale, 0.0, F)
