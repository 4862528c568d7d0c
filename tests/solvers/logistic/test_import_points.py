"""The import vector machine agrees with brute force, and with the fit on all kernel functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from logistic_problems import entropy, logistic_problems

from svmbook.datasets import non_separable
from svmbook.kernels import gaussian
from svmbook.solvers import select_import_points, solve_logistic
from svmbook.solvers.logistic.import_points import _predicted_decreases
from svmbook.solvers.logistic.likelihoods import Binomial


def factor_on_subset(K, S):
    """Return Z, of shape (n, |S|), such that ZZ' equals K in the rows and columns of S."""
    L = np.linalg.cholesky(K[np.ix_(S, S)] + 1e-12 * np.eye(len(S)))
    return np.linalg.solve(L, K[S]).T


def minimum_on_subset(K, y, lam, S):
    """Return the minimum of the objective over the kernel functions of S."""
    return solve_logistic(factor_on_subset(K, S), y, lam, form="factor", tol=1e-9).objective


def test_predicted_decrease_is_that_of_the_quadratic_model():
    X, y = non_separable(25, random_state=0)
    K, lam, S = gaussian(X, gamma=0.3), 0.5, [3, 11, 20]
    Z = factor_on_subset(K, S)
    result = solve_logistic(Z, y, lam, form="factor", tol=1e-12)
    F = Z @ result.coef + result.intercept
    likelihood = Binomial(y, np.ones(25))
    remainder = K - Z @ Z.T
    is_candidate = np.ones(25, dtype=bool)
    is_candidate[S] = False
    G, W = likelihood.negative_gradient(F), likelihood.curvature(F)
    predicted_decreases = _predicted_decreases((G, W), lam, Z, remainder, is_candidate)
    for candidate in np.flatnonzero(is_candidate):
        z = remainder[candidate] / np.sqrt(remainder[candidate, candidate])
        design = np.column_stack([Z, z, np.ones(25)])
        H = design.T @ (W[:, None] * design) + lam * np.diag([1.0] * 4 + [0.0])
        negative_gradient = design.T @ G - lam * np.append(result.coef, [0.0, 0.0])
        decrease = 0.5 * negative_gradient @ np.linalg.solve(H, negative_gradient)
        assert predicted_decreases[candidate] == pytest.approx(decrease, rel=1e-6)
    assert not predicted_decreases[S].any()


@given(problem=logistic_problems(max_n=15))
@settings(max_examples=30)
def test_all_points_give_kernel_logistic_regression(problem):
    K, y, weights = problem
    selected_result = select_import_points(K, y, 0.3, weights=weights, min_decrease=1e-12)
    full_result = solve_logistic(K, y, 0.3, weights=weights)
    assert selected_result.converged
    assert selected_result.objective == pytest.approx(full_result.objective, rel=1e-5)
    assert (
        selected_result.objective - full_result.objective <= selected_result.full_model_gap + 1e-9
    )


@pytest.mark.parametrize("max_points", [1, 5, 12])
def test_full_model_gap_bounds_the_distance_from_the_minimum_over_all_points(max_points):
    X, y = non_separable(100, random_state=0)
    K = gaussian(X, gamma=0.5)
    result = select_import_points(K, y, 0.1, max_points=max_points, min_decrease=1e-9)
    S = np.flatnonzero(result.coef)
    assert len(S) == max_points == result.n_iter
    assert result.objective == pytest.approx(minimum_on_subset(K, y, 0.1, S), rel=1e-6)
    minimum = solve_logistic(K, y, 0.1).objective
    assert minimum <= result.objective <= minimum + result.full_model_gap


@pytest.mark.parametrize("max_points", [1, 5])
def test_full_model_gap_is_primal_minus_dual(max_points):
    X, y = non_separable(60, random_state=0)
    K, lam, weights = gaussian(X, gamma=0.5), 0.1, np.random.default_rng(0).uniform(0.5, 2, 60)
    result = select_import_points(
        K, y, lam, weights=weights, max_points=max_points, min_decrease=1e-9
    )
    G = result.negative_gradient
    dual = entropy(G, weights) - G @ K @ G / (2 * lam)
    assert result.full_model_gap == pytest.approx(result.objective - dual, rel=1e-4)


def test_only_the_intercept_is_fitted_if_no_kernel_function_lowers_the_objective():
    y = np.repeat([1.0, -1.0], [8, 2])
    result = select_import_points(np.ones((10, 10)), y, 1.0)
    assert not result.coef.any() and result.intercept == pytest.approx(np.log(4))
    assert result.objective == pytest.approx(-8 * np.log(0.8) - 2 * np.log(0.2))


def test_singular_system_is_reported_as_rounding_error(monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError

    X, y = non_separable(30, random_state=0)
    monkeypatch.setattr("svmbook.solvers.logistic.import_points._predicted_decreases", fail)
    result = select_import_points(gaussian(X), y, 1.0)
    assert not result.converged and "rounding error" in result.message


def test_greedy_points_are_better_than_random_ones():
    X, y = non_separable(150, random_state=0)
    K = gaussian(X, gamma=0.5)
    greedy_result = select_import_points(K, y, 0.1, max_points=8, min_decrease=1e-9)
    rng = np.random.default_rng(0)
    random_objectives = [
        minimum_on_subset(K, y, 0.1, rng.choice(150, 8, replace=False)) for _ in range(20)
    ]
    assert greedy_result.objective < min(random_objectives)


def test_only_one_of_two_duplicates_is_selected():
    X, y = non_separable(20, random_state=0)
    K = gaussian(np.tile(X, (2, 1)), gamma=0.5)
    result = select_import_points(K, np.tile(y, 2), 0.1, min_decrease=1e-12)
    S = np.flatnonzero(result.coef)
    assert len(np.unique(S % 20)) == len(S) <= 20


def test_missing_the_tolerance_is_reported():
    X, y = non_separable(40, random_state=0)
    result = select_import_points(gaussian(X), y, 0.1, tol=1e-18)
    assert not result.converged
    assert result.message


def test_rounding_errors_of_single_precision_are_not_fitted():
    X, y = non_separable(60, random_state=0)
    K = gaussian(X, gamma=0.05)
    rounded_result = select_import_points(K.astype(np.float32), y, 0.01, min_decrease=1e-9)
    minimum = solve_logistic(K, y, 0.01).objective
    assert (
        minimum * (1 - 1e-5)
        <= rounded_result.objective
        <= minimum + rounded_result.full_model_gap + 1e-3
    )


def test_overflow_is_reported():
    X, y = non_separable(30, random_state=0)
    with np.errstate(over="ignore", invalid="ignore"):
        result = select_import_points(1e160 * X @ X.T, y, 1.0)
    assert not result.converged and "scale the features" in result.message


def test_larger_min_decrease_selects_fewer_points():
    X, y = non_separable(100, random_state=0)
    K = gaussian(X, gamma=0.5)
    sizes = [select_import_points(K, y, 0.1, min_decrease=t).n_iter for t in (1e-1, 1e-2, 1e-4)]
    assert sizes[0] < sizes[1] < sizes[2] < 100


@pytest.mark.parametrize(
    ("invalid_arguments", "message"),
    [
        ({"lam": 0.0}, "lam must be positive"),
        ({"min_decrease": 0.0}, "min_decrease must be"),
        ({"max_points": 0}, "max_points == 0"),
        ({"tol": -1.0}, "tol must be"),
        ({"K": np.ones((3, 2))}, r"K must have shape \(3, 3\)"),
    ],
)
def test_invalid_arguments_are_reported(invalid_arguments, message):
    arguments = {"K": np.eye(3), "y": np.array([-1.0, 1, 1]), "lam": 1.0} | invalid_arguments
    with pytest.raises(ValueError, match=message):
        select_import_points(**arguments)
