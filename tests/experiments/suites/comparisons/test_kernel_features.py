"""The suite on Nystroem and random Fourier features: its runs and its paired differences."""

import numpy as np
import pytest
from records import check_repeated_run, committed_values, make_store

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.comparisons import kernel_features
from svmbook.experiments.suites.comparisons.kernel_features import (
    EXACT,
    FEATURE_COUNTS,
    FEATURE_MAPS,
    method_name,
)
from svmbook.kernels import gaussian
from svmbook.svm import DualSVC


def values_of(method, field="error"):
    """Return the committed values of a method, in the order of the runs."""
    return committed_values("kernel-features", field)["stripes", method]


@pytest.mark.parametrize("method", [EXACT, "Nystroem, m = 50", "Fourier, m = 100"])
def test_run_reproduces_its_committed_record(method):
    tolerances = {"error": 0.004} | ({} if method == EXACT else {"kernel_error": 1e-5})
    check_repeated_run("kernel-features", tolerances, method=method, run=4)


def test_training_and_test_points_differ_between_runs():
    samples = [kernel_features.draw_samples(run) for run in range(2)]
    assert [(len(parts.X_train), len(parts.X_test)) for parts in samples] == [(1600, 4000)] * 2
    assert len({X[0, 0] for parts in samples for X in (parts.X_train, parts.X_test)}) == 4


def test_errors_of_explicit_fourier_features_agree_with_the_committed_values():
    parts, m, rng = kernel_features.draw_samples(3), 400, np.random.default_rng(0)
    omega = rng.normal(scale=np.sqrt(2 * kernel_features.GAMMA), size=(2, m))
    phases = rng.uniform(0, 2 * np.pi, m)
    Z_train, Z_test = (
        np.sqrt(2 / m) * np.cos(X @ omega + phases) for X in (parts.X_train, parts.X_test)
    )
    compared = slice(kernel_features.N_KERNEL_ERROR_POINTS)
    K = gaussian(parts.X_train[compared], gamma=kernel_features.GAMMA)
    kernel_error = np.abs(Z_train[compared] @ Z_train[compared].T - K).mean()
    committed_kernel_errors = values_of("Fourier, m = 400", "kernel_error")
    assert kernel_error == pytest.approx(committed_kernel_errors.mean(), rel=0.2)
    model = DualSVC(C=kernel_features.C).fit(Z_train, parts.y_train)
    assert 1 - model.score(Z_test, parts.y_test) < values_of("Fourier, m = 400").max() + 0.01


def test_differences_of_fourier_features_from_nystroem_are_paired_over_runs():
    rows = {row["method"]: row for row in report("kernel-features").rows}
    for m in FEATURE_COUNTS:
        nystroem, fourier = (100 * values_of(method_name(kind, m)) for kind in FEATURE_MAPS)
        row, differences = rows[method_name("Fourier", m)], fourier - nystroem
        assert row["nystroem_difference"] == pytest.approx(differences.mean())
        assert row["nystroem_difference_se"] == pytest.approx(differences.std(ddof=1) / 20**0.5)
        assert "nystroem_difference" not in rows[method_name("Nystroem", m)]


def test_nystroem_approximates_the_kernel_better_but_classifies_worse_for_200_features():
    for m in FEATURE_COUNTS:
        nystroem, fourier = (
            values_of(method_name(kind, m), "kernel_error") for kind in FEATURE_MAPS
        )
        assert (6 * nystroem < fourier).all()
    fourier_is_better = values_of("Fourier, m = 200") < values_of("Nystroem, m = 200")
    assert fourier_is_better.sum() >= 18


def test_table_of_incomplete_records_has_empty_cells(tmp_path):
    records = [r for r in load_records("kernel-features") if r["run"] < 2]
    methods = (EXACT, "Fourier, m = 20")
    store = make_store(tmp_path / "runs.jsonl", [r for r in records if r["method"] in methods])
    exact, fourier = report("kernel-features", store).table.rows
    assert tuple(exact[:2]) == (EXACT, "") and tuple(exact[3:]) == ("", "", "")
    assert tuple(fourier[:2]) == ("Fourier", "20") and fourier[4] == ""
