"""Newton's method for the ridge penalty, for two and several classes, in both forms."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_problems import (
    as_function_of_theta,
    complex_step_gradient,
    entropy,
    logistic_objective,
    logistic_problems,
    softmax_objective,
)
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from svmbook.datasets import non_separable, stdev
from svmbook.gram import LowRankGram
from svmbook.kernels import gaussian, linear
from svmbook.solvers import solve_logistic
from svmbook.solvers.hinge_terms import SmoothedHinge
from svmbook.solvers.logistic import likelihoods, newton
from svmbook.solvers.logistic.likelihoods import TwoClassLoss

LAMS = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)


@given(problem=logistic_problems(), lam=LAMS)
@settings(max_examples=60)
def test_gradient_is_zero_and_gap_is_primal_minus_dual(problem, lam):
    K, y, weights = problem
    result = solve_logistic(K, y, lam, weights=weights, tol=1e-7)
    assert result.converged
    objective = as_function_of_theta(logistic_objective, K, y, weights, lam)
    theta = np.append(result.coef, result.intercept)
    assert result.objective == pytest.approx(objective(theta), rel=1e-9)
    scale = weights.sum() * max(np.abs(K).max(), 1.0)
    assert np.abs(complex_step_gradient(objective, theta)).max() <= 1e-6 * scale
    # The dual objective: the entropies minus the squared norm over 2 lam.
    G = result.negative_gradient
    entropies = entropy(G, weights)
    # Exact products with K, since their terms may cancel.
    exact_K, exact_G, exact_coef = map(np.vectorize(Fraction, otypes=[object]), (K, G, result.coef))
    outputs = exact_K @ exact_coef
    squared_norm, penalty = exact_G @ exact_K @ exact_G, exact_coef @ outputs
    loss = weights @ np.logaddexp(0.0, -y * (outputs.astype(float) + result.intercept))
    primal = loss + 0.5 * lam * float(penalty)
    dual = entropies - 0.5 / lam * float(squared_norm)
    assert G.sum() == pytest.approx(0.0, abs=1e-10 * weights.sum())
    rounding_error = 1e-11 * max(entropies, 1.0)
    assert primal - dual == pytest.approx(result.gap, abs=rounding_error)
    assert result.gap <= 1e-7 * result.objective


@given(problem=logistic_problems(max_n=12), lam=st.sampled_from([0.05, 1.0, 20.0]))
@settings(max_examples=25)
def test_objective_agrees_with_bfgs(problem, lam):
    K, y, weights = problem
    result = solve_logistic(K, y, lam, weights=weights)
    objective = as_function_of_theta(logistic_objective, K, y, weights, lam)
    bfgs_result = minimize(
        objective,
        np.zeros(len(y) + 1),
        jac=lambda theta: complex_step_gradient(objective, theta),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert result.objective <= bfgs_result.fun * (1 + 1e-9)
    assert result.objective >= bfgs_result.fun * (1 - 1e-5)


@given(problem=logistic_problems(n_classes=4), lam=LAMS)
@settings(max_examples=40)
def test_softmax_gradient_is_zero(problem, lam):
    K, y, weights = problem
    result = solve_logistic(K, y, lam, weights=weights, n_classes=4, tol=1e-7)
    assert result.converged
    A, b = result.coef, result.intercept
    objective = as_function_of_theta(softmax_objective, K, y, weights, lam)
    theta = np.vstack([A, b])
    scale = weights.sum() * max(np.abs(K).max(), 1.0)
    assert np.abs(complex_step_gradient(objective, theta)).max() <= 1e-6 * scale
    assert b.sum() == pytest.approx(0.0, abs=1e-12 * (1 + np.abs(b).max()))
    np.testing.assert_allclose(A.sum(axis=1), 0.0, atol=1e-9 * (1 + np.abs(A).max()))


@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_softmax_of_two_classes_equals_binomial(lam):
    # The pair f/2, -f/2 has half the squared norm of f, so that lam has to be doubled.
    X, y = stdev(2, 80, random_state=0)
    K = gaussian(X, gamma=0.3)
    binomial_result = solve_logistic(K, y, lam, tol=1e-10)
    softmax_result = solve_logistic(K, (y > 0).astype(int), 2 * lam, n_classes=2, tol=1e-10)
    np.testing.assert_allclose(
        softmax_result.coef[:, 1] - softmax_result.coef[:, 0], binomial_result.coef, atol=1e-8
    )
    assert softmax_result.objective == pytest.approx(binomial_result.objective, rel=1e-10)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(60, 3), (30, 80)], ids=["tall", "wide"])
@pytest.mark.parametrize("n_classes", [None, 3])
def test_both_forms_and_scikit_learn_agree(lam, shape, n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) + 5.0
    y = (
        rng.integers(0, n_classes, len(X))
        if n_classes
        else np.where(rng.random(len(X)) < 0.4, 1.0, -1)
    )
    options = {"n_classes": n_classes, "tol": 1e-8}
    factor_result = solve_logistic(X, y, lam, form="factor", **options)
    gram_result = solve_logistic(linear(X), y, lam, **options)
    sklearn_model = LogisticRegression(C=1 / lam, solver="newton-cholesky", tol=1e-10).fit(X, y)
    w = factor_result.coef
    w_sklearn = sklearn_model.coef_.T if n_classes else sklearn_model.coef_[0]
    assert factor_result.converged and gram_result.converged
    np.testing.assert_allclose(X.T @ gram_result.coef, w, atol=1e-6 * np.abs(w).max())
    np.testing.assert_allclose(w, w_sklearn, atol=1e-4 * np.abs(w_sklearn).max())
    log_p = sklearn_model.predict_log_proba(X)
    loss = -log_p[np.arange(len(X)), np.searchsorted(sklearn_model.classes_, y)].sum()
    sklearn_objective = loss + 0.5 * lam * np.sum(w_sklearn**2)
    assert factor_result.objective <= sklearn_objective * (1 + 1e-12)


@pytest.mark.parametrize(
    ("y", "n_classes", "start"),
    [
        ([-1, -1, 1, 1, -1, -1], None, ([1.0], 0.0)),
        ([0, 0, 1, 1, 2, 0], 3, ([[1.0, 0.0, -1.0]], [500.0, 0.0, -500.0])),
    ],
)
def test_huge_margins_do_not_prevent_convergence(y, n_classes, start):
    X = np.array([[-1e4], [-9e3], [1e4], [8e3], [7e3], [6e3]])
    options = {"form": "factor", "n_classes": n_classes, "tol": 1e-9}
    for lam in (1e-8, 1.0, 1e8):
        cold_result = solve_logistic(X, y, lam, **options)
        # At this start the margins are about 1e4.
        warm_result = solve_logistic(X, y, lam, start=start, **options)
        assert cold_result.converged and warm_result.converged, lam
        assert warm_result.objective == pytest.approx(cold_result.objective, rel=1e-8)
        np.testing.assert_allclose(warm_result.coef, cold_result.coef, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3])
def test_warm_start_need_not_be_centred(offset):
    X, _ = stdev(2, 40, random_state=0)
    y = np.arange(40) % 3
    K = gaussian(X, gamma=0.3)
    cold_result = solve_logistic(K, y, 1.0, n_classes=3)
    start = np.full((40, 3), offset), np.full(3, offset)
    warm_result = solve_logistic(K, y, 1.0, n_classes=3, start=start)
    assert warm_result.objective == pytest.approx(cold_result.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ((np.zeros(3),), "a pair"),
        ((np.zeros(4), 0.0), "found shapes"),
        ((np.zeros(3), np.zeros(1)), "found shapes"),
        ((np.full(3, np.nan), 0.0), "finite"),
    ],
)
def test_invalid_start_is_reported(start, message):
    with pytest.raises(ValueError, match=message):
        solve_logistic(np.eye(3), np.array([-1.0, 1, 1]), 1.0, start=start)


def test_solution_is_not_certified_if_cancellation_affects_the_objective():
    # Outputs of size 1 are sums of terms of size 1 / lam, and lose digits by cancellation.
    y = np.where(np.arange(13) < 4, -1.0, 1.0)
    result = solve_logistic(np.full((13, 13), 7.3), y, 1e-11)
    assert not result.converged
    assert "rounding" in result.message
    assert solve_logistic(np.full((13, 13), 7.3), y, 1e-3).converged


def test_residual_is_relative_to_the_terms_of_the_gradient():
    X, y = stdev(2, 50, random_state=0)
    K = gaussian(X, gamma=0.3)
    result = solve_logistic(K, y, 0.1, max_iter=1)
    R = result.negative_gradient - 0.1 * result.coef
    total_size = np.abs(result.negative_gradient) @ np.sqrt(np.diagonal(K))
    assert result.kkt_residual == pytest.approx(np.sqrt(R @ K @ R) / total_size, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 10.0])
def test_scaling_the_kernel_and_lam_keeps_the_outputs(factor):
    X, y = stdev(2, 50, random_state=0)
    K = gaussian(X, gamma=0.3)
    result = solve_logistic(K, y, 0.5, tol=1e-9)
    scaled_result = solve_logistic(factor * K, y, factor * 0.5, tol=1e-9)
    np.testing.assert_allclose(factor * scaled_result.coef, result.coef, atol=1e-7)


@pytest.mark.parametrize("lam", [1e-6, 1e-3])
def test_small_lam_is_solved(lam):
    X, y = non_separable(200, random_state=0)
    result = solve_logistic(gaussian(X, gamma=0.5), y, lam)
    assert result.converged and result.gap <= 1e-6 * result.objective


def test_warm_start_takes_fewer_iterations_to_the_same_solution():
    X, y = stdev(2, 200, random_state=0)
    K = gaussian(X, gamma=0.2)
    cold_result = solve_logistic(K, y, 0.1, tol=1e-10)
    nearby_result = solve_logistic(K, y, 0.12)
    warm_result = solve_logistic(
        K, y, 0.1, tol=1e-10, start=(nearby_result.coef, nearby_result.intercept)
    )
    np.testing.assert_allclose(warm_result.coef, cold_result.coef, atol=1e-8)
    assert warm_result.n_iter < cold_result.n_iter


@pytest.mark.parametrize("error", [ZeroDivisionError("no step"), np.linalg.LinAlgError("no step")])
def test_failed_newton_step_is_reported(error, monkeypatch):
    def fail(*args):
        raise error

    monkeypatch.setattr(likelihoods.Binomial, "newton_step", fail)
    X, y = stdev(2, 20, random_state=0)
    result = solve_logistic(gaussian(X), y, 1.0)
    assert not result.converged and result.message == "no step"


class PiecewiseQuadraticLoss(TwoClassLoss):
    """A convex loss whose curvature vanishes outside short intervals."""

    def __init__(self, y, C, width):
        self.y, self._at = y, lambda F: SmoothedHinge(y, C, F, width)

    def loss(self, F):
        return self._at(F).loss

    def negative_gradient(self, F):
        return self.y * self._at(F).multipliers

    def curvature(self, F):
        return self._at(F).curvature


@pytest.mark.parametrize("C", [0.03, 0.08])
def test_line_search_succeeds_if_newtons_correction_is_below_rounding_error(C):
    # The parabola of the first smoothed hinge contains t = 1 and is one unit in the last place
    # wide, so that t plus Newton's correction rounds to t.
    loss_function = PiecewiseQuadraticLoss(np.ones(2), np.array([1.0, C]), 2.0**-52)
    point, step = np.zeros(2), np.array([1.0 - 2.0**-53, -1.0])
    G, objective = loss_function.negative_gradient(point), loss_function.loss(point)
    problem = newton.RidgeProblem(loss_function, LowRankGram(np.eye(2)), 1e-9)
    t = newton._line_search(problem, (point, 0.0, point), (step, 0.0, step), (G, 0.0), objective)
    assert t > 0.0 and loss_function.loss(t * step) < objective
    slope = abs(loss_function.negative_gradient(t * step) @ step)
    assert slope <= newton.SLOPE_RATIO * (G @ step) + 1e-8


@pytest.mark.parametrize(
    ("invalid_arguments", "message"),
    [
        ({"lam": 0.0}, "lam must be positive"),
        ({"lam": -1.0}, "lam must be positive"),
        ({"lam": np.inf}, "lam must be positive"),
        ({"y": np.array([0.0, 1, 1])}, "-1 and \\+1"),
        ({"y": np.array([0, 1, 3]), "n_classes": 3}, "all labels from 0 to 2"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "weights must be positive"),
        ({"weights": -1.0}, "weights must be positive"),
        ({"K": np.ones((3, 2))}, "K must have shape"),
        ({"K": np.full((3, 3), np.nan)}, "K contains NaN"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter == 0"),
        ({"form": "Gram"}, "choose 'gram' or 'factor'"),
    ],
)
def test_invalid_arguments_are_reported(invalid_arguments, message):
    arguments = {"K": np.eye(3), "y": np.array([-1.0, 1, 1]), "lam": 1.0} | invalid_arguments
    with pytest.raises(ValueError, match=message):
        solve_logistic(**arguments)
    with pytest.raises(TypeError, match="lam must be a number"):
        solve_logistic(np.eye(2), np.array([-1.0, 1.0]), "large")


@pytest.mark.parametrize("n_classes", [None, 3])
def test_only_the_intercept_is_fitted_if_the_kernel_is_zero(n_classes):
    y = np.array([0, 1, 2, 2, 2]) if n_classes else np.array([-1.0, 1, 1, 1, 1])
    result = solve_logistic(np.zeros((5, 5)), y, 1.0, n_classes=n_classes)
    assert result.converged
    counts = np.bincount(y if n_classes else (y > 0).astype(int))
    log_odds = np.log(counts) - np.log(counts).mean()
    np.testing.assert_allclose(
        result.intercept, log_odds if n_classes else log_odds[1] - log_odds[0], atol=1e-9
    )
