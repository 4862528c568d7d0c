"""Committed records are those that today's code makes: the cheapest run of each suite, again."""

import pytest
from records import (
    carry_out_again,
    cheapest,
    cheapest_again,
    cheapest_of_each_line,
    needs_versions,
    split,
)

from svmbook.datasets import find
from svmbook.experiments import load_records
from svmbook.experiments.suites import SUITES, find_suite

QUICK, BEARABLE = 0.05, 5.0  # seconds of a run, by its record


@pytest.fixture(autouse=True)
def same_libraries(name):
    """Skip each test of a suite whose records were made with other libraries."""
    needs_versions(load_records(name)[0])


def is_same(again, stored):
    """Compare results; on another machine points at a boundary may change sides, but few do."""
    if isinstance(stored, dict):
        return again.keys() == stored.keys() and is_same([*again.values()], [*stored.values()])
    if isinstance(stored, list):
        return len(again) == len(stored) and all(map(is_same, again, stored))
    return abs(again - stored) <= (3 if isinstance(stored, int) else 0.005)


def stale(again, record):
    """Return what a run recorded now, in two parts, where that differs from its record."""
    (exact, near), (exact_before, near_before) = again, split(record)
    if exact == exact_before and is_same(near, near_before):
        return []
    return [f"{exact | near}, not {exact_before | near_before}"]


@pytest.mark.parametrize("name", SUITES)
def test_the_cheapest_run_comes_out_as_it_is_committed(name):
    record = cheapest(find_suite(name))
    found = stale(cheapest_again(name, record["method"]), record)
    assert not found, f"renew: rm book/results/{name}.jsonl; svmbook reproduce {name}\n{found[0]}"


@pytest.mark.parametrize("name", SUITES)
def test_quick_runs_of_each_method_come_out_as_they_are_committed(name):
    suite, found = find_suite(name), []
    for method in sorted({record["method"] for record in load_records(name)}):
        record = cheapest(suite, method)
        here = record["data_set"] not in suite.tables or find(suite.tables[record["data_set"]])
        if here and sum(record[name] for name in record if name.endswith("seconds")) < QUICK:
            found += stale(cheapest_again(name, method), record)
    assert not found, "\n".join(found)


@pytest.mark.nightly  # minutes, for a suite of many tables
@pytest.mark.parametrize("name", SUITES)
def test_a_run_of_each_line_comes_out_as_it_is_committed(name):
    suite, found = find_suite(name), []
    for record in cheapest_of_each_line(suite):
        table = suite.tables.get(record["data_set"])
        if record["seconds"] < BEARABLE and (table is None or find(table)):
            found += stale(split(carry_out_again(suite, record)), record)
    assert not found, "\n".join(found)
