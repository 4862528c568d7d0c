"""Committed records are those that today's code makes: the cheapest run of each suite, again."""

import pytest
from records import needs_table

from svmbook.experiments import load_records
from svmbook.experiments.running.store import Job
from svmbook.experiments.suites import SUITES, find_suite


def cheapest(suite):
    """Return the record that took the least time, of generated data where the suite has any."""
    return min(
        load_records(suite.name), key=lambda r: (r["data_set"] in suite.tables, r["seconds"])
    )


def is_same(again, stored):
    """Compare results; on another machine points at a boundary may change sides, but few do."""
    if isinstance(stored, dict):
        return again.keys() == stored.keys() and is_same([*again.values()], [*stored.values()])
    if isinstance(stored, list):
        return len(again) == len(stored) and all(map(is_same, again, stored))
    return abs(again - stored) <= (3 if isinstance(stored, int) else 0.005)


def split(record):
    """Return what is exactly the same on every machine, and what is nearly; no times."""
    exact = {key: record[key] for key in (*Job._fields, "seed", "parameters")}
    rest = record.keys() - exact.keys() - {"versions"}
    return exact, {key: record[key] for key in sorted(rest) if not key.endswith("seconds")}


@pytest.mark.parametrize("name", SUITES)
def test_the_cheapest_run_comes_out_as_it_is_committed(name):
    suite = find_suite(name)
    record = cheapest(suite)
    if record["data_set"] in suite.tables:
        needs_table(suite.tables[record["data_set"]])
    again = suite.carry_out(Job(*(record[field] for field in Job._fields)))
    (exact, near), (exact_before, near_before) = split(again), split(record)
    command = f"rm book/results/{name}.jsonl; svmbook reproduce {name}"
    assert exact == exact_before, f"stale records; renew them by: {command}"
    assert is_same(near, near_before), f"{near}, not {near_before}; renew the records by: {command}"
