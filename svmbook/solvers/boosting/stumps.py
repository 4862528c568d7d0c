r"""Decision stumps with different outputs on the training points, and their edges.

A stump :math:`h(x) = q\,\mathrm{sign}(x_j - a)` classifies by comparing one feature with a
threshold. Its outputs on n training points depend only on the order of their values of that
feature, so at most n thresholds per feature give different outputs. The thresholds used are the
midpoints of consecutive values, and infinity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...ties import TIE_TOL, argmax_up_to_rounding

__all__ = ["MidpointStumps", "StumpArray"]

# Limits on the candidates of one round of column generation. All local maxima would make fewer but
# much larger linear programs. On 2,000 points with 20 features and C = 0.05, one program with 8,200
# stumps takes nine times as long as twelve programs, the last with 450 stumps.
MIN_PER_FEATURE = 3  # local maxima per feature
MIN_CANDIDATES = 60  # divided among the features, if there are few


class StumpArray(NamedTuple):
    """Stumps, one per entry, with output q if feature > threshold and -q otherwise."""

    features: np.ndarray
    thresholds: np.ndarray
    signs: np.ndarray

    def __call__(self, X):
        """Return the outputs of the stumps, an array of -1 and +1 of shape (n, n_stumps)."""
        return self.signs * np.where(X[:, self.features] > self.thresholds, 1.0, -1.0)

    def as_list(self):
        """Return a list of single stumps, each as a StumpArray of length one."""
        return [StumpArray(*(part[k : k + 1] for part in self)) for k in range(len(self.signs))]


class MidpointStumps:
    r"""All stumps with thresholds midway between consecutive values of a feature.

    The **edge** of a hypothesis is :math:`\sum_i g_i h(x_i)`, :eq:`eq-edge`. With
    :math:`g_i = u_iy_i` and weights u that sum to one, it is one minus twice the weighted error.
    Let the points be sorted by one feature. The stump with q = 1 and its threshold above the k-th
    smallest value has the edge

    .. math:: \text{edge}_k = \sum_i g_i - 2 \sum_{i \le k} g_i.

    One cumulative sum per feature therefore gives all edges in O(nd) operations. The points are
    sorted only once, because the order does not depend on the weights.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers.boosting.stumps import MidpointStumps
    >>> stumps = MidpointStumps(np.array([[1.0], [2.0], [4.0]]))
    >>> stump, edge = stumps.best(np.array([-1, 1, 1]) / 3)
    >>> stump.thresholds, edge
    (array([1.5]), 1.0)
    """

    def __init__(self, X):
        self.n, self.d = X.shape
        self.order = np.ascontiguousarray(np.argsort(X, axis=0, kind="stable").T)
        values = np.take_along_axis(X.T, self.order, axis=1)
        lower_values, upper_values = values[:, :-1], values[:, 1:]
        # Halved first, since the sum and the difference might overflow.
        midpoints = 0.5 * lower_values + 0.5 * upper_values
        # An infinite threshold gives the constant hypothesis.
        self.thresholds = np.column_stack([midpoints, np.full(self.d, np.inf)])
        # There is no threshold between values that differ only by rounding.
        larger_magnitudes = np.maximum(np.abs(lower_values), np.abs(upper_values))
        is_tie = 0.5 * upper_values - 0.5 * lower_values <= 0.5 * TIE_TOL * larger_magnitudes
        self._threshold_mask = 1.0 - np.column_stack([is_tie, np.zeros(self.d, dtype=bool)])
        self._edges, self._abs_edges = np.empty((2, self.d, self.n))

    def best(self, g):
        """Return the stump with the largest edge, the first in case of ties, and its edge.

        Parameters
        ----------
        g : ndarray of shape (n,)
            Signed weights of the points.

        Returns
        -------
        stump : StumpArray
            A single stump.
        edge : float
            The edge, which is not negative.
        """
        edges, abs_edges = self._all_edges(g)
        feature, position = divmod(argmax_up_to_rounding(abs_edges, np.abs(g).sum()), self.n)
        return self._stumps(edges, [feature], [position]), float(abs_edges[feature, position])

    def candidates(self, g, min_edge):
        """Return stumps with large edges, and the largest edge of all stumps.

        The edge of a candidate exceeds ``min_edge`` by more than rounding error, and is a local
        maximum over the thresholds of its feature, where equal values on either side of a threshold
        count as thresholds with the edge 0. Each feature contributes the same number of candidates
        at most: those with the largest edges, with the smallest thresholds in case of ties.

        Parameters
        ----------
        g : ndarray of shape (n,)
            Signed weights of the points.
        min_edge : float
            Lower bound on the edges of the candidates.

        Returns
        -------
        stumps : StumpArray
            It includes a stump with the largest edge if this edge exceeds ``min_edge``.
        largest_edge : float
        """
        edges, abs_edges = self._all_edges(g)
        tolerance = TIE_TOL * np.abs(g).sum()
        rounded_edges = np.rint(abs_edges / tolerance)
        padded_edges = np.pad(rounded_edges, ((0, 0), (1, 1)))
        is_local_maximum = (
            (abs_edges > min_edge + tolerance)
            & (rounded_edges >= padded_edges[:, :-2])
            & (rounded_edges > padded_edges[:, 2:])
        )
        features, positions = np.nonzero(is_local_maximum)
        order = np.lexsort([-rounded_edges[features, positions], features])
        rank_in_feature = np.arange(len(order)) - np.searchsorted(features, features)
        chosen = order[rank_in_feature < max(MIN_PER_FEATURE, MIN_CANDIDATES // self.d)]
        stumps = self._stumps(edges, features[chosen], positions[chosen])
        return stumps, float(abs_edges.max())

    def _all_edges(self, g):
        """Return the edges of all stumps with q = 1 and their absolute values; 0 for ties."""
        edges, abs_edges = self._edges, self._abs_edges
        np.take(g, self.order, out=edges, mode="clip")
        np.cumsum(edges, axis=1, out=edges)
        weight_sum = edges[0, -1]
        edges *= -2.0
        edges += weight_sum
        edges *= self._threshold_mask
        return edges, np.abs(edges, out=abs_edges)

    def _stumps(self, edges, features, positions):
        signs = np.where(edges[features, positions] > 0, 1.0, -1.0)
        return StumpArray(np.asarray(features), self.thresholds[features, positions], signs)
