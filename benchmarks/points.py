"""Points of two overlapping classes, and degenerate data, for several benchmarks and tests."""

import numpy as np

#: Kinds of data: not degenerate ("plain"), or with equal points, points on a line, a constant
#: feature, or only one positive point.
DATA_KINDS = ["plain", "duplicated", "collinear", "constant", "one positive"]


def draw_overlapping_classes(n, seed=0):
    """Return n points with ten standard normal features, and labels of two overlapping classes.

    A label is the sign of a sum: a quadratic function of the features, and normal noise with
    standard deviation 0.7.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 10))
    noise = 0.7 * rng.standard_normal(n)
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + noise > 0, 1.0, -1.0)


def make_degenerate(X, y, kind):
    """Return copies of points and labels, made degenerate unless ``kind`` is "plain".

    ``kind`` is one of `DATA_KINDS`.
    """
    n, d = X.shape
    X, y = X.copy(), y.copy()
    if kind == "duplicated":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "collinear":
        X = np.outer(X[:, 0], np.arange(1.0, d + 1))
    elif kind == "constant":
        X[:, -1] = 3.0
    elif kind == "one positive":
        y = np.where(np.arange(n) == 0, 1.0, -1.0)
    return X, y
