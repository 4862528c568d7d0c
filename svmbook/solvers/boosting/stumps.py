r"""All stumps that training points can tell apart, and the best of them for given weights.

A stump :math:`h(x) = q\,\mathrm{sign}(x_j - a)` labels n points by the sign of one difference. On a
training set only the order of the points matters, so of each feature at most n stumps differ. The
threshold is put in the middle of its gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...ties import TIE_TOL, first_largest

__all__ = ["MiddleStumps", "Stumps"]


class Stumps(NamedTuple):
    """Stumps, one an entry: q where feature > threshold, -q elsewhere."""

    features: np.ndarray
    thresholds: np.ndarray
    signs: np.ndarray

    def __call__(self, X):
        """Return what the stumps say of points, an array of -1 and +1 of shape (n, stumps)."""
        return self.signs * np.where(X[:, self.features] > self.thresholds, 1.0, -1.0)

    def as_list(self):
        """Return them one by one, each as Stumps of length one."""
        return [Stumps(*(part[k : k + 1] for part in self)) for k in range(len(self.signs))]


class MiddleStumps:
    r"""The stumps with middle thresholds of some points, sorted once for all weights.

    The **edge** of a hypothesis is :math:`\sum_i g_i h(x_i)`, :eq:`eq-edge`; with
    :math:`g_i = u_iy_i` and weights u that sum to one it is one minus twice the weighted error.
    Point k of a sorted feature has the threshold above it, and

    .. math:: \text{edge}_k = \sum_i g_i - 2 \sum_{i \le k} g_i,

    so one running sum a feature gives the edges of all its stumps: n d operations.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers.boosting.stumps import MiddleStumps
    >>> stumps = MiddleStumps(np.array([[1.0], [2.0], [4.0]]))
    >>> stump, edge = stumps.best(np.array([-1, 1, 1]) / 3)
    >>> stump.thresholds, edge
    (array([1.5]), 1.0)
    """

    def __init__(self, X):
        self.n, self.d = X.shape
        self.order = np.ascontiguousarray(np.argsort(X, axis=0, kind="stable").T)
        values = np.take_along_axis(X.T, self.order, axis=1)
        low, high = values[:, :-1], values[:, 1:]
        middle = 0.5 * low + 0.5 * high  # halves first: sum and difference might overflow
        # Above the last point: all points are on one side, the constant hypothesis.
        self.thresholds = np.column_stack([middle, np.full(self.d, np.inf)])
        # Values that differ only by rounding count as equal: no threshold lies between them.
        larger = np.maximum(np.abs(low), np.abs(high))
        same = 0.5 * high - 0.5 * low <= 0.5 * TIE_TOL * larger
        tied = np.column_stack([same, np.zeros(self.d, dtype=bool)])
        self.distinct = 1.0 - tied
        self._edges, self._sizes = np.empty((2, self.d, self.n))

    def best(self, g):
        """Return the stump of the largest edge, of equal ones the first, and its edge.

        Parameters
        ----------
        g : ndarray of shape (n,)
            Signed weights of the points.

        Returns
        -------
        stump : Stumps
            Of length one.
        edge : float
            Not negative.
        """
        edges, sizes = self._all_edges(g)
        row, place = divmod(first_largest(sizes, np.abs(g).sum()), self.n)
        return self._stumps(edges, [row], [place]), float(sizes[row, place])

    def candidates(self, g, above):
        """Return, of each feature, all stumps whose edges are peaks among their neighbours'.

        Parameters
        ----------
        g : ndarray of shape (n,)
            Signed weights of the points.
        above : float
            Only stumps of larger edges.

        Returns
        -------
        stumps : Stumps
        edges : ndarray
        """
        edges, sizes = self._all_edges(g)
        unit = TIE_TOL * np.abs(g).sum()  # edges are compared in steps of it
        steps = np.rint(sizes / unit)
        framed = np.pad(steps, ((0, 0), (1, 1)))
        peaks = (sizes > above) & (steps >= framed[:, :-2]) & (steps > framed[:, 2:])
        rows, places = np.nonzero(peaks)
        return self._stumps(edges, rows, places), sizes[rows, places]

    def _all_edges(self, g):
        """Return the edges of all stumps with q = 1, and their sizes; zero where there is none."""
        edges, sizes = self._edges, self._sizes
        np.take(g, self.order, out=edges, mode="clip")
        np.cumsum(edges, axis=1, out=edges)
        total = edges[0, -1]
        edges *= -2.0
        edges += total
        edges *= self.distinct
        return edges, np.abs(edges, out=sizes)

    def _stumps(self, edges, rows, places):
        signs = np.where(edges[rows, places] > 0, 1.0, -1.0)
        return Stumps(np.asarray(rows), self.thresholds[rows, places], signs)
