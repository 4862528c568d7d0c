"""The Gram matrix of a Gaussian kernel, computed by blocks."""

from __future__ import annotations

import numpy as np

from ..kernels.functions import GaussianBlocks
from .computed import ComputedGram

__all__ = ["GaussianGram"]

DEFAULT_CACHE_MEGABYTES = 400  # size of the row cache


class GaussianGram(ComputedGram):
    """Gram matrix of a Gaussian kernel, for which computing a block is faster than gathering it.

    Only products with columns use the cache; its rows are cached by `cache_rows`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training points.
    gamma : float
        Inverse of a squared length.
    cache_megabytes : float, default=400
        Size of the row cache.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import GaussianGram
    >>> K = GaussianGram(np.array([[0.0], [1.0]]), gamma=2.0)
    >>> K.dot_columns(np.array([0]), np.array([10.0])).round(4)
    array([10.    ,  1.3534])
    """

    def __init__(
        self, X: np.ndarray, gamma: float, cache_megabytes: float = DEFAULT_CACHE_MEGABYTES
    ) -> None:
        self._blocks = GaussianBlocks(X, X, gamma)
        super().__init__(self._blocks.block, len(X), cache_megabytes)

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the block of these rows and columns."""
        return self._blocks.block(rows, columns)

    def upper_triangle(self, indices: np.ndarray, dtype: type) -> np.ndarray:
        """Return the block of these points; entries below the diagonal are undefined."""
        return self._blocks.upper_triangle(indices, dtype)

    def _compute_block(self, rows, columns):
        return self._blocks.block(rows, columns)

    def _compute_rows(self, indices, out=None):
        return self._blocks.block(indices, out=out)
