"""Duality gaps before convergence and far from the origin, and stopping rules."""

import numpy as np
import pytest
from logistic_problems import entropy, lasso_violation

from svmbook.datasets import non_separable, stdev
from svmbook.kernels import gaussian, linear
from svmbook.solvers import solve_logistic, solve_logistic_l1, solve_logistic_unpenalised
from svmbook.solvers.logistic import newton, proximal


@pytest.mark.parametrize("max_iter", [1, 2, 3])
@pytest.mark.parametrize("form", ["gram", "factor"])
def test_gap_is_primal_minus_dual_before_convergence(max_iter, form):
    X, y = non_separable(60, random_state=0)
    lam, K = 1e-3, linear(X)
    matrix = K if form == "gram" else X
    result = solve_logistic(matrix, y, lam, form=form, max_iter=max_iter, tol=1e-12)
    G = result.negative_gradient
    dual = entropy(G, np.ones(60)) - 0.5 / lam * G @ K @ G
    rounding_error = 1e-11 * result.objective
    assert result.gap == pytest.approx(result.objective - dual, rel=1e-6, abs=rounding_error)
    if max_iter == 1:
        assert result.gap > 1e6 * rounding_error
    minimum = solve_logistic(matrix, y, lam, form=form).objective
    assert result.objective - minimum <= result.gap * (1 + 1e-9)


@pytest.mark.parametrize("lam", [1e-7, 1e-5])
def test_gap_meets_the_tolerance_although_lam_is_small(lam):
    # The gap is the squared gradient over 2 lam, so a small gradient does not suffice.
    X, y = non_separable(80, random_state=0)
    result = solve_logistic(gaussian(X, gamma=0.5), y, lam, tol=1e-3)
    assert result.converged
    assert result.gap <= 1e-3 * result.objective


def test_gap_equal_to_the_tolerance_meets_it():
    X, y = stdev(2, 50, random_state=0)
    K = gaussian(X, gamma=0.3)
    stopped_result = solve_logistic(K, y, 1e-3, max_iter=3, tol=1e-12)
    tol = stopped_result.gap / stopped_result.objective
    if tol * stopped_result.objective < stopped_result.gap:
        tol = np.nextafter(tol, 1.0)
    assert stopped_result.kkt_residual < 0.5 * tol  # so that only the gap matters
    assert solve_logistic(K, y, 1e-3, max_iter=3, tol=tol).converged
    assert not solve_logistic(K, y, 1e-3, max_iter=3, tol=tol * (1 - 1e-9)).converged


@pytest.mark.parametrize(
    ("module", "solve"), [(newton, solve_logistic), (proximal, solve_logistic_l1)]
)
@pytest.mark.parametrize("n_failures", [2, 3])
def test_solver_stops_after_three_steps_without_progress(module, solve, n_failures, monkeypatch):
    line_search, zero_lengths = module._line_search, [0.0] * n_failures

    def fail_at_first(*arguments):
        return zero_lengths.pop() if zero_lengths else line_search(*arguments)

    monkeypatch.setattr(module, "_line_search", fail_at_first)
    X, y = stdev(2, 40, random_state=0)
    result = solve(gaussian(X, gamma=0.3), y, 0.1)
    assert not zero_lengths
    if n_failures < 3:
        assert result.converged
    else:
        assert not result.converged and result.n_iter == 3
        assert result.message == "no further progress is possible because of rounding error"


@pytest.mark.parametrize("solver", ["gram", "factor", "l1"])
@pytest.mark.parametrize("lam", [1e-3, 1e-2, 1.0])
def test_solver_stops_at_rounding_error(solver, lam):
    X, y = stdev(2, 50, random_state=0)
    K = gaussian(X, gamma=0.3)
    if solver == "l1":
        result = solve_logistic_l1(K, y, lam, tol=1e-30)
    else:
        result = solve_logistic(K if solver == "gram" else X, y, lam, form=solver, tol=1e-30)
    assert not result.converged
    assert result.message == "no further progress is possible because of rounding error"
    assert result.kkt_residual < 1e-12
    assert result.n_iter < 50


@pytest.mark.parametrize(("solve", "lam"), [(solve_logistic, 1e-4), (solve_logistic_l1, 1e-3)])
def test_reaching_max_iter_is_reported(solve, lam):
    X, y = non_separable(60, random_state=0)
    result = solve(gaussian(X), y, lam, max_iter=1)
    assert not result.converged and result.message == "max_iter was reached"
    solution = solve(gaussian(X), y, lam)
    assert result.objective - solution.objective <= result.gap  # holds at every iterate


@pytest.mark.parametrize("start", [(30.0, 0.0), (-3.0, 40.0)])
def test_no_step_raises_the_objective(start):
    X = np.array([[-3.0], [-1.0], [0.5], [2.0], [2.5], [40.0]])
    y = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    start = np.array([start[0]]), start[1]
    objectives = [
        solve_logistic(
            X, y, 1e-3, form="factor", start=start, max_iter=max_iter, tol=1e-10
        ).objective
        for max_iter in range(1, 12)
    ]
    assert (np.diff(objectives) <= 1e-13 * np.array(objectives[:-1])).all()


@pytest.mark.parametrize("offset", [0.0, 10.0, 1e4, 1e6])
def test_l1_solution_far_from_the_origin_is_correct_or_not_certified(offset):
    X, y = stdev(2, 40, random_state=0)
    K = linear(X + offset)
    result = solve_logistic_l1(K, y, 1.0)
    if result.converged:
        assert lasso_violation(result.coef, result.intercept, K, y, np.ones(40), 1.0) <= 2e-6
    else:
        assert "rounding" in result.message
    assert result.converged or offset >= 1e4


@pytest.mark.parametrize("constant", [0.1, 1e8, -1e-8])
def test_constant_column_has_coefficient_zero(constant):
    # The mean of 0.1, 0.1, ... is not exactly 0.1, so that the centred column is not exactly 0.
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((60, 2))
    y = np.where(Z[:, 0] + rng.standard_normal(60) > 0, 1.0, -1.0)
    result = solve_logistic_unpenalised(Z, y)
    extended_result = solve_logistic_unpenalised(np.column_stack([Z, np.full(60, constant)]), y)
    assert extended_result.coef[2] == 0.0
    np.testing.assert_allclose(extended_result.coef[:2], result.coef, rtol=1e-6)
