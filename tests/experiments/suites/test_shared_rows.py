"""No two tables of a suite share many rows, except cleveland and heart, used by Lin (2005)."""

from itertools import combinations

import numpy as np
import pytest
from records import skip_without_table

from svmbook.datasets import load
from svmbook.experiments.suites import SUITES, find_suite

MAX_SHARED_FRACTION = 0.05  # of the rows of the smaller table; some are equal by chance
PAIRS_WITH_MANY_SHARED_ROWS = {("cleveland", "heart")}


def distinct_rows(array):
    """Return the distinct rows of an array as a set of tuples."""
    return {tuple(row) for row in np.nan_to_num(array, nan=-99.0).tolist()}


def share_many_rows(first, second):
    """Return whether two arrays share many rows, up to one column that only one of them has."""
    narrow, wide = sorted((first, second), key=lambda array: array.shape[1])
    if wide.shape[1] - narrow.shape[1] > 1:
        return False
    same_width = narrow.shape[1] == wide.shape[1]
    candidates = (
        [wide] if same_width else [np.delete(wide, j, axis=1) for j in range(wide.shape[1])]
    )
    max_shared = MAX_SHARED_FRACTION * min(len(narrow), len(wide))
    return any(
        len(distinct_rows(narrow) & distinct_rows(candidate)) > max_shared
        for candidate in candidates
    )


def test_many_shared_rows_are_found():
    rng = np.random.default_rng(0)
    first, second = rng.random((40, 3)), rng.random((50, 3))
    assert not share_many_rows(first, second)
    second[:4] = first[:4]
    assert share_many_rows(first, second)
    with_row_numbers = np.column_stack([np.arange(40.0), first])
    assert share_many_rows(first, with_row_numbers) and share_many_rows(with_row_numbers, first)


@pytest.mark.parametrize("name", SUITES)
def test_tables_of_a_suite_do_not_share_many_rows(name):
    suite = find_suite(name)
    table_names = sorted(
        set(suite.data_tables.values()) | ({*suite.data_sets} & {"wdbc", "digits"})
    )
    for table_name in table_names:
        skip_without_table(table_name)
    arrays = {table_name: load(table_name).data for table_name in table_names}
    sharing_pairs = {
        pair for pair in combinations(table_names, 2) if share_many_rows(*map(arrays.get, pair))
    }
    assert sharing_pairs <= (PAIRS_WITH_MANY_SHARED_ROWS if name.startswith("lin2005") else set())
