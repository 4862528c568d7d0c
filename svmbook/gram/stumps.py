r"""The Gram matrix of the stump kernel between knots: additive, and linear in the points.

A function of the stump ensemble is :math:`\sum_j g_j(x_j)`. Let each :math:`g_j` bend at a few
**knots** :math:`t_0 < \dots < t_m` of its feature alone, and be constant outside. Then it is held
by its values v at the knots, a point reads two of them, and the norm of the stump kernel is

.. math:: \|g_j\|^2 = \tfrac12\int g_j'(u)^2\,du = \sum_k \frac{(v_{k+1} - v_k)^2}{2\,\Delta t_k},
    \qquad \Delta t_k = t_{k+1} - t_k .

In the weights :math:`w_k = (v_{k+1} - v_k)/\sqrt{2\,\Delta t_k}` that is :math:`\|w\|^2`: a linear
model whose feature k of a point is :math:`\sqrt{2\,\Delta t_k}` times the share of interval k that
lies below the point.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import block_diag, csr_array

from ..ties import distinct
from ..weights import shares
from .low_rank import LowRankGram
from .matrix import cholesky, cholesky_solve

if TYPE_CHECKING:
    from .matrix import GramMatrix

__all__ = ["StumpGram", "quantile_knots"]

QUANTILE_SAMPLE = 200_000  # values from which quantiles are computed, about
SUM_ROUNDING = 1e-9  # relative to a sum of weights: what its order of summation may change
HAT_ROWS = 10_000  # rows whose hat functions are computed together: they fit into the cache
POINTS_PER_WEIGHT = 4  # points per weight from which the dense form is cheaper
CURVATURE_SAMPLE = 100_000  # points from which a curvature is computed, about


def quantile_knots(
    X: ArrayLike, n_knots: int, weights: ArrayLike | None = None
) -> list[np.ndarray]:
    """Return knots of each feature: quantiles, from the smallest to the largest value.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    n_knots : int
        Knots of a feature at most; fewer where it has fewer values.
    weights : ndarray of shape (n,), default=None
        How often each point counts; once by default.

    Returns
    -------
    list of ndarray
        Rising knots of each feature, one alone for a constant feature.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import quantile_knots
    >>> quantile_knots(np.array([[1.0, 5.0], [2.0, 5.0], [9.0, 5.0]]), 3)
    [array([1., 2., 9.]), array([5.])]
    """
    read = _sample(len(X), QUANTILE_SAMPLE)
    counts = shares(np.ones(len(X)) if weights is None else weights)[read]
    # The ends, which the sample may not contain.
    knots, ends_of = [], np.stack([X.min(axis=0), X.max(axis=0)]).T
    for column, ends in zip(X[read].T, ends_of, strict=True):
        values, place = distinct(np.append(column, ends))
        if len(values) > n_knots:
            below = np.cumsum(np.bincount(place[:-2], counts, minlength=len(values)))
            wanted = np.linspace(0, 1, n_knots)[1:-1] * below[-1]
            inner = values[np.searchsorted(below, wanted * (1.0 - SUM_ROUNDING))]
            values = np.unique(np.concatenate([inner, values[[0, -1]]]))
        knots.append(values)
    return knots


def _sample(n, most):
    """Return the indices of n things, or of about so many of them at random, in order."""
    if n <= most:
        return np.arange(n)
    return np.flatnonzero(np.random.default_rng(0).random(n) < most / n)


class StumpGram(LowRankGram):
    r"""Gram matrix of the stump kernel between knots; a function is held by r weights.

    The n x r matrix Z of the weights' features is never formed. A point has two **hats** a feature,
    its shares of the knots on either side; B holds them, sparse, and :math:`Z = BT` where T sums
    weights into values at the knots.

    Parameters
    ----------
    B : csr_array of shape (n, number of knots)
        Hats.
    T : csr_array of shape (number of knots, r)
        From weights to values, a lower triangle a feature.
    diagonal : ndarray of shape (n,)
        Squared lengths of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram.stumps import StumpGram
    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> gram = StumpGram.at_knots(X, [X[:, 0]])
    >>> gram.times(np.array([0.0, 1.0, 0.0]))  # 2 min(x, 1)
    array([0., 2., 2.])
    """

    def __init__(self, B: ArrayLike, T: ArrayLike, diagonal: ArrayLike) -> None:
        self.B, self.T, self.diagonal, self.pivots = B, T, diagonal, None
        self.n = B.shape[0]

    @classmethod
    def at_knots(cls, X, knots):
        """Return the Gram matrix of points for rising knots of each feature, one or more.

        Pinned at the first knots, where all shape functions are zero.
        """
        n, starts_of = len(X), np.cumsum([0, *(len(t) for t in knots)])
        varied = [j for j, t in enumerate(knots) if len(t) > 1]
        parts = np.empty((n, len(varied), 2))
        places = np.empty((n, len(varied), 2), dtype=np.int32)
        diagonal = np.zeros(n)
        for at, j in product(range(0, n, HAT_ROWS), range(len(varied))):
            rows, t, first = slice(at, at + HAT_ROWS), knots[varied[j]], starts_of[varied[j]]
            h = np.diff(t)
            # Outside of the knots the functions are constant.
            x = np.clip(X[rows, varied[j]], t[0], t[-1])
            k = np.clip(np.searchsorted(t, x, side="right") - 1, 0, len(h) - 1)
            upper = (x - t[k]) / h[k]
            parts[rows, j, 0], parts[rows, j, 1] = 1.0 - upper, upper
            places[rows, j, 0], places[rows, j, 1] = first + k, first + k + 1
            diagonal[rows] += 2.0 * (t[k] - t[0] + h[k] * upper**2)
        starts = np.arange(n + 1, dtype=np.int32) * (2 * len(varied))
        B = csr_array((parts.ravel(), places.ravel(), starts), shape=(n, int(starts_of[-1])))
        sums = [np.tri(len(t), len(t) - 1, -1) * np.sqrt(2.0 * np.diff(t)) for t in knots]
        return cls(B, csr_array(block_diag(sums)), diagonal)

    @property
    def Z(self):
        """The features of all points in full, for what is not written for hats."""
        return (self.B @ self.T).toarray()

    @property
    def size(self):
        """Number of weights by which a function is held."""
        return self.T.shape[1]

    def outputs(self, w: np.ndarray) -> np.ndarray:
        """Return the values of a function at the points, :math:`Zw`."""
        return self.B @ (self.T @ w)

    def adjoint(self, G: np.ndarray) -> np.ndarray:
        r"""Return the weights :math:`Z^\top G`."""
        return self.T.T @ (self.B.T @ G)

    def part(self, points: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of some of the points."""
        return StumpGram(self.B[points], self.T, self.diagonal[points])

    def block(self, points: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the block of some points with others."""
        return self.part(points).Z @ self.part(others).Z.T

    def columns(self, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the columns of some points, multiplied by values and summed."""
        return self.outputs(self.T.T @ (values @ self.B[points]))

    def ridge(self, W: np.ndarray, lam: float) -> Callable:
        r"""Factor one system of weighted ridge regression, as `LowRankGram.ridge` does.

        :math:`B^\top W B` takes :math:`(2d)^2` operations a point, of those that weigh anything. Of
        more than 100,000 of them a random sample stands for all: a step that is nearly Newton's
        costs less, and what proves a solution takes no notice of how it was found.
        """
        points = np.flatnonzero(W)
        # Dense rows are multiplied faster than sparse ones.
        if len(points) <= POINTS_PER_WEIGHT * self.size:
            return LowRankGram(self.part(points).Z).ridge(W[points], lam)
        few = points[_sample(len(points), CURVATURE_SAMPLE)]
        B, W = self.B[few], len(points) / len(few) * W[few]
        total = W.sum()
        WB = csr_array((B.data * np.repeat(W, np.diff(B.indptr)), B.indices, B.indptr), B.shape)
        mean = self.T.T @ WB.sum(axis=0) / total
        half = self.T.T @ (WB.T @ B).toarray()
        H = self.T.T @ half.T - total * np.outer(mean, mean) + lam * np.eye(len(mean))
        L = cholesky(np.asfortranarray(H))

        def solve(R, r):
            A = cholesky_solve(L, R - np.multiply.outer(mean, r))
            return A, r / total - mean @ A

        return solve
