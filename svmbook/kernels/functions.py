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

from ..threads import map_in_threads, one_blas_thread

__all__ = [
    "DISTANCE_FUNCTIONS",
    "exponential",
    "gaussian",
    "laplacian",
    "linear",
    "polynomial",
]

BLOCK_ENTRIES = 65_536  # array entries in a block that fits into the processor's cache
MIN_THREADED_ENTRIES = 4_000_000  # fewer values take less time than starting threads
TILE_ROWS = 256  # largest number of rows in a block that is summed
MIN_BLOCK_ROWS = 32  # fewer rows make a matrix product slow
SPARSE_BLOCK_ENTRIES = 4_000_000  # array entries in a block of a sparse product; 12 bytes each
# A computed |x - z|^2 below this share of |x|^2 + |z|^2 has lost too many digits by cancellation.
CANCELLATION_TOL = 1e-6
# If gamma (|x|^2 + |z|^2) is larger than MAX_NORMS_SUM, an exponent -gamma |x - z|^2 is rounded by
# more than 1e-13. The kernel value is then inaccurate, unless it is negligible.
MAX_NORMS_SUM, NEGLIGIBLE_EXPONENT = 1e3, 40.0


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
    return GaussianBlocks(*_as_arrays(X, Z), gamma=gamma).all()


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


class GaussianBlocks:
    r"""The values :math:`\exp(-\gamma\|x_i - z_j\|_2^2)` of two arrays of points, by blocks.

    The exponents of a block are one matrix product, of the rows
    :math:`(2\sqrt\gamma\,x, -\gamma|x|^2, -1)` and the columns
    :math:`(\sqrt\gamma\,z, 1, \gamma|z|^2)`. Exponents that lose too many digits by cancellation
    are recomputed from differences; the points are centred first, which makes them rare.

    Parameters
    ----------
    X, Z : ndarray of shapes (n, d) and (m, d)
        Points.
    gamma : float
        Inverse of a squared length.
    dtype : type, default=float
        Type of the values. In single precision they are computed faster, and cancellation is not
        corrected.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.kernels.functions import GaussianBlocks
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> GaussianBlocks(X, X, gamma=2.0).block(np.array([1])).round(4)
    array([[1.353e-01, 1.000e+00, 3.000e-04]])
    """

    def __init__(self, X, Z, gamma, dtype=float):
        self.is_symmetric, mean, scale = X is Z, Z.mean(axis=0), np.sqrt(gamma)
        Z = scale * (Z - mean)
        X = Z if self.is_symmetric else scale * (X - mean)
        X_norms, Z_norms = np.einsum("ij,ij->i", X, X), np.einsum("ij,ij->i", Z, Z)
        rows = np.column_stack([2.0 * X, -X_norms, np.full(len(X), -1.0)])
        columns = np.vstack([Z.T, np.ones(len(Z)), Z_norms])
        self._rows = rows.astype(dtype, copy=False)
        self._columns = columns.astype(dtype, copy=False)

    @property
    def squared_norms(self):
        r"""The squared norms :math:`\gamma|z|^2` of the centred points."""
        return self._columns[-1]

    def all(self):
        """Return all values; if X is Z, each pair is computed once, so that K equals K.T."""
        n = len(self._rows)
        if not self.is_symmetric:
            return self.block(slice(None))
        K = np.empty((n, n))

        def fill(rows):
            exponents = _exponents(self._rows[rows], self._columns[:, rows.start :])
            size = len(exponents)
            on_diagonal = exponents[:, :size]
            np.maximum(on_diagonal, on_diagonal.T.copy(), out=on_diagonal)
            np.exp(exponents, out=K[rows, rows.start :])
            K[rows.stop :, rows] = K[rows, rows.stop :].T

        parts = list(_row_slices(n, max(2 * MIN_BLOCK_ROWS, BLOCK_ENTRIES // n)))
        if K.size >= MIN_THREADED_ENTRIES:
            map_in_threads(fill, parts)
        else:
            with one_blas_thread():
                for rows in parts:
                    fill(rows)
        return K

    def upper_triangle(self, indices, dtype):
        """Return the values of these points; entries below the diagonal are undefined."""
        rows, columns, m = self._rows[indices], self._columns[:, indices], len(indices)
        K = np.empty((m, m), dtype)
        for part in _row_slices(m, 2 * MIN_BLOCK_ROWS):
            exponents = _exponents(rows[part], columns[:, part.start :])
            np.exp(exponents, out=exponents)
            K[part, part.start :] = exponents
        return K

    def block(self, rows, columns=slice(None)):
        """Return the values of these rows and columns."""
        left, right = self._rows[rows], self._columns[:, columns]
        K = np.empty((len(left), right.shape[1]), left.dtype)
        for part in _row_slices(len(K), max(MIN_BLOCK_ROWS, BLOCK_ENTRIES // max(1, K.shape[1]))):
            np.exp(_exponents(left[part], right, out=K[part]), out=K[part])
        return K

    def weighted_row_sum(self, indices, weights):
        """Return the sum of the rows ``indices``, weighted by ``weights``.

        The values are computed by tiles, and each tile is used while it is in the cache.
        """
        total = np.zeros(self._columns.shape[1])
        rows, weights = self._rows[indices], weights.astype(self._rows.dtype, copy=False)

        def add_tiles(j):
            for i in _row_slices(len(rows), TILE_ROWS):
                tile = _exponents(rows[i], self._columns[:, j])
                total[j] += weights[i] @ np.exp(tile, out=tile)

        columns = list(_row_slices(len(total), BLOCK_ENTRIES // max(1, min(TILE_ROWS, len(rows)))))
        if len(rows) * len(total) >= MIN_THREADED_ENTRIES:
            map_in_threads(add_tiles, columns)
        else:
            for j in columns:
                add_tiles(j)
        return total


def _squared_distances(X, Z):
    """Return |x - z|^2 for all pairs."""
    blocks = GaussianBlocks(X, Z, gamma=1.0)
    D = -_exponents(blocks._rows, blocks._columns)
    return np.minimum(D, D.T) if X is Z else D  # exactly symmetric


def _exponents(left, right, out=None):
    """Return -gamma |x - z|^2 for some rows and columns of `GaussianBlocks`."""
    exponents = np.matmul(left, right, out=out)
    if exponents.dtype == np.float32:
        return exponents
    X_norms, Z_norms = -left[:, -2], right[-1]
    near_zero = np.flatnonzero(
        exponents >= -_inexact_below(X_norms.max(initial=0.0) + Z_norms.max(initial=0.0))
    )
    for start in range(0, len(near_zero), BLOCK_ENTRIES):
        i, j = np.divmod(near_zero[start : start + BLOCK_ENTRIES], exponents.shape[1])
        is_inexact = exponents[i, j] >= -_inexact_below(X_norms[i] + Z_norms[j])
        i, j = i[is_inexact], j[is_inexact]
        exponents[i, j] = -((0.5 * left[i, :-2] - right[:-2, j].T) ** 2).sum(axis=1)
    return exponents


def _inexact_below(norms_sum):
    """Return the absolute exponent below which cancellation makes the kernel value inaccurate.

    The rounding error of an exponent is proportional to the sum of both scaled squared norms.
    """
    min_exponent = np.where(norms_sum > MAX_NORMS_SUM, NEGLIGIBLE_EXPONENT, 0.0)
    return np.maximum(CANCELLATION_TOL * norms_sum, min_exponent)


def _row_slices(n, size):
    """Yield slices that divide n rows into parts of at most ``size``, but at least one row."""
    for start in range(0, n, max(1, size)):
        yield slice(start, min(start + max(1, size), n))


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
