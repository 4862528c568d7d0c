"""A check that a committed run can be repeated, for the tests of several suites."""

import pytest
from records import committed

from svmbook.experiments.suites import find_suite


def check_repeated_run(name, tolerances, **fields):
    """Repeat the first committed run with these fields, and compare results within tolerances."""
    record = committed(name, **fields)
    new = find_suite(name).work(record["data_set"], record["method"], record["run"])
    assert (new["seed"], new["parameters"]) == (record["seed"], record["parameters"])
    for key, tol in tolerances.items():
        assert new.get(key) == pytest.approx(record.get(key), abs=tol), key
