"""The suites lin2005-beyond and glass-boxes, and further tables of lin2005-kernels."""

import numpy as np
import pytest
from records import (
    check_repeated_run,
    committed_record,
    committed_values,
    make_store,
    skip_if_sklearn_differs,
    skip_without_table,
)
from scipy import stats

from svmbook.datasets import load
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.lin2005 import further_classifiers, glass_boxes
from svmbook.experiments.suites.lin2005 import kernels as lin2005


# test_committed_records.py repeats the fastest run of each suite. A method with a nightly run
# differs from the other methods only in its estimator.
@pytest.mark.parametrize(
    "method", [pytest.param("random forest", marks=pytest.mark.nightly), "SVM-Tree, L = d"]
)
def test_run_reproduces_its_committed_record(method):
    stored = committed_record("lin2005-beyond", data_set="twonorm", method=method, run=3)
    repeated = further_classifiers.carry_out_run("twonorm", method, 3)
    assert repeated["seed"] == stored["seed"]
    assert repeated["error"] == pytest.approx(stored["error"], abs=0.01)


@pytest.mark.parametrize(
    "method",
    [
        *("stumps", "linear", "boosted trees, default"),
        pytest.param("stumps, 16 knots", marks=pytest.mark.nightly),
    ],
)
def test_run_reproduces_its_committed_log_loss(method):
    skip_if_sklearn_differs(committed_record("glass-boxes"))
    check_repeated_run("glass-boxes", {"log_loss": 1e-3}, data_set="wdbc", method=method, run=2)


def test_runs_use_the_samples_of_the_thesis():
    X, _, X_test, _, seed = lin2005.protocol("twonorm")[3]
    stored = committed_record("lin2005-beyond", data_set="twonorm", method="random forest", run=3)
    assert stored["seed"] == seed and len(X) == 300 and len(X_test) == 3000


def test_split_has_each_row_once():
    X, y, X_test, y_test = glass_boxes.split("wdbc", run=4)
    table = load("wdbc")
    assert sorted(map(tuple, np.vstack([X, X_test]))) == sorted(map(tuple, table.data))
    assert np.append(y, y_test).sum() == (table.target == "malignant").sum()


def test_recorded_shapes_reproduce_error_and_log_loss():
    skip_without_table("heart")
    stored = committed_record("glass-boxes", data_set="heart", method="stumps, 16 knots", run=1)
    _, _, X_test, y_test = glass_boxes.split("heart", run=1)
    F = stored["intercept"] + sum(
        np.interp(x, *shape) for x, shape in zip(X_test.T, stored["shapes"], strict=True)
    )
    assert np.mean((F > 0) != y_test) == pytest.approx(stored["error"], abs=1e-6)
    p = 1 / (1 + np.exp(-F * np.where(y_test == 1, 1, -1)))
    assert -np.log(p).mean() == pytest.approx(stored["log_loss"], abs=1e-3)


def test_explainable_boosting_has_one_more_value_than_thresholds():
    for record in load_records("glass-boxes"):
        if record["method"].startswith("explainable") and "shapes" in record:
            assert all(
                len(values) == len(thresholds) + 1 for thresholds, values in record["shapes"]
            )


def test_further_tables_follow_from_the_rows():
    rows = {(r["data_set"], r["method"]): r for r in report("lin2005-kernels").rows}
    table_rows = report("lin2005-kernels", table="selection").table.rows
    start = [table_row[0] for table_row in table_rows].index("**sonar**") + 1
    kernels, printed, reproduced, condition_numbers = zip(
        *table_rows[start : start + 5], strict=True
    )
    assert kernels == ("stump", "Gaussian", "perceptron", "Laplacian", "exponential")
    assert printed == tuple(f"{s / 1.14:.1f}" for s in (1.14, 9.30, 1.16, 9.06, 8.86))
    method_rows = [rows["sonar", method] for method in lin2005.METHODS]
    rows_in_order = [method_rows[0], method_rows[-1], *method_rows[1:-1]]
    ratios = [
        row["selection_seconds"] / rows_in_order[0]["selection_seconds"] for row in rows_in_order
    ]
    assert reproduced == tuple(f"{ratio:.1f}" for ratio in ratios)
    assert condition_numbers == tuple(f"{row['condition_number']:.0e}" for row in rows_in_order)
    coarse_grid_rows = report("lin2005-kernels", table="quarter").table.rows
    table_row = next(table_row for table_row in coarse_grid_rows if table_row[0] == "sonar")
    for cell, row in zip(table_row[1:], method_rows, strict=True):
        assert cell.startswith(f"{row['quarter_difference']:+.2f}")
        is_significant = row["quarter_low"] > 0 or row["quarter_high"] < 0
        assert is_significant == cell.endswith("\N{DAGGER}")


@pytest.mark.parametrize(("data_set", "overlap"), [("sonar", 0.4 / 0.6), ("twonorm", 0.0)])
def test_interval_for_the_coarse_grid_is_corrected_for_overlap(data_set, overlap):
    rows = {(r["data_set"], r["method"]): r for r in report("lin2005-kernels").rows}
    row = rows[data_set, "SVM-Stump"]
    differences = [
        100 * (r["quarter_error"] - r["error"])
        for r in load_records("lin2005-kernels")
        if (r["data_set"], r["method"]) == (data_set, "SVM-Stump")
    ]
    n = len(differences)
    standard_error = np.sqrt(1 / n + overlap) * np.std(differences, ddof=1)
    half_width = stats.t(n - 1).ppf(0.975) * standard_error
    interval = np.mean(differences) + np.array([-half_width, half_width])
    assert (row["quarter_low"], row["quarter_high"]) == pytest.approx(tuple(interval))


def test_further_tables_leave_out_data_sets_without_runs_of_all_kernels(tmp_path):
    records = [
        committed_record("lin2005-kernels", data_set=data_set, method=method)
        for data_set, methods in (("sonar", lin2005.METHODS), ("heart", ["SVM-Stump"]))
        for method in methods
    ]
    store = make_store(tmp_path / "runs.jsonl", records)
    for table in ("selection", "quarter"):
        names = [
            table_row[0].strip("*")
            for table_row in report("lin2005-kernels", store, table=table).table.rows
        ]
        assert names[0] == "sonar" and "heart" not in names
    assert "**heart**" in [
        table_row[0] for table_row in report("lin2005-kernels", store).table.rows
    ]


def test_differences_to_the_first_method_are_paired():
    rows = {(r["data_set"], r["method"]): r for r in report("glass-boxes").rows}
    errors = committed_values("glass-boxes", factor=100)
    for data_set in glass_boxes.DATA_SETS:
        differences = errors[data_set, "linear"] - errors[data_set, "stumps"]
        assert rows[data_set, "linear"]["error_difference"] == pytest.approx(differences.mean())
    assert "error_difference" not in rows["heart", "stumps"]
