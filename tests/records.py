"""Committed records, and stores made of some, for the tests of experiments."""

import warnings
from functools import cache

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning

from svmbook.datasets import find
from svmbook.experiments import load_records
from svmbook.experiments.running.store import Job, Store
from svmbook.experiments.suites import find_suite


def committed(suite, **wanted):
    """Return the first committed record with these fields."""
    return next(r for r in load_records(suite) if wanted.items() <= r.items())


@cache
def committed_values(suite, field="error", unit=1.0):
    """Return a field by data set and method, in the order of all runs, where it is recorded."""
    found = {}
    for record in sorted(load_records(suite), key=lambda record: record["run"]):
        if field in record:
            line = found.setdefault((record["data_set"], record["method"]), {})
            line[record["run"]] = unit * record[field]
    assert all([*line] == [*range(find_suite(suite).runs)] for line in found.values())
    return {name: np.array([*line.values()]) for name, line in found.items()}


def store_of(path, records):
    """Return a store that holds some records."""
    store = Store(path)
    for record in records:
        store.append(record)
    return store


def needs_table(name):
    """Skip the test where a table is not on this machine."""
    if find(name) is None:
        pytest.skip(f"the table {name} is not on this machine; set SVMBOOK_DATA")


def needs_versions(record):
    """Skip the test where a record was made with another scikit-learn, whose trees may differ."""
    if f"scikit-learn {sklearn.__version__}," not in record["versions"]:
        pytest.skip("the records were made with another version of scikit-learn")


def untimed(records):
    """Return records by job, without the seconds."""
    return {
        (r["suite"], r["data_set"], r["method"], r["run"]): {
            key: value for key, value in r.items() if not key.endswith("seconds")
        }
        for r in records
    }


def lines(path):
    """Return the number of whole lines of a file."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def cheapest(suite, method=None):
    """Return the record that took the least time, of generated data where the suite has any."""
    return min(
        (r for r in load_records(suite.name) if method in (None, r["method"])),
        key=lambda r: (r["data_set"] in suite.tables, r["seconds"]),
    )


def cheapest_of_each_line(suite):
    """Return for each method on each data set the record that took the least time."""
    found = {}
    for record in sorted(load_records(suite.name), key=lambda r: r["seconds"]):
        found.setdefault((record["data_set"], record["method"]), record)
    return list(found.values())


def carry_out_again(suite, record):
    """Return the result of a run, made now; skip the test where its table is not here."""
    if record["data_set"] in suite.tables:
        needs_table(suite.tables[record["data_set"]])
    with warnings.catch_warnings():  # the records say what came of it all the same
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The least populated class in y")  # of glass
        return suite.run_job(Job(*(record[field] for field in Job._fields)))


@cache
def cheapest_again(name, method):
    """Return what a method's cheapest run records now, in parts; tests of a process share it."""
    suite = find_suite(name)
    return split(carry_out_again(suite, cheapest(suite, method)))


def split(record):
    """Return what is exactly the same on every machine, and what is nearly; no times."""
    exact = {key: record[key] for key in (*Job._fields, "seed", "parameters")}
    rest = record.keys() - exact.keys() - {"versions"}
    return exact, {key: record[key] for key in sorted(rest) if not key.endswith("seconds")}
