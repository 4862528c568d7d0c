"""The Gram matrix of a Gaussian kernel, computed by blocks, and its approximation of low rank."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from svmbook.gram import ComputedGram, GaussianGram
from svmbook.gram.factors import low_rank_approximation
from svmbook.kernels import functions, gaussian
from svmbook.threads import one_blas_thread

N = 300
Z = np.random.default_rng(0).standard_normal((N, 4))


@pytest.mark.parametrize(("dtype", "tol"), [(float, 1e-14), (np.float32, 1e-6)])
def test_gaussian_form_agrees_with_the_kernel(dtype, tol, monkeypatch):
    monkeypatch.setattr(functions, "TILE_ROWS", 7)
    monkeypatch.setattr(functions, "BLOCK_ENTRIES", 200)  # several tiles in both directions
    rng = np.random.default_rng(0)
    expected = gaussian(Z, gamma=0.3)
    gram = GaussianGram(Z, gamma=0.3, single_precision=dtype == np.float32)
    rows, columns = rng.permutation(N)[:40], rng.permutation(N)[:60]
    for indices in (columns, columns[:1], columns[:0], np.arange(N)):
        v = rng.standard_normal(len(indices))
        product = gram.dot_columns(indices, v)
        assert product.dtype == float
        np.testing.assert_allclose(product, expected[:, indices] @ v, atol=100 * tol)
    np.testing.assert_allclose(gram.dot(v), expected @ v, atol=100 * tol)
    block = expected[np.ix_(rows, columns)]
    np.testing.assert_allclose(gram.block(rows, columns), block, atol=tol)
    submatrix = gram.submatrix(rows).block(np.arange(40), np.arange(40))
    np.testing.assert_allclose(submatrix, expected[np.ix_(rows, rows)], atol=tol)
    np.testing.assert_allclose(gram.array(), expected, atol=1e-14)
    triangle = gram.upper_triangle(rows, np.float32)
    assert triangle.dtype == np.float32
    np.testing.assert_allclose(np.triu(triangle), np.triu(expected[np.ix_(rows, rows)]), atol=1e-6)


@pytest.mark.parametrize("single_precision", [False, True])
def test_sums_do_not_depend_on_the_number_of_threads(single_precision, monkeypatch):
    monkeypatch.setattr(functions, "MIN_THREADED_ENTRIES", 1)
    monkeypatch.setattr(functions, "BLOCK_ENTRIES", 4000)
    gram, v = GaussianGram(Z, 0.3, single_precision), np.random.default_rng(0).standard_normal(N)
    products = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"), one_blas_thread():
            products.append(gram.dot(v))
    np.testing.assert_array_equal(*products)


def test_form_in_single_precision_has_a_form_in_double_precision():
    single = GaussianGram(Z, gamma=0.3).in_single_precision()
    assert single.dtype == np.float32 and single.submatrix(np.arange(9)).dtype == np.float32
    double, indices = single.in_double_precision(), np.arange(N)
    np.testing.assert_allclose(
        double.block(indices, indices), gaussian(Z, gamma=0.3), rtol=1e-14, atol=1e-14
    )


def test_points_of_huge_norm_are_not_computed_in_single_precision():
    gram = GaussianGram(np.array([[0.0], [1.0], [1e4]]), gamma=1.0)
    assert gram.in_single_precision() is gram


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
