"""What the thesis leaves open, read in other ways."""

import numpy as np
import pytest

from svmbook import PrototypeSVM
from svmbook.experiments.suites.shen2013.readings import ByProbability, GrowingLists
from svmbook.prototypes.inner import inner_sigmoids
from svmbook.solvers.batched.members import linear_members


@pytest.fixture
def points():
    """Return 60 points of three overlapping classes."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    return centres[y] + rng.normal(size=(60, 2)), y


def test_a_member_is_positive_where_the_probability_of_libsvm_exceeds_one_half(points):
    X, y = points
    positive = np.eye(len(X), dtype=bool) | (np.arange(60) % 7 == 0) & (y == y[:, None])
    negative = (y != y[:, None]) & (np.arange(60) % 3 == 0)
    read, plain = ByProbability(C=1.0), PrototypeSVM(C=1.0)
    planes = read._train(X, y, positive, negative)
    usual = plain._train(X, y, positive, negative)
    weight = np.ones(len(X))
    sigmoids = inner_sigmoids(X, positive, negative, weight, plain._hyperplanes)
    probability = sigmoids.probability(X @ usual.coef.T + usual.intercept)
    says = X @ planes.coef.T + planes.intercept
    clear = np.abs(probability - 0.5) > 1e-9
    np.testing.assert_array_equal((says > 0)[clear], (probability > 0.5)[clear])
    assert ((says > 0) != (X @ usual.coef.T + usual.intercept > 0)).mean() > 0.05


def test_a_factor_per_point_counts_a_point_as_often(points):
    X, _ = points
    positive = np.zeros((2, 60), dtype=int)
    positive[0, [0, 3, 5]], positive[1, [1, 2]] = (1, 3, 2), (2, 1)
    negative = np.zeros((2, 60), dtype=bool)
    negative[:, 20:40:3] = True
    once = linear_members(X, positive > 0, negative, 0.7, 1.0 * positive)
    for m in range(2):
        rows = np.repeat(np.arange(60), np.where(negative[m], 1, positive[m]))
        again = linear_members(
            X[rows], ~negative[m, rows][None], negative[m, rows][None], 0.7, np.ones(1)
        )
        np.testing.assert_allclose(once.coef[m], again.coef[0], atol=1e-8)
        np.testing.assert_allclose(once.intercept[m], again.intercept[0], atol=1e-8)


def test_a_positive_that_joins_at_each_iteration_is_there_as_often(points):
    X, y = points
    grown, trained = [], []

    class Watched(GrowingLists):
        def _updated_positives(self, positive, joins):
            grown.append(super()._updated_positives(positive, joins))
            return grown[-1]

        def _hyperplanes(self, X, positive, negative, weight):
            trained.append((positive, weight))
            return super()._hyperplanes(X, positive, negative, weight)

    fitted = Watched(n_shifts=4, random_state=0).fit(X, y)
    assert grown[-1].max() > 2
    assert all((weight == positive).all() for positive, weight in trained)
    assert all(len(set(p.positives)) == len(p.positives) for p in fitted.prototypes_)
