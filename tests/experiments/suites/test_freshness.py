"""Committed records are those that today's code makes: the cheapest run of each suite, again."""

import pytest
from records import carry_out_again, cheapest, split

from svmbook.experiments.suites import SUITES, find_suite


def is_same(again, stored):
    """Compare results; on another machine points at a boundary may change sides, but few do."""
    if isinstance(stored, dict):
        return again.keys() == stored.keys() and is_same([*again.values()], [*stored.values()])
    if isinstance(stored, list):
        return len(again) == len(stored) and all(map(is_same, again, stored))
    return abs(again - stored) <= (3 if isinstance(stored, int) else 0.005)


@pytest.mark.parametrize("name", SUITES)
def test_the_cheapest_run_comes_out_as_it_is_committed(name):
    suite = find_suite(name)
    record = cheapest(suite)
    again = carry_out_again(suite, record)
    (exact, near), (exact_before, near_before) = split(again), split(record)
    command = f"rm book/results/{name}.jsonl; svmbook reproduce {name}"
    assert exact == exact_before, f"stale records; renew them by: {command}"
    assert is_same(near, near_before), f"{near}, not {near_before}; renew the records by: {command}"
