"""The signed Gram matrices: products, systems and parts, against plain NumPy."""

import numpy as np
import pytest

from svmbook.gram.gram import DenseGram, KernelGram, LowRankGram
from svmbook.kernels import gaussian, linear
from svmbook.solvers import solve_dual

RNG = np.random.default_rng(0)
N = 80
Z = RNG.standard_normal((N, 5)) + np.array([3.0, 0, 0, -2, 0])
Y = np.where(np.arange(N) % 3 == 0, 1.0, -1.0)


def balanced():
    alpha = RNG.uniform(0, 1, N)
    alpha[Y > 0] *= alpha[Y < 0].sum() / alpha[Y > 0].sum()
    return alpha


def gram(form):
    """Return a form of Z Z', and what it stands for: centred, in the low-rank form."""
    if form == "low-rank":
        centred = Z - Z.mean(axis=0)
        return LowRankGram(Z, Y), centred @ centred.T
    return DenseGram(Z @ Z.T, Y), Z @ Z.T


@pytest.mark.parametrize("form", ["dense", "low-rank"])
@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-8])
def test_systems_are_solved_to_the_digits_that_the_iterations_need(form, size):
    matrix, K = gram(form)
    D = size * RNG.uniform(0.1, 10, N)
    b = D * RNG.standard_normal(N) + Y * (K @ RNG.standard_normal(N))
    x = matrix.factor(D)(b)
    residual = Y * (K @ (Y * x)) + D * x - b
    assert np.abs(residual).max() <= 1e-8 * np.abs(b).max()


@pytest.mark.parametrize("form", ["dense", "low-rank"])
def test_outputs_and_their_shift(form):
    matrix, _ = gram(form)
    alpha = balanced()
    f, shift = matrix.outputs(alpha)
    np.testing.assert_allclose(f + shift, Z @ Z.T @ (Y * alpha), atol=1e-9)
    np.testing.assert_allclose(Y * f, matrix @ alpha, atol=1e-9)


@pytest.mark.parametrize("form", ["dense", "low-rank"])
def test_a_part_is_the_part_of_the_whole(form):
    matrix, K = gram(form)
    points = np.array([3, 4, 9, 40])
    v = RNG.standard_normal(4)
    expected = Y[points] * (K[np.ix_(points, points)] @ (Y[points] * v))
    np.testing.assert_allclose(matrix.restrict(points) @ v, expected, atol=1e-10)


@pytest.mark.parametrize("kernel", [linear, gaussian])
def test_a_kernel_never_stored_is_the_stored_one(kernel):
    stored, computed = DenseGram(kernel(Z), Y), KernelGram(Z, Y, kernel)
    alpha = np.where(np.arange(N) % 4 == 0, 0.0, balanced())
    np.testing.assert_allclose(computed.outputs(alpha)[0], stored.outputs(alpha)[0], atol=1e-9)
    assert computed.scale == pytest.approx(stored.scale)
    points = np.array([0, 7, 11])
    np.testing.assert_allclose(computed.restrict(points).K, stored.restrict(points).K)


def forest_like(seed, n=600):
    """Return features as of a forest: four in metres, two sets of indicators, a constant one."""
    rng = np.random.default_rng(seed)
    kind, soil = rng.integers(0, 6, n), rng.integers(0, 12, n)
    metres = 1000.0 * rng.normal(size=(n, 4))
    X = np.column_stack([metres, np.eye(6)[kind], np.eye(12)[soil], np.full(n, 3.0)])
    return X, np.where(rng.random(n) < 1 / 7, 1.0, -1.0)


def test_dependent_columns_are_folded_into_the_others():
    X, y = forest_like(0)
    matrix = LowRankGram(X, y)
    assert matrix.Z.shape[1] == 4 + 5 + 11
    centred = X - X.mean(axis=0)
    v = RNG.standard_normal(len(y))
    expected = centred @ (centred.T @ v)
    np.testing.assert_allclose(matrix.times(v), expected, rtol=1e-12, atol=1e-8)
    alpha = RNG.uniform(0, 1, len(y))
    alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
    f, shift = matrix.outputs(alpha)
    np.testing.assert_allclose(f + shift, X @ (X.T @ (y * alpha)), rtol=1e-10, atol=1e-5)


def test_nearly_dependent_columns_are_kept():
    X = RNG.standard_normal((N, 2))
    X = np.column_stack([X, X[:, 0] + 1e-5 * RNG.standard_normal(N)])
    assert LowRankGram(X, Y).Z.shape[1] == 3


def test_features_that_are_all_constant():
    matrix = LowRankGram(np.ones((N, 3)), Y)
    assert not matrix.times(RNG.standard_normal(N)).any()


@pytest.mark.parametrize("seed", range(5))
def test_dependent_columns_in_all_units_do_not_stop_the_interior_point(seed):
    # Labels that no feature tells: most multipliers end inside the box, and D goes to zero.
    result = solve_dual(*forest_like(seed), 100.0, form="low-rank")
    assert result.relative_gap <= 1e-5  # rounding leaves 1e-6: K is of order 1e7
