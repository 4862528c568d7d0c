"""The printed algorithm: where it rests it is stationary, for C or for twice C."""

import numpy as np
import pytest

from svmbook.datasets import usvc_case_a
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import as_printed as suite
from svmbook.losses import unbiased_slope


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_a_place_of_rest_is_stationary_for_the_weights_that_are_used(factor):
    X, y = usvc_case_a(500, random_state=3)
    w, b = suite.iterations(X, y, 2.0, factor, "ones")[-1]
    alpha = -factor * suite.C * unbiased_slope(y * (X[:, 0] * w + b), 2.0)
    assert w == pytest.approx(np.sum(alpha * y * X[:, 0]), rel=1e-3)
    assert np.sum(alpha * y) == pytest.approx(0.0, abs=1e-3 * alpha.sum())


def test_s_2_converges_and_s_4_does_not_on_case_b():
    rows = report("usvc-as-printed").rows
    for row in rows:
        steep, case_b = row["method"].startswith("s = 4"), row["data_set"] == "case-b"
        assert (row["converged"] == 100) == (not steep)
        assert (row["converged"] < 50) == (steep and case_b)
    swings = {r["swing"] for r in load_records("usvc-as-printed")}
    assert min(swings) == 0.0 and max(swings) < 1.0
