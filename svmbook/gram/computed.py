"""A Gram matrix whose values are computed as they are asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .matrix import GATHERED_ROWS, GramMatrix, chunks
from .stored import StoredGram

__all__ = ["ComputedGram"]

BLOCK_ROWS = 1024  # rows computed at a time ...
BLOCK_MEGABYTES = 200  # ... in at most so many megabytes
CACHE_MEGABYTES = 2000  # megabytes of computed rows that are kept
STORED_PART = 5000  # points up to which the matrix of a part is stored


class ComputedGram(GramMatrix):
    """Gram matrix given by a function of two lists of points, so that it need not fit in memory.

    The rows of points of which a block was asked for are kept, for they will be asked for again.

    Parameters
    ----------
    function : callable
        ``function(rows, columns)``, two integer arrays, returns that block of the Gram matrix.
    n : int
        Number of points.
    kept : float, default=2000
        Megabytes of rows to keep.

    Raises
    ------
    ValueError
        The function returns something else than finite real numbers of the right shape, here or
        later; or some K(i, i) is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram import ComputedGram
    >>> K = ComputedGram(np.add.outer, n=3)
    >>> K.columns(np.array([1]), np.array([2.0]))  # twice the second
    array([2., 4., 6.])
    """

    def __init__(self, function: Callable, n: int, kept: float = CACHE_MEGABYTES) -> None:
        self.function, self.n, self.kept = function, n, kept
        self._all = np.arange(n)
        self._store = np.empty((min(n, int(kept * 1e6 / (8 * n)) + 1), n))
        self._place = np.full(n, -1)  # of each point's row in the store
        self._block = max(GATHERED_ROWS, min(BLOCK_ROWS, int(1e6 * BLOCK_MEGABYTES / (8 * n))))
        few = chunks(self._all, GATHERED_ROWS)
        self.diagonal = np.concatenate([np.diagonal(self._values(some, some)) for some in few])
        if self.diagonal.min() < 0:
            raise ValueError("K is not positive semi-definite: some K(i, i) is negative.")

    def times(self, v: np.ndarray) -> np.ndarray:
        """Return :math:`Kv`."""
        return self.columns(self._all, v)

    def columns(self, points: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the columns of some points, multiplied by values and summed."""
        product = np.zeros(self.n)
        kept = self._place[points] >= 0
        for few in chunks(np.flatnonzero(kept), GATHERED_ROWS):
            product += values[few] @ self._store[self._place[points[few]]]
        for some in chunks(np.flatnonzero(~kept), self._block):
            product += values[some] @ self._values(points[some], self._all)
        return product

    def block(self, points: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the block of some points with others, a copy, and keep the rows of the points."""
        self._keep(points)
        block = np.empty((len(points), len(others)))
        kept = self._place[points] >= 0
        for row in np.flatnonzero(kept):
            self._store[self._place[points[row]]].take(others, out=block[row], mode="clip")
        for some in chunks(np.flatnonzero(~kept), self._block):
            block[some] = self._values(points[some], others)
        return block

    def part(self, points: np.ndarray) -> GramMatrix:
        """Return the Gram matrix of some of the points, stored where they are few."""
        if len(points) <= STORED_PART:
            return StoredGram(self._values(points, points))

        def among(rows, columns):
            return self.function(points[rows], points[columns])

        return ComputedGram(among, len(points), kept=self.kept / 4)

    def _values(self, rows, columns):
        block = np.asarray(self.function(rows.copy(), columns.copy()))
        right = block.dtype.kind in "fiub" and block.shape == (len(rows), len(columns))
        if not right or not np.isfinite(block).all():
            raise ValueError(
                f"K(rows, columns) must return finite real numbers of shape ({len(rows)}, "
                f"{len(columns)}); found {block.dtype} of shape {block.shape}, or values that are "
                "not finite."
            )
        return block.astype(float, copy=False)

    def _keep(self, points):
        """Compute and keep the rows of points that have none, in the place of others if need be."""
        missing = points[self._place[points] < 0]
        wanted = np.zeros(self.n, dtype=bool)
        wanted[points] = True
        in_use = np.zeros(len(self._store), dtype=bool)
        in_use[self._place[self._place >= 0]] = True
        places = np.flatnonzero(~in_use)
        if len(places) < len(missing):
            idle = np.flatnonzero((self._place >= 0) & ~wanted)[: len(missing) - len(places)]
            places = np.concatenate([places, self._place[idle]])
            self._place[idle] = -1
        missing = missing[: len(places)]  # of more points than fit, the first
        steps = (chunks(some, self._block) for some in (missing, places[: len(missing)]))
        for some, where in zip(*steps, strict=True):
            self._store[where] = self._values(some, self._all)
            self._place[some] = where
