"""Checks that a training Gram matrix is finite, square, symmetric and positive semi-definite."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import get_lapack_funcs
from sklearn.utils import check_array

__all__ = ["IndefiniteKernelError", "check_definite", "check_finite", "check_gram", "check_square"]

# Larger than the rounding errors of single precision, in which many Gram matrices are computed.
ASYMMETRY_TOL = 1e-6  # of two cosines that should be equal; a larger difference is an error
INDEFINITE_TOL = 1e-7  # of a negative eigenvalue, relative to the trace of the cosines, n
ASYMMETRY_ROUNDING = 1e-13  # a smaller difference of cosines is ignored as rounding error
MAX_DOUBLE_PRECISION_POINTS = 500  # up to this many points single precision saves no time
TILE_SIZE = 256  # number of rows and of columns of a block that fits into the cache


class IndefiniteKernelError(ValueError):
    """The kernel is not positive semi-definite on the training points."""


def check_gram(K: ArrayLike, *, require_definite: bool = True) -> np.ndarray:
    r"""Check that a training Gram matrix is finite, square, symmetric and semi-definite.

    The checks use the matrix of cosines, :math:`R_{ij} = K_{ij} / \sqrt{K_{ii}K_{jj}}`.
    Semi-definiteness is decided by one Cholesky factorisation (:math:`n^3/3` operations) of
    :math:`R + n\varepsilon I`, which exists only if no eigenvalue of R is below
    :math:`-n\varepsilon`. The value :math:`\varepsilon` = 1e-7 tolerates the rounding errors of
    single precision.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Gram matrix of the training points.
    require_definite : bool, default=True
        Whether to check semi-definiteness. Use False if the kernel is known to be semi-definite, or
        if :math:`n^3/3` operations are too many. The other conditions are always checked.

    Returns
    -------
    ndarray of shape (n, n)
        ``K`` as an array of floats, symmetrised if rounding errors had made it asymmetric.

    Raises
    ------
    ValueError
        A condition fails; the message names the first one, and a remedy.

    Examples
    --------
    >>> from svmbook.kernels import check_gram
    >>> check_gram([[0.0, 1.0], [1.0, 0.0]])
    Traceback (most recent call last):
        ...
    svmbook.kernels.checks.IndefiniteKernelError: the kernel is not ...
    """
    K = check_array(K, dtype=np.float64, ensure_all_finite=False, input_name="the Gram matrix")
    check_square(K)
    check_finite(K)
    diagonal = np.diagonal(K)
    if diagonal.min() < 0:
        raise IndefiniteKernelError(
            "the kernel is not positive semi-definite: some k(x, x) is negative. "
            "Use another kernel."
        )
    asymmetry = _asymmetry(K, _norms(K))
    if asymmetry > ASYMMETRY_TOL:
        raise ValueError(
            "the Gram matrix is not symmetric, and an SVM needs k(x, z) = k(z, x); "
            "symmetrise it, K = (K + K.T) / 2, if the difference is rounding error."
        )
    if asymmetry > ASYMMETRY_ROUNDING:  # solvers and certificates may read different triangles
        K = 0.5 * (K + K.T)
    if require_definite:
        check_definite(K)
    return K


def check_square(K: ArrayLike) -> None:
    """Raise an error if a Gram matrix is not square.

    Parameters
    ----------
    K : ndarray of shape (n, m)
        Gram matrix of the training points.

    Raises
    ------
    ValueError
        n is not m.
    """
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"a training Gram matrix is square, with one row per point; found shape {K.shape}."
        )


def check_finite(K):
    """Return a Gram matrix, or raise an error if an entry is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        row_sums = K @ np.ones(len(K))  # if they are finite, so are the entries: a faster test
    if not (np.isfinite(row_sums).all() or np.isfinite(K).all()):
        raise ValueError(
            "the kernel has values that are not finite on the training points; scale the "
            "features (for instance with StandardScaler) or lower gamma or degree."
        )
    return K


def _asymmetry(K, norms):
    """Return the largest difference of two cosines that should be equal, or zero if negligible.

    The products of K and of its transpose with a random vector are compared first. Only if they
    differ, all entries are compared, in tiles that fit into the cache. A difference that the
    products do not show is of order 1e-13 sqrt(n), which is rounding error.
    """
    v = np.random.default_rng(0).standard_normal(len(K)) / norms
    with np.errstate(over="ignore", invalid="ignore"):
        if (np.abs(K @ v - v @ K) <= ASYMMETRY_ROUNDING * np.sqrt(len(K)) * norms).all():
            return 0.0
    tiles = _tile_slices(K)
    return max(
        (np.abs(K[i, j] - K[j, i].T) / (norms[i, None] * norms[j])).max()
        for i in tiles
        for j in tiles
        if j.start <= i.start
    )


def check_definite(K):
    r"""Raise an error if an eigenvalue is more negative than rounding errors explain.

    The test is the Cholesky factorisation described in `check_gram`, for many points in single
    precision.
    """
    dtype = np.float32 if len(K) > MAX_DOUBLE_PRECISION_POINTS else np.float64
    norms = _norms(K)
    cosines = np.empty(K.shape, dtype=dtype)
    with np.errstate(over="ignore"):  # only an indefinite matrix can overflow
        for rows in _tile_slices(K):
            cosines[rows] = K[rows] / norms / norms[rows, None]  # divided in double precision
    cosines.ravel()[:: len(K) + 1] += INDEFINITE_TOL * len(K)
    (potrf,) = get_lapack_funcs(("potrf",), (cosines,))
    L, info = potrf(cosines.T, lower=1, clean=0, overwrite_a=1)
    is_finite = np.isfinite(np.diagonal(L))  # LAPACK does not check for NaN
    info = info or (0 if is_finite.all() else 1 + int(np.argmin(is_finite)))
    if info:
        raise IndefiniteKernelError(
            "the kernel is not positive semi-definite on the training points "
            f"(the leading {info} x {info} submatrix has a negative eigenvalue), so the dual may "
            "have several local optima. Use another kernel, or clip the negative eigenvalues of K."
        )


def _tile_slices(K):
    """Return slices that divide the rows, or the columns, into tiles."""
    return [slice(start, start + TILE_SIZE) for start in range(0, len(K), TILE_SIZE)]


def _norms(K):
    """Return the norms of the points in feature space, with 1 in place of 0."""
    diagonal = np.diagonal(K)
    return np.where(diagonal > 0, np.sqrt(np.maximum(diagonal, 0.0)), 1.0)
