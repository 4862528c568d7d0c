"""Components of Newton's method: derivatives, Newton steps, and the best intercept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_problems import (
    complex_step_gradient,
    logistic_objective,
    logistic_problems,
    softmax_objective,
)

from svmbook.gram import StoredGram
from svmbook.solvers.logistic.likelihoods import Binomial, Multinomial, best_intercept


def binomial_or_softmax(y, weights, n_classes):
    return Binomial(y, weights) if n_classes == 2 else Multinomial(y, n_classes, weights)


@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data())
@settings(max_examples=25)
def test_negative_gradient_is_minus_the_derivative_of_the_loss(n_classes, data):
    _, y, weights = data.draw(logistic_problems(n_classes=n_classes))
    likelihood = binomial_or_softmax(y, weights, n_classes)
    shape = (len(y),) if n_classes == 2 else (len(y), n_classes)
    F = np.random.default_rng(len(y)).standard_normal(shape)
    objective = logistic_objective if n_classes == 2 else softmax_objective

    def loss(outputs):  # with a Gram matrix of zeros, the outputs are passed as the intercept
        return objective(np.zeros_like(F), outputs, np.zeros((len(y), len(y))), y, weights, 0.0)

    assert likelihood.loss(F) == pytest.approx(loss(F), rel=1e-12)
    np.testing.assert_allclose(
        likelihood.negative_gradient(F), -complex_step_gradient(loss, F), rtol=1e-10
    )


@pytest.mark.parametrize("n_classes", [2, 4])
@given(data=st.data())
@settings(max_examples=25)
def test_curvatures_are_minus_the_derivatives_of_the_negative_gradient(n_classes, data):
    _, y, weights = data.draw(logistic_problems(n_classes=n_classes))
    likelihood = binomial_or_softmax(y, weights, n_classes)
    rng = np.random.default_rng(len(y))
    F, D = rng.standard_normal((2, len(y)) if n_classes == 2 else (2, len(y), n_classes))

    def derivative(direction, h=1e-5):
        change = likelihood.negative_gradient(F + h * direction)
        return (change - likelihood.negative_gradient(F - h * direction)) / (2 * h)

    assert likelihood.curvature_along(F, D) == pytest.approx(-np.sum(derivative(D) * D), rel=1e-6)
    for c, row in enumerate(likelihood.intercept_curvature(F)):
        direction = np.zeros_like(F)
        direction.reshape(len(y), -1)[:, c] = 1.0
        np.testing.assert_allclose(
            row, -np.atleast_1d(derivative(direction).sum(axis=0)), rtol=1e-6
        )


@pytest.mark.parametrize("n_classes", [2, 3])
@given(data=st.data(), lam=st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=25)
def test_newton_step_solves_the_newton_system(n_classes, data, lam):
    K, y, weights = data.draw(logistic_problems(max_n=12, n_classes=n_classes))
    n, n_outputs = len(y), 1 if n_classes == 2 else n_classes
    likelihood = binomial_or_softmax(y, weights, n_classes)
    shape = (n,) if n_classes == 2 else (n, n_outputs)
    F = np.random.default_rng(n).standard_normal(shape)
    A = np.random.default_rng(n + 1).standard_normal(shape)
    A = A if n_classes == 2 else A - A.mean(axis=1, keepdims=True)
    G = likelihood.negative_gradient(F)
    dA, db = likelihood.newton_step(StoredGram(K), lam, F, G - lam * A, G.sum(axis=0))
    # The same system in dense form, with the curvature of each point by finite differences.
    h, H = 1e-5, np.empty((n, n_outputs, n_outputs))
    for c in range(n_outputs):
        D = np.zeros((n, n_outputs))
        D[:, c] = h
        D = D.reshape(shape)
        difference = likelihood.negative_gradient(F - D) - likelihood.negative_gradient(F + D)
        H[:, :, c] = difference.reshape(n, n_outputs) / (2 * h)
    change = np.einsum("icd,id->ic", H, (K @ dA + db).reshape(n, n_outputs)).reshape(shape)
    residual = G - lam * A - change - lam * dA
    squared_residual = np.sum(residual * (K @ residual)) + np.sum((G - change).sum(axis=0) ** 2)
    initial_squared_residual = np.sum((G - lam * A) * (K @ (G - lam * A))) + np.sum(
        G.sum(axis=0) ** 2
    )
    # Newton-CG, for more than two classes, stops early.
    assert squared_residual <= (1e-14 if n_classes == 2 else 0.2) * initial_squared_residual + 1e-12


@pytest.mark.parametrize("n_classes", [2, 3])
def test_best_intercept_for_zero_outputs_is_the_log_odds(n_classes):
    y = np.repeat(np.arange(n_classes), np.arange(1, n_classes + 1) * 3)
    likelihood = binomial_or_softmax(
        2.0 * y - 1 if n_classes == 2 else y, np.ones(len(y)), n_classes
    )
    f = np.zeros(len(y)) if n_classes == 2 else np.zeros((len(y), n_classes))
    b = np.atleast_1d(best_intercept(likelihood, f, likelihood.zero_intercept)[0])
    log_odds = np.log(np.bincount(y) / np.bincount(y)[0])
    np.testing.assert_allclose(
        b - b[0] if n_classes > 2 else b, log_odds if n_classes > 2 else log_odds[1:]
    )
