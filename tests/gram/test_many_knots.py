"""The stump kernel with many knots: the same functions as those of the form of low rank."""

import numpy as np
import pytest

from svmbook.gram import StumpGram, quantile_knots
from svmbook.gram.many_knots import knot_kernel, values_at_knots


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
