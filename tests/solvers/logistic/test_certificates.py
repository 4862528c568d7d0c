"""Certificates away from zero, after two steps or far from the origin, and when to stop."""

import numpy as np
import pytest
from logistic_problems import complex_gradient, ridge_objective
from scipy.special import xlogy

from svmbook.datasets import non_separable, stdev
from svmbook.kernels import gaussian, linear
from svmbook.solvers import solve_logistic, solve_logistic_l1, solve_unpenalised
from svmbook.solvers.logistic import newton, proximal


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("form", ["gram", "factor"])
def test_the_gap_is_primal_minus_dual_before_the_end(steps, form):
    X, y = non_separable(60, random_state=0)
    lam, K = 1e-3, linear(X)
    matrix = K if form == "gram" else X
    result = solve_logistic(matrix, y, lam, form=form, max_iter=steps, tol=1e-12)
    G = result.negative_gradient
    p = np.abs(G)
    dual = -(xlogy(p, p) + xlogy(1 - p, 1 - p)).sum() - 0.5 / lam * G @ K @ G
    rounding = 1e-11 * result.objective
    assert result.gap == pytest.approx(result.objective - dual, rel=1e-6, abs=rounding)
    if steps == 1:
        assert result.gap > 1e6 * rounding
    best = solve_logistic(matrix, y, lam, form=form).objective
    assert result.objective - best <= result.gap * (1 + 1e-9)


@pytest.mark.parametrize("lam", [1e-7, 1e-5])
def test_a_small_gradient_is_no_small_gap_where_the_ridge_is_weak(lam):
    # The gap is the squared gradient over 2 lam: the rule has to ask for both.
    X, y = non_separable(80, random_state=0)
    result = solve_logistic(gaussian(X, gamma=0.5), y, lam, tol=1e-3)
    assert result.converged
    assert result.gap <= 1e-3 * result.objective


def test_a_gap_of_just_the_tolerance_meets_it():
    X, y = stdev(2, 50, random_state=0)
    K = gaussian(X, gamma=0.3)
    reached = solve_logistic(K, y, 1e-3, max_iter=3, tol=1e-12)
    tol = reached.gap / reached.objective
    if tol * reached.objective < reached.gap:
        tol = np.nextafter(tol, 1.0)
    assert reached.kkt_residual < 0.5 * tol  # so the gap decides
    assert solve_logistic(K, y, 1e-3, max_iter=3, tol=tol).converged
    assert not solve_logistic(K, y, 1e-3, max_iter=3, tol=tol * (1 - 1e-9)).converged


@pytest.mark.parametrize(
    ("module", "solve"), [(newton, solve_logistic), (proximal, solve_logistic_l1)]
)
@pytest.mark.parametrize("lost", [2, 3])
def test_three_steps_in_a_row_without_progress_end_the_search(module, solve, lost, monkeypatch):
    search, lengths = module._line_search, [0.0] * lost

    def sometimes(*arguments):
        return lengths.pop() if lengths else search(*arguments)

    monkeypatch.setattr(module, "_line_search", sometimes)
    X, y = stdev(2, 40, random_state=0)
    result = solve(gaussian(X, gamma=0.3), y, 0.1)
    assert not lengths
    if lost < 3:
        assert result.converged
    else:
        assert not result.converged and result.n_iter == 3
        assert result.message == "rounding hides the descent"


@pytest.mark.parametrize("start", [(30.0, 0.0), (-3.0, 40.0)])
def test_no_step_ever_raises_the_objective(start):
    X = np.array([[-3.0], [-1.0], [0.5], [2.0], [2.5], [40.0]])
    y = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    start = np.array([start[0]]), start[1]
    reached = [
        solve_logistic(X, y, 1e-3, form="factor", start=start, max_iter=steps, tol=1e-10).objective
        for steps in range(1, 12)
    ]
    assert (np.diff(reached) <= 1e-13 * np.array(reached[:-1])).all()


@pytest.mark.parametrize("offset", [0.0, 10.0, 1e4, 1e6])
def test_an_absolute_penalty_far_from_the_origin_is_right_or_not_certified(offset):
    X, y = stdev(2, 40, random_state=0)
    K = linear(X + offset)
    result = solve_logistic_l1(K, y, 1.0)
    alpha, b = result.coef, result.intercept

    def loss(theta):
        return ridge_objective(theta[:-1], theta[-1], K, y, np.ones(40), 0.0)

    slope = complex_gradient(loss, np.append(alpha, b))[:-1]
    at_zero = np.maximum(np.abs(slope) - 1.0, 0.0)
    true = np.where(alpha == 0, at_zero, np.abs(slope + np.sign(alpha))).max()
    if result.converged:
        assert true <= 2e-6
    else:
        assert "rounding" in result.message
    assert result.converged or offset >= 1e4


@pytest.mark.parametrize("constant", [0.1, 1e8, -1e-8])
def test_a_constant_column_is_no_direction(constant):
    # The mean of 0.1, 0.1, ... is not exactly 0.1: what is left of the column is rounding.
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((60, 2))
    y = np.where(Z[:, 0] + rng.standard_normal(60) > 0, 1.0, -1.0)
    plain = solve_unpenalised(Z, y)
    wider = solve_unpenalised(np.column_stack([Z, np.full(60, constant)]), y)
    assert wider.coef[2] == 0.0
    np.testing.assert_allclose(wider.coef[:2], plain.coef, rtol=1e-6)
