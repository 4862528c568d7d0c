r"""A Gram matrix of low rank, :math:`K = ZZ^\top`, that is never formed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack, solve_triangular

from ..threads import one_blas_thread
from .matrix import FULL_PRODUCT_SHARE, GramMatrix, cholesky, cholesky_solve

__all__ = [
    "LowRankGram",
    "centred_gram",
    "factor_centred_ridge",
    "low_rank_approximation",
    "pivoted_cholesky",
]

# Relative to the right-hand side: a smaller residual is not refined, since each refinement step
# takes a pass over the data.
RESIDUAL_TOL = 1e-9
RESIDUAL_RATIO = 0.1  # refinement stops if a step leaves a larger fraction of the residual
MAX_REFINEMENTS = 4
CENTRED_TOL = 1e-6  # relative to the root mean square: a smaller mean needs no centring
# Relative to the norm of a column: if less remains after centring, the column is constant. In the
# factorisation of r columns, pivots below r times this tolerance are rounding errors.
DEPENDENT_TOL = 10 * np.finfo(float).eps
ROWS_PER_BLOCK = 1024  # bounds temporary memory; a block fits in the cache


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
        self.diagonal = np.einsum("ij,ij->i", Z, Z)

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
        return self.Z.T @ G

    def inner(self, U: np.ndarray, V: np.ndarray, outputs_of_V: np.ndarray) -> float:
        """Return the inner product of two functions."""
        return float(np.sum(U * V))

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
        """
        Z, total_weight = self.Z, W.sum()
        mean = W @ Z / total_weight
        H = lam * np.eye(self.n_unknowns)
        for rows in self._row_blocks():
            scaled_rows = (Z[rows] - mean) * np.sqrt(W[rows, None])
            H += scaled_rows.T @ scaled_rows
        return factor_centred_ridge(H, mean, total_weight)

    def _row_blocks(self):
        return [slice(start, start + ROWS_PER_BLOCK) for start in range(0, self.n, ROWS_PER_BLOCK)]


def factor_centred_ridge(H, mean, total_weight):
    """Factor the matrix of a centred ridge system in place and return its solver."""
    L = cholesky(H.T)  # symmetric; in this order it is factored in place

    def solve(R, r):
        A = cholesky_solve(L, R - np.multiply.outer(mean, r))
        return A, r / total_weight - mean @ A

    return solve


@one_blas_thread()
def centred_gram(Z: np.ndarray) -> tuple[LowRankGram, np.ndarray]:
    r"""Return the Gram matrix of the centred rows, without dependent columns, and the mean row.

    On the feasible set of the dual :math:`y^\top\alpha = 0`, so adding the same vector to
    every row of :math:`Z` changes only the intercept, and centring improves the condition number.
    Rows that are already centred are not copied.

    Constant columns are dropped, and columns that depend on others (the last of a set of 0/1
    indicators that sum to one) are merged into them. Otherwise rounding would absorb the :math:`I`
    of :math:`I + Z^\top D^{-1} Z` as :math:`D` goes to zero, and leave a singular matrix. With
    columns of norm one, :math:`Z = UT`, a pivoted Cholesky factorisation of
    :math:`U^\top U` finds independent columns B and writes the others as :math:`U_B M`. Then

    .. math:: ZZ^\top = U_B\,[I\;M]\,T^2\,[I\;M]^\top U_B^\top = (U_B L)(U_B L)^\top,

    where :math:`LL^\top` is the Cholesky factorisation of :math:`[I\;M]\,T^2\,[I\;M]^\top`.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Factor of a Gram matrix.

    Returns
    -------
    gram : LowRankGram
    mean : ndarray
        Mean of the rows of Z, in the coordinates of the factor of ``gram``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import centred_gram
    >>> gram, mean = centred_gram(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> gram.Z.shape, gram.block([0, 1], [0, 1])
    ((2, 1), array([[ 1., -1.],
           [-1.,  1.]]))
    """
    n, r = Z.shape
    mean = Z.mean(axis=0)
    root_mean_square = np.sqrt(np.einsum("ij,ij->j", Z, Z) / n)
    if (np.abs(mean) <= CENTRED_TOL * root_mean_square).all():
        mean = np.zeros(r)
    else:
        Z = Z - mean
    products = Z.T @ Z
    column_norms = np.sqrt(np.diagonal(products))
    nonconstant_columns = np.flatnonzero(
        column_norms > DEPENDENT_TOL * np.sqrt(n) * root_mean_square
    )
    column_norms = column_norms[nonconstant_columns]
    R, order, rank, _ = lapack.dpstrf(
        products[np.ix_(nonconstant_columns, nonconstant_columns)]
        / np.outer(column_norms, column_norms),
        tol=DEPENDENT_TOL * r,
    )
    if rank in (0, r):
        return LowRankGram(Z), mean
    order -= 1  # LAPACK counts from one
    B, dependent_columns = order[:rank], order[rank:]
    M = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    L = np.linalg.cholesky(
        np.diag(column_norms[B] ** 2) + (M * column_norms[dependent_columns] ** 2) @ M.T
    )
    scaled_mean = column_norms * mean[nonconstant_columns]
    mean = solve_triangular(L, scaled_mean[B] + M @ scaled_mean[dependent_columns], lower=True)
    transform = np.zeros((r, rank))
    transform[nonconstant_columns[B]] = L / column_norms[B, None]
    return LowRankGram(Z @ transform), mean


def low_rank_approximation(gram, landmarks, *, tol, max_rank):
    r"""Approximate a Gram matrix by :math:`ZZ^\top` from its columns at some landmark points.

    A pivoted Cholesky factorisation :math:`K_{SS} \approx LL^\top` of the landmarks S chooses the
    pivots P, and :math:`Z = K_{\cdot P}L_{PP}^{-\top}`, the Nystroem approximation.

    Parameters
    ----------
    gram : GramMatrix
        Gram matrix of n points.
    landmarks : ndarray of int
        Indices of the landmarks.
    tol : float
        The factorisation ends when every remaining diagonal entry of the landmarks is below this
        fraction of the largest.
    max_rank : float
        Largest rank to return.

    Returns
    -------
    LowRankGram or None
        None if the rank exceeds ``max_rank``.
    """
    factor = pivoted_cholesky(gram.submatrix(landmarks).array(), tol=tol, max_rank=max_rank)
    if factor is None:
        return None
    rows = gram.block(landmarks[factor.pivots], np.arange(gram.n))
    L = factor.Z[factor.pivots]
    return LowRankGram(solve_triangular(L, rows, lower=True).T)


def pivoted_cholesky(
    K: ArrayLike, *, tol: float | None = None, max_rank: float | None = None
) -> LowRankGram | None:
    r"""Factor a stored Gram matrix as :math:`ZZ^\top` with independent columns, up to rounding.

    Each step of this pivoted Cholesky factorisation chooses the point that the earlier points
    approximate worst. It ends when only rounding errors remain. For smooth kernels the rank is low.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric positive semi-definite.
    tol : float, default=None
        The factorisation ends when every remaining diagonal entry is below this fraction of the
        largest :math:`k(x, x)`; by default n times machine precision.
    max_rank : float, default=None
        The largest rank to return.

    Returns
    -------
    LowRankGram or None
        Its ``pivots`` are the points in the order of the factorisation. None if the rank exceeds
        ``max_rank``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import pivoted_cholesky
    >>> X = np.array([[3.0, 4.0], [1.0, 0.0], [6.0, 8.0]])
    >>> gram = pivoted_cholesky(X @ X.T)
    >>> gram.n_unknowns, bool(np.allclose(gram.Z @ gram.Z.T, X @ X.T))
    (2, True)
    """
    largest_diagonal_entry = np.diagonal(K).max()
    L, order, rank, _ = lapack.dpstrf(
        K, lower=1, tol=-1.0 if tol is None else tol * largest_diagonal_entry
    )
    if max_rank is not None and rank > max_rank:
        return None
    order -= 1  # LAPACK counts from one
    Z = np.empty((len(K), rank))
    Z[order] = np.tril(L[:, :rank])
    return LowRankGram(Z, pivots=order[:rank])
