"""All forms of a Gram matrix, compared with plain NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from svmbook.gram import (
    ComputedGram,
    LowRankGram,
    StoredGram,
    StumpGram,
    centred_gram,
    pivoted_cholesky,
    quantile_knots,
)

N = 300
Z = np.random.default_rng(0).standard_normal((N, 4)) + np.array([3.0, 0, 0, -2])
K = Z @ Z.T
SMALL_CACHE_MEGABYTES = 0.0984  # 41 rows exactly, which `ComputedGram` rounds up to 42


def block_function_and_shapes():
    """Return a function that computes blocks of K, and the list of the shapes of these blocks."""
    shapes = []

    def block_function(rows, columns):
        shapes.append((len(rows), len(columns)))
        return K[np.ix_(rows, columns)]

    return block_function, shapes


def stump_gram(Z):
    """Return a StumpGram whose hat functions are the columns of Z, so that K = ZZ'."""
    gram = StumpGram(csr_array(Z), csr_array(np.eye(Z.shape[1])))
    gram.diagonal = (Z**2).sum(axis=1)  # since Z has more than two entries per row
    return gram


FORMS = {
    "stored": lambda: StoredGram(K),
    "stored column-major": lambda: StoredGram(np.asfortranarray(K)),
    "low rank": lambda: LowRankGram(Z),
    "hat functions": lambda: stump_gram(Z),
    "computed": lambda: ComputedGram(block_function_and_shapes()[0], N),
    "small cache": lambda: ComputedGram(
        block_function_and_shapes()[0], N, cache_megabytes=SMALL_CACHE_MEGABYTES
    ),
}
FORMS_WITH_FACTOR = ("stored", "low rank", "hat functions")
every_form = pytest.mark.parametrize("form", FORMS)


def test_knots_at_all_values_give_the_stump_kernel_shifted_to_the_first_knots():
    X = Z[:40]
    gram = StumpGram.from_knots(X, [np.unique(x) for x in X.T])
    expected = 2 * (np.minimum(X[:, None], X) - X.min(axis=0)).sum(axis=2)
    np.testing.assert_allclose(gram.diagonal, np.diagonal(expected), rtol=1e-12)
    np.testing.assert_allclose(gram.dot(X[:, 0]), expected @ X[:, 0], rtol=1e-10)


@pytest.mark.parametrize("n_knots", [2, 8, 32])
def test_diagonal_has_the_squared_norms_of_the_feature_vectors(n_knots):
    gram = StumpGram.from_knots(Z, quantile_knots(Z, n_knots))
    np.testing.assert_allclose(gram.diagonal, np.square(gram.Z).sum(axis=1), rtol=1e-12)


@every_form
@pytest.mark.parametrize("n_indices", [0, 1, 50, 300])
def test_products_blocks_and_submatrices_agree_with_numpy(form, n_indices):
    gram = FORMS[form]()
    rng = np.random.default_rng(n_indices)
    indices = np.sort(rng.permutation(N)[:n_indices])
    columns = np.sort(rng.permutation(N)[:120])
    values, v = rng.standard_normal(n_indices), rng.standard_normal(N)
    for _ in range(2):  # the second time some rows are cached
        np.testing.assert_allclose(
            gram.dot_columns(indices, values), K[:, indices] @ values, atol=1e-11
        )
        np.testing.assert_allclose(gram.block(indices, columns), K[np.ix_(indices, columns)])
    submatrix, common_positions = gram.submatrix(columns), np.flatnonzero(np.isin(columns, indices))
    np.testing.assert_allclose(
        submatrix.block(common_positions, common_positions),
        K[np.ix_(columns[common_positions], columns[common_positions])],
    )
    assert submatrix.n == 120
    np.testing.assert_allclose(gram.dot(v), K @ v, atol=1e-10)


@every_form
def test_diagonal_norms_and_scale_agree_with_numpy(form):
    gram = FORMS[form]()
    np.testing.assert_allclose(gram.diagonal, (Z**2).sum(axis=1))
    np.testing.assert_allclose(gram.norms, np.linalg.norm(Z, axis=1))
    assert gram.scale == pytest.approx((Z**2).sum() / N)
    np.testing.assert_allclose(StoredGram(1e-4 * K).norms, 1e-2 * np.linalg.norm(Z, axis=1))


def test_scale_of_a_zero_matrix_is_one():
    assert StoredGram(np.zeros((3, 3))).scale == 1.0


@pytest.mark.parametrize("form", FORMS_WITH_FACTOR)
@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e-8])
def test_factor_solves_systems_with_a_small_relative_residual(form, scale):
    rng = np.random.default_rng(1)
    D = scale * rng.uniform(0.1, 10, N)
    b = D * rng.standard_normal(N) + K @ rng.standard_normal(N)
    x = FORMS[form]().factor(D)(b)
    assert np.abs(K @ x + D * x - b).max() <= 1e-8 * np.abs(b).max()


def test_indefinite_system_raises_an_arithmetic_error():
    with pytest.raises(ArithmeticError, match="not positive definite"):
        StoredGram(-np.eye(3)).factor(np.full(3, 0.5))


@pytest.mark.parametrize("form", FORMS_WITH_FACTOR)
def test_outputs_of_the_adjoint_are_products_with_the_gram_matrix(form):
    # The adjoint is defined by <adjoint G, f> = G'f(X) for every f.
    gram = FORMS[form]()
    rng = np.random.default_rng(2)
    A = rng.standard_normal((gram.n_unknowns, 2))
    G = rng.standard_normal((N, 2))
    f = gram.outputs(A)
    assert gram.inner(gram.adjoint(G), A, f) == pytest.approx(np.sum(G * f))
    np.testing.assert_allclose(gram.outputs(gram.adjoint(G)), K @ G, atol=1e-10)
    squared_norm = np.sum(A * A) if isinstance(gram, LowRankGram) else np.sum(A * (K @ A))
    assert gram.inner(A, A, f) == pytest.approx(squared_norm)


@pytest.mark.parametrize("form", FORMS_WITH_FACTOR)
@given(seed=st.integers(0, 1000), log_lam=st.floats(-3, 3))
@settings(max_examples=40)
def test_weighted_ridge_regression_satisfies_its_equations(form, seed, log_lam):
    rng, lam = np.random.default_rng(seed), 10.0**log_lam
    n = int(rng.integers(3, 60))
    Z = rng.standard_normal((n, 3))
    forms = {
        "stored": lambda: StoredGram(Z @ Z.T),
        "low rank": lambda: LowRankGram(Z),
        "hat functions": lambda: stump_gram(Z),
    }
    gram = forms[form]()
    R, r = rng.standard_normal((gram.n_unknowns, 2)), rng.standard_normal(2)
    W = rng.uniform(0.1, 1, n)
    A, b = gram.factor_ridge(W, lam)(R, r)
    outputs = W[:, None] * (gram.outputs(A) + b)
    scale = np.abs(A).max() * (np.abs(Z).max() ** 4 + lam) * n
    np.testing.assert_allclose(gram.adjoint(outputs) + lam * A, R, atol=1e-11 * scale)
    np.testing.assert_allclose(outputs.sum(axis=0), r, atol=1e-11 * scale)
    A_0, b_0 = gram.factor_ridge(W, lam)(R[:, 0], r[0])
    np.testing.assert_allclose(A_0, A[:, 0], atol=1e-12 * scale)
    assert b_0 == pytest.approx(b[0], abs=1e-12 * scale)


def test_ridge_accepts_points_of_zero_weight():
    gram, W = FORMS["stored"](), np.where(np.arange(N) < 5, 0.0, 1.0)
    R = np.random.default_rng(3).standard_normal(N)
    A, b = gram.factor_ridge(W, 0.7)(R, 0.2)
    np.testing.assert_allclose(W * (gram.K @ A + b) + 0.7 * A, R, atol=1e-9)
    np.testing.assert_allclose(A[:5], R[:5] / 0.7)


# --- stored --------------------------------------------------------------------------------


def test_stored_matrix_is_not_copied():
    column_major_K = np.asfortranarray(K)
    assert StoredGram(column_major_K).K.base is column_major_K
    assert StoredGram(K).K is K


def test_factor_does_not_change_the_matrix():
    gram, K_before = StoredGram(K), K.copy()
    gram.factor(np.ones(N))
    np.testing.assert_array_equal(gram.K, K_before)


# --- computed ------------------------------------------------------------------------------


def test_cached_rows_are_not_recomputed():
    block_function, shapes = block_function_and_shapes()
    gram = ComputedGram(block_function, N)
    indices = np.arange(0, 100, 2)
    gram.block(indices, indices)
    shapes.clear()
    gram.dot_columns(indices, np.ones(50))
    gram.block(indices[:20], indices)
    assert shapes == []
    gram.block(np.array([1, 2]), indices)
    assert shapes == [(1, N)]


def test_small_cache_evicts_rows_of_earlier_blocks_only():
    block_function, shapes = block_function_and_shapes()
    gram = ComputedGram(block_function, N, cache_megabytes=SMALL_CACHE_MEGABYTES)
    # The number of rows is rounded up, so that it is at least one.
    assert gram._cache.nbytes <= 1e6 * SMALL_CACHE_MEGABYTES + 8 * N
    first, second = np.arange(30), np.arange(30, 65)
    gram.block(first, first)
    shapes.clear()
    for _ in range(2):  # the second time all rows are cached
        np.testing.assert_array_equal(gram.block(second, second), K[np.ix_(second, second)])
        assert sum(n_rows for n_rows, _ in shapes) == 35
    gram.block(first[:1], first)
    assert sum(n_rows for n_rows, _ in shapes) <= 36
    np.testing.assert_array_equal(gram.block(first, second), K[np.ix_(first, second)])


@pytest.mark.parametrize("cached_range", [(0, 0), (0, 30), (280, 300)])
def test_cache_is_filled_completely_for_any_previous_content(cached_range):
    block_function, shapes = block_function_and_shapes()
    gram = ComputedGram(block_function, N, cache_megabytes=SMALL_CACHE_MEGABYTES)
    gram.block(np.arange(*cached_range), np.arange(N))
    indices = np.append(np.arange(10), np.arange(268, 300))  # some were cached before
    assert len(indices) == len(gram._cache)
    gram.block(indices, indices)
    shapes.clear()
    np.testing.assert_array_equal(gram.block(indices, indices), K[np.ix_(indices, indices)])
    assert shapes == []


def test_small_submatrix_is_stored_and_large_one_is_computed(monkeypatch):
    monkeypatch.setattr("svmbook.gram.computed.MAX_STORED_SUBMATRIX_SIZE", 120)
    block_function, shapes = block_function_and_shapes()
    gram = ComputedGram(block_function, N, cache_megabytes=0.2)
    indices = np.random.default_rng(8).permutation(N)
    few, many = indices[:120], indices[:121]
    stored_gram, computed_gram = gram.submatrix(few), gram.submatrix(many)
    shapes.clear()
    np.testing.assert_allclose(stored_gram.dot(np.ones(120)), K[np.ix_(few, few)].sum(axis=1))
    assert shapes == []
    np.testing.assert_allclose(computed_gram.dot(np.ones(121)), K[np.ix_(many, many)].sum(axis=1))
    assert sum(n_rows * n_columns for n_rows, n_columns in shapes) == 121**2
    rows, columns = np.array([3, 0]), np.array([120, 7])
    np.testing.assert_array_equal(
        computed_gram.block(rows, columns), K[np.ix_(many[rows], many[columns])]
    )
    # Both caches exist at the same time.
    assert computed_gram._cache.nbytes < gram._cache.nbytes / 2


# --- low rank ------------------------------------------------------------------------------


def forest_like_points(seed, n=600):
    """Return features like those of the forest data: four in metres, indicators, a constant."""
    rng = np.random.default_rng(seed)
    area, soil = rng.integers(0, 6, n), rng.integers(0, 12, n)
    metres = 1000.0 * rng.normal(size=(n, 4))
    return np.column_stack([metres, np.eye(6)[area], np.eye(12)[soil], np.full(n, 3.0)])


def test_centred_rows_are_not_copied():
    centred_Z = Z - Z.mean(axis=0)
    assert centred_gram(centred_Z)[0].Z is centred_Z
    assert centred_gram(Z)[0].Z is not Z


@pytest.mark.parametrize("X", [Z, forest_like_points(0)], ids=["normal", "dependent columns"])
def test_centring_shifts_all_outputs_by_the_same_number(X):
    gram, mean = centred_gram(X)
    centred_X = X - X.mean(axis=0)
    v = np.random.default_rng(4).standard_normal(len(X))
    scale = np.abs(X).max() ** 2 * len(X)
    np.testing.assert_allclose(gram.dot(v), centred_X @ (centred_X.T @ v), atol=1e-13 * scale)
    beta = v - v.mean()  # sums to zero, like y * alpha
    shift = mean @ gram.adjoint(beta)
    np.testing.assert_allclose(gram.dot(beta) + shift, X @ (X.T @ beta), atol=1e-13 * scale)


def test_dependent_columns_are_merged_into_the_others():
    assert centred_gram(forest_like_points(0))[0].n_unknowns == 4 + 5 + 11


def test_nearly_dependent_columns_are_kept():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, 2))
    X = np.column_stack([X, X[:, 0] + 1e-5 * rng.standard_normal(N)])
    assert centred_gram(X)[0].n_unknowns == 3


def test_constant_features_give_a_zero_matrix():
    gram, _ = centred_gram(np.ones((N, 3)))
    assert not gram.dot(np.random.default_rng(6).standard_normal(N)).any()


@pytest.mark.parametrize("tol", [None, 1e-6])
def test_pivoted_cholesky_finds_the_rank(tol):
    gram = pivoted_cholesky(K, tol=tol)
    assert gram.n_unknowns == 4
    np.testing.assert_allclose(gram.Z @ gram.Z.T, K, atol=1e-10)
    np.testing.assert_allclose(np.triu(gram.Z[gram.pivots], 1), 0.0)


def test_pivoted_cholesky_returns_none_if_the_rank_is_too_large():
    assert pivoted_cholesky(K, max_rank=Z.shape[1]).n_unknowns == Z.shape[1]
    assert pivoted_cholesky(K, max_rank=Z.shape[1] - 1) is None


@pytest.mark.parametrize(
    "gram", [LowRankGram(Z), pivoted_cholesky(K)], ids=["all points", "pivots"]
)
@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_coefficients_represent_the_given_weights(gram, shape):
    w = np.random.default_rng(7).standard_normal(shape)
    alpha = gram.coefficients(w)
    np.testing.assert_allclose(gram.adjoint(alpha), w, atol=1e-10)
    if gram.pivots is not None:
        assert np.count_nonzero(np.atleast_2d(alpha.T).any(axis=0)) == 4
