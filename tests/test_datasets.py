"""Generators against the theory of the distributions they claim to draw from."""

import numpy as np
import pytest

from svmbook.datasets import (
    forest_like,
    non_separable,
    non_separable_bayes_error,
    stdev,
    stdev_bayes_error,
    three_parts,
    xor,
)

MANY = 200_000


@pytest.mark.parametrize("sd", [1, 2, 4])
def test_bayes_error_of_stdev(sd):
    X, y = stdev(sd, n=MANY, random_state=0)
    error = (np.sign(X.sum(axis=1)) != y).mean()
    expected = stdev_bayes_error(sd)
    assert error == pytest.approx(expected, abs=4 * np.sqrt(expected / MANY))
    means = [X[y == side].mean(axis=0) for side in (-1, 1)]
    assert np.linalg.norm(means[1] - means[0]) == pytest.approx(5.4, abs=0.02 * sd)
    assert X[y > 0].std(axis=0) == pytest.approx([sd, sd], rel=0.02)


def test_bayes_error_of_non_separable():
    X, y = non_separable(n=MANY, random_state=0)
    error = (np.sign(X.prod(axis=1)) != y).mean()
    assert error == pytest.approx(non_separable_bayes_error(), abs=0.002)
    assert non_separable_bayes_error() == pytest.approx(0.05, abs=5e-4)


@pytest.mark.parametrize("draw", [lambda **k: stdev(2, **k), non_separable, forest_like])
def test_seeded_balanced_and_shuffled(draw):
    X, y = draw(n=400, random_state=3)
    again, _ = draw(n=400, random_state=3)
    other, _ = draw(n=400, random_state=4)
    assert np.array_equal(X, again)
    assert not np.array_equal(X, other)
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert abs(y.sum()) <= 60
    assert abs(y[:200].sum()) < 100  # classes are mixed, not stacked


def test_three_parts_are_independent_and_repeatable():
    parts = three_parts(non_separable, random_state=0)
    again = three_parts(non_separable, random_state=0)
    firsts = [X[0] for X, _ in parts]
    assert len({tuple(first) for first in firsts}) == 3
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(parts, again, strict=True))


def test_xor_labels_are_products():
    X, y = xor(5)
    assert np.array_equal(y, X.prod(axis=1))
    assert len(X) == 20


def test_forest_like_has_the_shape_of_the_forest():
    X, _ = forest_like(5040, random_state=0)
    assert X.shape == (5040, 54)
    assert np.array_equal(X[:, 10:14].sum(axis=1), np.ones(5040))
    assert np.array_equal(X[:, 14:].sum(axis=1), np.ones(5040))
    assert np.linalg.matrix_rank(X) == 53  # the two groups of indicators have equal sums
