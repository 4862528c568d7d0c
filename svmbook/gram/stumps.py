r"""The Gram matrix of the stump kernel for shape functions that are linear between knots.

A function of the stump ensemble is :math:`\sum_j g_j(x_j)`. Let each shape function :math:`g_j` be
piecewise linear with **knots** :math:`t_0 < \dots < t_m` of its feature, and constant outside
them. Then its values v at the knots represent it, its value at a point depends on two of them, and
the squared norm in the space of the stump kernel is

.. math:: \|g_j\|^2 = \tfrac12\int g_j'(u)^2\,du = \sum_k \frac{(v_{k+1} - v_k)^2}{2\,\Delta t_k},
    \qquad \Delta t_k = t_{k+1} - t_k .

In the weights :math:`w_k = (v_{k+1} - v_k)/\sqrt{2\,\Delta t_k}` the squared norm is
:math:`\|w\|^2`. The outputs are linear in the weights, :math:`Zw`: the entry of Z for a point and
interval k is :math:`\sqrt{2\,\Delta t_k}` times the fraction of the interval that lies below the
point.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import block_diag, csr_array, get_index_dtype

from ..ties import unique_up_to_rounding
from ..weights import normalise_weights
from .low_rank import LowRankGram, RidgeTerms, draw_indices

if TYPE_CHECKING:
    from .matrix import GramMatrix

__all__ = [
    "StumpGram",
    "intervals_and_fractions",
    "map_from_weights_to_values",
    "quantile_knots",
]

QUANTILE_SAMPLE_SIZE = 200_000  # approximate; quantiles are computed from a sample
WEIGHT_SUM_TOL = 1e-9  # bound on the relative rounding error of a sum of weights
HAT_ROWS_PER_BLOCK = 4096  # the hat functions of these rows fit in the cache
N_CELLS = 1024  # cells of the table that gives intervals; the table fits in the cache
MAX_KNOTS_PER_CELL = 3  # with more, binary search is faster
MAX_DENSE_POINTS_PER_WEIGHT = 4  # largest ratio for which the dense form is cheaper
HESSIAN_SAMPLE_SIZE = 100_000  # approximate; the Hessian is computed from a sample


def quantile_knots(
    X: ArrayLike, n_knots: int, weights: ArrayLike | None = None
) -> list[np.ndarray]:
    """Return knots of each feature: quantiles, from the smallest to the largest value.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    n_knots : int
        Maximum number of knots per feature; a feature with fewer values has fewer.
    weights : ndarray of shape (n,), default=None
        Weights of the points; equal by default.

    Returns
    -------
    list of ndarray
        Increasing knots of each feature; a single one for a constant feature.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import quantile_knots
    >>> quantile_knots(np.array([[1.0, 5.0], [2.0, 5.0], [9.0, 5.0]]), 3)
    [array([1., 2., 9.]), array([5.])]
    """
    sample = _sample_indices(len(X), QUANTILE_SAMPLE_SIZE)
    sample_weights = normalise_weights(np.ones(len(X)) if weights is None else weights)[sample]
    # The sample may lack the smallest and the largest value.
    knots, extremes = [], np.stack([X.min(axis=0), X.max(axis=0)]).T
    for column, ends in zip(X[sample].T, extremes, strict=True):
        values, value_indices = unique_up_to_rounding(np.append(column, ends))
        if len(values) > n_knots:
            cum_weight = np.cumsum(
                np.bincount(value_indices[:-2], sample_weights, minlength=len(values))
            )
            levels = np.linspace(0, 1, n_knots)[1:-1] * cum_weight[-1]
            inner_knots = values[np.searchsorted(cum_weight, levels * (1.0 - WEIGHT_SUM_TOL))]
            values = np.unique(np.concatenate([inner_knots, values[[0, -1]]]))
        knots.append(values)
    return knots


def _sample_indices(n, size):
    """Return all indices below n if n <= size, else a sorted random sample of about that size."""
    if n <= size:
        return np.arange(n)
    return np.flatnonzero(np.random.default_rng(0).random(n) < size / n)


def interval_finder(t: np.ndarray) -> Callable:
    """Return a function from values to the intervals that contain them, between the knots t.

    The values must not be outside the knots. A table has the interval of each of many cells of
    equal width, or an earlier one: that of the previous cell, because of rounding. This is faster
    than binary search, whose branches a processor cannot predict.
    """
    cell_intervals = np.searchsorted(t, np.linspace(t[0], t[-1], N_CELLS + 1), side="right") - 1
    if np.diff(cell_intervals).max() > MAX_KNOTS_PER_CELL:
        return lambda x: np.minimum(np.searchsorted(t, x, side="right") - 1, len(t) - 2)
    table = np.minimum(np.append(cell_intervals[:1], cell_intervals[:-1]), len(t) - 2)
    interval_ends = np.append(t[1:-1], np.inf)

    def find(x):
        k = table[((x - t[0]) / (t[-1] - t[0]) * N_CELLS).astype(np.intp)]
        while (is_later := x >= interval_ends[k]).any():
            k += is_later
        return k

    return find


def intervals_and_fractions(x: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval of each value between the knots t, and its fraction below the value."""
    x = np.clip(x, t[0], t[-1])  # constant outside the knots
    k = interval_finder(t)(x)
    return k, (x - t[k]) / np.diff(t)[k]


def map_from_weights_to_values(knots: list) -> csr_array:
    """Return the matrix that maps the weights of all features to values at their knots."""
    blocks = [np.tri(len(t), len(t) - 1, -1) * np.sqrt(2.0 * np.diff(t)) for t in knots]
    return csr_array(block_diag(blocks))


class StumpGram(LowRankGram):
    r"""Gram matrix of the stump kernel with knots; r weights represent a function.

    The n x r matrix Z is not stored. The value of a shape function at a point interpolates its
    values at the knots on either side. The sparse matrix B holds these two coefficients (**hat
    functions**) per point and feature, and :math:`Z = BT`, where T maps weights to values at the
    knots.

    Parameters
    ----------
    B : csr_array of shape (n, number of knots)
        Hat functions of all knots at the points: for each feature, those of the knots before and
        after the value, which add to 1.
    T : csr_array of shape (number of knots, r)
        Map from weights to values at the knots, block diagonal with one lower triangular block per
        feature.
    hessian_sample_share : float, default=1.0
        If these points are a block of more: the share of `ridge_terms`' random sample that is drawn
        from them.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram.stumps import StumpGram
    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> gram = StumpGram.from_knots(X, [X[:, 0]])
    >>> gram.dot(np.array([0.0, 1.0, 0.0]))  # 2 min(x, 1)
    array([0., 2., 2.])
    """

    def __init__(
        self,
        B: ArrayLike,
        T: ArrayLike,
        hessian_sample_share: float = 1.0,
    ) -> None:
        self.B, self.weights_to_values, self.pivots = B, T, None
        self.n, self.hessian_sample_share = B.shape[0], hessian_sample_share

    @classmethod
    def from_knots(cls, X, knots, hessian_sample_share=1.0):
        """Return the Gram matrix of points, given at least one knot per feature, in order.

        All shape functions are zero at their first knots.
        """
        n, offsets = len(X), np.cumsum([0, *(len(t) for t in knots)])
        varying = [feature for feature, t in enumerate(knots) if len(t) > 1]
        X = X if len(varying) == len(knots) else X[:, varying]
        all_knots = np.concatenate(knots)
        lengths = np.append(np.diff(all_knots), np.inf)
        first, last = (np.array([[knots[j][end]] for j in varying]) for end in (0, -1))
        finders = [interval_finder(knots[j]) for j in varying]
        hats = np.empty((n, len(varying), 2))
        index_dtype = get_index_dtype(maxval=hats.size)
        indices = np.empty((n, len(varying), 2), dtype=index_dtype)
        n_rows = min(n, HAT_ROWS_PER_BLOCK)
        # One row per feature. The arrays are used again for the next rows: if the system takes
        # freed memory back at once, as on Dask's workers, new arrays cost more than the arithmetic.
        buffers = [np.empty((len(varying), n_rows), dtype) for dtype in (float, np.intp, float)]
        for start in range(0, n, HAT_ROWS_PER_BLOCK):
            rows = slice(start, min(start + n_rows, n))
            x, k, values = (buffer[:, : rows.stop - start] for buffer in buffers)
            np.clip(X[rows].T, first, last, out=x)  # constant outside the knots
            for i, find in enumerate(finders):
                k[i] = find(x[i])
            k += offsets[varying, None]
            np.subtract(x, np.take(all_knots, k, out=values, mode="clip"), out=x)
            upper_hat = np.divide(x, np.take(lengths, k, out=values, mode="clip"), out=x)
            hats[rows, :, 1] = upper_hat.T
            np.subtract(1.0, hats[rows, :, 1], out=hats[rows, :, 0])
            indices[rows, :, 0] = k.T
            np.add(indices[rows, :, 0], 1, out=indices[rows, :, 1])
        indptr = np.arange(n + 1, dtype=index_dtype) * (2 * len(varying))
        B = csr_array((hats.ravel(), indices.ravel(), indptr), shape=(n, int(offsets[-1])))
        return cls(B, map_from_weights_to_values(knots), hessian_sample_share)

    def __sizeof__(self) -> int:
        """Return the memory of the arrays, by which Dask decides what it moves to other workers."""
        return self.B.data.nbytes + self.B.indices.nbytes + self.B.indptr.nbytes

    @cached_property
    def diagonal(self):
        """Squared norms of the rows of Z.

        Between two knots, the squared norm grows with the square of the fraction of the interval.
        """
        upper_shares = self.B.data[1::2] ** 2
        shares = np.stack([1.0 - upper_shares, upper_shares], axis=1).ravel()
        interpolation = csr_array((shares, self.B.indices, self.B.indptr), self.B.shape)
        return interpolation @ self.weights_to_values.power(2).sum(axis=1)

    @property
    def Z(self):
        r"""The dense factor of :math:`ZZ^\top`, for operations without a sparse implementation."""
        return (self.B @ self.weights_to_values).toarray()

    @property
    def n_unknowns(self):
        """Number of weights that represent a function."""
        return self.weights_to_values.shape[1]

    def outputs(self, w: np.ndarray) -> np.ndarray:
        """Return the values of a function at the points, :math:`Zw`."""
        return self.B @ (self.weights_to_values @ w)

    def adjoint(self, G: np.ndarray) -> np.ndarray:
        r"""Return the weights :math:`Z^\top G`."""
        return self.weights_to_values.T @ (self.B.T @ G)

    def submatrix(self, indices: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of a subset of the points."""
        return StumpGram(self.B[indices], self.weights_to_values)

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the block of these rows and columns."""
        return self.submatrix(rows).Z @ self.submatrix(columns).Z.T

    def dot_columns(self, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sum of the columns ``indices``, weighted by ``values``."""
        return self.outputs(self.weights_to_values.T @ (values @ self.B[indices]))

    def ridge_terms(self, W: np.ndarray) -> RidgeTerms:
        r"""Return the weighted sums over the rows, or an estimate, for `factor_ridge`.

        Computing :math:`B^\top W B` takes :math:`(2d)^2` operations for each point of positive
        weight. If there are more than 100,000 of these points, the matrix is estimated from a
        random sample. The step is then cheaper, but only approximately a Newton step. The
        certificate of the solution does not depend on it.
        """
        indices = np.flatnonzero(W != 0.0)
        # Dense rows are multiplied faster than sparse ones.
        if len(indices) <= MAX_DENSE_POINTS_PER_WEIGHT * self.n_unknowns:
            return LowRankGram(self.submatrix(indices).Z).ridge_terms(W[indices])
        sample_size = max(1, round(self.hessian_sample_share * HESSIAN_SAMPLE_SIZE))
        sample = indices[draw_indices(len(indices), sample_size)]
        B, W = self.B[sample], len(indices) / len(sample) * W[sample]
        total_weight = W.sum()
        WB = csr_array((B.data * np.repeat(W, np.diff(B.indptr)), B.indices, B.indptr), B.shape)
        mean = self.weights_to_values.T @ WB.sum(axis=0) / total_weight
        left_product = self.weights_to_values.T @ (WB.T @ B).toarray()
        scatter = self.weights_to_values.T @ left_product.T - total_weight * np.outer(mean, mean)
        return RidgeTerms(total_weight, mean, scatter)
