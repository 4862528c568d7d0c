"""Kernels against their definitions for single pairs, semi-definiteness, and Gram matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbook.kernels import (
    CONDITIONALLY_DEFINITE,
    DISTANCE_FUNCTIONS,
    KERNELS,
    check_gram,
    exponential,
    gaussian,
    laplacian,
    polynomial,
)
from svmbook.kernels.functions import GaussianBlocks

DEFINITIONS = {
    "linear": lambda x, z: x @ z,
    "poly": lambda x, z: (0.7 * x @ z + 0.4) ** 3,
    "rbf": lambda x, z: np.exp(-0.7 * np.sum((x - z) ** 2)),
    "laplacian": lambda x, z: np.exp(-0.7 * np.sum(np.abs(x - z))),
    "exponential": lambda x, z: np.exp(-0.7 * np.sqrt(np.sum((x - z) ** 2))),
    "stump": lambda x, z: -np.sum(np.abs(x - z)),
    "perceptron": lambda x, z: -np.sqrt(np.sum((x - z) ** 2)),
    "stump_regions": lambda x, z: (
        (((1 + normalised_stump_kernel(x, z)) ** 2 / 4 + 1) * (1 + normalised_stump_kernel(x, z)))
        / 4
    ),
    "stump_tree": lambda x, z: np.exp(-3 * (1 - normalised_stump_kernel(x, z)) / 2),
}
BOX = np.array([[-2.0, -1.0, -0.5], [2.0, 1.5, 0.5]])
PARAMS = {"gamma": 0.7, "coef0": 0.4, "degree": 3, "box": BOX}


def normalised_stump_kernel(x, z):
    """Return 1 - 2p, where p is the probability that a random stump separates the two points."""
    distance = np.abs(np.clip(x, *BOX) - np.clip(z, *BOX)).sum()
    return 1 - 2 * distance / (BOX[1] - BOX[0]).sum()


def gram(name, X, **params):
    """Return the Gram matrix of a named kernel, with the box of the points if it has one."""
    function, parameter_names = KERNELS[name]
    if "box" in parameter_names:
        params["box"] = np.stack([X.min(axis=0), X.max(axis=0)])
    return function(X, **params)


@pytest.mark.parametrize("name", KERNELS)
def test_entries_agree_with_definition(name):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
    function, parameter_names = KERNELS[name]
    K = function(X, Z, **{key: PARAMS[key] for key in parameter_names})
    expected = [[DEFINITIONS[name](x, z) for z in Z] for x in X]
    np.testing.assert_allclose(K, expected, rtol=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 5))
def test_gram_matrices_are_semi_definite(seed, n, d):
    X = np.random.default_rng(seed).standard_normal((n, d))
    for name in KERNELS:
        K = gram(name, X)
        if name in CONDITIONALLY_DEFINITE:  # on vectors that sum to zero
            K = K - np.add.outer(K[0], K[0]) + K[0, 0]
        np.testing.assert_allclose(K, K.T, rtol=1e-12, atol=1e-12)
        assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.trace(K)
        check_gram(K)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("offset", [1.0, 1e5])
@pytest.mark.parametrize("d", [3, 20])
def test_gram_matrices_are_exactly_symmetric(name, offset, d):
    X = np.random.default_rng(0).standard_normal((300, d))
    X[::2] += offset
    K = gram(name, X, **({"gamma": 0.05} if "gamma" in KERNELS[name][1] else {}))
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("n", [3, 400])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("n_extra_features", [0, 6])
def test_distances_are_accurate_for_features_of_any_scale(n, scale, n_extra_features):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.integers(18, 80, n), scale * rng.lognormal(size=n)])
    X = np.hstack([X, 0.01 * rng.standard_normal((n, n_extra_features))])
    X[-1] = X[0]  # a duplicate
    Z = X[::2].copy()
    for A, B in ((X, X), (X, Z), (Z, X)):
        D = ((A[:, None] - B) ** 2).sum(axis=2)
        np.testing.assert_allclose(DISTANCE_FUNCTIONS["rbf"](A, B), D, rtol=1e-8)


@pytest.mark.parametrize("kernel", [gaussian, laplacian, exponential])
def test_gram_matrix_tends_to_ones_for_small_gamma_and_to_identity_for_large_gamma(kernel):
    X = np.random.default_rng(1).standard_normal((10, 2))
    np.testing.assert_allclose(kernel(X, gamma=1e-12), np.ones((10, 10)), atol=1e-9)
    np.testing.assert_allclose(kernel(X, gamma=1e9), np.eye(10), atol=1e-9)


def test_rank_of_polynomial_kernel_is_dimension_of_feature_space():
    X = np.random.default_rng(2).standard_normal((60, 3))
    assert [np.linalg.matrix_rank(polynomial(X, degree=p)) for p in (1, 2, 3)] == [4, 10, 20]


def test_single_negative_eigenvalue_is_found():
    rng = np.random.default_rng(3)
    basis, _ = np.linalg.qr(rng.standard_normal((20, 20)))
    eigenvalues = np.geomspace(1e-6, 1.0, 20)
    check_gram(basis * eigenvalues @ basis.T)
    eigenvalues[0] = -1e-6
    matrix = basis * eigenvalues @ basis.T
    with pytest.raises(ValueError, match="semi-definite"):
        check_gram(0.5 * (matrix + matrix.T))


@pytest.mark.parametrize("n", [40, 600])  # in double and in single precision
@pytest.mark.parametrize("scale", [1e-90, 1e80])
def test_definiteness_is_decided_at_any_scale(n, scale):
    rng = np.random.default_rng(n)
    check_gram(scale * gaussian(rng.standard_normal((n, 3))))
    A = rng.uniform(-1, 1, (n, n))
    for factor in (1.0, 1e60):  # the second overflows in single precision
        indefinite = factor * (A + A.T)
        np.fill_diagonal(indefinite, 1.0)
        with pytest.raises(ValueError, match="semi-definite"):
            check_gram(scale * indefinite)


@pytest.mark.parametrize("n", [40, 700])  # in double and in single precision
@pytest.mark.parametrize("order", ["C", "F"])
def test_definiteness_is_decided_in_either_order_and_precision(n, order):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    K = np.array(X @ X.T, order=order)  # of rank 3: all other eigenvalues are rounding errors
    K_before = K.copy()
    check_gram(K)
    np.testing.assert_array_equal(K, K_before)
    v = rng.standard_normal(n)
    v /= np.linalg.norm(v)
    with pytest.raises(ValueError, match="semi-definite"):
        check_gram(np.array(K - 0.1 * n * np.outer(v, v), order=order))


def test_zero_matrix_and_large_matrix_of_low_rank_are_accepted():
    X = np.random.default_rng(4).standard_normal((50, 2))
    check_gram(1e8 * X @ X.T)  # of rank 2: the other 48 eigenvalues are rounding errors
    check_gram(np.zeros((5, 5)))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_small_asymmetry_is_removed_and_large_asymmetry_refused(scale):
    X = np.random.default_rng(5).standard_normal((30, 3))
    K = scale * gaussian(X)
    noise = scale * np.triu(np.random.default_rng(6).standard_normal(K.shape), 1)
    symmetrised = check_gram(K + 1e-8 * noise, require_definite=False)
    np.testing.assert_array_equal(symmetrised, symmetrised.T)
    np.testing.assert_allclose(symmetrised, K, atol=1e-7 * scale)
    with pytest.raises(ValueError, match="not symmetric"):
        check_gram(K + 1e-5 * noise, require_definite=False)
    assert check_gram(K, require_definite=False) is K


@pytest.mark.parametrize("name", DISTANCE_FUNCTIONS)
def test_kernels_agree_with_distances_for_every_gamma(name):
    rng = np.random.default_rng(7)
    X, Z = rng.standard_normal((9, 3)), rng.standard_normal((4, 3))
    function, _ = KERNELS[name]
    D = DISTANCE_FUNCTIONS[name](X, Z)
    expected = [[-np.log(DEFINITIONS[name](x, z)) / PARAMS["gamma"] for z in Z] for x in X]
    np.testing.assert_allclose(D, expected, rtol=1e-9)
    for gamma in (0.3, 2.0):
        np.testing.assert_allclose(function(X, Z, gamma=gamma), np.exp(-gamma * D), rtol=1e-9)


@pytest.mark.parametrize("d", [2, 30])
def test_blocks_of_the_gaussian_are_parts_of_the_whole(d):
    X = np.random.default_rng(0).standard_normal((150, d))
    X[7] = X[100]  # a duplicate: the distance is exactly zero
    K, blocks = gaussian(X, gamma=0.2), GaussianBlocks(X, X, gamma=0.2)
    rows, columns = np.array([7, 3, 120]), np.array([100, 2, 7, 149])
    np.testing.assert_allclose(blocks.block(rows, columns), K[np.ix_(rows, columns)], rtol=1e-13)
    assert blocks.block(rows, columns)[0, 0] == 1.0
    np.testing.assert_allclose(blocks.block(rows), K[rows], rtol=1e-13)
    triangle = blocks.upper_triangle(np.arange(150), np.float64)
    np.testing.assert_allclose(np.triu(triangle), np.triu(K), rtol=1e-13)


@pytest.mark.parametrize("distance", [30.0, 2000.0, 1e6])
def test_gaussian_is_accurate_for_clusters_that_are_far_apart(distance):
    X = np.random.default_rng(0).standard_normal((60, 3))
    X[::2, 0] += distance
    exact_X = X.astype(np.longdouble)
    exact = np.exp(-((exact_X[:, None] - exact_X[None]) ** 2).sum(axis=2)).astype(float)
    rtol = 1e-12 + 4e-16 * distance  # centring rounds the points
    np.testing.assert_allclose(gaussian(X, gamma=1.0), exact, rtol=rtol, atol=1e-16)
