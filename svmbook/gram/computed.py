"""A Gram matrix whose entries are computed on demand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .matrix import MAX_GATHERED_ROWS, GramMatrix, chunks
from .stored import StoredGram

__all__ = ["ComputedGram"]

# Rows are computed in chunks of at most this number and this size.
MAX_CHUNK_ROWS = 1024
MAX_CHUNK_MEGABYTES = 200
CACHE_MEGABYTES = 2000  # default size of the cache of rows
MAX_STORED_POINTS = 5000  # largest submatrix that is stored


class ComputedGram(GramMatrix):
    """Gram matrix given by a function of two index arrays, so that it need not fit in memory.

    Rows requested by `block` are cached, because solvers request the same rows repeatedly.

    Parameters
    ----------
    function : callable
        ``function(rows, columns)``, two integer arrays, returns that block of the Gram matrix.
    n : int
        Number of points.
    cache_megabytes : float, default=2000
        Size of the row cache.

    Raises
    ------
    ValueError
        Some K(i, i) is negative; or, also in later calls, the function does not return finite
        real numbers of the right shape.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import ComputedGram
    >>> K = ComputedGram(np.add.outer, n=3)
    >>> K.dot_columns(np.array([1]), np.array([2.0]))  # twice the second column
    array([2., 4., 6.])
    """

    def __init__(
        self, function: Callable, n: int, cache_megabytes: float = CACHE_MEGABYTES
    ) -> None:
        self.function, self.n, self.cache_megabytes = function, n, cache_megabytes
        self._all_points = np.arange(n)
        self._cache = np.empty((min(n, int(cache_megabytes * 1e6 / (8 * n)) + 1), n))
        self._cache_row = np.full(n, -1)  # row of the cache that holds each point's row, or -1
        max_rows_in_memory = int(1e6 * MAX_CHUNK_MEGABYTES / (8 * n))
        self._rows_per_chunk = max(MAX_GATHERED_ROWS, min(MAX_CHUNK_ROWS, max_rows_in_memory))
        self.diagonal = np.concatenate(
            [
                np.diagonal(self._values(chunk, chunk))
                for chunk in chunks(self._all_points, MAX_GATHERED_ROWS)
            ]
        )
        if self.diagonal.min() < 0:
            raise ValueError("K is not positive semi-definite: some K(i, i) is negative.")

    def dot(self, v: np.ndarray) -> np.ndarray:
        """Return :math:`Kv`."""
        return self.dot_columns(self._all_points, v)

    def dot_columns(self, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sum of the columns ``points``, weighted by ``values``."""
        product = np.zeros(self.n)
        cached = self._cache_row[points] >= 0
        for chunk in chunks(np.flatnonzero(cached), MAX_GATHERED_ROWS):
            product += values[chunk] @ self._cache[self._cache_row[points[chunk]]]
        for chunk in chunks(np.flatnonzero(~cached), self._rows_per_chunk):
            product += values[chunk] @ self._values(points[chunk], self._all_points)
        return product

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return a copy of the block of these rows and columns; cache the rows."""
        self._fill_cache(rows)
        block = np.empty((len(rows), len(columns)))
        cached = self._cache_row[rows] >= 0
        for position in np.flatnonzero(cached):
            self._cache[self._cache_row[rows[position]]].take(
                columns, out=block[position], mode="clip"
            )
        for chunk in chunks(np.flatnonzero(~cached), self._rows_per_chunk):
            block[chunk] = self._values(rows[chunk], columns)
        return block

    def submatrix(self, points: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of a subset of the points, stored if it is small."""
        if len(points) <= MAX_STORED_POINTS:
            return StoredGram(self._values(points, points))

        def block_of_subset(rows, columns):
            return self.function(points[rows], points[columns])

        return ComputedGram(block_of_subset, len(points), cache_megabytes=self.cache_megabytes / 4)

    def _values(self, rows, columns):
        block = np.asarray(self.function(rows.copy(), columns.copy()))
        is_valid = block.dtype.kind in "fiub" and block.shape == (len(rows), len(columns))
        if not is_valid or not np.isfinite(block).all():
            raise ValueError(
                f"K(rows, columns) must return finite real numbers of shape ({len(rows)}, "
                f"{len(columns)}); found {block.dtype} of shape {block.shape}, or values that are "
                "not finite."
            )
        return block.astype(float, copy=False)

    def _fill_cache(self, points):
        """Compute and cache the rows of points that are missing, evicting other points' rows."""
        uncached_points = points[self._cache_row[points] < 0]
        # Rows of the cache that hold no point, then rows that other points give up.
        cache_rows = np.setdiff1d(np.arange(len(self._cache)), self._cache_row)
        if len(cache_rows) < len(uncached_points):
            evictable_points = np.setdiff1d(np.flatnonzero(self._cache_row >= 0), points)
            evicted_points = evictable_points[: len(uncached_points) - len(cache_rows)]
            cache_rows = np.concatenate([cache_rows, self._cache_row[evicted_points]])
            self._cache_row[evicted_points] = -1
        cache_rows = cache_rows[: len(uncached_points)]
        # Only the first points if the cache is too small for all.
        uncached_points = uncached_points[: len(cache_rows)]
        for chunk in chunks(np.arange(len(uncached_points)), self._rows_per_chunk):
            self._cache[cache_rows[chunk]] = self._values(uncached_points[chunk], self._all_points)
            self._cache_row[uncached_points[chunk]] = cache_rows[chunk]
