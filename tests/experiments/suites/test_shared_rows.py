"""No two tables of a suite share rows, except for two tables, both of which Lin (2005) uses."""

from itertools import combinations

import numpy as np
import pytest
from records import skip_without_table

from svmbook.datasets import load
from svmbook.experiments.suites import SUITES, find_suite

LARGE_SHARE = 0.05  # of the rows of the smaller table; a few rows may be equal by chance
PAIRS_WITH_SHARED_ROWS = {("cleveland", "heart")}


def rows(table):
    """Return the rows of a table as a set of tuples."""
    return {tuple(row) for row in np.nan_to_num(table, nan=-99.0).tolist()}


def share_rows(first, second):
    """Return whether tables share many rows, up to one column that only one of them has."""
    narrow, wide = sorted((first, second), key=lambda table: table.shape[1])
    if wide.shape[1] - narrow.shape[1] > 1:
        return False
    same_width = narrow.shape[1] == wide.shape[1]
    candidates = (
        [wide] if same_width else [np.delete(wide, j, axis=1) for j in range(wide.shape[1])]
    )
    max_shared = LARGE_SHARE * min(len(narrow), len(wide))
    return any(len(rows(narrow) & rows(candidate)) > max_shared for candidate in candidates)


def test_shared_rows_are_found():
    rng = np.random.default_rng(0)
    first, second = rng.random((40, 3)), rng.random((50, 3))
    assert not share_rows(first, second)
    second[:4] = first[:4]
    assert share_rows(first, second)
    numbered = np.column_stack([np.arange(40.0), first])
    assert share_rows(first, numbered) and share_rows(numbered, first)


@pytest.mark.parametrize("name", SUITES)
def test_tables_of_a_suite_share_no_rows(name):
    suite = find_suite(name)
    tables = sorted(set(suite.data_tables.values()) | ({*suite.data_sets} & {"wdbc", "digits"}))
    for table in tables:
        skip_without_table(table)
    data = {table: load(table).data for table in tables}
    shared = {pair for pair in combinations(tables, 2) if share_rows(*map(data.get, pair))}
    assert shared <= (PAIRS_WITH_SHARED_ROWS if name.startswith("lin2005") else set())
