r"""A Gram matrix of low rank, :math:`K = ZZ^\top`, whose rows are blocks on a Dask cluster.

A sum over the points, such as :math:`Z^\top G` or :math:`Z^\top WZ`, is a sum over the blocks, so
the rows of Z need not be in one memory. Vectors with one entry per point stay on the workers as
`svmbook.rows.Blocks`; weights and r x r matrices come to the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial

import numpy as np

from ..rows import Blocks, Maximum, map_rows, sum_rows
from .low_rank import LowRankGram, RidgeTerms

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
        Returns the `LowRankGram` of an array of points. Each pass over the data calls it anew, so
        that only a few blocks of Z exist at the same time.
    n_unknowns : int
        Number r of columns of Z.

    Examples
    --------
    >>> import dask
    >>> import numpy as np
    >>> from svmbook.gram import LowRankGram
    >>> from svmbook.gram.blocks import BlockGram
    >>> from svmbook.rows import Blocks
    >>> parts = [np.array([[1.0], [2.0]]), np.array([[3.0]])]
    >>> points = Blocks([dask.delayed(part) for part in parts])
    >>> gram = BlockGram(points, [2, 1], LowRankGram, 1)
    >>> gram.adjoint(gram.outputs(np.array([1.0])))  # 1 + 4 + 9
    array([14.])
    """

    def __init__(
        self, points: Blocks, block_sizes: list, make_gram: Callable, n_unknowns: int
    ) -> None:
        self._points, self._make_gram, self._n_unknowns = points, make_gram, n_unknowns
        self.n, self.block_sizes = sum(block_sizes), block_sizes

    @property
    def rows(self) -> Blocks:
        """The Gram matrix of each block."""
        return self._points.map(self._make_gram)

    @property
    def n_unknowns(self):
        """Number of weights that represent a function."""
        return self._n_unknowns

    @cached_property
    def largest_norm(self):
        """The largest norm of a point in feature space."""
        return float(sum_rows(_largest_norm, self.rows))

    def limit_blas_threads(self) -> AbstractContextManager:
        """Return the context in which BLAS is fastest: the caller's matrices are small."""
        return nullcontext()

    def outputs(self, w: np.ndarray) -> Blocks:
        """Return the values of a function at the points, :math:`Zw`."""
        return map_rows(partial(_outputs, w=w), self.rows)

    def adjoint(self, G: Blocks) -> np.ndarray:
        r"""Return the weights :math:`Z^\top G`."""
        return sum_rows(_adjoint, self.rows, G)

    def ridge_terms(self, W: Blocks) -> RidgeTerms:
        """Return the weighted sums over the rows that `factor_ridge` needs."""
        return sum_rows(_ridge_terms, self.rows, W)

    def sample(self, size: int, *rows: Blocks) -> tuple:
        """Return a random sample of the points: its Gram matrix, and values per point, in memory.

        The number of points from each block is that of a sample without replacement.
        """
        rng = np.random.default_rng(0)
        block_counts = rng.multivariate_hypergeometric(self.block_sizes, size, method="marginals")
        choices = Blocks(
            [
                np.sort(rng.choice(n, count, replace=False))
                for n, count in zip(self.block_sizes, block_counts, strict=True)
            ]
        )
        samples = self._points.map(_choose, choices, *rows).gather()
        points, *values = (np.concatenate(parts) for parts in zip(*samples, strict=True))
        return self._make_gram(points), *values


# These functions are applied to each block of points.
def _largest_norm(gram):
    return Maximum(gram.norms.max(initial=0.0))


def _outputs(gram, w):
    return gram.outputs(w)


def _adjoint(gram, G):
    return gram.adjoint(G)


def _ridge_terms(gram, W):
    return gram.ridge_terms(W)


def _choose(points, indices, *rows):
    return tuple(values[indices] for values in (points, *rows))
