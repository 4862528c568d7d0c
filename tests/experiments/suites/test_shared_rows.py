"""No table of a suite holds rows of another one, but for two that the thesis of Lin prints both."""

from itertools import combinations

import numpy as np
import pytest
from records import needs_table

from svmbook.datasets import load
from svmbook.experiments.suites import SUITES, find_suite

MUCH = 0.05  # of the rows of the smaller table: a few may be equal by chance
PRINTED_BOTH = {("cleveland", "heart")}


def rows(table):
    """Return the rows of numbers that a table has, as a set of tuples."""
    return {tuple(row) for row in np.nan_to_num(table, nan=-99.0).tolist()}


def share_rows(first, second):
    """Look for rows of the table with fewer columns in the other one, less one of its columns."""
    few, many = sorted((first, second), key=lambda table: table.shape[1])
    if many.shape[1] - few.shape[1] > 1:
        return False
    whole = few.shape[1] == many.shape[1]
    others = [many] if whole else [np.delete(many, j, axis=1) for j in range(many.shape[1])]
    least = MUCH * min(len(few), len(many))
    return any(len(rows(few) & rows(other)) > least for other in others)


def test_shared_rows_are_found():
    rng = np.random.default_rng(0)
    first, second = rng.random((40, 3)), rng.random((50, 3))
    assert not share_rows(first, second)
    second[:4] = first[:4]
    assert share_rows(first, second)
    with_numbers = np.column_stack([np.arange(40.0), first])
    assert share_rows(first, with_numbers) and share_rows(with_numbers, first)


@pytest.mark.parametrize("name", SUITES)
def test_no_table_of_a_suite_holds_rows_of_another(name):
    suite = find_suite(name)
    tables = sorted(set(suite.tables.values()) | ({*suite.data_sets} & {"wdbc", "digits"}))
    for table in tables:
        needs_table(table)
    data = {table: load(table).data for table in tables}
    shared = {pair for pair in combinations(tables, 2) if share_rows(*map(data.get, pair))}
    assert shared <= (PRINTED_BOTH if name.startswith("lin2005") else set())
