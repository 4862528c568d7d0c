"""The Gram matrix of a Gaussian kernel, computed by blocks, and its approximation of low rank."""

import numpy as np
import pytest

from svmbook.gram import ComputedGram, GaussianGram
from svmbook.gram.low_rank import low_rank_approximation
from svmbook.kernels import gaussian

N = 300
Z = np.random.default_rng(0).standard_normal((N, 4))


@pytest.mark.parametrize("cache_megabytes", [0.0, 0.02, 10.0])
def test_gaussian_form_agrees_with_the_kernel_for_every_size_of_the_cache(cache_megabytes):
    rng = np.random.default_rng(0)
    expected = gaussian(Z, gamma=0.3)
    gram = GaussianGram(Z, gamma=0.3, cache_megabytes=cache_megabytes)
    for _ in range(4):  # the cached rows change
        indices = rng.permutation(N)[:40]
        gram.cache_rows(indices)
        columns = rng.permutation(N)[:60]
        v = rng.standard_normal(60)
        np.testing.assert_allclose(
            gram.dot_columns(columns, v), expected[:, columns] @ v, atol=1e-12
        )
    block = gram.block(indices, columns)
    np.testing.assert_allclose(block, expected[np.ix_(indices, columns)], atol=1e-14)
    triangle = gram.upper_triangle(indices, np.float32)
    assert triangle.dtype == np.float32
    np.testing.assert_allclose(
        np.triu(triangle), np.triu(expected[np.ix_(indices, indices)]), atol=1e-6
    )


def test_gaussian_form_refuses_points_whose_squares_overflow():
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="not finite"),
    ):
        GaussianGram(np.array([[1e200], [0.0]]), gamma=1.0)


def test_low_rank_approximation_is_accurate_or_none():
    points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    gram = GaussianGram(points, gamma=0.1)
    factor = low_rank_approximation(gram, np.arange(0, 400, 2), tol=1e-10, max_rank=40)
    assert factor.n_unknowns <= 40
    np.testing.assert_allclose(factor.Z @ factor.Z.T, gaussian(points, gamma=0.1), atol=1e-8)
    assert low_rank_approximation(gram, np.arange(0, 400, 2), tol=1e-10, max_rank=5) is None


def test_low_rank_approximation_computes_only_the_rows_of_the_landmarks():
    points = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    n_values = []

    def block_function(rows, columns):
        n_values.append(len(rows) * len(columns))
        return gaussian(points[rows], points[columns], gamma=0.1)

    gram = ComputedGram(block_function, 400)
    n_values.clear()
    factor = low_rank_approximation(gram, np.arange(0, 400, 4), tol=1e-8, max_rank=40)
    assert sum(n_values) == 100 * 100 + factor.n_unknowns * 400
