r"""A Gram matrix of low rank, :math:`K = ZZ^\top`, whose rows are blocks on a Dask cluster.

A sum over the points, such as :math:`Z^\top G` or :math:`Z^\top WZ`, is a sum over the blocks, so
the rows of Z need not be in one memory. Each block has a Gram matrix of its own, an entry of
``rows``; `svmbook.rows.sum_rows` applies a function to each of them and adds the results.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from ..rows import Blocks, map_rows
from .low_rank import LowRankGram, draw_indices

__all__ = ["BlockGram"]


class BlockGram(LowRankGram):
    r"""Gram matrix of low rank of points in blocks; r weights w represent the function Zw.

    Parameters
    ----------
    points : Blocks
        Arrays of points.
    block_sizes : list of int
        Number of points in each block.
    make_gram : callable
        Returns the `LowRankGram` of an array of points.
    n_unknowns : int
        Number r of columns of Z.
    by_row : bool, default=False
        Whether ``make_gram`` may be applied to chunks of the rows of a block.
    keep : bool, default=False
        Whether the workers keep the Gram matrix of each block. If not, each pass over the data
        makes them anew, so that only a few of them exist at the same time.

    Examples
    --------
    >>> import dask
    >>> import numpy as np
    >>> from svmbook.gram import LowRankGram
    >>> from svmbook.gram.blocks import BlockGram
    >>> from svmbook.rows import Blocks, sum_rows
    >>> parts = [np.array([[1.0], [2.0]]), np.array([[3.0]])]
    >>> points = Blocks([dask.delayed(part) for part in parts])
    >>> gram = BlockGram(points, [2, 1], LowRankGram, 1)
    >>> sum_rows(lambda block: block.adjoint(block.Z[:, 0]), gram.rows)
    array([14.])
    """

    def __init__(
        self,
        points: Blocks,
        block_sizes: list,
        make_gram: Callable,
        n_unknowns: int,
        by_row: bool = False,
        keep: bool = False,
    ) -> None:
        self._points, self._n_unknowns, self._make_gram = points, n_unknowns, make_gram
        self._rows = map_rows(make_gram, points, keep=keep, by_row=by_row)
        self.n, self.block_sizes = sum(block_sizes), block_sizes
        self._samples = {}  # by size: the indices of the points, and their Gram matrix

    @property
    def rows(self) -> Blocks:
        """The Gram matrix of each block."""
        return self._rows

    @property
    def n_unknowns(self):
        """Number of weights that represent a function."""
        return self._n_unknowns

    def limit_blas_threads(self) -> AbstractContextManager:
        """Return the context in which BLAS is fastest: the caller's matrices are small."""
        return nullcontext()

    def sample(self, size: int, *rows: Blocks) -> tuple:
        """Return a random sample of the points, in memory: Gram matrix and values per point."""
        if size not in self._samples:
            indices = draw_indices(self.n, size)
            ends = np.cumsum(self.block_sizes)
            parts = np.split(indices, np.searchsorted(indices, ends[:-1]))
            choices = Blocks(
                [part - end + n for part, end, n in zip(parts, ends, self.block_sizes, strict=True)]
            )
            (points,) = _gather_chosen(choices, self._points)
            gram = self._make_gram(points).submatrix(slice(None))  # not a part of more points
            self._samples[size] = choices, gram
        choices, gram = self._samples[size]
        return gram, *_gather_chosen(choices, *rows)


def _gather_chosen(choices, *rows):
    """Return values of the chosen points, in memory."""
    parts = choices.map(_choose, *rows).gather()
    return tuple(np.concatenate(values) for values in zip(*parts, strict=True))


# Applied to each block of points.
def _choose(indices, *rows):
    return tuple(values[indices] for values in rows)
