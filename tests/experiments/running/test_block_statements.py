"""Statements of the book about training on data in blocks hold in the committed records."""

import numpy as np
import pytest

from svmbook.experiments import load_records

WORKER_GIBIBYTES = 2
BLOCK_GIBIBYTES = 100_000 * 8 / 2**30  # per column


def fits(**selection):
    records = [r for r in load_records("bench_blocks") if r["method"] == "fit"]
    return [r for r in records if selection.items() <= r.items()]


def single_fit(**selection):
    (record,) = fits(**selection)
    return record


SOURCES = ["Parquet", "memory map"]
MODELS = {
    "linear": {"problem": "linear"},
    "additive, hinge": {"problem": "additive", "loss": "hinge"},
    "additive, logistic": {"problem": "additive", "loss": "logistic"},
}


def test_all_fits_are_certified():
    assert fits() and all(r["converged"] and r["relative_gap"] <= 1e-4 for r in fits())


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("model", MODELS)
def test_ten_million_rows_need_little_time_and_memory(model, source):
    record = single_fit(**MODELS[model], source=source, n=10**7)
    assert record["seconds"] <= (240 if model == "linear" else 360)
    assert record["worker_gibibytes"] < WORKER_GIBIBYTES and record["client_gibibytes"] < 1


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("model", MODELS)
def test_time_grows_in_proportion_to_the_rows(model, source):
    small, large = (
        single_fit(**MODELS[model], source=source, n=n)["seconds"] for n in (10**5, 10**7)
    )
    assert np.log10(large / small) / 2 <= 1.05


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("source", ["memory map", "workers' memory"])
def test_dask_takes_at_most_half_as_long_again_as_the_solver_in_memory(model, source):
    in_memory = single_fit(**MODELS[model], source="memory", n=10**6)
    record = single_fit(**MODELS[model], source=source, n=10**6)
    assert record["seconds"] <= 1.5 * in_memory["seconds"]


# The knots of the additive models, quantiles, are estimated, but from a sample in memory.
@pytest.mark.parametrize(
    ("model", "tol"), [("linear", 1e-4), ("additive, hinge", 2e-4), ("additive, logistic", 2e-4)]
)
def test_objectives_agree_with_those_in_memory(model, tol):
    records = fits(**MODELS[model], n=10**6)
    objectives = {r["source"]: r["objective"] for r in records}
    assert {*objectives} == {*SOURCES, "workers' memory", "memory"}
    assert max(objectives.values()) / min(objectives.values()) - 1 <= tol


def test_a_worker_needs_at_most_ten_blocks():
    for record in fits():
        if record["source"] == "memory map" and record["problem"] == "linear":
            growth = record["worker_gibibytes"] - record["idle_worker_gibibytes"]
            gibibytes_per_column = record["n"] / 2 * 8 / 2**30
            is_kept = 54 * gibibytes_per_column <= WORKER_GIBIBYTES / 4
            n_columns = 3 + 54 * is_kept
            assert growth <= 10 * 54 * BLOCK_GIBIBYTES + n_columns * gibibytes_per_column


def test_killed_workers_change_nothing():
    (record,) = (r for r in load_records("bench_blocks") if r["method"] == "kills")
    assert len(record["seconds_with_kills"]) == 10 and record["n_late"] <= 1
    assert record["largest_difference"] <= 1e-9 * record["largest_coef"]
    assert record["converged"]


def test_ten_values_by_five_folds_need_at_most_ten_fits():
    (record,) = (r for r in load_records("bench_blocks") if r["method"] == "paths")
    assert record["seconds"] <= 10 * record["fit_seconds"]
    assert record["relative_gap"] <= 1e-4
    assert record["worker_gibibytes"] < WORKER_GIBIBYTES and record["client_gibibytes"] < 1


def peer(method, n):
    (record,) = (
        r for r in load_records("bench_block_peers") if (r["method"], r["n"]) == (method, n)
    )
    return record


@pytest.mark.parametrize("n", [10**5, 10**6, 10**7])
def test_the_certified_bound_holds_for_the_linear_svms_of_other_libraries(n):
    record = single_fit(problem="linear", source="memory map", n=n)
    bound = record["objective"] * (1 - record["relative_gap"])
    spark, sgd = (peer(m, n)["objective"] for m in ("LinearSVC (Spark)", "SGD (Dask-ML)"))
    assert bound <= spark <= 1.0001 * bound < sgd


def test_additive_models_need_less_memory_than_trees_at_ten_million_rows():
    own = [single_fit(**MODELS[m], source="memory map", n=10**7) for m in [*MODELS][1:]]
    largest = max(r["worker_gibibytes"] for r in own)
    assert largest < peer("XGBoost (Dask)", 10**7)["worker_gibibytes"]
    assert largest < peer("LightGBM (Dask)", 10**7)["worker_gibibytes"]
