"""Hinge against bounded loss: shared points, a run done again, and what the records say."""

import numpy as np
import pytest
from records import committed, committed_values, store_of

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import overlap as suite


@pytest.fixture(scope="module")
def errors():
    """Return the errors in percent by data set and method, one per run in order."""
    return committed_values("usvc-overlap", unit=100)


@pytest.mark.parametrize(
    ("data_set", "method"),
    [
        ("stdev4-50", "linear, hinge"),
        ("stdev1.5-100", "linear, s = 2"),
        ("stdev4-20", "Gaussian, s = 8"),
        ("stdev4-50", "Gaussian, C = 1, s = 2"),
    ],
)
def test_a_committed_run_can_be_done_again(data_set, method):
    stored = committed("usvc-overlap", data_set=data_set, method=method, run=5)
    again = suite.work(data_set, method, 5)
    for name in ("seed", "parameters", "model_size"):
        assert again[name] == stored[name]
    assert again["error"] == pytest.approx(stored["error"], abs=0.002)


def test_parts_of_a_run_are_drawn_apart():
    parts, (X, y) = suite.division("stdev1.5-50", 4)
    assert (len(parts.X_train), len(X), len(parts.X_test)) == (50, 500, 10_000)
    together = np.vstack([parts.X_train, X, parts.X_test])
    assert len(np.unique(together, axis=0)) == 10_550
    for labels in (parts.y_train, y, parts.y_test):
        assert labels.sum() == 0


def test_parameters_are_chosen_among_the_same_values():
    for r in load_records("usvc-overlap"):
        assert r["parameters"]["C"] in ((1.0,) if "C = 1" in r["method"] else suite.C_GRID)


def test_the_rows_are_means_and_paired_differences_of_the_records(errors):
    rows = report("usvc-overlap").rows
    assert len(rows) == 8 * 2 + 2 * 6
    for row in rows:
        *kernel, loss = row["method"].split(", ")
        ours = errors[row["data_set"], row["method"]]
        extra = ours - errors[row["data_set"], ", ".join([*kernel, "hinge"])]
        assert row["runs"] == len(ours) == 100
        assert row["error"] == pytest.approx(ours.mean())
        assert row["error_se"] == pytest.approx(ours.std(ddof=1) / 10)
        if loss == "hinge":
            assert "difference" not in row
        else:
            assert row["difference"] == pytest.approx(extra.mean())
            assert row["difference_se"] == pytest.approx(extra.std(ddof=1) / 10)


def test_a_report_pairs_the_runs_that_both_methods_have(tmp_path, errors):
    some = [
        r
        for r in load_records("usvc-overlap")
        if r["data_set"] == "stdev4-20"
        and (r["method"], r["run"] < 3) in (("linear, s = 2", True), ("linear, hinge", False))
    ]
    assert all(
        "difference" not in r for r in report("usvc-overlap", store_of(tmp_path / "a", some)).rows
    )
    some += [
        committed("usvc-overlap", data_set="stdev4-20", method="linear, hinge", run=run)
        for run in (1, 2)
    ]
    _, row = report("usvc-overlap", store_of(tmp_path / "b", some)).rows
    ours, hinge = (errors["stdev4-20", m][1:3] for m in ("linear, s = 2", "linear, hinge"))
    assert row["difference"] == pytest.approx(np.mean(ours) - np.mean(hinge))
