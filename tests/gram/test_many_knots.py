"""The stump kernel with many knots: the same functions as those of the form of low rank."""

import numpy as np
import pytest

from svmbook.gram import StumpGram, quantile_knots
from svmbook.gram.many_knots import knot_kernel, values_at_knots
from svmbook.gram.stumps import interval_finder


def draw_points():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    X[:, 1] = np.round(X[:, 1], 1)  # repeated values
    X[:, 2] = 5.0  # a constant feature
    return X


@pytest.mark.parametrize("n_knots", [2, 5, 30, 60])
def test_gram_matrix_is_that_of_the_weights(n_knots):
    X = draw_points()
    knots = quantile_knots(X, n_knots)
    Z = StumpGram.from_knots(X, knots).Z
    np.testing.assert_allclose(knot_kernel(X, knots), Z @ Z.T, atol=1e-10)


def test_points_outside_the_knots_are_clipped():
    X, knots = draw_points(), quantile_knots(draw_points()[:20], 6)
    Z = StumpGram.from_knots(X, knots).Z
    np.testing.assert_allclose(knot_kernel(X, knots), Z @ Z.T, atol=1e-10)


@pytest.mark.parametrize("n_knots", [2, 7, 60])
def test_values_at_knots_are_those_of_the_adjoint_weights(n_knots):
    X = draw_points()
    A, knots = np.random.default_rng(1).standard_normal(60), quantile_knots(X, n_knots)
    gram = StumpGram.from_knots(X, knots)
    expected = gram.weights_to_values @ gram.adjoint(A)
    values = values_at_knots(X, knots, A)
    assert [len(v) for v in values] == [len(t) for t in knots]
    np.testing.assert_allclose(np.concatenate(values), expected, atol=1e-10)


@pytest.mark.parametrize("spread", [0.1, 1.0, 30.0])  # 30: nearly all knots in one cell
@pytest.mark.parametrize("n_knots", [2, 3, 32, 200])
def test_intervals_are_those_of_binary_search(n_knots, spread):
    rng = np.random.default_rng(0)
    t = np.unique(np.exp(spread * rng.standard_normal(n_knots)))
    x = np.concatenate([t, np.nextafter(t[1:], -np.inf), rng.uniform(t[0], t[-1], 1000)])
    k = interval_finder(t)(x)
    assert ((t[k] <= x) & (x <= t[k + 1])).all()
    assert (x[x == t[k + 1]] == t[-1]).all()  # an inner knot begins an interval


def test_hessian_sample_of_a_small_block_is_not_empty(monkeypatch):
    monkeypatch.setattr("svmbook.gram.stumps.MAX_DENSE_POINTS_PER_WEIGHT", 0)
    X = draw_points()
    for n in range(2, 60):
        gram = StumpGram.from_knots(X[:n], quantile_knots(X[:n], 5), hessian_sample_share=1e-9)
        assert gram.ridge_terms(np.ones(n)).total_weight == pytest.approx(n)


@pytest.mark.parametrize("knots", [[0.0, 5e-324], [1.0, 1.0 + 2.0**-52], [0.0, 1e-300, 3e-300]])
def test_intervals_of_very_close_knots_exist(knots):
    t = np.array(knots)
    assert interval_finder(t)(t).tolist() == [*range(len(t) - 1), len(t) - 2]
