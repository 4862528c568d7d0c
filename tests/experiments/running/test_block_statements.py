"""Statements of the book about training on data in blocks hold in the committed records."""

import numpy as np
import pytest

from svmbook.experiments import load_records

BLOCK_GIBIBYTES = 100_000 * 8 / 2**30  # per column


def fits(**selection):
    records = [r for r in load_records("bench_blocks") if r["method"] == "fit"]
    return [r for r in records if selection.items() <= r.items()]


def single_fit(**selection):
    (record,) = fits(**selection)
    return record


SOURCES = ["Parquet", "memory map"]


def test_all_fits_are_certified():
    assert fits() and all(r["converged"] and r["relative_gap"] <= 1e-4 for r in fits())


@pytest.mark.parametrize("source", SOURCES)
def test_ten_million_rows_need_little_time_and_memory(source):
    record = single_fit(problem="linear", source=source, n=10**7)
    assert record["seconds"] <= 240
    assert record["worker_gibibytes"] < 2 and record["client_gibibytes"] < 1


@pytest.mark.parametrize("source", SOURCES)
def test_time_grows_in_proportion_to_the_rows(source):
    small, large = (
        single_fit(problem="linear", source=source, n=n)["seconds"] for n in (10**5, 10**7)
    )
    assert np.log10(large / small) / 2 <= 1.05


def test_dask_takes_at_most_half_as_long_again_as_the_solver_in_memory():
    in_memory = single_fit(problem="linear", source="memory", n=10**6)
    for source in ("memory map", "workers' memory"):
        record = single_fit(problem="linear", source=source, n=10**6)
        assert record["seconds"] <= 1.5 * in_memory["seconds"]


def test_objectives_agree_with_those_in_memory():
    records = fits(problem="linear", n=10**6)
    objectives = {r["source"]: r["objective"] for r in records}
    assert {*objectives} == {*SOURCES, "workers' memory", "memory"}
    assert max(objectives.values()) / min(objectives.values()) - 1 <= 1e-4


def test_a_worker_needs_at_most_ten_blocks():
    for record in fits():
        if record["source"] == "memory map" and record["problem"] == "linear":
            growth = record["worker_gibibytes"] - record["idle_worker_gibibytes"]
            values_per_point = 3 * record["n"] / 2 * 8 / 2**30
            assert growth <= 10 * 54 * BLOCK_GIBIBYTES + values_per_point


def test_killed_workers_change_nothing():
    (record,) = (r for r in load_records("bench_blocks") if r["method"] == "kills")
    assert len(record["seconds_with_kills"]) == 10 and record["n_late"] <= 1
    assert record["largest_difference"] <= 1e-9 * record["largest_coef"]
    assert record["converged"]


def test_ten_values_by_five_folds_need_at_most_ten_fits():
    (record,) = (r for r in load_records("bench_blocks") if r["method"] == "paths")
    assert record["seconds"] <= 10 * record["fit_seconds"]
    assert record["relative_gap"] <= 1e-4
    assert record["worker_gibibytes"] < 2 and record["client_gibibytes"] < 1
