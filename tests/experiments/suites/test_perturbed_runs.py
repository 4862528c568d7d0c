"""Runs on data perturbed by a relative 1e-15 have the same records."""

import pytest
from perturbation import SEEDS, perturb_sources
from records import exact_and_close_fields, fastest_record, repeat_fastest_run, repeat_run

from svmbook.experiments import load_records
from svmbook.experiments.suites import SUITES, find_suite

QUICK_SECONDS, NIGHTLY_SECONDS = 0.1, 3.0  # longest runs, according to their records
# Methods that bin features at observed values: a perturbation would change their bins, whereas all
# processors read the same values from a table.
BINNING_METHODS = ("boosted trees", "explainable boosting")


def fastest_records_by_method(suite):
    """Return the record of each method's fastest run: generated data first, then by time."""
    methods = {record["method"] for record in load_records(suite.name)}
    records = [
        fastest_record(suite, m) for m in sorted(methods) if not m.startswith(BINNING_METHODS)
    ]
    return sorted(records, key=lambda r: (r["data_set"] in suite.data_tables, r["seconds"]))


def difference_messages(suite, record, seeds, monkeypatch):
    """Return a message for each perturbation of the data that changes the record."""
    unperturbed, messages = repeat_fastest_run(suite.name, record["method"]), []
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
    record = fastest_records_by_method(suite)[0]
    seeds = SEEDS if record["seconds"] < QUICK_SECONDS else SEEDS[:1]
    assert not difference_messages(suite, record, seeds, monkeypatch)


# `make test` has the fastest run of each suite, above, with one perturbation if it is slow.
@pytest.mark.nightly
@pytest.mark.parametrize("name", SUITES)
def test_fastest_run_of_each_method_does_not_depend_on_the_last_bits(name, monkeypatch):
    suite, messages = find_suite(name), []
    for record in fastest_records_by_method(suite):
        if record["seconds"] < NIGHTLY_SECONDS:
            messages += difference_messages(suite, record, SEEDS, monkeypatch)
    assert not messages, "\n".join(messages)
