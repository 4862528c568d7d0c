"""The last step: what stays fixed, what is solved, and what rounding may not spoil."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import gram, kkt_violation, svm_problems

from svmbook.gram.gram import DenseGram, LowRankGram
from svmbook.solvers.dual.polish import polish


def interior(y, C, rng):
    """Return balanced multipliers strictly inside the box."""
    alpha = rng.uniform(0.1, 0.4, len(y)) * C.min()
    for side in (-1, 1):
        mine, other = alpha[y == side].sum(), alpha[y == -side].sum()
        alpha[y == side] *= min(1.0, other / mine)
    return alpha


@given(problem=svm_problems(), kernel=st.sampled_from(["linear", "gaussian"]))
def test_the_balance_survives(problem, kernel):
    X, y, C = problem
    alpha = interior(y, C, np.random.default_rng(0))
    polished, _, _, _ = polish(DenseGram(gram(X, kernel), y), alpha, 0.0, y, C)
    assert abs(y @ polished) <= 1e-13 * len(y) * alpha.sum()
    assert (polished >= 0).all() and (polished <= C).all()


@given(problem=svm_problems())
def test_bounds_stay_and_no_objective_falls(problem):
    X, y, C = problem
    K = gram(X, "gaussian")
    alpha = interior(y, C, np.random.default_rng(1))
    polished, _, f, _ = polish(DenseGram(K, y), alpha, 0.0, y, C)
    np.testing.assert_allclose(f, K @ (y * polished), atol=1e-9 * (1 + polished.sum()))

    def dual(alpha):
        return alpha.sum() - 0.5 * (y * alpha) @ K @ (y * alpha)

    assert dual(polished) >= dual(alpha) - 1e-9 * abs(dual(alpha))


@pytest.mark.parametrize("form", ["dense", "low-rank"])
def test_free_multipliers_end_on_the_margin(form):
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((30, 12))  # more features than free points: a regular system
    y = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    C = np.full(30, 1e3)
    alpha = np.zeros(30)
    alpha[:6] = 1.0  # the others stay at zero, whatever their margins
    matrix = DenseGram(Z @ Z.T, y) if form == "dense" else LowRankGram(Z, y)
    polished, b, f, shift = polish(matrix, alpha, 0.0, y, C)
    free = np.flatnonzero((polished > 0) & (polished < C))
    assert len(free) >= 2
    assert (polished[6:] == 0).all()
    np.testing.assert_allclose(y[free] * (f[free] + b), 1.0, atol=1e-10)
    np.testing.assert_allclose(f + b, Z @ Z.T @ (y * polished) + b - shift, atol=1e-9)
    assert kkt_violation(polished[:6], b - shift, (Z @ Z.T)[:6, :6], y[:6], C[:6]) < 1e-8
