"""Sums and maps over rows: in memory, and in blocks on Dask's scheduler in this thread."""

import operator
import signal
import sys
import threading
import time
from dataclasses import dataclass

import dask
import numpy as np
import pytest

from svmbook.rows import (
    Blocks,
    Maximum,
    Terms,
    map_rows,
    release_at_end,
    sum_rows,
)
from svmbook.shared_passes import run_together

pytestmark = pytest.mark.usefixtures("tasks_in_this_thread")


def blocks_of(arrays):
    return Blocks([dask.delayed(array) for array in arrays])


@dataclass(frozen=True, eq=False)
class CountAndLargest(Terms):
    count: int
    largest: Maximum

    @classmethod
    def of_values(cls, values):
        return cls(len(values), Maximum(values.max()))


@pytest.mark.parametrize("n_blocks", [1, 2, 7, 8, 9, 64, 65])
def test_sum_over_blocks_equals_the_sum_in_memory(n_blocks):
    values = np.arange(3.0 * n_blocks)
    parts = np.split(values, n_blocks)
    assert sum_rows(np.sum, blocks_of(parts)) == sum_rows(np.sum, values) == values.sum()
    terms = sum_rows(CountAndLargest.of_values, blocks_of(parts))
    assert (terms.count, terms.largest) == (len(values), values.max())


def test_sums_are_added_in_the_order_of_the_blocks():
    parts = [[k] for k in range(20)]
    assert sum_rows(list, Blocks(parts)) == list(range(20))


def test_map_keeps_the_blocks_apart_and_accepts_several_values_per_point():
    x, y = np.arange(5.0), np.arange(5.0) ** 2
    x_blocks, y_blocks = (blocks_of(np.split(values, [2])) for values in (x, y))
    mapped = map_rows(operator.sub, x_blocks, y_blocks).gather()
    assert [len(part) for part in mapped] == [2, 3]
    np.testing.assert_array_equal(np.concatenate(mapped), map_rows(operator.sub, x, y))


@pytest.mark.parametrize("chunk_rows", [1, 3, 10])
def test_sums_in_chunks_need_few_rows_at_once(monkeypatch, chunk_rows):
    monkeypatch.setattr("svmbook.rows.CHUNK_ROWS", chunk_rows)
    sizes, values = [], np.arange(14.0).reshape(7, 2)

    def square(part):
        sizes.append(len(part))
        return part**2

    squares = blocks_of([values[:2], values[2:]]).map(square, by_row=True)
    columns = sum_rows(lambda part: part.sum(axis=0), squares, by_row=True)
    np.testing.assert_array_equal(columns, (values**2).sum(axis=0))
    assert max(sizes) == min(chunk_rows, 5) and sum(sizes) == 7


def test_other_sums_get_whole_blocks(monkeypatch):
    monkeypatch.setattr("svmbook.rows.CHUNK_ROWS", 1)
    parts = [np.arange(3.0), np.arange(5.0)]
    assert sum_rows(lambda part: np.array([len(part), 1]), blocks_of(parts)).tolist() == [8, 2]
    numbered = map_rows(operator.mul, blocks_of(parts), Blocks([1, 10]), keep=False, by_row=True)
    assert sum_rows(np.sum, numbered, by_row=True) == 103.0  # a number has no rows
    functions = [
        lambda: sum_rows(len, blocks_of(parts), by_row=False),
        lambda: sum_rows(np.sum, blocks_of(parts), by_row=True),
    ]
    assert run_together(functions) == [8, 13.0]


def test_functions_that_run_together_share_their_passes():
    n_reads = []

    def read(part):
        n_reads.append(len(part))
        return part

    blocks = blocks_of(np.split(np.arange(6.0), 2)).map(read)

    def repeated_sum(n):
        return [float(sum_rows(np.sum, blocks)) for _ in range(n)]

    results = run_together([lambda n=n: repeated_sum(n) for n in (1, 3, 2)])
    assert results == [[15.0], [15.0] * 3, [15.0] * 2]
    assert n_reads == [3] * 6  # three passes over two blocks


def test_an_error_in_a_shared_pass_reaches_the_caller():
    def fail(part):
        raise ZeroDivisionError("in a block")

    blocks = blocks_of(np.split(np.arange(6.0), 2))
    functions = [lambda: sum_rows(np.sum, blocks), lambda: sum_rows(fail, blocks)]
    with pytest.raises(ZeroDivisionError, match="in a block"):
        run_together(functions)


def test_an_error_in_one_function_ends_the_others_at_their_next_sum():
    n_sums = []

    def fail():
        raise ZeroDivisionError("in a function")

    def add_many():
        for k in range(100):
            n_sums.append(k)
            sum_rows(np.sum, blocks_of([np.ones(2)]))

    with pytest.raises(ZeroDivisionError, match="in a function"):
        run_together([add_many, fail, add_many])
    assert len(n_sums) <= 4


def test_an_error_after_a_sum_is_not_replaced():
    def fail_after_a_sum():
        sum_rows(np.sum, blocks_of([np.ones(2)]))
        raise ZeroDivisionError("after a sum")

    def add_once():
        return sum_rows(np.sum, blocks_of([np.ones(2)]))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(30):
            with pytest.raises(ZeroDivisionError, match="after a sum"):
                run_together([fail_after_a_sum, *[add_once] * 20])
    finally:
        sys.setswitchinterval(interval)


def test_an_interruption_between_passes_ends_all_functions():
    has_started = threading.Event()

    def wait_and_add():
        has_started.set()
        time.sleep(0.5)
        sum_rows(np.sum, blocks_of([np.ones(2)]))

    def interrupt():
        has_started.wait()
        signal.raise_signal(signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):  # at the end, all threads have ended
        run_together([wait_and_add, wait_and_add])
    interrupter.join()


def test_blocks_of_different_numbers_are_an_error():
    with pytest.raises(ValueError, match="shorter"):
        map_rows(operator.sub, Blocks([1, 2]), Blocks([1]))


def test_selected_blocks_remain():
    assert Blocks([1, 2, 3]).select([True, False, True]).gather() == [1, 3]


@pytest.fixture
def released(monkeypatch):
    """The parts of all blocks that are released, in order."""
    released_parts = []
    monkeypatch.setattr(Blocks, "release", lambda blocks: released_parts.append(blocks.parts))
    return released_parts


def test_blocks_persisted_in_a_context_are_released_at_its_end(released):
    with release_at_end():
        first = map_rows(operator.neg, Blocks([1, 2]))
        del_later = map_rows(operator.neg, Blocks([3]))
        del del_later  # blocks that nobody can use any more are released by Dask
        selected = first.select([True, False])
    assert sorted(released, key=len) == [selected.parts, first.parts]
    map_rows(operator.neg, Blocks([1]))  # outside the context
    assert len(released) == 2


def test_persisted_values_that_only_other_blocks_use_are_released(released):
    with release_at_end():
        mapped = map_rows(operator.neg, Blocks([1, 2])).map(operator.neg)
    assert len(released) == 1 and mapped.gather() == [1, 2]


def test_blocks_of_the_caller_are_not_released(released):
    with release_at_end():
        selected = Blocks([1, 2]).select([True, False])
    assert selected.parts == [1] and not released
