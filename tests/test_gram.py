"""The signed Gram matrices: products, systems and parts, against plain NumPy."""

import numpy as np
import pytest

from svmbook.kernels import gaussian, linear
from svmbook.solvers.gram import DenseGram, KernelGram, LowRankGram

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
