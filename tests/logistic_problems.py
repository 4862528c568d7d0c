"""Random problems of penalised logistic regression, and objectives written down once more."""

import numpy as np
from hypothesis import strategies as st
from problems import gram


@st.composite
def logistic_problems(draw, max_n=30, classes=2):
    """Draw ``(K, y, weights)``: two classes as -1 and +1, more as numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(classes + 1, max_n)), draw(st.integers(1, 4))
    X = rng.standard_normal((n, d))
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]  # duplicated points
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    K = gram(X, draw(st.sampled_from(["linear", "gaussian", "polynomial", "laplacian"])))
    weights = rng.uniform(0.2, 5.0, n) if draw(st.booleans()) else np.ones(n)
    return K, (2.0 * y - 1.0 if classes == 2 else y), weights


# A sum of exponentials is divided by its largest term, so that none overflows. `np.logaddexp` does
# the same, but takes no complex numbers.


def ridge_objective(alpha, b, K, y, weights, lam):
    """Return the ridge objective for two classes; takes complex numbers."""
    m = y * (K @ alpha + b)
    wrong = m.real < 0
    losses = np.log1p(np.exp(np.where(wrong, m, -m))) - np.where(wrong, m, 0)
    return weights @ losses + 0.5 * lam * alpha @ K @ alpha


def softmax_objective(A, b, K, y, weights, lam):
    """Return the ridge objective for several classes; takes complex numbers."""
    F = K @ A + b
    F = F - F.real.max(axis=1, keepdims=True)
    losses = np.log(np.exp(F).sum(axis=1)) - F[np.arange(len(y)), y]
    return weights @ losses + 0.5 * lam * np.trace(A.T @ K @ A)


def complex_gradient(objective, theta):
    """Return the gradient by complex steps: exact to the last digits."""
    gradient = np.empty(theta.size)
    for i in range(theta.size):
        moved = theta.astype(complex)
        moved.flat[i] += 1e-30j
        gradient[i] = objective(moved).imag / 1e-30
    return gradient.reshape(theta.shape)
