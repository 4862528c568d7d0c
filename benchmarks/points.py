"""Points that several benchmarks, and the tests, draw: noisy ones, and awkward ones."""

import numpy as np

AWKWARD = ["plain", "duplicated", "collinear", "constant", "one positive"]


def noisy(n, seed=0):
    """Return n points with ten normal features, and labels that no kernel can explain in full."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10))
    noise = 0.7 * rng.standard_normal(n)
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0, 1.0, -1.0)


def spoil(X, y, shape):
    """Return points and labels made awkward in one of the ways of `AWKWARD`."""
    n, d = X.shape
    X, y = X.copy(), y.copy()
    if shape == "duplicated":
        X[n // 2 :] = X[: n - n // 2]
    elif shape == "collinear":
        X = np.outer(X[:, 0], np.arange(1.0, d + 1))
    elif shape == "constant":
        X[:, -1] = 3.0
    elif shape == "one positive":
        y = np.where(np.arange(n) == 0, 1.0, -1.0)
    return X, y
