"""Logistic regression without a penalty: its solution, or an error for separated classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from svmbook.datasets import stdev
from svmbook.kernels import gaussian, polynomial
from svmbook.solvers import (
    has_separation,
    solve_logistic,
    solve_logistic_unpenalised,
    solve_logistic_unpenalised_gram,
)
from svmbook.solvers.logistic.likelihoods import Binomial


@given(st.tuples(*[st.integers(1, 30)] * 4))
def test_probabilities_of_two_groups_are_their_relative_frequencies(counts):
    # With one binary feature, each group's probability is its share of positive labels.
    a, b, c, d = counts
    Z = np.repeat([0.0, 0.0, 1.0, 1.0], counts)[:, None]
    y = np.repeat([1.0, -1.0, 1.0, -1.0], counts)
    result = solve_logistic_unpenalised(Z, y, tol=1e-9)
    assert result.intercept == pytest.approx(np.log(a / b), abs=1e-6)
    assert result.coef[0] == pytest.approx(np.log(c / d) - np.log(a / b), abs=1e-6)


@pytest.mark.parametrize("n_classes", [None, 3])
def test_solution_is_the_limit_of_ridge_solutions_and_agrees_with_scikit_learn(n_classes):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 5)) + 4.0  # rank 3 of 5
    y = rng.integers(0, 3, 80) if n_classes else np.where(rng.random(80) < 0.5, 1.0, -1.0)
    limit_result = solve_logistic_unpenalised(Z, y, n_classes=n_classes, tol=1e-10)
    ridge_result = solve_logistic(Z, y, 1e-9, form="factor", n_classes=n_classes, tol=1e-8)
    np.testing.assert_allclose(limit_result.coef, ridge_result.coef, atol=1e-5)
    np.testing.assert_allclose(limit_result.intercept, ridge_result.intercept, atol=1e-4)
    assert np.isinf(limit_result.gap) and limit_result.converged
    sklearn_model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(Z, y)
    outputs = sklearn_model.decision_function(Z)
    outputs = outputs - outputs.mean(axis=1, keepdims=True) if n_classes else outputs
    np.testing.assert_allclose(Z @ limit_result.coef + limit_result.intercept, outputs, atol=1e-4)


def test_solution_has_minimum_norm_if_it_is_not_unique():
    # Three distinct points in five dimensions, each with both labels, so not separable.
    distinct_points = np.random.default_rng(0).standard_normal((3, 5)) * [1.0, 10.0, 0.1, 1.0, 3.0]
    Z = distinct_points[[0, 0, 0, 1, 1, 2, 2]]
    y = np.array([1.0, 1, -1, 1, -1, 1, -1])
    limit_result = solve_logistic_unpenalised(Z, y, tol=1e-10)
    ridge_result = solve_logistic(Z - Z.mean(axis=0), y, 1e-8, form="factor", tol=1e-8)
    np.testing.assert_allclose(limit_result.coef, ridge_result.coef, atol=1e-5)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([0, 1, 2, 3], [-1, -1, 1, 1], True),
        ([0, 1, 1, 2], [-1, -1, 1, 1], True),  # the classes touch at 1
        ([0, 1, 2, 3], [-1, 1, -1, 1], False),
        ([0, 1, 1, 0], [-1, -1, 1, 1], False),
    ],
)
def test_separation_is_detected_even_if_the_classes_touch(x, y, expected):
    Z, y = np.array(x, dtype=float)[:, None], np.array(y, dtype=float)
    assert has_separation(Z, y) is expected
    assert has_separation(1e6 * Z + 1e3, y) is expected
    if expected:
        with pytest.raises(ValueError, match="the classes can be separated"):
            solve_logistic_unpenalised(Z, y)
    else:
        assert solve_logistic_unpenalised(Z, y).converged


@given(st.integers(0, 1000))
@settings(max_examples=40)
def test_has_separation_agrees_with_the_definition_in_one_dimension(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, 8).astype(float)
    y = np.where(rng.random(8) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    negative, positive = x[y < 0], x[y > 0]
    is_separated = negative.max() <= positive.min() or positive.max() <= negative.min()
    assert has_separation(x[:, None], y) is bool(is_separated and np.ptp(x) > 0)


def test_several_classes_have_separation_if_one_is_separated_from_the_rest():
    rng = np.random.default_rng(0)
    Z = np.vstack([rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 50.0])
    y = np.append(rng.integers(0, 2, 20), np.full(20, 2))
    assert has_separation(Z, y, n_classes=3)
    with pytest.raises(ValueError, match="no minimiser exists"):
        solve_logistic_unpenalised(Z, y, n_classes=3)


def test_equal_points_are_reported():
    with pytest.raises(ValueError, match="all points are equal up to rounding"):
        solve_logistic_unpenalised(np.ones((4, 2)), np.array([1.0, -1, 1, -1]))


def test_separation_does_not_depend_on_the_weights():
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.standard_normal(100), np.arange(100) == 0])
    y = np.where(Z[:, 0] + 2 * rng.standard_normal(100) > 0, 1.0, -1.0)
    for tol in (1e-3, 1e-6):
        weights = np.where(np.arange(100) == 0, 1e-6, 1.0)
        with pytest.raises(ValueError, match="can be separated"):
            solve_logistic_unpenalised(Z, y, weights=weights, tol=tol)


@pytest.mark.parametrize("scale", [1e-20, 1e-8, 1e8, 1e20])
def test_scale_of_a_feature_does_not_matter(scale):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((100, 2))
    y = np.where(Z @ [1, 2] + rng.standard_normal(100) > 0, 1.0, -1.0)
    scales = np.array([1.0, scale])
    result = solve_logistic_unpenalised(Z, y)
    scaled_result = solve_logistic_unpenalised(Z * scales, y)
    assert scaled_result.objective == pytest.approx(result.objective)
    np.testing.assert_allclose(scaled_result.coef * scales, result.coef, rtol=1e-6)
    assert not has_separation(Z * scales, y)
    points_on_a_line = np.array([[0.0], [1], [1], [2]])
    assert has_separation(scale * points_on_a_line, np.array([-1.0, -1, 1, 1]))


@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0])
def test_polynomial_kernel_agrees_with_explicit_features(scale):
    rng = np.random.default_rng(0)
    X = scale * rng.standard_normal((100, 2))
    y = np.where(X @ [1, 2] + scale * rng.standard_normal(100) > 0, 1.0, -1.0)
    features = np.column_stack([X, X**2, X.prod(axis=1)])
    explicit_result = solve_logistic_unpenalised(features, y, tol=1e-9)
    K = polynomial(X, degree=2)
    result = solve_logistic_unpenalised_gram(K, y)
    assert result.converged
    assert result.objective == pytest.approx(explicit_result.objective, rel=1e-6)
    loss = Binomial(y, np.ones(100)).loss(K @ result.coef + result.intercept)
    assert loss == pytest.approx(result.objective)


@pytest.mark.parametrize("gamma", [0.01, 1.0])
def test_objective_is_the_loss_of_the_outputs_for_a_very_smooth_kernel(gamma):
    # Thirty points on a line: separable in exact arithmetic, of low rank in double precision.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        K = gaussian(rng.uniform(-1, 1, (30, 1)), gamma=gamma)
        y = np.where(np.arange(30) % 2, 1.0, -1.0)
        try:
            result = solve_logistic_unpenalised_gram(K, y)
        except ValueError:
            continue
        loss = Binomial(y, np.ones(30)).loss(K @ result.coef + result.intercept)
        assert loss == pytest.approx(result.objective)


@pytest.mark.parametrize(
    ("Z", "y", "message"),
    [
        ([[0.0], [np.nan]], [-1, 1], "NaN"),
        ([[0.0], [1.0]], [0, 1], "-1 and \\+1"),
    ],
)
def test_invalid_arrays_are_reported(Z, y, message):
    with pytest.raises(ValueError, match=message):
        solve_logistic_unpenalised(Z, y)
    with pytest.raises(ValueError, match=message):
        has_separation(Z, y)


def test_one_mislabelled_point_makes_a_minimiser_exist():
    X, y = stdev(1, 200, random_state=0)
    assert has_separation(X, y)
    y[np.argmax(X.sum(axis=1))] *= -1
    assert solve_logistic_unpenalised(X, y).converged


def test_smaller_tolerance_takes_more_iterations_although_the_gap_is_infinite():
    X, y = stdev(2, 200, random_state=0)
    n_iters = []
    for tol in (1e-3, 1e-6, 1e-9):
        result = solve_logistic_unpenalised(X, y, tol=tol)
        assert result.converged and result.message == ""
        n_iters.append(result.n_iter)
    assert n_iters == sorted(n_iters) and n_iters[0] < n_iters[-1]
