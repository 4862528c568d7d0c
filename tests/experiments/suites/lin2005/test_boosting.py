"""The suite lin2005-boosting: repeated runs, errors printed in the thesis, and hard margins."""

import numpy as np
import pytest
from records import committed_record

from svmbook import DualSVC, LPBoost
from svmbook.experiments import report
from svmbook.experiments.suites.lin2005 import boosting


def test_errors_of_boosting_agree_with_the_printed_ones():
    rows = [row for row in report("lin2005-boosting").rows if row["data_set"] != "ringnorm"]
    z = [row["z"] for row in rows if np.isfinite(row["z"])]
    assert len(z) == 48 + 3
    assert np.sum(np.abs(z) <= 3) >= 43  # 40 of 48, and the three of "SVM-Stump, hard"
    largest_differences = {}
    for row in rows:
        if row["method"].startswith("AdaBoost"):
            difference = abs(row["reproduced"] - row["reported"])
            previous = largest_differences.get(row["data_set"], 0.0)
            largest_differences[row["data_set"]] = max(previous, difference)
    assert sum(value <= 1.0 for value in largest_differences.values()) >= 10


# The two methods with a hard margin share their code except for the estimator.
@pytest.mark.parametrize(
    "method",
    [
        *("AdaBoost-Stump, T = 1000", "SVM-Stump, hard"),
        pytest.param("LPBoost-Stump, hard", marks=pytest.mark.nightly),
    ],
)
def test_run_reproduces_its_committed_record(method):
    stored = committed_record("lin2005-boosting", data_set="ringnorm-near", method=method, run=7)
    repeated = boosting.carry_out_run("ringnorm-near", method, 7)
    assert repeated["error"] == pytest.approx(stored["error"], abs=0.01)


def test_inseparable_points_are_fitted_with_a_large_C():
    X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([1, 1, -1, -1])
    for model in (LPBoost(), DualSVC(kernel="stump")):
        fitted, separable = boosting._fit_hard_margin(model, X, y)
        assert not separable and fitted.C == boosting.LARGE_C
        fitted, separable = boosting._fit_hard_margin(model, X[:3], y[:3])
        assert separable and np.isinf(fitted.C)
