"""Runs on data with relative perturbations of 1e-15 have the same records, except for times."""

import pytest
from perturbation import SEEDS, perturb_sources
from records import (
    exact_and_close_fields,
    fastest_record,
    fields_of_repeated_fastest_run,
    repeat_run,
)

from svmbook.experiments import load_records
from svmbook.experiments.suites import SUITES, find_suite

# Longest time of a committed run that is repeated with all seeds, and nightly.
MAX_SECONDS_WITH_ALL_SEEDS, MAX_NIGHTLY_SECONDS = 0.1, 3.0
# First words of the methods that bin features at observed values. A perturbation would change their
# bins, whereas all processors read the same values from a table.
BINNING_METHOD_PREFIXES = ("boosted trees", "explainable boosting")


def fastest_record_of_each_method(suite):
    """Return the record of each method's fastest run, generated data first, then by time.

    Methods that bin features are left out.
    """
    methods = {record["method"] for record in load_records(suite.name)}
    records = [
        fastest_record(suite, m)
        for m in sorted(methods)
        if not m.startswith(BINNING_METHOD_PREFIXES)
    ]
    return sorted(records, key=lambda r: (r["data_set"] in suite.data_tables, r["seconds"]))


def perturbation_messages(suite, record, seeds, monkeypatch):
    """Return a message for each perturbation of the data that changes the record."""
    unperturbed, messages = fields_of_repeated_fastest_run(suite.name, record["method"]), []
    for seed in seeds:
        with monkeypatch.context() as patch:
            perturb_sources(seed, patch.setattr)
            perturbed = exact_and_close_fields(repeat_run(suite, record))
        if perturbed != unperturbed:
            run = f"{record['method']}, {record['data_set']}"
            messages.append(f"{run}: {perturbed}, not {unperturbed}")
    return messages


@pytest.mark.parametrize("name", SUITES)
def test_fastest_run_does_not_depend_on_the_last_bits_of_its_data(name, monkeypatch):
    suite = find_suite(name)
    record = fastest_record_of_each_method(suite)[0]
    seeds = SEEDS if record["seconds"] < MAX_SECONDS_WITH_ALL_SEEDS else SEEDS[:1]
    assert not perturbation_messages(suite, record, seeds, monkeypatch)


# `make test` runs only the test above; if the fastest run is slow, it is perturbed only once.
@pytest.mark.nightly
@pytest.mark.parametrize("name", SUITES)
def test_fastest_run_of_each_method_does_not_depend_on_the_last_bits(name, monkeypatch):
    suite, messages = find_suite(name), []
    for record in fastest_record_of_each_method(suite):
        if record["seconds"] < MAX_NIGHTLY_SECONDS:
            messages += perturbation_messages(suite, record, SEEDS, monkeypatch)
    assert not messages, "\n".join(messages)
