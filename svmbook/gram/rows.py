r"""Products with some of the columns of a Gram matrix, stored or computed as they are asked for.

The active-set solver needs two things of :math:`K`: products :math:`K_{\cdot P}\,v` for a set P of
points, and blocks such as :math:`K_{PP}`. Of a stored matrix no more is copied than such a block,
or than a quarter of the points makes; of a computed one the rows of free points are kept.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

__all__ = ["ComputedRows", "StoredRows"]

FEW = 64  # rows gathered at a time: they stay in the cache until they are multiplied
MANY = 0.25  # share of the points from which the whole matrix is read faster than its rows gathered
BLOCK = 1024  # rows computed at a time ...
TEMPORARY = 200  # ... in megabytes at most
KEPT = 2000  # megabytes of computed rows that are kept
STORED = 5000  # points whose computed matrix is small enough to be stored


class StoredRows:
    """The Gram matrix as an array, not copied where its rows or its columns are contiguous.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric.
    """

    def __init__(self, K):
        # Row after row: the transpose of a matrix stored by columns is the same numbers.
        self.K = np.ascontiguousarray(K.T if K.flags.f_contiguous else K)
        self.n = len(K)
        self.lengths = np.sqrt(np.diagonal(K))  # of the points in feature space
        self.scale = float(np.mean(self.lengths**2)) or 1.0

    def times(self, points, values):
        """Return the columns of some points, multiplied by values and summed."""
        if len(points) > MANY * self.n:
            v = np.zeros(self.n)
            v[points] = values
            return blas.dsymv(1.0, self.K.T, v, lower=1)
        product = np.zeros(self.n)
        for few in _pieces(np.arange(len(points)), FEW):
            product += values[few] @ self.K[points[few]]
        return product

    def block(self, points, others):
        """Return the block of some points with others, a copy."""
        if len(others) < FEW:
            return self.K[np.ix_(points, others)]
        block = np.empty((len(points), len(others)))
        for row, out in zip(points, block, strict=True):  # half the time of an index for both axes
            self.K[row].take(others, out=out, mode="clip")
        return block

    def part(self, points):
        """Return the same for some of the points."""
        return StoredRows(self.block(points, points))


class ComputedRows:
    """A Gram matrix given by a function of two lists of points, so that it need not fit in memory.

    The rows of points of which a block was asked for are kept, for they will be asked for again.

    Parameters
    ----------
    function : callable
        ``function(rows, columns)``, two integer arrays, returns that block of the Gram matrix.
    n : int
        Number of points.
    kept : float, default=2000
        Megabytes of rows to keep.
    """

    def __init__(self, function, n, kept=KEPT):
        self.function, self.n, self.kept = function, n, kept
        self._all = np.arange(n)
        self._store = np.empty((min(n, int(kept * 1e6 / (8 * n)) + 1), n))
        self._place = np.full(n, -1)  # of each point's row in the store
        self._block = max(FEW, min(BLOCK, int(1e6 * TEMPORARY / (8 * n))))
        pieces = _pieces(self._all, FEW)
        diagonal = np.concatenate([np.diagonal(self._values(few, few)) for few in pieces])
        if diagonal.min() < 0:
            raise ValueError("K is not positive semi-definite: some K(i, i) is negative.")
        self.lengths = np.sqrt(diagonal)
        self.scale = float(np.mean(diagonal)) or 1.0

    def times(self, points, values):
        """Return the columns of some points, multiplied by values and summed."""
        product = np.zeros(self.n)
        kept = self._place[points] >= 0
        for few in _pieces(np.flatnonzero(kept), FEW):
            product += values[few] @ self._store[self._place[points[few]]]
        for some in _pieces(np.flatnonzero(~kept), self._block):
            product += values[some] @ self._values(points[some], self._all)
        return product

    def block(self, points, others):
        """Return the block of some points with others, a copy, and keep the rows of the points."""
        self._keep(points)
        block = np.empty((len(points), len(others)))
        kept = self._place[points] >= 0
        for row in np.flatnonzero(kept):
            self._store[self._place[points[row]]].take(others, out=block[row], mode="clip")
        for some in _pieces(np.flatnonzero(~kept), self._block):
            block[some] = self._values(points[some], others)
        return block

    def part(self, points):
        """Return the same for some of the points, stored where they are few."""
        if len(points) <= STORED:
            return StoredRows(self._values(points, points))

        def among(rows, columns):
            return self.function(points[rows], points[columns])

        return ComputedRows(among, len(points), kept=self.kept / 4)

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
        self._place[missing] = places[: len(missing)]
        for some in _pieces(missing, self._block):
            self._store[self._place[some]] = self._values(some, self._all)


def _pieces(indices, size):
    """Yield the indices, so many at a time."""
    for start in range(0, len(indices), size):
        yield indices[start : start + size]
