"""The absolute-value penalty: optimality conditions, exact zeros, and other solvers."""

import cvxopt
import numpy as np
import pytest
from cvxopt import solvers as cvxopt_solvers
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_problems import complex_gradient, logistic_problems, ridge_objective
from scipy.special import expit, xlogy

from svmbook.datasets import non_separable, stdev
from svmbook.kernels import gaussian, linear, polynomial
from svmbook.solvers import largest_lam, solve_logistic_l1, solve_logistic_l1_path
from svmbook.solvers.logistic import proximal
from svmbook.solvers.logistic.likelihoods import Binomial

LAMS = st.floats(-2, 1).map(lambda exponent: 10.0**exponent)


def objective(alpha, b, K, y, weights, lam):
    return ridge_objective(alpha, b, K, y, weights, 0.0) + lam * np.abs(alpha).sum()


def kkt_violation(alpha, b, K, y, weights, lam):
    """Return the largest violation of the optimality conditions, from complex-step slopes."""

    def loss(theta):
        return ridge_objective(theta[:-1], theta[-1], K, y, weights, 0.0)

    *slope, in_b = complex_gradient(loss, np.append(alpha, b))
    slope = np.array(slope)
    at_zero = np.maximum(np.abs(slope) - lam, 0.0)
    violation = np.where(alpha == 0, at_zero, np.abs(slope + lam * np.sign(alpha)))
    return max(violation.max(), abs(in_b))


def cvxopt_l1(K, y, weights, lam):
    """Minimise the same objective with cvxopt's general convex solver.

    Variables alpha, b and bounds u with -u <= alpha <= u, in whose sum the penalty is linear.
    """
    n = len(y)

    def F(x=None, z=None):
        if x is None:
            return 0, cvxopt.matrix(0.0, (2 * n + 1, 1))
        theta = np.array(x).ravel()
        m = y * (K @ theta[:n] + theta[n])
        value = weights @ np.logaddexp(0.0, -m) + lam * theta[n + 1 :].sum()
        rows = np.hstack([K, np.ones((n, 1))])
        slope = np.append(rows.T @ (-weights * y * expit(-m)), np.full(n, lam))
        if z is None:
            return value, cvxopt.matrix(slope[None])
        H = np.zeros((2 * n + 1, 2 * n + 1))
        H[: n + 1, : n + 1] = rows.T @ ((weights * expit(m) * expit(-m))[:, None] * rows)
        return value, cvxopt.matrix(slope[None]), cvxopt.matrix(z[0] * H)

    eye, none = np.eye(n), np.zeros((n, 1))
    G = cvxopt.matrix(np.block([[eye, none, -eye], [-eye, none, -eye]]))
    options = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}
    solution = cvxopt_solvers.cp(F, G, cvxopt.matrix(0.0, (2 * n, 1)), options=options)
    x = np.array(solution["x"]).ravel()
    return objective(x[:n], x[n], K, y, weights, lam)


@given(problem=logistic_problems(), lam=LAMS)
@settings(max_examples=60)
def test_the_optimality_conditions_hold(problem, lam):
    K, y, weights = problem
    K = K / np.abs(K).max()  # so that lam is neither huge nor tiny beside the slopes
    result = solve_logistic_l1(K, y, lam, weights=weights)
    assert result.converged
    assert kkt_violation(result.coef, result.intercept, K, y, weights, lam) <= 1e-6 * max(1.0, lam)
    assert result.objective == pytest.approx(
        objective(result.coef, result.intercept, K, y, weights, lam), rel=1e-12
    )
    # The dual point behind the gap, checked for feasibility by hand.
    p = np.abs(result.negative_gradient) / weights
    shrink = min(1.0, lam / np.abs(K @ result.negative_gradient).max())
    dual = -weights @ (xlogy(shrink * p, shrink * p) + xlogy(1 - shrink * p, 1 - shrink * p))
    assert abs(result.negative_gradient.sum()) <= 1e-9 * weights.sum()
    assert result.objective - dual == pytest.approx(result.gap, abs=1e-9)
    assert result.gap <= 1e-5 * result.objective


@given(problem=logistic_problems(max_n=10), lam=LAMS)
@settings(max_examples=15)
def test_cvxopt_finds_nothing_better(problem, lam):
    K, y, weights = problem
    K = K / np.abs(K).max()
    result = solve_logistic_l1(K, y, lam, weights=weights)
    theirs = cvxopt_l1(K, y, weights, lam)
    assert result.objective == pytest.approx(theirs, rel=1e-6)
    assert result.objective <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_lam_is_in_units_of_the_weights(factor):
    # Loss and penalty grow by one factor: the minimum stays, and each step is as long as before.
    X, y = non_separable(60, random_state=0)
    K = gaussian(X, gamma=0.5)
    one = solve_logistic_l1(K, y, 0.1, tol=1e-9)
    other = solve_logistic_l1(K, y, factor * 0.1, weights=factor, tol=1e-9)
    assert other.converged
    assert other.objective == pytest.approx(factor * one.objective, rel=1e-12)
    np.testing.assert_allclose(other.coef, one.coef, atol=1e-7 * np.abs(one.coef).max())


@pytest.mark.parametrize("lam", [0.01, 1.0, 10.0])
def test_a_linear_machine_in_the_plane_needs_at_most_three_points(lam):
    # f = (sum of alpha_j x_j)'x: the cheapest way to write a vector of the plane takes two points.
    X, y = stdev(2, random_state=0)
    result = solve_logistic_l1(linear(X), y, lam)
    assert result.converged
    assert 1 <= np.count_nonzero(result.coef) <= 3


def test_all_is_zero_from_the_largest_lam_on():
    X, y = non_separable(60, random_state=0)
    K = gaussian(X, gamma=0.5)
    weights = np.linspace(1, 2, 60)
    lam = largest_lam(K, y, weights=weights)
    assert not solve_logistic_l1(K, y, lam * (1 + 1e-9), weights=weights).coef.any()
    assert solve_logistic_l1(K, y, lam * 0.99, weights=weights).coef.any()


def test_a_path_is_a_sequence_of_solutions():
    X, y = non_separable(120, random_state=0)
    K = gaussian(X, gamma=0.5)
    lams = np.geomspace(largest_lam(K, y), 1e-2, 8)
    path = solve_logistic_l1_path(K, y, lams)
    assert all(result.converged for result in path)
    steps = []
    for lam, result in zip(lams, path, strict=True):
        cold = solve_logistic_l1(K, y, lam)
        assert result.objective == pytest.approx(cold.objective, rel=1e-8)
        steps.append((result.n_iter, cold.n_iter))
    warm, cold = np.sum(steps, axis=0)
    assert warm < 0.6 * cold
    sizes = [np.abs(result.coef).sum() for result in path]
    assert (np.diff(sizes) > 0).all()  # the weaker the penalty, the larger what it penalises
    again = list(solve_logistic_l1_path(K, y, lams[::-1]))[::-1]
    for one, other in zip(path, again, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=1e-8)


def test_duplicated_points_share_or_stand_in_for_each_other():
    X, y = stdev(2, 30, random_state=0)
    once = solve_logistic_l1(gaussian(X), y, 0.5, weights=2.0)
    twice = solve_logistic_l1(gaussian(np.tile(X, (2, 1))), np.tile(y, 2), 0.5)
    assert twice.converged
    assert twice.objective == pytest.approx(once.objective, rel=1e-9)


def test_the_outputs_are_unique_where_the_coefficients_are_not():
    X, y = stdev(2, 50, random_state=1)
    K = linear(X)
    order = np.random.default_rng(0).permutation(50)
    one = solve_logistic_l1(K, y, 0.3, tol=1e-9)
    other = solve_logistic_l1(K[np.ix_(order, order)], y[order], 0.3, tol=1e-9)
    outputs = K @ one.coef + one.intercept
    np.testing.assert_allclose(
        outputs[order], K[np.ix_(order, order)] @ other.coef + other.intercept, atol=1e-7
    )


def test_offsets_cost_no_digits():
    X, y = stdev(2, 60, random_state=0)
    far = linear(X - [300.0, 0.0])
    result = solve_logistic_l1(far, y, 1.0)
    assert result.converged
    assert kkt_violation(result.coef, result.intercept, far, y, np.ones(60), 1.0) <= 1e-5


def test_every_step_descends(monkeypatch):
    # A weak penalty on many overlapping functions: full steps overshoot, and must be shortened.
    X, y = non_separable(150, random_state=0)
    K = gaussian(X, gamma=1.0)
    best = solve_logistic_l1(K, y, 1e-3).objective
    heights = []
    for steps in range(1, 12):
        heights.append(solve_logistic_l1(K, y, 1e-3, max_iter=steps).objective)
    assert (np.diff(heights) <= 1e-10).all()
    assert heights[-1] >= best * (1 - 1e-9)
    monkeypatch.setattr(proximal, "_line_search", lambda *arguments: 1.0)
    reckless = [solve_logistic_l1(K, y, 1e-3, max_iter=k).objective for k in range(1, 12)]
    assert (np.diff(reckless) > 1e-10).any()  # so the line search is what the test looks at


@pytest.mark.parametrize(("used", "content"), [(0, 35), (4, 10), (15, 0)])
def test_the_working_set_holds_the_nonzero_and_the_largest_violations(used, content):
    rng = np.random.default_rng(0)
    alpha, violation = np.zeros(40), rng.uniform(0.1, 1.0, 40)
    alpha[:used] = rng.standard_normal(used)
    violation[40 - content :] = 0.0
    order = rng.permutation(40)
    alpha, violation = alpha[order], violation[order]
    chosen = proximal._working_set(alpha, violation)
    assert (np.diff(chosen) > 0).all() and set(np.flatnonzero(alpha)) <= set(chosen)
    added = chosen[alpha[chosen] == 0.0]
    assert len(added) == min(max(proximal.MIN_ADDED, used), 40 - used - content)
    left = np.setdiff1d(np.flatnonzero(alpha == 0.0), added)
    assert violation[added].min(initial=1.0) > 0.0
    assert violation[added].min(initial=1.0) >= violation[left].max(initial=0.0)


@pytest.mark.parametrize(("direction", "taken"), [(-1.0, 1.0), (-1e4, 0.5), (1.0, 0.0)])
def test_a_step_is_halved_until_it_descends_and_not_taken_uphill(direction, taken):
    X, y = non_separable(60, random_state=0)
    K, zero, lam = gaussian(X, gamma=0.5), np.zeros(60), 1e-3
    likelihood = Binomial(y, np.ones(60))
    slope = -K @ likelihood.negative_gradient(zero)
    d = direction * slope / np.abs(slope).sum()

    def height(t):
        return likelihood.loss(t * (K @ d)) + lam * np.abs(t * d).sum()

    here = zero, zero, height(0.0)
    t = proximal._line_search(likelihood, lam, here, (d, K @ d), slope @ d)
    assert t <= taken and np.log2(t or 1.0).is_integer() and (t > 0.0) == (direction < 0.0)
    assert height(t) < height(0.0) or t == 0.0
    assert t in (0.0, 1.0) or height(2.0 * t) > 0.999 * height(0.0)


def test_a_badly_scaled_kernel_ends_in_reasonable_time_with_a_word():
    X = np.random.default_rng(1).standard_normal((40, 2)) * 100
    result = solve_logistic_l1(polynomial(X), np.where(np.arange(40) % 2, 1.0, -1.0), 1.0)
    assert not result.converged
    assert result.message


@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_steps_end_where_rounding_hides_what_they_gain(lam):
    X, y = stdev(2, 50, random_state=0)
    result = solve_logistic_l1(gaussian(X, gamma=0.3), y, lam, tol=1e-30)
    assert not result.converged and result.message == "rounding hides the descent"
    assert result.kkt_residual < 1e-12
    assert result.n_iter < 50


def test_too_few_steps_are_admitted():
    X, y = non_separable(60, random_state=0)
    result = solve_logistic_l1(gaussian(X), y, 1e-3, max_iter=1)
    assert not result.converged
    assert result.message == "all steps used up"
    best = solve_logistic_l1(gaussian(X), y, 1e-3)
    assert result.objective - best.objective <= result.gap  # the bound holds anywhere


def test_a_kernel_that_is_not_square_is_named():
    with pytest.raises(ValueError, match=r"K must have shape \(2, 2\)"):
        solve_logistic_l1_path(np.ones((2, 3)), np.array([-1.0, 1.0]), [1.0])


@pytest.mark.parametrize("lams", [[1.0, 0.0], [-1.0], [np.nan]])
def test_a_path_refuses_what_is_not_positive(lams):
    with pytest.raises(ValueError, match="lam must be positive"):
        list(solve_logistic_l1_path(np.eye(2), np.array([-1.0, 1.0]), lams))
