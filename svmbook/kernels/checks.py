"""What a training Gram matrix must be: finite, square, symmetric, positive semi-definite."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import get_lapack_funcs
from sklearn.utils import check_array

__all__ = ["IndefiniteKernelError", "check_definite", "check_finite", "check_gram", "check_square"]

# Beyond these a matrix was not meant to be symmetric or semi-definite: more than the rounding
# errors of single precision, in which many a Gram matrix has been computed.
ASYMMETRY_TOL = 1e-6  # relative to the cosines: a larger difference is refused
INDEFINITE_TOL = 1e-7  # relative to the number of points, the trace of the cosines
SYMMETRY_TOL = 1e-13  # relative to the cosines: a smaller difference is rounding
DOUBLE_POINTS = 500  # points up to which single precision would save nothing
TILE = 256  # rows and columns of a block that stays in the cache


class IndefiniteKernelError(ValueError):
    """The kernel is not positive semi-definite on the training points."""


def check_gram(K: ArrayLike, *, definite: bool = True) -> np.ndarray:
    r"""Check that a training Gram matrix is finite, square, symmetric and semi-definite.

    The matrix is looked at in units of the points' lengths, as cosines
    :math:`R_{ij} = K_{ij} / \sqrt{K_{ii}K_{jj}}`. Semi-definiteness is decided by one Cholesky
    factorisation (:math:`n^3/3` operations) of :math:`R + n\varepsilon I`: it exists only where no
    eigenvalue lies below minus the shift. With :math:`\varepsilon` = 1e-7 the rounding errors of
    single precision do not stand in the way.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Gram matrix of the training points.
    definite : bool, default=True
        Whether to factor; False where the kernel is known to be semi-definite, or where
        :math:`n^3/3` operations are too many. The other conditions are checked in any case.

    Returns
    -------
    ndarray of shape (n, n)
        ``K`` as an array of floats; symmetric, where rounding had left a difference.

    Raises
    ------
    ValueError
        Naming the first condition that fails, and what to do.

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
    asymmetry = _asymmetry(K, _lengths(K))
    if asymmetry > ASYMMETRY_TOL:
        raise ValueError(
            "the Gram matrix is not symmetric, and an SVM needs k(x, z) = k(z, x); "
            "symmetrise it, K = (K + K.T) / 2, if the difference is rounding."
        )
    if asymmetry > SYMMETRY_TOL:  # solvers read one triangle, certificates the other
        K = 0.5 * (K + K.T)
    if definite:
        check_definite(K)
    return K


def check_square(K: ArrayLike) -> None:
    """Refuse a Gram matrix that is not square.

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
            f"a training Gram matrix is square, one row a point; found shape {K.shape}."
        )


def check_finite(K):
    """Return a Gram matrix if all its entries are finite.

    Where all row sums are finite, so are the entries: a fraction of the time.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = K @ np.ones(len(K))
    if not (np.isfinite(sums).all() or np.isfinite(K).all()):
        raise ValueError(
            "the kernel has values that are not finite on the training points; scale the "
            "features (for instance with StandardScaler) or lower gamma or degree."
        )
    return K


def _asymmetry(K, lengths):
    """Return the largest difference of two cosines that should be equal, or zero if none shows.

    Two products with one random vector tell most matrices, in a fraction of the time; only where
    they differ are all entries compared, tile by tile. What the products hide is of the order of
    1e-13 times the root of n: rounding.
    """
    v = np.random.default_rng(0).standard_normal(len(K)) / lengths
    with np.errstate(over="ignore", invalid="ignore"):
        if (np.abs(K @ v - v @ K) <= SYMMETRY_TOL * np.sqrt(len(K)) * lengths).all():
            return 0.0
    rows = _tiles(K)
    return max(
        (np.abs(K[i, j] - K[j, i].T) / (lengths[i, None] * lengths[j])).max()
        for i in rows
        for j in rows
        if j.start <= i.start
    )


def check_definite(K):
    r"""Refuse a Gram matrix with an eigenvalue that is more negative than rounding explains.

    Decided by one Cholesky factorisation (:math:`n^3/3` operations, in single precision where they
    are many) of the points' cosines plus :math:`n\varepsilon I`, :math:`\varepsilon` = 1e-7: it
    exists only where no eigenvalue lies below minus the shift.
    """
    precision = np.float32 if len(K) > DOUBLE_POINTS else np.float64
    lengths = _lengths(K)
    scaled = np.empty(K.shape, dtype=precision)
    with np.errstate(over="ignore"):  # of a matrix that is indefinite
        for rows in _tiles(K):
            scaled[rows] = K[rows] / lengths / lengths[rows, None]  # in double, for any size of K
    scaled.ravel()[:: len(K) + 1] += INDEFINITE_TOL * len(K)
    (potrf,) = get_lapack_funcs(("potrf",), (scaled,))
    L, info = potrf(scaled.T, lower=1, clean=0, overwrite_a=1)
    found = np.isfinite(np.diagonal(L))  # LAPACK does not check for NaN
    info = info or (0 if found.all() else 1 + int(np.argmin(found)))
    if info:
        raise IndefiniteKernelError(
            "the kernel is not positive semi-definite on the training points "
            f"(the leading {info} rows and columns have a negative eigenvalue), so the dual has "
            "no single optimum. Use another kernel, or clip the negative eigenvalues of K."
        )


def _tiles(K):
    return [slice(start, start + TILE) for start in range(0, len(K), TILE)]


def _lengths(K):
    """Return the lengths of the points in feature space, 1 for those of length zero."""
    diagonal = np.diagonal(K)
    return np.where(diagonal > 0, np.sqrt(np.maximum(diagonal, 0.0)), 1.0)
