"""A Gram matrix whose entries are computed on demand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .matrix import GATHERED_ROWS, GramMatrix, chunks
from .stored import StoredGram

__all__ = ["ComputedGram"]

MAX_CHUNK_ROWS = 1024  # rows computed at a time ...
CHUNK_MEGABYTES = 200  # ... which take at most this much memory
CACHE_MEGABYTES = 2000  # default size of the cache of rows
MAX_STORED_POINTS = 5000  # points up to which `part` returns a stored matrix


class ComputedGram(GramMatrix):
    """Gram matrix given by a function of two index arrays, so that it need not fit in memory.

    Rows requested by `block` are cached, because solvers request the same rows repeatedly.

    Parameters
    ----------
    function : callable
        ``function(rows, columns)``, two integer arrays, returns that block of the Gram matrix.
    n : int
        Number of points.
    kept : float, default=2000
        Size of the row cache in megabytes.

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
    >>> K.columns(np.array([1]), np.array([2.0]))  # twice the second column
    array([2., 4., 6.])
    """

    def __init__(self, function: Callable, n: int, kept: float = CACHE_MEGABYTES) -> None:
        self.function, self.n, self.kept = function, n, kept
        self._all = np.arange(n)
        self._cache = np.empty((min(n, int(kept * 1e6 / (8 * n)) + 1), n))
        self._slot = np.full(n, -1)  # row of the cache that holds each point's row, or -1
        rows_that_fit = int(1e6 * CHUNK_MEGABYTES / (8 * n))
        self._chunk_rows = max(GATHERED_ROWS, min(MAX_CHUNK_ROWS, rows_that_fit))
        self.diagonal = np.concatenate(
            [np.diagonal(self._values(chunk, chunk)) for chunk in chunks(self._all, GATHERED_ROWS)]
        )
        if self.diagonal.min() < 0:
            raise ValueError("K is not positive semi-definite: some K(i, i) is negative.")

    def times(self, v: np.ndarray) -> np.ndarray:
        """Return :math:`Kv`."""
        return self.columns(self._all, v)

    def columns(self, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sum of the columns ``points``, weighted by ``values``."""
        product = np.zeros(self.n)
        cached = self._slot[points] >= 0
        for chunk in chunks(np.flatnonzero(cached), GATHERED_ROWS):
            product += values[chunk] @ self._cache[self._slot[points[chunk]]]
        for chunk in chunks(np.flatnonzero(~cached), self._chunk_rows):
            product += values[chunk] @ self._values(points[chunk], self._all)
        return product

    def block(self, points: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return a copy of the block of rows ``points`` and columns ``others``; cache the rows."""
        self._fill_cache(points)
        block = np.empty((len(points), len(others)))
        cached = self._slot[points] >= 0
        for row in np.flatnonzero(cached):
            self._cache[self._slot[points[row]]].take(others, out=block[row], mode="clip")
        for chunk in chunks(np.flatnonzero(~cached), self._chunk_rows):
            block[chunk] = self._values(points[chunk], others)
        return block

    def part(self, points: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of a subset of the points, stored if it is small."""
        if len(points) <= MAX_STORED_POINTS:
            return StoredGram(self._values(points, points))

        def submatrix(rows, columns):
            return self.function(points[rows], points[columns])

        return ComputedGram(submatrix, len(points), kept=self.kept / 4)

    def _values(self, rows, columns):
        block = np.asarray(self.function(rows.copy(), columns.copy()))
        valid = block.dtype.kind in "fiub" and block.shape == (len(rows), len(columns))
        if not valid or not np.isfinite(block).all():
            raise ValueError(
                f"K(rows, columns) must return finite real numbers of shape ({len(rows)}, "
                f"{len(columns)}); found {block.dtype} of shape {block.shape}, or values that are "
                "not finite."
            )
        return block.astype(float, copy=False)

    def _fill_cache(self, points):
        """Compute and cache the rows of points that are missing, evicting other points' rows."""
        missing = points[self._slot[points] < 0]
        slots = np.setdiff1d(np.arange(len(self._cache)), self._slot)  # the free ones
        if len(slots) < len(missing):
            evictable = np.setdiff1d(np.flatnonzero(self._slot >= 0), points)
            evicted = evictable[: len(missing) - len(slots)]
            slots = np.concatenate([slots, self._slot[evicted]])
            self._slot[evicted] = -1
        slots = slots[: len(missing)]
        missing = missing[: len(slots)]  # if the cache is too small for all, the first ones
        for chunk in chunks(np.arange(len(missing)), self._chunk_rows):
            self._cache[slots[chunk]] = self._values(missing[chunk], self._all)
            self._slot[missing[chunk]] = slots[chunk]
