"""SMO (`svmbook.solvers.dual.smo`): when it stops, and with which message."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from svm_problems import gram, two_clouds

from svmbook.solvers import certify, solve_smo
from svmbook.solvers.dual import smo


def test_smo_stops_when_rounding_prevents_progress():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    result = solve_smo(gram(X, "gaussian"), y, 100.0, tol=1e-30, max_iter=10**6)
    assert not result.converged
    assert result.n_iter < 10**5
    assert "rounding" in result.message
    assert result.relative_gap < 1e-12


@pytest.mark.parametrize(("n_dual_increases", "n_gap_decreases"), [(3, 0), (0, 3), (2, 4), (4, 2)])
def test_smo_stops_after_ten_n_iterations_without_progress(
    n_dual_increases, n_gap_decreases, monkeypatch
):
    # Checks are n iterations apart. The dual objective increases, and the gap decreases, by 1 per
    # check until the prescribed number of changes is reached.
    checks = count()

    def certify_with_prescribed_progress(*arguments, **options):
        check_index = next(checks)
        dual, gap = min(check_index, n_dual_increases), 100.0 - min(check_index, n_gap_decreases)
        result = certify(*arguments, **options)
        return replace(result, dual_objective=dual, objective=dual + gap, converged=False)

    monkeypatch.setattr(smo, "certify", certify_with_prescribed_progress)
    X, y = two_clouds(30, mean_difference=0.5)
    result = solve_smo(X @ X.T, y, 1e3)
    assert result.n_iter == 30 * (max(n_dual_increases, n_gap_decreases) + 10)
    assert "no progress beyond rounding errors in 10 n iterations" in result.message
    assert not result.converged


def test_smo_stops_when_no_pair_improves_the_objective():
    # One step makes both errors equal, and a tolerance below rounding error is never met.
    result = solve_smo(np.array([[1.0, -1.0], [-1.0, 1.0]]), [1.0, -1.0], 10.0, tol=1e-300)
    assert result.message == "SMO: no pair improves the dual objective"
    assert result.n_iter == 1 and not result.converged
