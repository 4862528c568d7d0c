"""Runs on data moved by a relative 1e-15 record the same results."""

import pytest
from perturbation import DRAWS, perturb_sources
from records import carry_out_again, cheapest, cheapest_again, split

from svmbook.experiments import load_records
from svmbook.experiments.suites import SUITES, find_suite

QUICK, BEARABLE = 0.1, 3.0  # seconds of a run, by its record
# Programs that cut features into bins at the values themselves: a table is the same on each
# processor, and so are their bins.
BINNING = ("boosted trees", "explainable boosting")


def runs(suite):
    """Return the cheapest record of each method, the cheapest of all first."""
    methods = {record["method"] for record in load_records(suite.name)}
    records = [cheapest(suite, m) for m in sorted(methods) if not m.startswith(BINNING)]
    return sorted(records, key=lambda r: (r["data_set"] in suite.tables, r["seconds"]))


def differences(suite, record, draws, monkeypatch):
    """Return what a run records on its data, and on the same data perturbed, where that differs."""
    plain, found = cheapest_again(suite.name, record["method"]), []
    for draw in draws:
        with monkeypatch.context() as patch:
            perturb_sources(draw, patch.setattr)
            again = split(carry_out_again(suite, record))
        if again != plain:
            found.append(f"{record['method']}, {record['data_set']}: {again}, not {plain}")
    return found


@pytest.mark.parametrize("name", SUITES)
def test_the_cheapest_run_does_not_hang_on_the_last_bits_of_its_data(name, monkeypatch):
    suite = find_suite(name)
    record = runs(suite)[0]
    draws = DRAWS if record["seconds"] < QUICK else DRAWS[:1]
    assert not differences(suite, record, draws, monkeypatch)


# In each `make test` stays the cheapest run of the suite, above, on one draw where it is not quick.
@pytest.mark.nightly
@pytest.mark.parametrize("name", SUITES)
def test_the_cheapest_run_of_each_method_does_not_either(name, monkeypatch):
    suite, found = find_suite(name), []
    for record in runs(suite):
        if record["seconds"] < BEARABLE:
            found += differences(suite, record, DRAWS, monkeypatch)
    assert not found, "\n".join(found)
