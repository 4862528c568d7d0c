"""Every form of a Gram matrix: what it offers, against plain NumPy."""

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
    centred_factor,
    pivoted_factor,
    quantile_knots,
)

N = 300
Z = np.random.default_rng(0).standard_normal((N, 4)) + np.array([3.0, 0, 0, -2])


def computed(K, **options):
    return ComputedGram(lambda rows, columns: K[np.ix_(rows, columns)], len(K), **options)


FORMS = {
    "stored": lambda: StoredGram(Z @ Z.T),
    "by columns": lambda: StoredGram(np.asfortranarray(Z @ Z.T)),
    "low rank": lambda: LowRankGram(Z),
    "hats": lambda: StumpGram(csr_array(Z), csr_array(np.eye(4)), (Z**2).sum(axis=1)),
    "computed": lambda: computed(Z @ Z.T),
    "forgetful": lambda: computed(Z @ Z.T, kept=0.0984),  # room for 41 rows only
}
SYSTEMS = ("stored", "low rank", "hats")
every_form = pytest.mark.parametrize("form", FORMS)


def test_knots_at_every_value_give_the_stump_kernel_pinned_at_the_first_knots():
    X = Z[:40]
    gram = StumpGram.at_knots(X, [np.unique(x) for x in X.T])
    K = 2 * (np.minimum(X[:, None], X) - X.min(axis=0)).sum(axis=2)
    np.testing.assert_allclose(gram.diagonal, np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(gram.times(Z[:40, 0]), K @ Z[:40, 0], rtol=1e-10)


@pytest.mark.parametrize("n_knots", [2, 8, 32])
def test_the_diagonal_between_knots_is_that_of_the_features(n_knots):
    gram = StumpGram.at_knots(Z, quantile_knots(Z, n_knots))
    np.testing.assert_allclose(gram.diagonal, np.square(gram.Z).sum(axis=1), rtol=1e-12)


@every_form
@pytest.mark.parametrize("count", [0, 1, 50, 300])
def test_products_blocks_and_parts(form, count):
    gram, K = FORMS[form](), Z @ Z.T
    rng = np.random.default_rng(count)
    points = np.sort(rng.permutation(N)[:count])
    others = np.sort(rng.permutation(N)[:120])
    values, v = rng.standard_normal(count), rng.standard_normal(N)
    for _ in range(2):  # the second time with rows that were kept
        np.testing.assert_allclose(gram.columns(points, values), K[:, points] @ values, atol=1e-11)
        np.testing.assert_allclose(gram.block(points, others), K[np.ix_(points, others)])
    part, inner = gram.part(others), np.flatnonzero(np.isin(others, points))
    np.testing.assert_allclose(part.block(inner, inner), K[np.ix_(others[inner], others[inner])])
    assert part.n == 120
    np.testing.assert_allclose(gram.times(v), K @ v, atol=1e-10)


@every_form
def test_lengths_and_scale(form):
    gram = FORMS[form]()
    np.testing.assert_allclose(gram.diagonal, (Z**2).sum(axis=1))
    np.testing.assert_allclose(gram.lengths, np.linalg.norm(Z, axis=1))
    assert gram.scale == pytest.approx((Z**2).sum() / N)
    np.testing.assert_allclose(StoredGram(1e-4 * Z @ Z.T).lengths, 1e-2 * np.linalg.norm(Z, axis=1))


def test_a_matrix_of_zeros_has_a_scale_to_divide_by():
    assert StoredGram(np.zeros((3, 3))).scale == 1.0


@pytest.mark.parametrize("form", SYSTEMS)
@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-8])
def test_systems_are_solved_to_the_digits_that_the_iterations_need(form, size):
    gram, K = FORMS[form](), Z @ Z.T
    rng = np.random.default_rng(1)
    D = size * rng.uniform(0.1, 10, N)
    b = D * rng.standard_normal(N) + K @ rng.standard_normal(N)
    x = gram.factor(D)(b)
    assert np.abs(K @ x + D * x - b).max() <= 1e-8 * np.abs(b).max()


def test_a_system_without_solution_is_an_arithmetic_error():
    with pytest.raises(ArithmeticError, match="not positive definite"):
        StoredGram(-np.eye(3)).factor(np.full(3, 0.5))


@pytest.mark.parametrize("form", SYSTEMS)
def test_outputs_and_adjoint_make_the_product(form):
    # <adjoint G, f> is G'f(X) for every f: the definition, and K = outputs after adjoint.
    gram, K = FORMS[form](), Z @ Z.T
    rng = np.random.default_rng(2)
    A = rng.standard_normal((gram.size, 2))
    G = rng.standard_normal((N, 2))
    f = gram.outputs(A)
    assert gram.inner(gram.adjoint(G), A, f) == pytest.approx(np.sum(G * f))
    np.testing.assert_allclose(gram.outputs(gram.adjoint(G)), K @ G, atol=1e-10)
    assert gram.inner(A, A, f) == pytest.approx(
        np.sum(A * A) if isinstance(gram, LowRankGram) else np.sum(A * (K @ A))
    )


@pytest.mark.parametrize("form", SYSTEMS)
@given(seed=st.integers(0, 1000), log_lam=st.floats(-3, 3))
@settings(max_examples=40)
def test_a_weighted_ridge_regression_is_solved(form, seed, log_lam):
    rng, lam = np.random.default_rng(seed), 10.0**log_lam
    n = int(rng.integers(3, 60))
    matrix = rng.standard_normal((n, 3))
    gram = {
        "stored": lambda: StoredGram(matrix @ matrix.T),
        "hats": lambda: StumpGram(csr_array(matrix), csr_array(np.eye(3)), (matrix**2).sum(1)),
    }.get(form, lambda: LowRankGram(matrix))()
    R, r, W = rng.standard_normal((gram.size, 2)), rng.standard_normal(2), rng.uniform(0.1, 1, n)
    A, b = gram.ridge(W, lam)(R, r)
    outputs = W[:, None] * (gram.outputs(A) + b)
    scale = np.abs(A).max() * (np.abs(matrix).max() ** 4 + lam) * n
    np.testing.assert_allclose(gram.adjoint(outputs) + lam * A, R, atol=1e-11 * scale)
    np.testing.assert_allclose(outputs.sum(axis=0), r, atol=1e-11 * scale)
    alone, b_alone = gram.ridge(W, lam)(R[:, 0], r[0])
    np.testing.assert_allclose(alone, A[:, 0], atol=1e-12 * scale)
    assert b_alone == pytest.approx(b[0], abs=1e-12 * scale)


def test_a_point_of_no_weight_is_no_special_case_of_a_ridge():
    gram, W = FORMS["stored"](), np.where(np.arange(N) < 5, 0.0, 1.0)
    R = np.random.default_rng(3).standard_normal(N)
    A, b = gram.ridge(W, 0.7)(R, 0.2)
    np.testing.assert_allclose(W * (gram.K @ A + b) + 0.7 * A, R, atol=1e-9)
    np.testing.assert_allclose(A[:5], R[:5] / 0.7)


# --- stored --------------------------------------------------------------------------------


def test_a_stored_matrix_is_not_copied():
    K = Z @ Z.T
    by_columns = np.asfortranarray(K)
    assert StoredGram(by_columns).K.base is by_columns
    assert StoredGram(K).K is K


def test_a_factorisation_leaves_the_matrix_as_it_was():
    K = Z @ Z.T
    gram, before = StoredGram(K), K.copy()
    gram.factor(np.ones(N))
    np.testing.assert_array_equal(gram.K, before)


# --- computed ------------------------------------------------------------------------------


def test_kept_rows_are_computed_once():
    K, asked = Z @ Z.T, []

    def values(rows, columns):
        asked.append((len(rows), len(columns)))
        return K[np.ix_(rows, columns)]

    gram = ComputedGram(values, N)
    points = np.arange(0, 100, 2)
    gram.block(points, points)
    asked.clear()
    gram.columns(points, np.ones(50))
    gram.block(points[:20], points)
    assert asked == []
    gram.block(np.array([1, 2]), points)
    assert asked == [(1, N)]


def test_rows_make_room_for_others():
    K, gram = Z @ Z.T, FORMS["forgetful"]()
    first, second = np.arange(30), np.arange(30, 65)
    gram.block(first, first)
    np.testing.assert_array_equal(gram.block(second, second), K[np.ix_(second, second)])
    np.testing.assert_array_equal(gram.block(first, second), K[np.ix_(first, second)])


def test_kept_rows_stay_within_their_megabytes_and_the_last_ones_are_kept():
    K, asked = Z @ Z.T, []

    def values(rows, columns):
        asked.append(len(rows))
        return K[np.ix_(rows, columns)]

    gram = ComputedGram(values, N, kept=0.0984)
    assert gram._store.nbytes <= 0.0984e6 + 8 * N  # and room for one row at least
    first, second = np.arange(30), np.arange(30, 65)
    gram.block(first, first)
    asked.clear()
    gram.block(second, second)
    assert sum(asked) == 35
    gram.block(second, second)
    assert sum(asked) == 35  # room was made at the cost of the first, not of one another
    gram.block(first[:1], first)
    assert sum(asked) <= 36


@pytest.mark.parametrize("before", [(0, 0), (0, 30), (280, 300)])
def test_as_many_rows_as_fit_are_kept_whatever_was_kept_before(before):
    K, asked = Z @ Z.T, []

    def values(rows, columns):
        asked.append(len(rows))
        return K[np.ix_(rows, columns)]

    gram = ComputedGram(values, N, kept=0.0984)
    gram.block(np.arange(*before), np.arange(N))
    points = np.append(np.arange(10), np.arange(268, 300))  # some of those before, and more
    assert len(points) == len(gram._store)
    gram.block(points, points)
    asked.clear()
    np.testing.assert_array_equal(gram.block(points, points), K[np.ix_(points, points)])
    assert asked == []


def test_a_part_of_few_points_is_stored_and_one_of_many_is_computed(monkeypatch):
    monkeypatch.setattr("svmbook.gram.computed.STORED_PART", 120)
    K, asked = Z @ Z.T, []

    def values(rows, columns):
        asked.append(len(rows) * len(columns))
        return K[np.ix_(rows, columns)]

    gram, points = ComputedGram(values, N, kept=0.2), np.random.default_rng(8).permutation(N)
    few, many = points[:120], points[:121]
    parts = {len(chosen): gram.part(chosen) for chosen in (few, many)}
    asked.clear()
    np.testing.assert_allclose(parts[120].times(np.ones(120)), K[np.ix_(few, few)].sum(axis=1))
    assert asked == []
    np.testing.assert_allclose(parts[121].times(np.ones(121)), K[np.ix_(many, many)].sum(axis=1))
    assert sum(asked) == 121**2
    inner, outer = np.array([3, 0]), np.array([120, 7])
    block = parts[121].block(inner, outer)
    np.testing.assert_array_equal(block, K[np.ix_(many[inner], many[outer])])
    assert parts[121]._store.nbytes < gram._store.nbytes / 2  # whose own rows stay in memory


# --- low rank ------------------------------------------------------------------------------


def forest_like(seed, n=600):
    """Return features as of a forest: four in metres, two sets of indicators, a constant one."""
    rng = np.random.default_rng(seed)
    kind, soil = rng.integers(0, 6, n), rng.integers(0, 12, n)
    metres = 1000.0 * rng.normal(size=(n, 4))
    return np.column_stack([metres, np.eye(6)[kind], np.eye(12)[soil], np.full(n, 3.0)])


def test_centred_rows_are_not_copied():
    centred = Z - Z.mean(axis=0)
    assert centred_factor(centred)[0].Z is centred
    assert centred_factor(Z)[0].Z is not Z


@pytest.mark.parametrize("X", [Z, forest_like(0)], ids=["normal", "dependent columns"])
def test_centring_moves_outputs_by_one_number(X):
    gram, mean = centred_factor(X)
    centred = X - X.mean(axis=0)
    v = np.random.default_rng(4).standard_normal(len(X))
    scale = np.abs(X).max() ** 2 * len(X)
    np.testing.assert_allclose(gram.times(v), centred @ (centred.T @ v), atol=1e-13 * scale)
    balanced = v - v.mean()  # as y'alpha = 0
    shift = mean @ gram.adjoint(balanced)
    np.testing.assert_allclose(
        gram.times(balanced) + shift, X @ (X.T @ balanced), atol=1e-13 * scale
    )


def test_dependent_columns_are_folded_into_the_others():
    assert centred_factor(forest_like(0))[0].size == 4 + 5 + 11


def test_nearly_dependent_columns_are_kept():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, 2))
    X = np.column_stack([X, X[:, 0] + 1e-5 * rng.standard_normal(N)])
    assert centred_factor(X)[0].size == 3


def test_features_that_are_all_constant():
    gram, _ = centred_factor(np.ones((N, 3)))
    assert not gram.times(np.random.default_rng(6).standard_normal(N)).any()


@pytest.mark.parametrize("noise", [None, 1e-6])
def test_pivots_find_the_rank(noise):
    low = pivoted_factor(Z @ Z.T, noise=noise)
    assert low.size == 4
    np.testing.assert_allclose(low.Z @ low.Z.T, Z @ Z.T, atol=1e-10)
    np.testing.assert_allclose(np.triu(low.Z[low.pivots], 1), 0.0)


def test_a_rank_larger_than_wanted_is_no_factor():
    K = Z @ Z.T
    assert pivoted_factor(K, largest_rank=Z.shape[1]).size == Z.shape[1]
    assert pivoted_factor(K, largest_rank=Z.shape[1] - 1) is None


@pytest.mark.parametrize("low", [LowRankGram(Z), pivoted_factor(Z @ Z.T)], ids=["all", "pivots"])
@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_coefficients_have_the_weights_asked_for(low, shape):
    w = np.random.default_rng(7).standard_normal(shape)
    alpha = low.coefficients(w)
    np.testing.assert_allclose(low.adjoint(alpha), w, atol=1e-10)
    if low.pivots is not None:
        assert np.count_nonzero(np.atleast_2d(alpha.T).any(axis=0)) == 4
