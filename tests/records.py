"""Committed records, repeated runs and small stores for the tests of the experiments."""

import warnings
from functools import cache

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning

from svmbook.datasets import find_table_file
from svmbook.experiments import load_records
from svmbook.experiments.running.store import Job, Store
from svmbook.experiments.suites import find_suite

#: Arguments of ``svmbook`` for an experiment whose runs are fast.
REPRODUCE_ARGUMENTS = [
    "reproduce",
    "exploring-parameters",
    "--datasets",
    "stdev2",
    "--methods",
    "linear",
]


def committed_record(suite_name, **fields):
    """Return the first committed record with these fields."""
    return next(r for r in load_records(suite_name) if fields.items() <= r.items())


@cache
def committed_values(suite_name, field="error", factor=1.0):
    """Return `factor` times a field as an array over runs, by (data set, method).

    Methods without this field are left out.
    """
    values = {}
    for record in sorted(load_records(suite_name), key=lambda record: record["run"]):
        if field in record:
            values_by_run = values.setdefault((record["data_set"], record["method"]), {})
            values_by_run[record["run"]] = factor * record[field]
    runs = [*range(find_suite(suite_name).n_runs)]
    assert all([*values_by_run] == runs for values_by_run in values.values())
    return {key: np.array([*values_by_run.values()]) for key, values_by_run in values.items()}


def make_store(path, records):
    """Return a new store with these records."""
    store = Store(path)
    for record in records:
        store.append(record)
    return store


def skip_without_table(name):
    """Skip the test if a table is not on this computer."""
    if find_table_file(name) is None:
        pytest.skip(f"the table {name} is not on this computer; set SVMBOOK_DATA")


def skip_if_sklearn_differs(record):
    """Skip the test if a record was made with another scikit-learn, whose trees may differ."""
    if f"scikit-learn {sklearn.__version__}," not in record["versions"]:
        pytest.skip("the records were made with another version of scikit-learn")


def records_without_times(records):
    """Return the records without their times, by (suite, data set, method, run)."""
    return {
        (r["suite"], r["data_set"], r["method"], r["run"]): {
            key: value for key, value in r.items() if not key.endswith("seconds")
        }
        for r in records
    }


def count_lines(path):
    """Return the number of complete lines of a file."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def fastest_record(suite, method=None):
    """Return the record of the fastest run, on generated data if the suite has any."""
    return min(
        (r for r in load_records(suite.name) if method in (None, r["method"])),
        key=lambda r: (r["data_set"] in suite.data_tables, r["seconds"]),
    )


def fastest_records(suite):
    """Return the record of the fastest run for each method on each data set."""
    fastest = {}
    for record in sorted(load_records(suite.name), key=lambda r: r["seconds"]):
        fastest.setdefault((record["data_set"], record["method"]), record)
    return list(fastest.values())


def repeat_run(suite, record):
    """Return a new record of the same run; skip the test if its table is not on this computer."""
    if record["data_set"] in suite.data_tables:
        skip_without_table(suite.data_tables[record["data_set"]])
    with warnings.catch_warnings():  # the committed run had the same warnings
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The least populated class in y")  # in glass
        return suite.run_job(Job(*(record[field] for field in Job._fields)))


def check_repeated_run(suite_name, tolerances, **fields):
    """Repeat the first committed run with these fields; compare results within tolerances."""
    record = committed_record(suite_name, **fields)
    new_record = repeat_run(find_suite(suite_name), record)
    assert exact_and_close_fields(new_record)[0] == exact_and_close_fields(record)[0]
    assert {key: new_record.get(key) for key in tolerances} == {
        key: pytest.approx(record.get(key), abs=tol) for key, tol in tolerances.items()
    }


@cache
def fields_of_repeated_fastest_run(suite_name, method):
    """Repeat a method's fastest run; return its `exact_and_close_fields`, cached for all tests."""
    suite = find_suite(suite_name)
    return exact_and_close_fields(repeat_run(suite, fastest_record(suite, method)))


def exact_and_close_fields(record):
    """Return the fields that must be equal on all computers, and those that need only be close."""
    exact = {key: record[key] for key in (*Job._fields, "seed", "parameters")}
    other_keys = record.keys() - exact.keys() - {"versions"}
    return exact, {key: record[key] for key in sorted(other_keys) if not key.endswith("seconds")}
