"""Products and blocks of a Gram matrix, stored and computed."""

import numpy as np
import pytest

from svmbook.gram.rows import ComputedRows, StoredRows


@pytest.fixture(scope="module")
def K():
    X = np.random.default_rng(0).standard_normal((300, 4))
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))


def stored(K):
    return StoredRows(K)


def computed(K):
    return ComputedRows(lambda rows, columns: K[np.ix_(rows, columns)], len(K))


def forgetful(K):
    """Room for 41 rows only."""
    return ComputedRows(lambda rows, columns: K[np.ix_(rows, columns)], len(K), kept=0.0984)


@pytest.mark.parametrize("form", [stored, computed, forgetful])
@pytest.mark.parametrize("count", [0, 1, 50, 300])
def test_products_and_blocks(K, form, count):
    rows = form(K)
    rng = np.random.default_rng(count)
    points = np.sort(rng.permutation(300)[:count])
    others = np.sort(rng.permutation(300)[:120])
    values = rng.standard_normal(count)
    for _ in range(2):  # the second time with rows that were kept
        np.testing.assert_allclose(rows.times(points, values), K[:, points] @ values, atol=1e-13)
        np.testing.assert_array_equal(rows.block(points, others), K[np.ix_(points, others)])
    part = rows.part(others)
    inner = np.flatnonzero(np.isin(others, points))
    np.testing.assert_array_equal(part.block(inner, inner), K[np.ix_(others[inner], others[inner])])
    assert rows.scale == pytest.approx(1.0)


def test_a_matrix_by_columns_is_not_copied(K):
    by_columns = np.asfortranarray(K)
    assert StoredRows(by_columns).K.base is by_columns
    assert StoredRows(K).K is K


def test_kept_rows_are_computed_once(K):
    asked = []

    def values(rows, columns):
        asked.append((len(rows), len(columns)))
        return K[np.ix_(rows, columns)]

    rows = ComputedRows(values, 300)
    points = np.arange(0, 100, 2)
    rows.block(points, points)
    asked.clear()
    rows.times(points, np.ones(50))
    rows.block(points[:20], points)
    assert asked == []
    rows.block(np.array([1, 2]), points)
    assert asked == [(1, 300)]


def test_rows_make_room_for_others(K):
    rows = forgetful(K)
    first, second = np.arange(30), np.arange(30, 65)
    rows.block(first, first)
    np.testing.assert_array_equal(rows.block(second, second), K[np.ix_(second, second)])
    np.testing.assert_array_equal(rows.block(first, second), K[np.ix_(first, second)])
