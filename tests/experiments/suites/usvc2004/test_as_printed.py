"""The suite usvc-as-printed.

If the algorithm as printed converges, the limit is a stationary point of the objective with 2 C, or
with C if the factor 2 of the weights is omitted.
"""

import numpy as np
import pytest

from svmbook.datasets import usvc_case_a
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import as_printed
from svmbook.losses import usvc_slope


@pytest.mark.parametrize("weight_factor", [1.0, 2.0])
def test_limit_is_a_stationary_point_of_the_objective_with_C_times_the_weight_factor(weight_factor):
    X, y = usvc_case_a(500, random_state=3)
    w, b = as_printed.iterates(X, y, 2.0, weight_factor, "ones")[-1]
    alpha = -weight_factor * as_printed.C * usvc_slope(y * (X[:, 0] * w + b), 2.0)
    assert w == pytest.approx(np.sum(alpha * y * X[:, 0]), rel=1e-3)
    assert np.sum(alpha * y) == pytest.approx(0.0, abs=1e-3 * alpha.sum())


def test_iterations_converge_for_s_2_and_rarely_for_s_4_on_case_b():
    rows = report("usvc-as-printed").rows
    for row in rows:
        is_s_4, is_case_b = row["method"].startswith("s = 4"), row["data_set"] == "case-b"
        assert (row["converged_percent"] == 100) == (not is_s_4)
        assert (row["converged_percent"] < 50) == (is_s_4 and is_case_b)
    ranges = {r["threshold_range"] for r in load_records("usvc-as-printed")}
    assert min(ranges) == 0.0 and max(ranges) < 1.0
