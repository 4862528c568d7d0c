"""A Gram matrix whose entries are computed on demand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .matrix import FULL_PRODUCT_SHARE, MAX_GATHERED_ROWS, GramMatrix, chunks
from .stored import StoredGram

__all__ = ["ComputedGram"]

# A chunk has as many rows as MAX_CHUNK_MEGABYTES can hold, but at least MIN_CHUNK_ROWS and at most
# MAX_CHUNK_ROWS. The memory of larger chunks would be returned to the system after each use.
MIN_CHUNK_ROWS = 64
MAX_CHUNK_ROWS = 1024
MAX_CHUNK_MEGABYTES = 16
DEFAULT_CACHE_MEGABYTES = 2000  # size of the row cache
MAX_STORED_SUBMATRIX_SIZE = 5000  # largest submatrix that is stored


class ComputedGram(GramMatrix):
    """Gram matrix given by a function of two index arrays, so that it need not fit in memory.

    Rows requested by `block` are cached, because solvers request the same rows repeatedly.

    Parameters
    ----------
    block_function : callable
        ``block_function(rows, columns)`` returns the block of the Gram matrix with these rows and
        columns, two integer arrays.
    n : int
        Number of points.
    cache_megabytes : float, default=2000
        Size of the row cache.

    Raises
    ------
    ValueError
        Some K(i, i) is negative, or the function returns an array of the wrong shape or type, or
        values that are not finite. All methods check the blocks that they compute.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import ComputedGram
    >>> K = ComputedGram(np.add.outer, n=3)
    >>> K.dot_columns(np.array([1]), np.array([2.0]))  # twice the second column
    array([2., 4., 6.])
    """

    def __init__(
        self, block_function: Callable, n: int, cache_megabytes: float = DEFAULT_CACHE_MEGABYTES
    ) -> None:
        self.block_function, self.n, self.cache_megabytes = block_function, n, cache_megabytes
        self._cache = np.empty((min(n, int(cache_megabytes * 1e6 / (8 * n)) + 1), n))
        self._cache_row = np.full(n, -1)  # the cache row of each index, or -1
        self._cached_index = np.full(len(self._cache), -1)  # the index of each cache row, or -1
        self._n_used_rows = 0  # cache rows that were ever used
        max_rows_by_memory = int(1e6 * MAX_CHUNK_MEGABYTES / (8 * n))
        self._rows_per_chunk = max(MIN_CHUNK_ROWS, min(MAX_CHUNK_ROWS, max_rows_by_memory))
        self.diagonal = np.concatenate(
            [
                np.diagonal(self._compute_block(chunk, chunk))
                for chunk in chunks(np.arange(n), MIN_CHUNK_ROWS)
            ]
        )
        if not np.isfinite(self.diagonal).all():
            raise ValueError("K(rows, columns) returned values that are not finite.")
        if self.diagonal.min() < 0:
            raise ValueError("K is not positive semi-definite: some K(i, i) is negative.")

    def dot(self, v: np.ndarray) -> np.ndarray:
        """Return :math:`Kv`."""
        return self.dot_columns(np.arange(self.n), v)

    def dot_columns(self, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sum of the columns ``indices``, weighted by ``values``."""
        cache_rows = self._cache_row[indices]
        is_cached = cache_rows >= 0
        product = self._dot_cached_rows(cache_rows[is_cached], values[is_cached])
        for chunk in chunks(np.flatnonzero(~is_cached), self._rows_per_chunk):
            product += values[chunk] @ self._compute_block(indices[chunk], np.arange(self.n))
        return product

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return a copy of the block of these rows and columns; cache the rows."""
        self.cache_rows(rows)
        block = np.empty((len(rows), len(columns)))
        is_cached = self._cache_row[rows] >= 0
        for position in np.flatnonzero(is_cached):
            self._cache[self._cache_row[rows[position]]].take(
                columns, out=block[position], mode="clip"
            )
        for chunk in chunks(np.flatnonzero(~is_cached), self._rows_per_chunk):
            block[chunk] = self._compute_block(rows[chunk], columns)
        return block

    def submatrix(self, indices: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of a subset of the points, stored if it is small."""
        if len(indices) <= MAX_STORED_SUBMATRIX_SIZE:
            return StoredGram(self._compute_block(indices, indices))

        def block_of_subset(rows, columns):
            return self._compute_block(indices[rows], indices[columns])

        return ComputedGram(block_of_subset, len(indices), cache_megabytes=self.cache_megabytes / 4)

    def _compute_block(self, rows, columns):
        block = np.asarray(self.block_function(rows.copy(), columns.copy()))
        expected_shape = len(rows), len(columns)
        if block.dtype.kind not in "fiub" or block.shape != expected_shape:
            raise ValueError(
                f"K(rows, columns) must return real numbers of shape {expected_shape}; found an "
                f"array of shape {block.shape} and type {block.dtype}."
            )
        if not np.isfinite(block).all():
            raise ValueError("K(rows, columns) returned values that are not finite.")
        return block.astype(float, copy=False)

    def _dot_cached_rows(self, cache_rows, values):
        """Return the sum of these rows of the cache, weighted by ``values``."""
        if len(cache_rows) > FULL_PRODUCT_SHARE * self._n_used_rows:
            weights = np.zeros(self._n_used_rows)
            weights[cache_rows] = values
            return weights @ self._cache[: self._n_used_rows]
        product = np.zeros(self.n)
        for chunk in chunks(np.arange(len(cache_rows)), MAX_GATHERED_ROWS):
            product += values[chunk] @ self._cache[cache_rows[chunk]]
        return product

    def cache_rows(self, indices: np.ndarray) -> None:
        """Cache these rows; if the cache is full, replace rows of other indices.

        If the cache is too small for all indices, only the first ones are cached.
        """
        uncached = indices[self._cache_row[indices] < 0]
        end = min(len(self._cache), self._n_used_rows + len(uncached))
        available_rows = np.arange(self._n_used_rows, end)
        n_missing_rows = len(uncached) - len(available_rows)
        if n_missing_rows:
            is_evictable = np.ones(self.n, dtype=bool)
            is_evictable[indices] = False
            evicted_rows = np.flatnonzero(is_evictable[self._cached_index[: self._n_used_rows]])
            evicted_rows = evicted_rows[:n_missing_rows]
            self._cache_row[self._cached_index[evicted_rows]] = -1
            available_rows = np.concatenate([available_rows, evicted_rows])
        uncached = uncached[: len(available_rows)]
        for chunk in chunks(np.arange(len(uncached)), self._rows_per_chunk):
            block = self._compute_block(uncached[chunk], np.arange(self.n))
            self._cache[available_rows[chunk]] = block
        self._n_used_rows = end
        self._cache_row[uncached] = available_rows
        self._cached_index[available_rows] = uncached
