"""Beyond the thesis: what its kernels are compared with, and machines that can be read."""

import numpy as np
import pytest
from records import committed, needs_table, needs_versions, store_of
from scipy import stats

from svmbook.datasets import load
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.lin2005 import beyond, glass_boxes
from svmbook.experiments.suites.lin2005 import kernels as lin2005


# Of each suite test_freshness.py repeats the cheapest run. The methods that take seconds and are
# left to the night share all of their code but one estimator with those that stay.
@pytest.mark.parametrize(
    "method", [pytest.param("random forest", marks=pytest.mark.nightly), "SVM-Tree, L = d"]
)
def test_a_committed_run_can_be_done_again(method):
    stored = committed("lin2005-beyond", data_set="twonorm", method=method, run=3)
    again = beyond.work("twonorm", method, 3)
    assert again["seed"] == stored["seed"]
    assert again["error"] == pytest.approx(stored["error"], abs=0.01)


@pytest.mark.parametrize(
    "method",
    [
        *("stumps", "linear", "boosted trees, default"),
        pytest.param("stumps, 16 knots", marks=pytest.mark.nightly),
    ],
)
def test_a_committed_forecast_can_be_made_again(method):
    stored = committed("glass-boxes", data_set="wdbc", method=method, run=2)
    needs_versions(stored)
    again = glass_boxes.work("wdbc", method, 2)
    assert again["parameters"] == stored["parameters"]
    assert again["log_loss"] == pytest.approx(stored["log_loss"], abs=1e-3)


def test_the_runs_are_on_the_divisions_of_the_thesis():
    X, _, X_test, _, seed = lin2005.protocol("twonorm")[3]
    stored = committed("lin2005-beyond", data_set="twonorm", method="random forest", run=3)
    assert stored["seed"] == seed and len(X) == 300 and len(X_test) == 3000


def test_a_division_holds_each_row_once():
    X, y, X_test, y_test = glass_boxes.split("wdbc", run=4)
    table = load("wdbc")
    assert sorted(map(tuple, np.vstack([X, X_test]))) == sorted(map(tuple, table.data))
    assert np.append(y, y_test).sum() == (table.target == "malignant").sum()


def test_kept_curves_are_those_of_the_machine():
    needs_table("heart")
    stored = committed("glass-boxes", data_set="heart", method="stumps, 16 knots", run=1)
    _, _, X_test, y_test = glass_boxes.split("heart", run=1)
    F = stored["intercept"] + sum(
        np.interp(x, *shape) for x, shape in zip(X_test.T, stored["shapes"], strict=True)
    )
    assert np.mean((F > 0) != y_test) == pytest.approx(stored["error"], abs=1e-6)
    p = 1 / (1 + np.exp(-F * np.where(y_test == 1, 1, -1)))
    assert -np.log(p).mean() == pytest.approx(stored["log_loss"], abs=1e-3)


def test_steps_of_explainable_boosting_have_a_value_more_than_thresholds():
    for record in load_records("glass-boxes"):
        if record["method"].startswith("explainable") and "shapes" in record:
            assert all(len(values) == len(cuts) + 1 for cuts, values in record["shapes"])


def test_times_are_over_those_of_the_stump_kernel():
    rows = {(r["data_set"], r["method"]): r for r in report("lin2005-kernels").rows}
    table = report("lin2005-kernels", table="selection").table.rows
    at = [line[0] for line in table].index("**sonar**") + 1
    kernels, printed, here, conditions = zip(*table[at : at + 5], strict=True)
    assert kernels == ("stump", "Gaussian", "perceptron", "Laplacian", "exponential")
    assert printed == tuple(f"{s / 1.14:.1f}" for s in (1.14, 9.30, 1.16, 9.06, 8.86))
    of = [rows["sonar", method] for method in lin2005.METHODS]
    in_order = [of[0], of[-1], *of[1:-1]]
    ours = [row["selection_seconds"] / of[0]["selection_seconds"] for row in in_order]
    assert here == tuple(f"{value:.1f}" for value in ours)
    assert conditions == tuple(f"{row['condition']:.0e}" for row in in_order)
    quarter = report("lin2005-kernels", table="quarter").table.rows
    marked = next(line for line in quarter if line[0] == "sonar")
    for cell, row in zip(marked[1:], of, strict=True):
        assert cell.startswith(f"{row['quarter']:+.2f}")
        clear = row["quarter_low"] > 0 or row["quarter_high"] < 0
        assert clear == cell.endswith("\N{DAGGER}")


@pytest.mark.parametrize(("data_set", "overlap"), [("sonar", 0.4 / 0.6), ("twonorm", 0.0)])
def test_what_a_quarter_of_the_grid_adds_allows_for_overlapping_divisions(data_set, overlap):
    rows = {(r["data_set"], r["method"]): r for r in report("lin2005-kernels").rows}
    row = rows[data_set, "SVM-Stump"]
    differences = [
        100 * (r["quarter_error"] - r["error"])
        for r in load_records("lin2005-kernels")
        if (r["data_set"], r["method"]) == (data_set, "SVM-Stump")
    ]
    n = len(differences)
    error = np.sqrt(1 / n + overlap) * np.std(differences, ddof=1)
    reach = stats.t(n - 1).ppf(0.975) * error
    interval = np.mean(differences) + np.array([-reach, reach])
    assert (row["quarter_low"], row["quarter_high"]) == pytest.approx(tuple(interval))


def test_further_tables_leave_out_sets_that_not_all_kernels_have_run_on(tmp_path):
    records = [
        committed("lin2005-kernels", data_set=data_set, method=method)
        for data_set, methods in (("sonar", lin2005.METHODS), ("heart", ["SVM-Stump"]))
        for method in methods
    ]
    store = store_of(tmp_path / "runs.jsonl", records)
    for table in ("selection", "quarter"):
        names = [
            line[0].strip("*") for line in report("lin2005-kernels", store, table=table).table.rows
        ]
        assert names[0] == "sonar" and "heart" not in names
    assert "**heart**" in [line[0] for line in report("lin2005-kernels", store).table.rows]


def test_the_difference_is_to_the_first_method_on_the_same_runs():
    rows = {(r["data_set"], r["method"]): r for r in report("glass-boxes").rows}
    records = load_records("glass-boxes")
    for data_set in glass_boxes.DATA_SETS:
        mine, first = (
            [
                r["error"]
                for r in sorted(records, key=lambda r: r["run"])
                if (r["data_set"], r["method"]) == (data_set, method)
            ]
            for method in ("linear", "stumps")
        )
        more = 100 * np.mean(np.subtract(mine, first))
        assert rows[data_set, "linear"]["error_more"] == pytest.approx(more)
    assert "error_more" not in rows["heart", "stumps"]
