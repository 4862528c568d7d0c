"""Synthetic data of two overlapping classes, and degenerate data, for benchmarks and tests."""

import numpy as np

#: Degeneracies of data: none, duplicated points, points on a line, a constant feature, or only one
#: positive point.
DEGENERACIES = ["none", "duplicated", "collinear", "constant", "one positive"]


def draw_overlapping_classes(n, seed=0):
    """Return n points with ten standard normal features, and labels of two overlapping classes.

    A label is the sign of the sum of a quadratic function of the features and normal noise with
    standard deviation 0.7.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10))
    noise = 0.7 * rng.standard_normal(n)
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0, 1.0, -1.0)


def impose_degeneracy(X, y, degeneracy):
    """Return copies of points and labels with one of the `DEGENERACIES`, which may be "none"."""
    n, d = X.shape
    X, y = X.copy(), y.copy()
    if degeneracy == "duplicated":
        X[n // 2 :] = X[: n - n // 2]
    elif degeneracy == "collinear":
        X = np.outer(X[:, 0], np.arange(1.0, d + 1))
    elif degeneracy == "constant":
        X[:, -1] = 3.0
    elif degeneracy == "one positive":
        y = np.where(np.arange(n) == 0, 1.0, -1.0)
    return X, y
