"""Committed records are reproduced by the current code: the fastest runs of suites and methods."""

import pytest
from records import (
    exact_and_close_fields,
    fastest_record,
    fastest_records,
    fields_of_repeated_fastest_run,
    repeat_run,
    skip_if_sklearn_differs,
)

from svmbook.datasets import find_table_file
from svmbook.experiments import load_records
from svmbook.experiments.suites import SUITES, find_suite

# Longest time of a committed run that is repeated in each test run, and nightly.
MAX_SECONDS, MAX_NIGHTLY_SECONDS = 0.05, 5.0


@pytest.fixture(autouse=True)
def skip_with_another_sklearn(name):
    """Skip each test of a suite whose records were made with another scikit-learn."""
    skip_if_sklearn_differs(load_records(name)[0])


def is_close(new, stored):
    """Return whether results agree, except for a few points near a boundary.

    On another computer, rounding may move such points to the other side.
    """
    if isinstance(stored, dict):
        return new.keys() == stored.keys() and is_close([*new.values()], [*stored.values()])
    if isinstance(stored, list):
        return len(new) == len(stored) and all(map(is_close, new, stored))
    return abs(new - stored) <= (3 if isinstance(stored, int) else 0.005)


def difference_messages(new_fields, record):
    """Return a list with a message if new fields differ from those of a record, else no message.

    ``new_fields`` is a pair, the `exact_and_close_fields` of the repeated run.
    """
    (new_exact, new_close), (exact, close) = new_fields, exact_and_close_fields(record)
    if new_exact == exact and is_close(new_close, close):
        return []
    return [f"{new_exact | new_close}, not {exact | close}"]


def is_available(suite, data_set):
    """Return whether a data set is generated, or a table on this computer."""
    return (
        data_set not in suite.data_tables
        or find_table_file(suite.data_tables[data_set]) is not None
    )


@pytest.mark.parametrize("name", SUITES)
def test_fastest_run_of_each_suite_reproduces_its_committed_record(name):
    record = fastest_record(find_suite(name))
    messages = difference_messages(fields_of_repeated_fastest_run(name, record["method"]), record)
    assert not messages, (
        f"renew the records: rm book/results/{name}.jsonl; svmbook reproduce {name}\n{messages[0]}"
    )


@pytest.mark.parametrize("name", SUITES)
def test_fastest_run_of_each_method_if_quick_reproduces_its_committed_record(name):
    suite, messages = find_suite(name), []
    for method in sorted({record["method"] for record in load_records(name)}):
        record = fastest_record(suite, method)
        seconds = sum(record[field] for field in record if field.endswith("seconds"))
        if is_available(suite, record["data_set"]) and seconds < MAX_SECONDS:
            messages += difference_messages(fields_of_repeated_fastest_run(name, method), record)
    assert not messages, "\n".join(messages)


@pytest.mark.nightly  # takes minutes for a suite with many tables
@pytest.mark.parametrize("name", SUITES)
def test_fastest_run_of_each_method_and_data_set_reproduces_its_committed_record(name):
    suite, messages = find_suite(name), []
    for record in fastest_records(suite):
        if record["seconds"] < MAX_NIGHTLY_SECONDS and is_available(suite, record["data_set"]):
            messages += difference_messages(
                exact_and_close_fields(repeat_run(suite, record)), record
            )
    assert not messages, "\n".join(messages)
