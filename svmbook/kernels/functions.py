r"""Kernels: Gram matrices in closed form.

Each function takes ``X`` of shape (n, d) and ``Z`` of shape (m, d) and returns the n times m
matrix of :math:`k(x_i, z_j)`; ``Z=None`` stands for ``Z=X``. Parameters are named as in
scikit-learn: ``gamma`` in units of one over a squared (Gaussian) or plain (Laplacian,
exponential) distance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

__all__ = [
    "DISTANCES",
    "exponential",
    "gaussian",
    "laplacian",
    "linear",
    "polynomial",
]

FEW_FEATURES = 6  # up to which differences cost less than a product of matrices
CACHE_NUMBERS = 32768  # numbers that stay in the cache
SPARSE_NUMBERS = 4_000_000  # numbers in a product of sparse matrices, 12 bytes each
# Of |x|^2 + |z|^2: a smaller |x - z|^2 has lost too many digits in their difference.
CANCELLATION_TOL = 1e-6


def linear(X: ArrayLike, Z: ArrayLike | None = None) -> np.ndarray:
    r"""Return the inner products :math:`x^\top z`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Points.
    Z : array-like or sparse matrix of shape (m, d), optional
        Other points; ``X`` itself by default.

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
        return _sparse_products(X, X if Z is None else Z)
    X, Z = _pair(X, Z)
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
        As in `linear`.
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=1.0
        Added constant; weighs the lower degrees.
    degree : int, default=3
        The power.

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
    X, Z = _pair(X, Z)
    return (gamma * (X @ Z.T) + coef0) ** degree


def gaussian(X: ArrayLike, Z: ArrayLike | None = None, *, gamma: float = 1.0) -> np.ndarray:
    r"""Return :math:`\exp(-\gamma\|x - z\|_2^2)`, :eq:`eq-gaussian`.

    Parameters
    ----------
    X, Z : array-like
        As in `linear`.
    gamma : float, default=1.0
        One over a squared length; :math:`\gamma = 1/(2\sigma^2)` for a bell of width sigma.

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
    return _exp(DISTANCES["rbf"](*_pair(X, Z)), gamma)


def laplacian(X: ArrayLike, Z: ArrayLike | None = None, *, gamma: float = 1.0) -> np.ndarray:
    r"""Return :math:`\exp(-\gamma\|x - z\|_1)`.

    Parameters
    ----------
    X, Z : array-like
        As in `linear`.
    gamma : float, default=1.0
        One over a length.

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
    return _exp(DISTANCES["laplacian"](*_pair(X, Z)), gamma)


def exponential(X: ArrayLike, Z: ArrayLike | None = None, *, gamma: float = 1.0) -> np.ndarray:
    r"""Return :math:`\exp(-\gamma\|x - z\|_2)`.

    Parameters
    ----------
    X, Z : array-like
        As in `linear`.
    gamma : float, default=1.0
        One over a length.

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
    return _exp(DISTANCES["exponential"](*_pair(X, Z)), gamma)


def _sparse_products(X, Z):
    """Return XZ', some rows at a time: the sparse product takes more room than a full matrix."""
    X, Z, K = X.tocsr(), Z.T.tocsc(), np.empty((X.shape[0], Z.shape[0]))
    step = max(1, SPARSE_NUMBERS // max(1, K.shape[1]))
    for start in range(0, len(K), step):
        K[start : start + step] = (X[start : start + step] @ Z).toarray()
    return K


def _squared_distances(X, Z):
    """Return |x - z|^2; for many features as |x|^2 + |z|^2 - 2 x'z, by one product of matrices."""
    if X.shape[1] <= FEW_FEATURES:
        return cdist(X, Z, "sqeuclidean")
    centre = Z.mean(axis=0)  # distances do not change, and keep their digits far from the origin
    moved = Z - centre
    X, Z = moved if X is Z else X - centre, moved
    D = X @ Z.T  # of X with itself exactly symmetric, and so is what follows
    lengths, others = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z)
    step = max(1, CACHE_NUMBERS // max(1, len(Z)))
    for start in range(0, len(X), step):
        few, here = D[start : start + step], lengths[start : start + step]
        few *= -2.0
        few += np.add.outer(here, others)
        near = np.flatnonzero(few <= CANCELLATION_TOL * (here.max() + others))
        for first in range(0, len(near), CACHE_NUMBERS):
            i, j = np.divmod(near[first : first + CACHE_NUMBERS], len(Z))
            lost = few[i, j] <= CANCELLATION_TOL * (here[i] + others[j])
            i, j = i[lost], j[lost]
            few[i, j] = ((X[start + i] - Z[j]) ** 2).sum(axis=1)
    return D


#: The distance D of two arrays behind each kernel that is exp(-gamma D).
DISTANCES = {
    "rbf": _squared_distances,
    "laplacian": manhattan_distances,
    "exponential": cdist,
}


def _exp(D, gamma):
    """Return exp(-gamma D) in the place of D."""
    D *= -gamma
    return np.exp(D, out=D)


def _pair(X, Z):
    X = np.asarray(X, dtype=float)
    return X, X if Z is None else np.asarray(Z, dtype=float)
