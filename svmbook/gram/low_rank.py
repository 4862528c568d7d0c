r"""A Gram matrix of low rank, :math:`K = ZZ^\top`, never formed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack, solve_triangular

from ..threads import one_blas_thread
from .matrix import WHOLE_PRODUCT_SHARE, GramMatrix, cholesky, cholesky_solve

__all__ = ["LowRankGram", "centred_factor", "pivoted_factor"]

# A residual, relative to the right-hand side, that needs no refinement: each is one more pass
# over the data.
SMALL_RESIDUAL = 1e-9
REFINEMENT_RATIO = 0.1  # a refinement that leaves more of the residual than this is the last
REFINEMENTS = 4
CENTRED_TOL = 1e-6  # relative to the root mean square: a smaller mean needs no centring
# Times r: what rounding leaves of a dependent column of length 1.
DEPENDENT_COLUMN = 10 * np.finfo(float).eps
BLOCK_ROWS = 1024  # rows per block: bounds temporary memory, and stays in the cache


class LowRankGram(GramMatrix):
    r"""Gram matrix :math:`K = ZZ^\top`; a function is held by r weights w, its outputs are Zw.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        The factor; for the linear kernel the data matrix. Never changed.
    pivots : ndarray of shape (r,), default=None
        Rows that make a lower triangular matrix, where they are known: see `pivoted_factor`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import LowRankGram
    >>> K = LowRankGram(np.array([[1.0], [2.0]]))
    >>> K.times(np.array([1.0, 1.0])), K.block([0], [1])
    (array([3., 6.]), array([[2.]]))
    """

    def __init__(self, Z: ArrayLike, pivots: ArrayLike | None = None) -> None:
        self.Z, self.pivots = np.ascontiguousarray(Z), pivots
        self.n = len(Z)
        self.diagonal = np.einsum("ij,ij->i", Z, Z)

    def threads(self) -> AbstractContextManager:
        """Return the context in which BLAS works best on this form: one thread.

        Blocks that fit the cache of one core are done before a second one has woken up.
        """
        return one_blas_thread()

    @property
    def size(self):
        """Number of weights by which a function is held."""
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

    def size_of_terms(self, w: np.ndarray) -> float:
        """Return the length of a function, of which an output is a product with a row of Z."""
        return float(np.linalg.norm(w))

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        r"""Return coefficients of points that make up a function, :math:`Z^\top\alpha = w`.

        Of the pivots alone where they are known, else the smallest.
        """
        if self.pivots is None:
            return np.linalg.lstsq(self.Z.T, w)[0]
        alpha = np.zeros((self.n, *w.shape[1:]))
        alpha[self.pivots] = solve_triangular(self.Z[self.pivots], w, lower=True, trans=1)
        return alpha

    def times(self, v: np.ndarray) -> np.ndarray:
        """Return :math:`Kv`."""
        return self.outputs(self.adjoint(v))

    def columns(self, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the columns of some points, multiplied by values and summed."""
        if len(points) > WHOLE_PRODUCT_SHARE * self.n:
            v = np.zeros(self.n)
            v[points] = values
            return self.times(v)
        return self.Z @ (values @ self.Z[points])

    def block(self, points: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the block of some points with others."""
        return self.Z[points] @ self.Z[others].T

    def part(self, points: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of some of the points."""
        return LowRankGram(self.Z[points])

    def factor(self, D: np.ndarray) -> Callable:
        r"""Factor an r x r system and return the function that solves :math:`(K + D)x = b`.

        The matrix inversion lemma turns n unknowns into r,

        .. math:: (D + ZZ^\top)^{-1} = D^{-1} - D^{-1} Z\,(I + Z^\top D^{-1} Z)^{-1} Z^\top D^{-1},

        :eq:`eq-woodbury`, at :math:`n r^2` operations for a factorisation and :math:`4nr` for a
        solution. With :math:`S = I + Z^\top D^{-1} Z` it reads :math:`S t = Z^\top D^{-1} b`,
        :math:`x = D^{-1}(b - Z t)`, and in exact arithmetic :math:`Z^\top x = t`. What rounding
        leaves of the difference is the whole residual,
        :math:`b - (D + ZZ^\top)x = Z(t - Z^\top x)`, so refinement happens among r numbers.
        Z is read in blocks that stay in the cache while both products with them are formed.
        """
        Z = self.Z
        blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, self.n, BLOCK_ROWS)]
        S = np.eye(self.size)
        for rows in blocks:
            scaled = Z[rows] / np.sqrt(D[rows, None])
            S += scaled.T @ scaled
        L = cholesky(S)
        typical = np.sqrt(self.scale)

        def subtract(x, t):
            r"""Take :math:`D^{-1} Z t` from x and return :math:`Z^\top x`."""
            w = np.zeros_like(t)
            for rows in blocks:
                x[rows] -= (Z[rows] @ t) / D[rows]
                w += x[rows] @ Z[rows]
            return w

        def solve(b):
            x = b / D
            t, _ = lapack.dpotrs(L, x @ Z, lower=1)
            w = subtract(x, t)
            small, before = SMALL_RESIDUAL * np.abs(b).max() / typical, np.inf
            for _ in range(REFINEMENTS):
                now = np.linalg.norm(w - t)
                if now <= small or now > REFINEMENT_RATIO * before:
                    break
                before = now
                correction, _ = lapack.dpotrs(L, w - t, lower=1)
                w = subtract(x, correction)
                t += correction
            return x

        return solve

    def ridge(self, W: np.ndarray, lam: float) -> Callable:
        r"""Factor one system of weighted ridge regression and return its solver.

        Solves :math:`Z^\top W(ZA + 1b^\top) + \lambda A = R`, :math:`1^\top W(ZA + 1b^\top) =
        r^\top`. Around the weighted mean :math:`\bar z` of the rows the two parts separate:
        :math:`(\sum_i W_i (z_i - \bar z)(z_i - \bar z)^\top + \lambda I)A = R - \bar z r^\top`.
        """
        Z, total = self.Z, W.sum()
        mean = W @ Z / total
        H = lam * np.eye(self.size)
        for start in range(0, self.n, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            scaled = (Z[rows] - mean) * np.sqrt(W[rows, None])
            H += scaled.T @ scaled
        L = cholesky(H)

        def solve(R, r):
            A = cholesky_solve(L, R - np.multiply.outer(mean, r))
            return A, r / total - mean @ A

        return solve


@one_blas_thread()
def centred_factor(Z: np.ndarray) -> tuple[LowRankGram, np.ndarray]:
    r"""Return the Gram matrix of centred rows, its columns independent, and the mean taken off.

    On the feasible set of the dual, :math:`y^\top\alpha = 0`, so adding a constant to every row
    of :math:`Z` changes nothing but the intercept: the same problem, better conditioned. Rows that
    are centred already are not copied.

    Columns that depend on others (constant ones; the last of a set of 0/1 indicators that sum to
    one) are folded into them. They add nothing to :math:`K`, and as :math:`D` goes to zero
    :math:`I + Z^\top D^{-1} Z` would be singular but for an :math:`I` that rounding swallows. With
    columns of length one, :math:`Z = UT`, a Cholesky factorisation of :math:`U^\top U` with
    pivots finds independent columns B and writes the others as :math:`U_B M`. Then

    .. math:: ZZ^\top = U_B\,[I\;M]\,T^2\,[I\;M]^\top U_B^\top = (U_B L)(U_B L)^\top,

    where :math:`LL^\top` is the small matrix in the middle.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Factor of a Gram matrix.

    Returns
    -------
    gram : LowRankGram
    mean : ndarray
        Of the rows of Z, in the coordinates of the factor of ``gram``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import centred_factor
    >>> gram, mean = centred_factor(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> gram.Z.shape, gram.block([0, 1], [0, 1])
    ((2, 1), array([[ 1., -1.],
           [-1.,  1.]]))
    """
    n, r = Z.shape
    mean = Z.mean(axis=0)
    spread = np.sqrt(np.einsum("ij,ij->j", Z, Z) / n)
    if (np.abs(mean) <= CENTRED_TOL * spread).all():
        mean = np.zeros(r)
    else:
        Z = Z - mean
    inner = Z.T @ Z
    length = np.sqrt(np.diagonal(inner))
    varied = np.flatnonzero(length > DEPENDENT_COLUMN * np.sqrt(n) * spread)
    length = length[varied]
    R, order, rank, _ = lapack.dpstrf(
        inner[np.ix_(varied, varied)] / np.outer(length, length), tol=DEPENDENT_COLUMN * r
    )
    if rank in (0, r):
        return LowRankGram(Z), mean
    order -= 1  # LAPACK counts from one
    B, rest = order[:rank], order[rank:]
    M = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    L = np.linalg.cholesky(np.diag(length[B] ** 2) + (M * length[rest] ** 2) @ M.T)
    moved = length * mean[varied]
    mean = solve_triangular(L, moved[B] + M @ moved[rest], lower=True)
    chosen = np.zeros((r, rank))
    chosen[varied[B]] = L / length[B, None]
    return LowRankGram(Z @ chosen), mean


def pivoted_factor(
    K: ArrayLike, *, noise: float | None = None, largest_rank: float | None = None
) -> LowRankGram | None:
    r"""Return a stored Gram matrix as :math:`ZZ^\top` with independent columns, up to rounding.

    Cholesky's factorisation takes the points in the order of what the earlier ones leave of them,
    and stops where nothing is left but rounding errors. For smooth kernels that is soon.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric positive semi-definite.
    noise : float, default=None
        The fraction of the largest :math:`k(x, x)` below which what is left of a point is taken
        for rounding; by default n times the precision.
    largest_rank : float, default=None
        The largest rank that is wanted.

    Returns
    -------
    LowRankGram or None
        Its ``pivots`` are the points in the order they were taken. None where the rank is larger
        than wanted.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import pivoted_factor
    >>> X = np.array([[3.0, 4.0], [1.0, 0.0], [6.0, 8.0]])
    >>> low = pivoted_factor(X @ X.T)
    >>> low.size, bool(np.allclose(low.Z @ low.Z.T, X @ X.T))
    (2, True)
    """
    largest = np.diagonal(K).max()
    L, order, rank, _ = lapack.dpstrf(K, lower=1, tol=-1.0 if noise is None else noise * largest)
    if largest_rank is not None and rank > largest_rank:
        return None
    order = order - 1
    Z = np.empty((len(K), rank))
    Z[order] = np.tril(L[:, :rank])
    return LowRankGram(Z, pivots=order[:rank])
