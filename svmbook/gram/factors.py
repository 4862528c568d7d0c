r"""Factors of Gram matrices, :math:`K = ZZ^\top`: without dependent columns, or approximate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack, solve_triangular

from ..threads import one_blas_thread
from .low_rank import LowRankGram

__all__ = ["centred_gram", "low_rank_approximation", "pivoted_cholesky"]

CENTRED_TOL = 1e-6  # relative to the root mean square: a smaller mean needs no centring
# Relative to the norm of a column: if less remains after centring, the column is constant. In the
# factorisation of r columns, pivots below r times this tolerance are rounding errors.
DEPENDENT_TOL = 10 * np.finfo(float).eps


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
