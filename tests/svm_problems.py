"""Random SVM duals, and independent code for their optimality conditions and optima."""

import itertools

import numpy as np
from hypothesis import strategies as st
from synthetic_data import DEGENERACIES, draw_overlapping_classes, impose_degeneracy

from svmbook import kernels


@st.composite
def svm_problems(draw, max_n=40):
    """Draw ``(X, y, C)``: 2 to ``max_n`` points of two classes, with an upper bound C for each.

    The points may have degeneracies, such as duplicates.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, max_n)), draw(st.integers(1, 6))
    X = rng.standard_normal((n, d))
    degeneracy = draw(st.sampled_from(DEGENERACIES))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X, y = impose_degeneracy(X, y, degeneracy)
    X = X * 10.0 ** draw(st.sampled_from([0, 0, -3, 2]))
    C = 10.0 ** draw(st.floats(-6, 6)) / max(1.0, np.abs(X).max() ** 2)
    weights = rng.uniform(0.2, 5.0, n) if draw(st.booleans()) else np.ones(n)
    return X, y, C * weights


def overlapping_problem(n, seed=0, gamma=0.1):
    """Return the Gaussian Gram matrix of points of two overlapping classes, and their labels."""
    X, y = draw_overlapping_classes(n, seed)
    return kernels.gaussian(X, gamma=gamma), y


def gram(X, kernel_name):
    """Return the Gram matrix of the points X; the parameters of each kernel are fixed."""
    return {
        "linear": kernels.linear(X),
        "gaussian": kernels.gaussian(X, gamma=0.5),
        "polynomial": kernels.polynomial(X, degree=3),
        "laplacian": kernels.laplacian(X, gamma=0.5),
    }[kernel_name]


def kkt_violation(alpha, b, K, y, C):
    """Return the largest violation of the KKT conditions, in units of y f(x)."""
    margins = y * (K @ (y * alpha) + b)
    at_zero, at_C = alpha <= 0, alpha >= C
    violations = np.abs(1 - margins)
    violations[at_zero] = np.maximum(0, 1 - margins[at_zero])
    violations[at_C] = np.maximum(0, margins[at_C] - 1)
    return violations.max()


def objectives(alpha, b, K, y, C):
    """Return the primal and dual objective by definition, in extended precision."""
    alpha, K, y, C = (np.asarray(array, dtype=np.longdouble) for array in (alpha, K, y, C))
    beta = y * alpha
    f = K @ beta
    slack = np.maximum(0, 1 - y * (f + b))
    return float(beta @ f / 2 + (C * slack).sum()), float(alpha.sum() - beta @ f / 2)


def brute_force_optimum(K, y, C):
    """Return the optimal dual objective, found by trying all 3^n patterns of multipliers.

    For each pattern the stationarity conditions of the free multipliers are a linear system. The
    best objective of the feasible candidates is the optimum. This is fast enough for n up to
    about 6.
    """
    n = len(y)
    Q = y[:, None] * y * K
    best_objective = -np.inf
    for pattern in itertools.product("0FC", repeat=n):
        pattern = np.array(pattern)
        alpha = np.where(pattern == "C", C, 0.0)
        free = np.flatnonzero(pattern == "F")
        if len(free):
            # Q_FF a_F + Q_FU C_U + y_F b = 1 and y'a = 0, with F free and U at the upper bound.
            system = np.block([[Q[np.ix_(free, free)], y[free, None]], [y[None, free], 0.0]])
            rhs = np.append(1 - Q[free] @ alpha, -y @ alpha)
            alpha[free] = np.linalg.lstsq(system, rhs)[0][:-1]
        tolerance = 1e-9 * C.max()
        feasible = (alpha >= -tolerance).all() and (alpha <= C + tolerance).all()
        if feasible and abs(y @ alpha) <= tolerance:
            best_objective = max(best_objective, alpha.sum() - 0.5 * alpha @ Q @ alpha)
    return best_objective


def two_clouds(n, mean_difference=2.0, seed=0):
    """Return points from two normal distributions in the plane, and their labels.

    The means differ by `mean_difference` in both coordinates.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.standard_normal((n, 2)) + mean_difference / 2 * y[:, None], y
