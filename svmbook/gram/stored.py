"""A Gram matrix stored in full."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas

from .matrix import (
    FULL_PRODUCT_SHARE,
    MAX_GATHERED_ROWS,
    GramMatrix,
    cholesky,
    cholesky_solve,
    chunks,
)

__all__ = ["StoredGram"]

MIN_COLUMNS_FOR_TAKE = 64  # for fewer columns, indexing is faster than `take`


class StoredGram(GramMatrix):
    """Gram matrix stored as an array; copied only if neither rows nor columns are contiguous.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric positive semi-definite; never changed.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import StoredGram
    >>> K = StoredGram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> K.dot(np.array([1.0, 0.0])), K.factor(np.ones(2))(np.full(2, 4.0))
    (array([2., 1.]), array([1., 1.]))
    """

    def __init__(self, K: ArrayLike) -> None:
        # Row-major: a symmetric matrix stored by columns equals its transpose stored by rows.
        self.K = np.ascontiguousarray(K.T if K.flags.f_contiguous else K)
        self.n = len(K)
        self.diagonal = np.diagonal(self.K)
        self._workspace = None

    def dot(self, v: np.ndarray) -> np.ndarray:
        """Return :math:`Kv`."""
        return blas.dsymv(1.0, self.K.T, v, lower=1) if v.ndim == 1 else self.K @ v

    def dot_columns(self, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sum of the columns ``indices``, weighted by ``values``."""
        if len(indices) > FULL_PRODUCT_SHARE * self.n:
            v = np.zeros(self.n)
            v[indices] = values
            return self.dot(v)
        if len(indices) <= MAX_GATHERED_ROWS:
            return values @ self.K[indices]
        product = np.zeros(self.n)
        for chunk in chunks(np.arange(len(indices)), MAX_GATHERED_ROWS):
            product += values[chunk] @ self.K[indices[chunk]]
        return product

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return a copy of the block of these rows and columns."""
        if len(columns) < MIN_COLUMNS_FOR_TAKE:
            return self.K[rows[:, None], columns]
        block = np.empty((len(rows), len(columns)))
        for row, out in zip(rows, block, strict=True):  # takes half the time of K[rows, columns]
            self.K[row].take(columns, out=out, mode="clip")
        return block

    def array(self) -> np.ndarray:
        """Return the matrix as an array, which must not be changed."""
        return self.K

    def submatrix(self, indices: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of a subset of the points."""
        return StoredGram(self.block(indices, indices))

    def factor(self, D: np.ndarray) -> Callable:
        """Factor :math:`K + D` and return the function that solves :math:`(K + D)x = b`.

        ``D`` holds the entries of the diagonal matrix. The returned function is valid until
        the next call of `factor`.
        """
        if self._workspace is None:
            self._workspace = np.empty_like(self.K)
        np.copyto(self._workspace, self.K)
        self._workspace.ravel()[:: self.n + 1] += D
        L = cholesky(self._workspace.T)  # LAPACK expects column-major order
        return lambda b: cholesky_solve(L, b)
