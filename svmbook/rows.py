"""Values per point: an array in memory, or blocks of rows on a Dask cluster.

Solvers need two operations on the points: apply a function to each of them, and sum over all of
them. In memory both are one call of the function. For data in blocks, each block is one task; only
sums leave the workers, which add them in a tree. Within a task, a sum may be computed in chunks of
rows that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, reduce
from itertools import compress
from operator import add
from typing import Any
from weakref import WeakSet

import numpy as np

from .shared_passes import current_passes

__all__ = [
    "Blocks",
    "Maximum",
    "Terms",
    "add_chunks",
    "is_in_blocks",
    "map_rows",
    "release_at_end",
    "split_rows",
    "sum_rows",
]

_persisted = ContextVar("persisted", default=None)  # the set of columns of `release_at_end`
SUMS_PER_TASK = 8  # sums of blocks that one task of the tree adds
CHUNK_ROWS = 4096  # 1.8 MB for 54 features


class Maximum(float):
    """A number whose sum with another is the larger of both.

    Examples
    --------
    >>> from svmbook.rows import Maximum
    >>> Maximum(1.0) + Maximum(3.0)
    3.0
    """

    __slots__ = ()

    def __add__(self, other):
        return Maximum(max(self, other))


@dataclass(frozen=True, eq=False)
class Terms:
    """Base class of several sums over points that are computed together: they add by field."""

    def __add__(self, other):
        return type(self)(*map(add, vars(self).values(), vars(other).values()))


class _Column:
    """Entries of blocks, to which all blocks that are computed from them refer."""

    def __init__(self, parts):
        self.parts = parts


class Blocks:
    """Values per point in blocks, the same blocks for all values of a problem.

    Parameters
    ----------
    parts : list of dask.delayed.Delayed
        The value of each block.

    Examples
    --------
    >>> import dask
    >>> import numpy as np
    >>> from svmbook.rows import Blocks, sum_rows
    >>> parts = [dask.delayed(np.array(values)) for values in ([1.0, 2.0], [3.0])]
    >>> float(sum_rows(np.sum, Blocks(parts)))
    6.0
    """

    def __init__(self, parts: list) -> None:
        # The value of a block is that of an expression of the entries of some columns. An
        # expression is the index of a column, or a tuple of a function and expressions.
        self._columns, self._expression = [_Column(parts)], 0

    @property
    def parts(self) -> list:
        """The value of each block, computed by one task."""
        if self._expression == 0:
            return self._columns[0].parts
        return self._tasks(_evaluate)

    def _tasks(self, evaluate: Callable) -> list:
        """Return a task per block, which applies a function to the expression and its entries."""
        from dask import delayed  # an optional dependency

        task = delayed(partial(evaluate, self._expression), pure=False)
        return [task(*entries) for entries in zip(*(c.parts for c in self._columns), strict=True)]

    def map(self, function: Callable, *others: Blocks, by_row: bool = False) -> Blocks:
        """Return the values of a function of this and other blocks; computed when needed.

        ``by_row`` tells that the function may be applied to chunks of rows: either each row of the
        result depends on one row of the arguments, some of which may be omitted, or the results are
        added by `total`.
        """
        mapped, arguments = Blocks([]), []
        mapped._columns = columns = []
        for blocks in (self, *others):
            columns += [c for c in blocks._columns if not any(c is known for known in columns)]
            indices = [[known is c for known in columns].index(True) for c in blocks._columns]
            arguments.append(_with_columns(blocks._expression, indices))
        mapped._expression = (_ByRow(function) if by_row else function, *arguments)
        return mapped

    @property
    def is_by_row(self) -> bool:
        """Whether the values may be computed from chunks of rows; see `map`."""
        return _is_by_row(self._expression)

    def select(self, is_selected: list[bool]) -> Blocks:
        """Return some of the blocks."""
        selected, persisted = Blocks(list(compress(self.parts, is_selected))), _persisted.get()
        if persisted is not None and self._expression == 0 and self._columns[0] in persisted:
            persisted.add(selected._columns[0])
        return selected

    def persist(self) -> Blocks:
        """Compute the values and keep them on the workers."""
        import dask

        blocks = Blocks(list(dask.persist(*self.parts)))
        if _persisted.get() is not None:
            _persisted.get().add(blocks._columns[0])
        return blocks

    def release(self) -> None:
        """Let the workers forget the values, and stop their computation."""
        try:
            from distributed import futures_of
        except ImportError:  # another scheduler of Dask, which has no workers
            return
        for future in futures_of(self.parts):
            future.release()

    def gather(self) -> list:
        """Return the value of each block."""
        import dask

        return list(dask.compute(*self.parts))

    def total(self) -> Any:
        """Return the sum of the values of all blocks; it is computed in a tree on the workers."""
        passes = current_passes()
        if passes is not None:
            return passes.total(self)
        from dask import delayed

        parts, add_task = self._tasks(_sum_of_chunks), delayed(_add_all, pure=False)
        while len(parts) > 1:
            parts = [
                add_task(parts[start : start + SUMS_PER_TASK])
                for start in range(0, len(parts), SUMS_PER_TASK)
            ]
        return parts[0].compute()


def map_rows(function: Callable, *rows: Any, keep: bool = True, by_row: bool = False) -> Any:
    """Return ``function(*rows)``, which keeps the points apart.

    The values of blocks stay on the workers. If ``keep`` is False, each use computes them again.
    See `Blocks.map` for ``by_row``.
    """
    if not is_in_blocks(rows[0]):
        return function(*rows)
    values = rows[0].map(function, *rows[1:], by_row=by_row)
    return values.persist() if keep else values


def sum_rows(function: Callable, *rows: Any, by_row: bool = False) -> Any:
    """Return ``function(*rows)``, a sum over the points; of blocks, the sum of its values.

    See `Blocks.map` for ``by_row``.
    """
    if not is_in_blocks(rows[0]):
        return function(*rows)
    return rows[0].map(function, *rows[1:], by_row=by_row).total()


@contextmanager
def release_at_end():
    """Release what is persisted in the context and can still be used at its end."""
    token = _persisted.set(WeakSet())
    try:
        yield
    finally:
        for column in _persisted.get():
            Blocks(column.parts).release()
        _persisted.reset(token)


def add_chunks(function: Callable, *arrays: np.ndarray) -> Any:
    """Return ``function(*arrays)``, a sum over rows, from chunks that stay in the cache."""
    starts = range(0, len(arrays[0]) or 1, CHUNK_ROWS)
    return _add_all(
        function(*(values[start : start + CHUNK_ROWS] for values in arrays)) for start in starts
    )


def is_in_blocks(rows: Any) -> bool:
    """Return whether values per point are in blocks."""
    return isinstance(rows, Blocks)


def split_rows(values: np.ndarray, sizes: list[int], like: Any) -> Any:
    """Return values per point in the blocks of ``like``, whose sizes are given."""
    if not isinstance(like, Blocks):
        return values
    return Blocks(np.split(values, np.cumsum(sizes)[:-1]))


def _with_columns(expression, indices):
    """Return the expression with the new index of each column."""
    if isinstance(expression, int):
        return indices[expression]
    function, *arguments = expression
    return function, *(_with_columns(argument, indices) for argument in arguments)


def _evaluate(expression, *entries):
    return _value(expression, entries, {})


def _value(expression, entries, known_values):
    """Return the value of an expression; one that occurs more than once is computed once."""
    if isinstance(expression, int):
        return entries[expression]
    if expression not in known_values:
        function, *arguments = expression
        values = (_value(argument, entries, known_values) for argument in arguments)
        known_values[expression] = function(*values)
    return known_values[expression]


class _ByRow:
    """A function that may be applied to chunks of rows; see `Blocks.map`."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *values):
        return self.function(*values)


def _is_by_row(expression):
    return isinstance(expression, tuple) and isinstance(expression[0], _ByRow)


def _sum_of_chunks(expression, *entries):
    """Return the value of an expression, a sum over the rows, from chunks of rows if possible."""
    whole_expressions, known_values = [], {}
    by_row = _by_row_part(expression, whole_expressions)
    wholes = [_value(whole, entries, known_values) for whole in whole_expressions]
    if not (_is_by_row(by_row) and all(isinstance(whole, np.ndarray) for whole in wholes)):
        return _evaluate(by_row, *wholes)
    return add_chunks(partial(_evaluate, by_row), *wholes)


def _by_row_part(expression, whole_expressions):
    """Return the part of an expression that can be applied to chunks, and collect the others."""
    if _is_by_row(expression):
        function, *arguments = expression
        return function, *(_by_row_part(argument, whole_expressions) for argument in arguments)
    if expression not in whole_expressions:
        whole_expressions.append(expression)
    return whole_expressions.index(expression)


def _add_all(sums):
    return reduce(add, sums)
