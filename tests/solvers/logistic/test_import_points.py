"""The import vector machine: each step against brute force, the end against all points."""

import numpy as np
import pytest
from hypothesis import given, settings
from logistic_problems import logistic_problems

from svmbook.datasets import non_separable
from svmbook.kernels import gaussian
from svmbook.solvers import select_import_points, solve_logistic
from svmbook.solvers.logistic.import_points import _predicted_decreases
from svmbook.solvers.logistic.likelihoods import Binomial


def on(K, y, lam, S):
    """Minimise over the kernel functions of S alone, in coefficients instead of weights."""
    L = np.linalg.cholesky(K[np.ix_(S, S)] + 1e-12 * np.eye(len(S)))
    Z = np.linalg.solve(L, K[S]).T
    return solve_logistic(Z, y, lam, form="factor", tol=1e-9)


def test_the_prediction_is_the_decrease_of_newtons_parabola():
    X, y = non_separable(25, random_state=0)
    K, lam, S = gaussian(X, gamma=0.3), 0.5, [3, 11, 20]
    L = np.linalg.cholesky(K[np.ix_(S, S)])
    Z = np.linalg.solve(L, K[S]).T
    result = solve_logistic(Z, y, lam, form="factor", tol=1e-12)
    F = Z @ result.coef + result.intercept
    likelihood = Binomial(y, np.ones(25))
    rest = K - Z @ Z.T
    new = np.ones(25, dtype=bool)
    new[S] = False
    predicted = _predicted_decreases(likelihood, lam, Z, rest, new, F)
    G, W = likelihood.negative_gradient(F), likelihood.curvature(F)
    for candidate in np.flatnonzero(new):
        wider = np.column_stack([Z, rest[candidate] / np.sqrt(rest[candidate, candidate])])
        design = np.column_stack([wider, np.ones(25)])
        H = design.T @ (W[:, None] * design) + lam * np.diag([1.0] * 4 + [0.0])
        slope = design.T @ G - lam * np.append(result.coef, [0.0, 0.0])
        decrease = 0.5 * slope @ np.linalg.solve(H, slope)
        assert predicted[candidate] == pytest.approx(decrease, rel=1e-6)
    assert not predicted[S].any()


@given(problem=logistic_problems(max_n=15))
@settings(max_examples=30)
def test_all_points_give_kernel_logistic_regression(problem):
    K, y, weights = problem
    every = select_import_points(K, y, 0.3, weights=weights, min_decrease=1e-12)
    full = solve_logistic(K, y, 0.3, weights=weights)
    assert every.converged
    assert every.objective == pytest.approx(full.objective, rel=1e-5)
    assert every.objective - full.objective <= every.full_gap + 1e-9


@pytest.mark.parametrize("points", [1, 5, 12])
def test_the_gap_bounds_what_all_points_could_gain(points):
    X, y = non_separable(100, random_state=0)
    K = gaussian(X, gamma=0.5)
    few = select_import_points(K, y, 0.1, max_points=points, min_decrease=1e-9)
    S = np.flatnonzero(few.coef)
    assert len(S) == points == few.n_iter
    assert few.objective == pytest.approx(on(K, y, 0.1, S).objective, rel=1e-6)
    full = solve_logistic(K, y, 0.1)
    assert full.objective <= few.objective <= full.objective + few.full_gap


@pytest.mark.parametrize("points", [1, 5])
def test_the_gap_is_primal_minus_dual(points):
    X, y = non_separable(60, random_state=0)
    K, lam, weights = gaussian(X, gamma=0.5), 0.1, np.random.default_rng(0).uniform(0.5, 2, 60)
    few = select_import_points(K, y, lam, weights=weights, max_points=points, min_decrease=1e-9)
    G = few.negative_gradient
    p = np.abs(G) / weights  # of the wrong label
    entropy = -weights @ (p * np.log(p) + (1 - p) * np.log1p(-p))
    dual = entropy - G @ K @ G / (2 * lam)
    assert few.full_gap == pytest.approx(few.objective - dual, rel=1e-4)


def test_where_no_function_helps_the_intercept_is_all():
    y = np.repeat([1.0, -1.0], [8, 2])
    result = select_import_points(np.ones((10, 10)), y, 1.0)
    assert not result.coef.any() and result.intercept == pytest.approx(np.log(4))
    assert result.objective == pytest.approx(-8 * np.log(0.8) - 2 * np.log(0.2))


def test_rounding_that_ends_the_search_is_admitted(monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError

    X, y = non_separable(30, random_state=0)
    monkeypatch.setattr("svmbook.solvers.logistic.import_points._predicted_decreases", fail)
    assert not select_import_points(gaussian(X), y, 1.0).converged


def test_greedy_points_beat_random_ones():
    X, y = non_separable(150, random_state=0)
    K = gaussian(X, gamma=0.5)
    greedy = select_import_points(K, y, 0.1, max_points=8, min_decrease=1e-9)
    rng = np.random.default_rng(0)
    random = [on(K, y, 0.1, rng.choice(150, 8, replace=False)).objective for _ in range(20)]
    assert greedy.objective < min(random)


def test_duplicates_are_taken_once():
    X, y = non_separable(20, random_state=0)
    K = gaussian(np.tile(X, (2, 1)), gamma=0.5)
    result = select_import_points(K, np.tile(y, 2), 0.1, min_decrease=1e-12)
    S = np.flatnonzero(result.coef)
    assert len(np.unique(S % 20)) == len(S) <= 20


def test_too_strict_a_tolerance_is_admitted():
    X, y = non_separable(40, random_state=0)
    result = select_import_points(gaussian(X), y, 0.1, tol=1e-18)
    assert not result.converged
    assert result.message


def test_single_precision_takes_no_noise_in():
    X, y = non_separable(60, random_state=0)
    K = gaussian(X, gamma=0.05)
    rounded = select_import_points(K.astype(np.float32), y, 0.01, min_decrease=1e-9)
    full = solve_logistic(K, y, 0.01)
    assert (
        full.objective * (1 - 1e-5) <= rounded.objective <= full.objective + rounded.full_gap + 1e-3
    )


def test_what_overflows_is_not_called_converged():
    X, y = non_separable(30, random_state=0)
    with np.errstate(over="ignore", invalid="ignore"):
        result = select_import_points(1e160 * X @ X.T, y, 1.0)
    assert not result.converged and "scale the features" in result.message


def test_larger_epsilon_takes_fewer_points():
    X, y = non_separable(100, random_state=0)
    K = gaussian(X, gamma=0.5)
    sizes = [select_import_points(K, y, 0.1, min_decrease=e).n_iter for e in (1e-1, 1e-2, 1e-4)]
    assert sizes[0] < sizes[1] < sizes[2] < 100


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lam": 0.0}, "lam must be positive"),
        ({"min_decrease": 0.0}, "min_decrease must be"),
        ({"max_points": 0}, "max_points == 0"),
        ({"tol": -1.0}, "tol must be"),
        ({"K": np.ones((3, 2))}, r"K must have shape \(3, 3\)"),
    ],
)
def test_what_does_not_fit_is_named(change, message):
    problem = {"K": np.eye(3), "y": np.array([-1.0, 1, 1]), "lam": 1.0} | change
    with pytest.raises(ValueError, match=message):
        select_import_points(**problem)
