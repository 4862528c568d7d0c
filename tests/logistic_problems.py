"""Random problems of penalised logistic regression, and independent code for their objectives."""

import numpy as np
from hypothesis import strategies as st
from scipy.special import xlogy
from svm_problems import gram


@st.composite
def logistic_problems(draw, max_n=30, n_classes=2):
    """Draw ``(K, y, weights)``: labels -1 and +1 for two classes, class numbers for more."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(n_classes + 1, max_n)), draw(st.integers(1, 4))
    X = rng.standard_normal((n, d))
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]  # duplicated points
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    K = gram(X, draw(st.sampled_from(["linear", "gaussian", "polynomial", "laplacian"])))
    weights = rng.uniform(0.2, 5.0, n) if draw(st.booleans()) else np.ones(n)
    return K, (2.0 * y - 1.0 if n_classes == 2 else y), weights


# The objectives factor out the largest exponential, so that none overflows. `np.logaddexp` does the
# same, but does not accept complex numbers.


def logistic_objective(alpha, b, K, y, weights, lam):
    """Return the logistic loss with a ridge penalty, for coefficients alpha and intercept b.

    Complex numbers are allowed, also in `softmax_objective`.
    """
    margins = y * (K @ alpha + b)
    is_negative = margins.real < 0
    exponents = np.where(is_negative, margins, -margins)
    losses = np.log1p(np.exp(exponents)) - np.where(is_negative, margins, 0)
    return weights @ losses + 0.5 * lam * alpha @ K @ alpha


def softmax_objective(A, b, K, y, weights, lam):
    """Return the multinomial loss with a ridge penalty; A has one column, b one entry per class."""
    F = K @ A + b
    F = F - F.real.max(axis=1, keepdims=True)
    losses = np.log(np.exp(F).sum(axis=1)) - F[np.arange(len(y)), y]
    return weights @ losses + 0.5 * lam * np.trace(A.T @ K @ A)


def complex_step_gradient(objective, theta):
    """Return the gradient by complex-step differentiation, which is exact up to rounding."""
    gradient = np.empty(theta.size)
    for i in range(theta.size):
        shifted = theta.astype(complex)
        shifted.flat[i] += 1e-30j
        gradient[i] = objective(shifted).imag / 1e-30
    return gradient.reshape(theta.shape)


def as_function_of_theta(objective, *data):
    """Return the objective as a function of one array: the coefficients, then the intercept."""
    return lambda theta: objective(theta[:-1], theta[-1], *data)


def lasso_violation(alpha, b, K, y, weights, lam):
    """Return the largest violation of the optimality conditions for the penalty lam ||alpha||_1."""
    loss = as_function_of_theta(logistic_objective, K, y, weights, 0.0)
    gradient = complex_step_gradient(loss, np.append(alpha, b))
    alpha_gradient = gradient[:-1]
    violation_at_zero = np.maximum(np.abs(alpha_gradient) - lam, 0.0)
    violations = np.where(
        alpha == 0, violation_at_zero, np.abs(alpha_gradient + lam * np.sign(alpha))
    )
    return max(violations.max(), abs(gradient[-1]))


def entropy(negative_gradient, weights):
    """Return the weighted sum of the entropies of the predicted probabilities."""
    p = np.abs(negative_gradient) / weights
    return -weights @ (xlogy(p, p) + xlogy(1 - p, 1 - p))
