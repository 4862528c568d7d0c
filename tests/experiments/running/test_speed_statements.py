"""The book's statements about speed agree with the committed measurements."""

import numpy as np
import pytest
from scipy.stats import gmean

from svmbook.experiments import load_records


def single_record(name, **fields):
    """Return the only record of a benchmark with these fields."""
    records = [record for record in load_records(name) if fields.items() <= record.items()]
    assert len(records) == 1, (name, fields, len(records))
    return records[0]


@pytest.mark.parametrize("features", ["scaled", "raw"])
def test_low_rank_form_is_100_times_as_fast_as_svc(features):
    problem = {"n": 5040, "C": 100.0, "features": features}
    ours = single_record("bench_linear", method="low-rank", **problem)
    theirs = single_record("bench_linear", method="SVC", **problem)
    assert ours["relative_gap"] <= 1e-6
    assert theirs["seconds"] >= 100 * ours["seconds"]


@pytest.mark.parametrize("features", ["scaled", "raw"])
def test_low_rank_form_takes_at_most_twice_the_time_of_a_thousand_linear_svc_passes(features):
    problem = {"n": 200_000, "C": 1.0, "features": features}
    ours = single_record("bench_linear", method="low-rank", **problem)
    theirs = single_record("bench_linear", method="LinearSVC", **problem)
    assert ours["relative_gap"] <= 1e-6
    assert ours["memory_over_data"] <= 4
    assert ours["seconds"] < theirs["seconds"] * (1 if features == "scaled" else 2)
    assert theirs["relative_excess"] > 1e-6
    assert not theirs["converged"]


def test_low_rank_form_takes_no_longer_than_ten_thousand_linear_svc_passes():
    problem = {"n": 200_000, "C": 1.0, "features": "raw"}
    ours = single_record("bench_linear", method="low-rank", **problem)
    theirs = single_record("bench_linear", method="LinearSVC, 10,000 passes", **problem)
    assert theirs["relative_excess"] <= 1e-6
    assert ours["seconds"] <= theirs["seconds"]


def test_time_of_low_rank_form_is_nearly_linear_in_the_number_of_points():
    small_seconds, large_seconds = (
        single_record("bench_linear", n=n, C=1.0, features="scaled", method="low-rank")["seconds"]
        for n in (50_000, 200_000)
    )
    assert np.log(large_seconds / small_seconds) / np.log(4) <= 1.2


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize(("n", "method", "factor"), [(1000, "textbook", 4), (1500, "sparse G", 1)])
def test_dense_form_is_faster_than_cvxopt(C, n, method, factor):
    ours = single_record("bench_dense", n=n, C=C, method="dense")
    theirs = single_record("bench_dense", n=n, C=C, method=method)
    assert theirs["seconds"] >= factor * ours["seconds"]


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_iteration_of_the_dense_form_takes_at_most_1_5_times_as_long_as_cholesky(C):
    record = single_record("bench_dense", n=4000, C=C, method="dense iteration over Cholesky")
    assert record["iteration_over_cholesky"] <= 1.5


@pytest.mark.parametrize("data", ["threenorm", "ringnorm"])
@pytest.mark.parametrize("n", [180, 300, 600])
def test_grid_search_makes_the_same_choice_and_is_not_slower(data, n):
    ours = single_record("bench_grid", data=data, n=n, method="shared distances")
    for method in ("built-in kernel", "callable kernel"):
        theirs = single_record("bench_grid", data=data, n=n, method=method)
        assert theirs["seconds"] >= ours["seconds"]
        assert [theirs[key] for key in ("C", "gamma")] == [ours[key] for key in ("C", "gamma")]


# --- active sets ----------------------------------------------------------------------------


def active_set_records(table):
    records = [record for record in load_records("bench_active") if record["table"] == table]
    assert records
    return records


def mean_time_ratio_of_libsvm(records, *, default_tol=False):
    """Return the geometric mean of LIBSVM's time over that of the active-set method.

    LIBSVM runs with its default tolerance if ``default_tol``, else with that of the benchmark.
    """
    key = "default_libsvm_over_active_set" if default_tol else "libsvm_over_active_set"
    return gmean([record[key] for record in records])


def gaussian_fits(n, n_threads=1):
    """Return the fits to labels with signal; oneDAL uses both cores in any case."""
    records = [r for r in load_records("bench_gaussian") if r["data"] != "no signal"]
    fits = [r for r in records if (r["n"], r["n_threads"]) == (n, n_threads)]
    assert len(fits) == 7 * 2 * 5
    if "tight_onedal_seconds" not in fits[0]:
        one_core_fits = gaussian_fits(n)
        for record, other in zip(fits, one_core_fits, strict=True):
            assert all(record[key] == other[key] for key in ("data", "gamma_factor", "C"))
            record["tight_onedal_seconds"] = other["tight_onedal_seconds"]
    return fits


def mean_time_ratio(records, peer):
    """Return the geometric mean of the time of `DualSVC` over that of another method."""
    return gmean([record["seconds"] / record[peer] for record in records])


ONE_CORE = [(n, 1) for n in (500, 2000, 6000, 10_000, 20_000)]
TWO_CORES = [(n, 2) for n in (500, 2000, 6000, 10_000, 20_000)]


@pytest.mark.parametrize(("n", "n_threads"), ONE_CORE + TWO_CORES)
def test_whole_fits_are_certified_and_on_average_as_fast_as_loose_libsvm(n, n_threads):
    fits = gaussian_fits(n, n_threads)
    # With two cores, 500 points take a few milliseconds, which the second core does not shorten.
    max_mean, max_ratio = (1.05, 1.6) if (n, n_threads) == (500, 2) else (1.0, 1.5)
    assert max(record["relative_gap"] for record in fits) <= 1e-9
    assert max(record["seconds"] / record["libsvm_seconds"] for record in fits) <= max_ratio
    assert mean_time_ratio(fits, "libsvm_seconds") <= max_mean


@pytest.mark.parametrize(("n", "n_threads"), ONE_CORE + TWO_CORES)
@pytest.mark.parametrize("peer", ["tight_libsvm_seconds", "tight_onedal_seconds"])
def test_whole_fits_are_faster_than_peers_with_a_small_tolerance(n, n_threads, peer):
    max_ratio = 0.85 if n == 500 else 2 / 3
    if (n, n_threads, peer) == (20_000, 1, "tight_onedal_seconds"):
        max_ratio = 0.7  # oneDAL uses both cores
    assert mean_time_ratio(gaussian_fits(n, n_threads), peer) <= max_ratio


def many_points_fits(method, n_threads=1):
    """Return the fits of a method, the last one for each problem, by data and number of points."""
    rows = [r for r in load_records("bench_large") if r["method"] == method]
    return {(r["data"], r["n"]): r for r in rows if r["n_threads"] == n_threads}


def test_fits_to_many_points_are_certified_and_need_little_memory():
    fits = many_points_fits("DualSVC")
    assert [n for _, n in fits] == [20_000] + 4 * [100_000] + [200_000]
    for (_, n), fit in fits.items():
        gigabytes = 8e-9 * fit["memory_over_data"] * (n + 20_000) * fit["n_features"]
        assert fit["converged"] and fit["relative_gap"] <= 1e-9
        assert gigabytes <= (0.8 if n == 20_000 else 2)


def test_fits_to_100_000_points_take_at_most_half_the_time_of_libsvm():
    libsvm_fits = many_points_fits("LIBSVM")
    for (data, n), fit in many_points_fits("DualSVC").items():
        if n >= 100_000:
            assert 2 * fit["fit_seconds"] <= libsvm_fits[data, n]["fit_seconds"]


def test_prediction_of_a_million_points_is_faster_than_svc_and_needs_little_memory():
    rows = [r for r in load_records("bench_large") if r["method"] == "prediction"]
    ours, theirs = (next(r for r in rows if r["library"] == name) for name in ("DualSVC", "SVC"))
    assert ours["predict_seconds"] <= theirs["predict_seconds"]
    assert 8 * ours["memory_over_data"] * ours["n"] * 8 <= 500e6


def test_labels_without_signal_take_longer_than_libsvm_only_if_its_tolerance_is_loose():
    records = [r for r in load_records("bench_gaussian") if r["n_threads"] == 1]
    fits = [r for r in records if r["data"] == "no signal"]
    assert len(fits) == 2 * 4
    assert max(record["relative_gap"] for record in fits) <= 1e-9
    assert max(record["seconds"] for record in fits) <= 0.3
    assert mean_time_ratio([r for r in fits if r["C"] == 0.1], "libsvm_seconds") >= 50
    for peer in ("tight_libsvm_seconds", "tight_onedal_seconds"):
        assert mean_time_ratio([r for r in fits if r["C"] >= 1], peer) <= 0.25


def test_paths_are_faster_than_one_libsvm_fit_per_C():
    records = active_set_records("path")
    assert {record["n"] for record in records} == {600, 2000}
    assert all(record["converged"] for record in records)
    assert mean_time_ratio_of_libsvm(records) >= 4
    assert mean_time_ratio_of_libsvm(records, default_tol=True) >= 2


def test_ten_thousand_difficult_problems_converge_to_the_optimum():
    records = load_records("bench_small")
    assert sum(record["problems"] for record in records) == 10_000
    for record in records:
        assert record["converged"] == record["problems"]
        assert record["max_residual"] <= 1e-9
        assert record["worse_than_cvxopt"] == 0


# --- kernel logistic regression -------------------------------------------------------------

L1_PROBLEMS = [(kernel, lam) for kernel in ("linear", "gaussian") for lam in (0.01, 1.0)]


def time_ratio_of_bfgs(kernel, lam):
    """Return BFGS's time over that of `solve_logistic_l1`, whose objective must not be larger."""
    problem = {"problem": "l1 penalty", "kernel": kernel, "lam": lam}
    ours = single_record("bench_logistic", method="solve_logistic_l1", **problem)
    theirs = single_record("bench_logistic", method="BFGS", **problem)
    assert ours["objective"] <= theirs["objective"]
    return theirs["seconds"] / ours["seconds"]


@pytest.mark.parametrize(("kernel", "lam"), L1_PROBLEMS)
def test_l1_penalty_is_solved_30_times_as_fast_as_by_bfgs(kernel, lam):
    assert time_ratio_of_bfgs(kernel, lam) >= 30


def test_l1_penalty_is_solved_60_times_as_fast_as_by_bfgs_in_the_geometric_mean():
    assert gmean([time_ratio_of_bfgs(*problem) for problem in L1_PROBLEMS]) >= 60


@pytest.mark.parametrize("lam", [0.01, 1.0])
@pytest.mark.parametrize("full_rank", [False, True])
def test_newton_iteration_takes_at_most_three_times_as_long_as_cholesky(full_rank, lam):
    record = single_record("bench_logistic", problem="ridge", full_rank=full_rank, lam=lam)
    assert record["n"] == 2000
    assert record["relative_gap"] <= 1e-6
    assert record["iteration_over_cholesky"] <= 3


def test_path_is_three_times_as_fast_as_cold_started_fits():
    record = single_record("bench_logistic", problem="path")
    assert record["n"] == 1000
    # The factor is only 3, because cold-started fits take few iterations.
    assert record["cold_over_path"] >= 3
    assert record["cold_over_path_estimator"] >= 3
