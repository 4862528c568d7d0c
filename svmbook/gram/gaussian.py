"""The Gram matrix of a Gaussian kernel, computed by blocks."""

from __future__ import annotations

import numpy as np

from ..kernels.functions import MAX_NORMS_SUM, GaussianBlocks
from .matrix import GramMatrix

__all__ = ["GaussianGram"]

# In single precision the relative error of a kernel value is about 1e-7 times gamma |x - z|^2. It
# is used only if gamma |x|^2 is at most this, for centred points.
MAX_SINGLE_PRECISION_NORM = 1e4


class GaussianGram(GramMatrix):
    """Gram matrix of a Gaussian kernel, of which nothing is stored.

    Computing a block takes less time than reading it from memory, unless there are many features.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training points.
    gamma : float
        Inverse of a squared length.
    single_precision : bool, default=False
        Whether to compute values, and sums within a tile, in single precision; the sums of tiles
        are in double precision.

    Raises
    ------
    ValueError
        The squared norm of a point is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import GaussianGram
    >>> K = GaussianGram(np.array([[0.0], [1.0]]), gamma=2.0)
    >>> K.dot_columns(np.array([0]), np.array([10.0])).round(4)
    array([10.    ,  1.3534])
    """

    def __init__(self, X: np.ndarray, gamma: float, single_precision: bool = False) -> None:
        self.X, self.gamma, self.n = X, gamma, len(X)
        self.dtype = np.float32 if single_precision else float
        self._blocks = GaussianBlocks(X, X, gamma, self.dtype)
        self.diagonal = np.ones(self.n)
        # Of the exponents; those of points with larger norms are computed from differences.
        self.entry_rounding = 1.0 + np.minimum(
            self._blocks.squared_norms, MAX_NORMS_SUM, dtype=float
        )
        if not np.isfinite(self._blocks.squared_norms).all():
            raise ValueError("the squared norms of the points are not finite; scale the features.")

    def in_single_precision(self) -> GaussianGram:
        """Return this form in single precision, if that is accurate enough."""
        if self._blocks.squared_norms.max() > MAX_SINGLE_PRECISION_NORM:
            return self
        return GaussianGram(self.X, self.gamma, single_precision=True)

    def in_double_precision(self) -> GaussianGram:
        """Return this form in double precision."""
        return self if self.dtype is float else GaussianGram(self.X, self.gamma)

    def dot(self, v: np.ndarray) -> np.ndarray:
        """Return :math:`Kv`."""
        return self.dot_columns(np.arange(self.n), v)

    def dot_columns(self, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sum of the columns ``indices``, weighted by ``values``."""
        return self._blocks.weighted_row_sum(indices, values)

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the block of these rows and columns."""
        return self._blocks.block(rows, columns)

    def upper_triangle(self, indices: np.ndarray, dtype: type) -> np.ndarray:
        """Return the block of these points; entries below the diagonal are undefined."""
        return self._blocks.upper_triangle(indices, dtype)

    def array(self) -> np.ndarray:
        """Return the matrix as an array of doubles."""
        return GaussianBlocks(self.X, self.X, self.gamma).all()

    def submatrix(self, indices: np.ndarray) -> GaussianGram:
        """Return the Gram matrix of a subset of the points."""
        return GaussianGram(self.X[indices], self.gamma, self.dtype == np.float32)
