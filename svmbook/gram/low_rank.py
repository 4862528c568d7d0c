r"""A Gram matrix of low rank, :math:`K = ZZ^\top`, that is never formed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack, solve_triangular

from ..rows import Terms
from ..threads import one_blas_thread
from .matrix import FULL_PRODUCT_SHARE, GramMatrix, cholesky, cholesky_solve, chunks

__all__ = ["LowRankGram", "RidgeTerms", "draw_indices"]

# Relative to the right-hand side: a smaller residual is not refined, since each refinement step
# takes a pass over the data.
RESIDUAL_TOL = 1e-9
RESIDUAL_RATIO = 0.1  # refinement stops if a step leaves a larger fraction of the residual
MAX_REFINEMENTS = 4
ROWS_PER_BLOCK = 1024  # bounds temporary memory; a block fits in the cache


def draw_indices(n: int, size: int) -> np.ndarray:
    """Return all indices below n if n <= size, else a sorted random sample of this size."""
    if n <= size:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False))


class LowRankGram(GramMatrix):
    r"""Gram matrix :math:`K = ZZ^\top`; r weights w represent the function with outputs Zw.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        The factor; for the linear kernel the data matrix. Never changed.
    pivots : ndarray of shape (r,), default=None
        Rows of Z that form a lower triangular matrix, if known: see `pivoted_cholesky`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import LowRankGram
    >>> K = LowRankGram(np.array([[1.0], [2.0]]))
    >>> K.dot(np.array([1.0, 1.0])), K.block([0], [1])
    (array([3., 6.]), array([[2.]]))
    """

    def __init__(self, Z: ArrayLike, pivots: ArrayLike | None = None) -> None:
        self.Z, self.pivots = np.ascontiguousarray(Z), pivots
        self.n = len(Z)

    @cached_property
    def diagonal(self):
        """Squared norms of the rows."""
        return np.einsum("ij,ij->i", self.Z, self.Z)

    def limit_blas_threads(self) -> AbstractContextManager:
        """Return the context in which BLAS is fastest for this form: one thread.

        A block fits in the cache of one core. Its product ends before a second thread has started.
        """
        return one_blas_thread()

    @property
    def n_unknowns(self):
        """Number of weights that represent a function."""
        return self.Z.shape[1]

    def outputs(self, w: np.ndarray) -> np.ndarray:
        """Return the values of a function at the points, :math:`Zw`."""
        return self.Z @ w

    def adjoint(self, G: np.ndarray) -> np.ndarray:
        r"""Return the weights :math:`Z^\top G`."""
        return (G.T @ self.Z).T  # for few columns, BLAS is twice as fast in this order

    def inner(self, U: np.ndarray, V: np.ndarray, outputs_of_V: np.ndarray) -> float:
        """Return the inner product of two functions."""
        return float(np.sum(U * V))

    def squared_norm(self, w: np.ndarray) -> float:
        """Return the squared norm of a function, or the sum of those of several."""
        return float(np.sum(w * w))

    def terms_norm(self, w: np.ndarray) -> float:
        """Return the norm of the weights; an output is the product of w with a row of Z."""
        return float(np.linalg.norm(w))

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        r"""Return coefficients of the points that represent a function, :math:`Z^\top\alpha = w`.

        Only the pivots have coefficients if they are known; otherwise the solution of least norm
        is returned.
        """
        if self.pivots is None:
            return np.linalg.lstsq(self.Z.T, w)[0]
        alpha = np.zeros((self.n, *w.shape[1:]))
        alpha[self.pivots] = solve_triangular(self.Z[self.pivots], w, lower=True, trans=1)
        return alpha

    def dot(self, v: np.ndarray) -> np.ndarray:
        """Return :math:`Kv`."""
        return self.outputs(self.adjoint(v))

    def dot_columns(self, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sum of the columns ``indices``, weighted by ``values``."""
        if len(indices) > FULL_PRODUCT_SHARE * self.n:
            v = np.zeros(self.n)
            v[indices] = values
            return self.dot(v)
        return self.Z @ (values @ self.Z[indices])

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the block of these rows and columns."""
        return self.Z[rows] @ self.Z[columns].T

    def submatrix(self, indices: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of a subset of the points."""
        return LowRankGram(self.Z[indices])

    def sample(self, size: int, *rows: np.ndarray) -> tuple:
        """Return a random sample of the points: its Gram matrix, and values per point.

        Parameters
        ----------
        size : int
            Number of points, drawn without replacement.
        *rows : ndarray of shape (n,)
            Values per point.

        Returns
        -------
        tuple
            The Gram matrix and the values of the sample.
        """
        indices = draw_indices(self.n, size)
        return self.submatrix(indices), *(values[indices] for values in rows)

    def factor(self, D: np.ndarray) -> Callable:
        r"""Factor an r x r system and return the function that solves :math:`(K + D)x = b`.

        The matrix inversion lemma replaces the n unknowns by r,

        .. math:: (D + ZZ^\top)^{-1} = D^{-1} - D^{-1} Z\,(I + Z^\top D^{-1} Z)^{-1} Z^\top D^{-1},

        :eq:`eq-woodbury`. It takes :math:`n r^2` operations per factorisation and :math:`4nr` per
        solution. With :math:`S = I + Z^\top D^{-1} Z` it reads :math:`S t = Z^\top D^{-1} b`,
        :math:`x = D^{-1}(b - Z t)`, and in exact arithmetic :math:`Z^\top x = t`. The rounding
        error of the last equation determines the residual,
        :math:`b - (D + ZZ^\top)x = Z(t - Z^\top x)`, so iterative refinement needs only r numbers.
        Z is read in blocks that stay in the cache while both products with them are formed.
        """
        Z, blocks = self.Z, self._row_blocks()
        S = np.eye(self.n_unknowns)
        for rows in blocks:
            scaled_rows = Z[rows] / np.sqrt(D[rows, None])
            S += scaled_rows.T @ scaled_rows
        L = cholesky(S.T)  # symmetric; in this order it is factored in place
        typical_norm = np.sqrt(self.scale)

        def subtract_and_apply_adjoint(x, t):
            r"""Subtract :math:`D^{-1} Z t` from x in place and return :math:`Z^\top x`."""
            w = np.zeros_like(t)
            for rows in blocks:
                x[rows] -= (Z[rows] @ t) / D[rows]
                w += x[rows] @ Z[rows]
            return w

        def solve(b):
            x = b / D
            t, _ = lapack.dpotrs(L, x @ Z, lower=1)
            w = subtract_and_apply_adjoint(x, t)
            tol, previous_error = RESIDUAL_TOL * np.abs(b).max() / typical_norm, np.inf
            for _ in range(MAX_REFINEMENTS):
                error = np.linalg.norm(w - t)
                if error <= tol or error > RESIDUAL_RATIO * previous_error:
                    break
                previous_error = error
                correction, _ = lapack.dpotrs(L, w - t, lower=1)
                w = subtract_and_apply_adjoint(x, correction)
                t += correction
            return x

        return solve

    def factor_ridge(self, W: np.ndarray, lam: float) -> Callable:
        r"""Factor a system of weighted ridge regression and return its solver.

        The solver finds A and b in :math:`Z^\top W(ZA + 1b^\top) + \lambda A = R`,
        :math:`1^\top W(ZA + 1b^\top) = r^\top`. Centring the rows at their weighted mean
        :math:`\bar z` separates the two unknowns:
        :math:`(\sum_i W_i (z_i - \bar z)(z_i - \bar z)^\top + \lambda I)A = R - \bar z r^\top`.
        If all weights are zero, any b is a solution, and b is 0.
        """
        return self.ridge_terms(W).factor(lam)

    def ridge_terms(self, W: np.ndarray) -> RidgeTerms:
        """Return the weighted sums over the rows that `factor_ridge` needs."""
        Z, total_weight = self.Z, W.sum()
        weighted = np.flatnonzero(W != 0.0)
        is_dense = len(weighted) == self.n
        row_blocks = self._row_blocks() if is_dense else list(chunks(weighted, ROWS_PER_BLOCK))
        mean = sum((W[rows] @ Z[rows] for rows in row_blocks), np.zeros(self.n_unknowns))
        mean /= total_weight or 1.0
        scatter = np.zeros((self.n_unknowns, self.n_unknowns))
        for rows in row_blocks:
            scaled_rows = (Z[rows] - mean) * np.sqrt(W[rows, None])
            scatter += scaled_rows.T @ scaled_rows
        return RidgeTerms(total_weight, mean, scatter)

    def _row_blocks(self):
        return [slice(start, start + ROWS_PER_BLOCK) for start in range(0, self.n, ROWS_PER_BLOCK)]


@dataclass(frozen=True, eq=False)
class RidgeTerms(Terms):
    r"""Weighted sums over rows :math:`z_i`: their number, their mean and their scatter matrix.

    Attributes
    ----------
    total_weight : float
        The sum of the weights.
    mean : ndarray of shape (r,)
        The weighted mean of the rows.
    scatter : ndarray of shape (r, r)
        :math:`\sum_i W_i (z_i - \bar z)(z_i - \bar z)^\top`.
    """

    total_weight: float
    mean: np.ndarray
    scatter: np.ndarray

    def __add__(self, other):
        """Return the terms of all rows of two sets.

        The means of the sets contribute to the scatter: Chan, Golub and LeVeque (1983), "Algorithms
        for computing the sample variance", The American Statistician 37, 242-247, equation 2.1.
        """
        total_weight = self.total_weight + other.total_weight
        share = other.total_weight / (total_weight or 1.0)
        difference = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += np.multiply.outer(self.total_weight * share * difference, difference)
        return RidgeTerms(total_weight, self.mean + share * difference, scatter)

    def factor(self, lam: float) -> Callable:
        """Factor the centred system of `LowRankGram.factor_ridge` and return its solver.

        The factor takes the place of the scatter matrix, which is lost.
        """
        self.scatter.ravel()[:: len(self.mean) + 1] += lam
        L = cholesky(self.scatter.T)  # symmetric; in this order it is factored in place

        def solve(R, r):
            A = cholesky_solve(L, R - np.multiply.outer(self.mean, r))
            return A, (r / self.total_weight - self.mean @ A if self.total_weight else 0.0 * r)

        return solve
