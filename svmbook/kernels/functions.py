r"""Kernel functions of the inner product or of a distance.

Each function takes ``X`` of shape (n, d) and ``Z`` of shape (m, d) and returns the n times m
matrix of :math:`k(x_i, z_j)`; ``Z=None`` means ``Z=X``. Parameters are named as in scikit-learn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

__all__ = [
    "DISTANCE_FUNCTIONS",
    "exponential",
    "gaussian",
    "laplacian",
    "linear",
    "polynomial",
]

MAX_CDIST_FEATURES = 6  # largest number for which `cdist` is faster than a matrix product
BLOCK_ENTRIES = 32768  # array entries in a block that fits into the processor's cache
SPARSE_BLOCK_ENTRIES = 4_000_000  # array entries in a block of a sparse product; 12 bytes each
# A computed |x - z|^2 below this share of |x|^2 + |z|^2 has lost too many digits by cancellation.
CANCELLATION_TOL = 1e-6


def linear(X: ArrayLike, Z: ArrayLike | None = None) -> np.ndarray:
    r"""Return the inner products :math:`x^\top z`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points.
    Z : array-like or sparse matrix of shape (m, d), optional
        Other points; ``X`` itself by default. Both arguments must be dense or both sparse.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from svmbook.kernels import linear
    >>> linear([[1, 2], [2, 2]])
    array([[5., 6.],
           [6., 8.]])
    """
    if issparse(X):
        return _products_of_sparse(X, X if Z is None else Z)
    X, Z = _as_arrays(X, Z)
    return X @ Z.T


def polynomial(
    X: ArrayLike,
    Z: ArrayLike | None = None,
    *,
    gamma: float = 1.0,
    coef0: float = 1.0,
    degree: int = 3,
) -> np.ndarray:
    r"""Return :math:`(\gamma\,x^\top z + c_0)^p`.

    Positive semi-definite for integer :math:`p \ge 1`, :math:`\gamma \ge 0`, :math:`c_0 \ge 0`.

    Parameters
    ----------
    X, Z : array-like
        Dense points, as in `linear`.
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=1.0
        Added constant; a larger value gives lower degrees more weight.
    degree : int, default=3
        The exponent p.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from svmbook.kernels import polynomial
    >>> polynomial([[1, 2], [2, 2]], degree=2)
    array([[36., 49.],
           [49., 81.]])
    """
    X, Z = _as_arrays(X, Z)
    return (gamma * (X @ Z.T) + coef0) ** degree


def gaussian(X: ArrayLike, Z: ArrayLike | None = None, *, gamma: float = 1.0) -> np.ndarray:
    r"""Return :math:`\exp(-\gamma\|x - z\|_2^2)`, :eq:`eq-gaussian`.

    Parameters
    ----------
    X, Z : array-like
        Dense points, as in `linear`.
    gamma : float, default=1.0
        Inverse of a squared length: :math:`\gamma = 1/(2\sigma^2)` for a standard deviation
        :math:`\sigma`.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from svmbook.kernels import gaussian
    >>> gaussian([[0.0], [1.0]], gamma=2.0).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """
    return _exp_in_place(DISTANCE_FUNCTIONS["rbf"](*_as_arrays(X, Z)), gamma)


def laplacian(X: ArrayLike, Z: ArrayLike | None = None, *, gamma: float = 1.0) -> np.ndarray:
    r"""Return :math:`\exp(-\gamma\|x - z\|_1)`.

    Parameters
    ----------
    X, Z : array-like
        Dense points, as in `linear`.
    gamma : float, default=1.0
        Inverse of a length.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from svmbook.kernels import laplacian
    >>> laplacian([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """
    return _exp_in_place(DISTANCE_FUNCTIONS["laplacian"](*_as_arrays(X, Z)), gamma)


def exponential(X: ArrayLike, Z: ArrayLike | None = None, *, gamma: float = 1.0) -> np.ndarray:
    r"""Return :math:`\exp(-\gamma\|x - z\|_2)`.

    Parameters
    ----------
    X, Z : array-like
        Dense points, as in `linear`.
    gamma : float, default=1.0
        Inverse of a length.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from svmbook.kernels import exponential
    >>> exponential([[0.0, 0.0], [3.0, 4.0]], gamma=0.2).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    return _exp_in_place(DISTANCE_FUNCTIONS["exponential"](*_as_arrays(X, Z)), gamma)


def _products_of_sparse(X, Z):
    """Return XZ' as a dense array, in blocks: the whole product, if sparse, needs more memory."""
    X, Z_transposed, K = X.tocsr(), Z.T.tocsc(), np.empty((X.shape[0], Z.shape[0]))
    rows_per_block = max(1, SPARSE_BLOCK_ENTRIES // max(1, K.shape[1]))
    for start in range(0, len(K), rows_per_block):
        rows = slice(start, start + rows_per_block)
        K[rows] = (X[rows] @ Z_transposed).toarray()
    return K


def _squared_distances(X, Z):
    """Return |x - z|^2; for many features as |x|^2 + |z|^2 - 2 x'z, by one matrix product."""
    if X.shape[1] <= MAX_CDIST_FEATURES:
        return cdist(X, Z, "sqeuclidean")
    mean = Z.mean(axis=0)  # centring reduces cancellation far from the origin
    centred_Z = Z - mean
    X, Z = centred_Z if X is Z else X - mean, centred_Z
    D = X @ Z.T  # exactly symmetric if X is Z, and the following steps keep it so
    X_squared_norms, Z_squared_norms = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z)
    rows_per_block = max(1, BLOCK_ENTRIES // max(1, len(Z)))
    for start in range(0, len(X), rows_per_block):
        rows = slice(start, start + rows_per_block)
        block, squared_norms = D[rows], X_squared_norms[rows]
        block *= -2.0
        block += np.add.outer(squared_norms, Z_squared_norms)
        # Recompute small distances from differences.
        small_entries = np.flatnonzero(
            block <= CANCELLATION_TOL * (squared_norms.max() + Z_squared_norms)
        )
        for offset in range(0, len(small_entries), BLOCK_ENTRIES):
            i, j = np.divmod(small_entries[offset : offset + BLOCK_ENTRIES], len(Z))
            is_inexact = block[i, j] <= CANCELLATION_TOL * (squared_norms[i] + Z_squared_norms[j])
            i, j = i[is_inexact], j[is_inexact]
            block[i, j] = ((X[start + i] - Z[j]) ** 2).sum(axis=1)
    return D


#: By kernel, the function that computes D in exp(-gamma D): distances, squared for "rbf".
DISTANCE_FUNCTIONS = {
    "rbf": _squared_distances,
    "laplacian": manhattan_distances,
    "exponential": cdist,
}


def _exp_in_place(D, gamma):
    """Return exp(-gamma D), computed in place."""
    D *= -gamma
    return np.exp(D, out=D)


def _as_arrays(X, Z):
    X = np.asarray(X, dtype=float)
    return X, X if Z is None else np.asarray(Z, dtype=float)
