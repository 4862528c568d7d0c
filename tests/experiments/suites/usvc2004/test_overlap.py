"""Hinge loss and bounded loss: samples, repeated runs, and rows computed from the records."""

import numpy as np
import pytest
from records import check_repeated_run, committed_record, committed_values, make_store

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import overlap


@pytest.mark.parametrize(
    ("data_set", "method"),
    [
        ("stdev4-50", "linear, hinge"),
        ("stdev1.5-100", "linear, s = 2"),
        ("stdev4-20", "Gaussian, s = 8"),
        ("stdev4-50", "Gaussian, C = 1, s = 2"),
    ],
)
def test_run_reproduces_its_committed_record(data_set, method):
    tolerances = {"model_size": 0, "error": 0.002}
    check_repeated_run("usvc-overlap", tolerances, data_set=data_set, method=method, run=5)


def test_samples_of_a_run_are_balanced_and_have_no_common_points():
    parts, (X_validation, y_validation) = overlap.draw_samples("stdev1.5-50", 4)
    assert (len(parts.X_train), len(X_validation), len(parts.X_test)) == (50, 500, 10_000)
    points = np.vstack([parts.X_train, X_validation, parts.X_test])
    assert len(np.unique(points, axis=0)) == 10_550
    for labels in (parts.y_train, y_validation, parts.y_test):
        assert labels.sum() == 0


def test_chosen_C_is_on_the_grid():
    for r in load_records("usvc-overlap"):
        assert r["parameters"]["C"] in ((1.0,) if "C = 1" in r["method"] else overlap.C_GRID)


def test_differences_use_the_runs_that_both_methods_have(tmp_path):
    records = [
        r
        for r in load_records("usvc-overlap")
        if r["data_set"] == "stdev4-20"
        and (r["method"], r["run"] < 3) in (("linear, s = 2", True), ("linear, hinge", False))
    ]
    rows = report("usvc-overlap", make_store(tmp_path / "disjoint", records)).rows
    assert all("difference" not in row for row in rows)
    records += [
        committed_record("usvc-overlap", data_set="stdev4-20", method="linear, hinge", run=run)
        for run in (1, 2)
    ]
    _, row = report("usvc-overlap", make_store(tmp_path / "common", records)).rows
    errors = committed_values("usvc-overlap", factor=100)
    bounded, hinge = (errors["stdev4-20", m][1:3] for m in ("linear, s = 2", "linear, hinge"))
    assert row["difference"] == pytest.approx(np.mean(bounded) - np.mean(hinge))
