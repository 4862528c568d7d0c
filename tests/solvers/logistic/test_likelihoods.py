"""What Newton's method is made of: derivatives, weighted ridge regressions, steps, intercepts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_problems import (
    complex_gradient,
    logistic_problems,
    ridge_objective,
    softmax_objective,
)

from svmbook.gram import StoredGram
from svmbook.solvers.logistic.likelihoods import Binomial, Softmax, best_intercept


def likelihood_of(data, classes):
    """Draw labels and weights, and return them with their likelihood."""
    _, y, weights = data.draw(logistic_problems(classes=classes))
    return y, weights, Binomial(y, weights) if classes == 2 else Softmax(y, classes, weights)


@pytest.mark.parametrize("classes", [2, 3])
@given(data=st.data())
@settings(max_examples=25)
def test_the_pull_is_minus_the_derivative_of_the_loss(classes, data):
    y, weights, likelihood = likelihood_of(data, classes)
    shape = (len(y),) if classes == 2 else (len(y), classes)
    F = np.random.default_rng(len(y)).standard_normal(shape)
    objective = ridge_objective if classes == 2 else softmax_objective
    zero, none = np.zeros_like(F), np.zeros((len(y), len(y)))

    def loss(outputs):  # all of the outputs in the place of the intercept
        return objective(zero, outputs, none, y, weights, 0.0)

    assert likelihood.loss(F) == pytest.approx(loss(F), rel=1e-12)
    np.testing.assert_allclose(
        likelihood.negative_gradient(F), -complex_gradient(loss, F), rtol=1e-10
    )


@pytest.mark.parametrize("classes", [2, 4])
@given(data=st.data())
@settings(max_examples=25)
def test_curvatures_are_derivatives_of_the_pull(classes, data):
    y, _, likelihood = likelihood_of(data, classes)
    rng = np.random.default_rng(len(y))
    F, D = rng.standard_normal((2, len(y)) if classes == 2 else (2, len(y), classes))
    step = 1e-5
    change = (
        likelihood.negative_gradient(F + step * D) - likelihood.negative_gradient(F - step * D)
    ) / (2 * step)
    assert likelihood.curvature_along(F, D) == pytest.approx(-np.sum(change * D), rel=1e-6)
    eye = np.eye(1 if classes == 2 else classes)
    for row, direction in zip(likelihood.intercept_curvature(F), eye, strict=True):
        ones = np.ones(len(y)) if classes == 2 else np.tile(direction, (len(y), 1))
        moved = likelihood.negative_gradient(F + step * ones) - likelihood.negative_gradient(
            F - step * ones
        )
        np.testing.assert_allclose(row, -np.atleast_1d(moved.sum(axis=0)) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@given(data=st.data(), lam=st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=25)
def test_the_step_solves_newtons_system(classes, data, lam):
    K, y, weights = data.draw(logistic_problems(max_n=12, classes=classes))
    n, k = len(y), 1 if classes == 2 else classes
    likelihood = Binomial(y, weights) if classes == 2 else Softmax(y, classes, weights)
    shape = (n,) if classes == 2 else (n, k)
    F = np.random.default_rng(n).standard_normal(shape)
    A = np.random.default_rng(n + 1).standard_normal(shape)
    A = A if classes == 2 else A - A.mean(axis=1, keepdims=True)
    G = likelihood.negative_gradient(F)
    dA, db = likelihood.newton_step(StoredGram(K), lam, F, G - lam * A, G.sum(axis=0))
    # The same system by dense algebra: the curvature of each point by finite differences.
    step, H = 1e-5, np.empty((n, k, k))
    for c in range(k):
        D = np.zeros((n, k))
        D[:, c] = step
        D = D.reshape(shape)
        moved = likelihood.negative_gradient(F - D) - likelihood.negative_gradient(F + D)
        H[:, :, c] = moved.reshape(n, k) / (2 * step)
    change = np.einsum("icd,id->ic", H, (K @ dA + db).reshape(n, k)).reshape(shape)
    residual = G - lam * A - change - lam * dA
    inner = np.sum(residual * (K @ residual)) + np.sum((G - change).sum(axis=0) ** 2)
    start = np.sum((G - lam * A) * (K @ (G - lam * A))) + np.sum(G.sum(axis=0) ** 2)
    assert inner <= (1e-14 if classes == 2 else 0.2) * start + 1e-12  # Newton-CG stops early


@pytest.mark.parametrize("classes", [2, 3])
def test_the_best_intercept_of_no_machine_is_the_log_odds(classes):
    y = np.repeat(np.arange(classes), np.arange(1, classes + 1) * 3)
    likelihood = (
        Binomial(2.0 * y - 1, np.ones(len(y)))
        if classes == 2
        else Softmax(y, classes, np.ones(len(y)))
    )
    start = 0.0 if classes == 2 else np.zeros(classes)
    f = np.zeros(len(y)) if classes == 2 else np.zeros((len(y), classes))
    b = np.atleast_1d(best_intercept(likelihood, f, start)[0])
    odds = np.log(np.bincount(y) / np.bincount(y)[0])
    np.testing.assert_allclose(b - b[0] if classes > 2 else b, odds if classes > 2 else odds[1:])
