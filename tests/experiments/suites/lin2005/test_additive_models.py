"""The suite glass-boxes: repeated runs, splits, recorded shape functions, and differences."""

import numpy as np
import pytest
from records import (
    check_repeated_run,
    committed_record,
    committed_values,
    skip_if_sklearn_differs,
    skip_without_table,
)

from svmbook.datasets import load
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.lin2005 import additive_models


# test_committed_records.py repeats the fastest run. A method with a nightly run differs from the
# other methods only in its estimator.
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


def test_split_has_each_row_once():
    X, y, X_test, y_test = additive_models.split("wdbc", run=4)
    table = load("wdbc")
    assert sorted(map(tuple, np.vstack([X, X_test]))) == sorted(map(tuple, table.data))
    assert np.append(y, y_test).sum() == (table.target == "malignant").sum()


def test_recorded_shape_functions_reproduce_error_and_log_loss():
    skip_without_table("heart")
    stored = committed_record("glass-boxes", data_set="heart", method="stumps, 16 knots", run=1)
    _, _, X_test, y_test = additive_models.split("heart", run=1)
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


def test_differences_from_the_first_method_are_paired():
    rows = {(r["data_set"], r["method"]): r for r in report("glass-boxes").rows}
    errors = committed_values("glass-boxes", factor=100)
    for data_set in additive_models.DATA_SETS:
        differences = errors[data_set, "linear"] - errors[data_set, "stumps"]
        assert rows[data_set, "linear"]["error_difference"] == pytest.approx(differences.mean())
    assert "error_difference" not in rows["heart", "stumps"]
