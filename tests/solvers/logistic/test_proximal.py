"""The l1 penalty: optimality conditions, exact zeros, agreement with cvxopt."""

import cvxopt
import numpy as np
import pytest
from cvxopt import solvers as cvxopt_solvers
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_problems import entropy, lasso_violation, logistic_objective, logistic_problems
from scipy.special import expit

from svmbook.datasets import non_separable, stdev
from svmbook.kernels import gaussian, linear, polynomial
from svmbook.solvers import lam_max, solve_logistic_l1, solve_logistic_l1_path
from svmbook.solvers.logistic import proximal
from svmbook.solvers.logistic.likelihoods import Binomial

LAMS = st.floats(-2, 1).map(lambda exponent: 10.0**exponent)


def objective(alpha, b, K, y, weights, lam):
    return logistic_objective(alpha, b, K, y, weights, 0.0) + lam * np.abs(alpha).sum()


def minimum_by_cvxopt(K, y, weights, lam):
    """Return the minimum that cvxopt's general convex solver finds.

    The variables are alpha, b and bounds u with -u <= alpha <= u; the penalty is lam times the sum
    of u.
    """
    n = len(y)

    def F(x=None, z=None):
        if x is None:
            return 0, cvxopt.matrix(0.0, (2 * n + 1, 1))
        variables = np.array(x).ravel()
        m = y * (K @ variables[:n] + variables[n])
        value = weights @ np.logaddexp(0.0, -m) + lam * variables[n + 1 :].sum()
        design = np.hstack([K, np.ones((n, 1))])
        gradient = np.append(design.T @ (-weights * y * expit(-m)), np.full(n, lam))
        if z is None:
            return value, cvxopt.matrix(gradient[None])
        H = np.zeros((2 * n + 1, 2 * n + 1))
        H[: n + 1, : n + 1] = design.T @ ((weights * expit(m) * expit(-m))[:, None] * design)
        return value, cvxopt.matrix(gradient[None]), cvxopt.matrix(z[0] * H)

    identity, zero_column = np.eye(n), np.zeros((n, 1))
    G = cvxopt.matrix(
        np.block([[identity, zero_column, -identity], [-identity, zero_column, -identity]])
    )
    options = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}
    solution = cvxopt_solvers.cp(F, G, cvxopt.matrix(0.0, (2 * n, 1)), options=options)
    variables = np.array(solution["x"]).ravel()
    return objective(variables[:n], variables[n], K, y, weights, lam)


@given(problem=logistic_problems(), lam=LAMS)
@settings(max_examples=60)
def test_optimality_conditions_hold_and_gap_is_primal_minus_dual(problem, lam):
    K, y, weights = problem
    K = K / np.abs(K).max()  # so that lam is comparable with the gradient
    result = solve_logistic_l1(K, y, lam, weights=weights)
    assert result.converged
    solution = result.coef, result.intercept, K, y, weights, lam
    assert lasso_violation(*solution) <= 1e-6 * max(1.0, lam)
    assert result.objective == pytest.approx(objective(*solution), rel=1e-12)
    # The dual point is the negative gradient, scaled to be feasible.
    G = result.negative_gradient
    dual = entropy(min(1.0, lam / np.abs(K @ G).max()) * G, weights)
    assert abs(G.sum()) <= 1e-9 * weights.sum()
    assert result.objective - dual == pytest.approx(result.gap, abs=1e-9)
    assert result.gap <= 1e-5 * result.objective


@given(problem=logistic_problems(max_n=10), lam=LAMS)
@settings(max_examples=15)
def test_objective_agrees_with_cvxopt(problem, lam):
    K, y, weights = problem
    K = K / np.abs(K).max()
    result = solve_logistic_l1(K, y, lam, weights=weights)
    cvxopt_minimum = minimum_by_cvxopt(K, y, weights, lam)
    assert result.objective == pytest.approx(cvxopt_minimum, rel=1e-6)
    assert result.objective <= cvxopt_minimum * (1 + 1e-9)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_scaling_weights_and_lam_keeps_the_coefficients(factor):
    X, y = non_separable(60, random_state=0)
    K = gaussian(X, gamma=0.5)
    result = solve_logistic_l1(K, y, 0.1, tol=1e-9)
    scaled_result = solve_logistic_l1(K, y, factor * 0.1, weights=factor, tol=1e-9)
    assert scaled_result.converged
    assert scaled_result.objective == pytest.approx(factor * result.objective, rel=1e-12)
    np.testing.assert_allclose(
        scaled_result.coef, result.coef, atol=1e-7 * np.abs(result.coef).max()
    )


@pytest.mark.parametrize("lam", [0.01, 1.0, 10.0])
def test_linear_kernel_in_the_plane_uses_at_most_three_points(lam):
    # Two points suffice to write w = sum of alpha_j x_j in the plane with the smallest penalty.
    X, y = stdev(2, random_state=0)
    result = solve_logistic_l1(linear(X), y, lam)
    assert result.converged
    assert 1 <= np.count_nonzero(result.coef) <= 3


def test_all_coefficients_are_zero_from_lam_max_on():
    X, y = non_separable(60, random_state=0)
    K = gaussian(X, gamma=0.5)
    weights = np.linspace(1, 2, 60)
    lam = lam_max(K, y, weights=weights)
    assert not solve_logistic_l1(K, y, lam * (1 + 1e-9), weights=weights).coef.any()
    assert solve_logistic_l1(K, y, lam * 0.99, weights=weights).coef.any()


def test_path_solutions_agree_with_cold_starts():
    X, y = non_separable(120, random_state=0)
    K = gaussian(X, gamma=0.5)
    lams = np.geomspace(lam_max(K, y), 1e-2, 8)
    path = solve_logistic_l1_path(K, y, lams)
    assert all(result.converged for result in path)
    n_iters = []
    for lam, result in zip(lams, path, strict=True):
        cold_result = solve_logistic_l1(K, y, lam)
        assert result.objective == pytest.approx(cold_result.objective, rel=1e-8)
        n_iters.append((result.n_iter, cold_result.n_iter))
    n_iter_warm, n_iter_cold = np.sum(n_iters, axis=0)
    assert n_iter_warm < 0.6 * n_iter_cold
    norms = [np.abs(result.coef).sum() for result in path]
    assert (np.diff(norms) > 0).all()  # the l1 norm increases as lam decreases
    ascending_path = solve_logistic_l1_path(K, y, lams[::-1])[::-1]
    for descending_result, ascending_result in zip(path, ascending_path, strict=True):
        assert descending_result.objective == pytest.approx(ascending_result.objective, rel=1e-8)


def test_duplicating_all_points_equals_doubling_the_weights():
    X, y = stdev(2, 30, random_state=0)
    weighted_result = solve_logistic_l1(gaussian(X), y, 0.5, weights=2.0)
    duplicated_result = solve_logistic_l1(gaussian(np.tile(X, (2, 1))), np.tile(y, 2), 0.5)
    assert duplicated_result.converged
    assert duplicated_result.objective == pytest.approx(weighted_result.objective, rel=1e-9)


def test_outputs_do_not_depend_on_the_order_of_the_points():
    X, y = stdev(2, 50, random_state=1)
    K = linear(X)
    order = np.random.default_rng(0).permutation(50)
    K_permuted = K[np.ix_(order, order)]
    result = solve_logistic_l1(K, y, 0.3, tol=1e-9)
    permuted_result = solve_logistic_l1(K_permuted, y[order], 0.3, tol=1e-9)
    outputs = K @ result.coef + result.intercept
    np.testing.assert_allclose(
        outputs[order], K_permuted @ permuted_result.coef + permuted_result.intercept, atol=1e-7
    )


def test_optimality_conditions_hold_far_from_the_origin():
    X, y = stdev(2, 60, random_state=0)
    K = linear(X - [300.0, 0.0])
    result = solve_logistic_l1(K, y, 1.0)
    assert result.converged
    assert lasso_violation(result.coef, result.intercept, K, y, np.ones(60), 1.0) <= 1e-5


def test_every_step_lowers_the_objective(monkeypatch):
    # A small penalty on many overlapping functions: full steps overshoot and are shortened.
    X, y = non_separable(150, random_state=0)
    K = gaussian(X, gamma=1.0)

    def objective_values():
        return [solve_logistic_l1(K, y, 1e-4, max_iter=k).objective for k in range(1, 12)]

    values = objective_values()
    assert (np.diff(values) <= 1e-10).all()
    assert values[-1] >= solve_logistic_l1(K, y, 1e-4).objective * (1 - 1e-9)
    monkeypatch.setattr(proximal, "_line_search", lambda *arguments: 1.0)
    assert (np.diff(objective_values()) > 1e-10).any()  # full steps do raise it


@pytest.mark.parametrize(("n_nonzero", "n_satisfied"), [(0, 35), (4, 10), (15, 0)])
def test_working_set_has_the_nonzero_coefficients_and_largest_violations(n_nonzero, n_satisfied):
    rng = np.random.default_rng(0)
    alpha, violation = np.zeros(40), rng.uniform(0.1, 1.0, 40)
    alpha[:n_nonzero] = rng.standard_normal(n_nonzero)
    violation[40 - n_satisfied :] = 0.0
    order = rng.permutation(40)
    alpha, violation = alpha[order], violation[order]
    working_set = proximal._working_set(alpha, violation)
    assert (np.diff(working_set) > 0).all() and set(np.flatnonzero(alpha)) <= set(working_set)
    added = working_set[alpha[working_set] == 0.0]
    n_violated = 40 - n_nonzero - n_satisfied
    assert len(added) == min(max(proximal.MIN_ADDITION_LIMIT, n_nonzero), n_violated)
    omitted = np.setdiff1d(np.flatnonzero(alpha == 0.0), added)
    assert violation[added].min(initial=1.0) > 0.0
    assert violation[added].min(initial=1.0) >= violation[omitted].max(initial=0.0)


@pytest.mark.parametrize(("factor", "max_length"), [(-1.0, 1.0), (-1e4, 0.5), (1.0, 0.0)])
def test_step_is_halved_until_the_objective_decreases(factor, max_length):
    X, y = non_separable(60, random_state=0)
    K, zeros, lam = gaussian(X, gamma=0.5), np.zeros(60), 1e-3
    likelihood = Binomial(y, np.ones(60))
    gradient = -K @ likelihood.negative_gradient(zeros)
    direction = factor * gradient / np.abs(gradient).sum()

    def objective_at(t):
        return likelihood.loss(t * (K @ direction)) + lam * np.abs(t * direction).sum()

    point = zeros, zeros, objective_at(0.0)
    t = proximal._line_search(
        likelihood, lam, point, (direction, K @ direction), gradient @ direction
    )
    assert t <= max_length and np.log2(t or 1.0).is_integer() and (t > 0.0) == (factor < 0.0)
    assert objective_at(t) < objective_at(0.0) or t == 0.0
    assert t in (0.0, 1.0) or objective_at(2.0 * t) > 0.999 * objective_at(0.0)


def test_badly_scaled_kernel_is_reported():
    X = np.random.default_rng(1).standard_normal((40, 2)) * 100
    result = solve_logistic_l1(polynomial(X), np.where(np.arange(40) % 2, 1.0, -1.0), 1.0)
    assert not result.converged
    assert result.message


@pytest.mark.parametrize(
    ("n_columns", "lams", "message"),
    [
        (3, [1.0], r"K must have shape \(2, 2\)"),
        *[(2, lams, "lam must be positive") for lams in ([1.0, 0.0], [-1.0], [np.nan])],
    ],
)
def test_invalid_arguments_are_reported(n_columns, lams, message):
    with pytest.raises(ValueError, match=message):
        solve_logistic_l1_path(np.eye(2, n_columns), np.array([-1.0, 1.0]), lams)
