"""Prototype SVMs under alternative interpretations of Shen (2013)."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from svmbook import PrototypeSVM
from svmbook.experiments.suites.shen2013.interpretations import (
    GrowingListPrototypeSVM,
    ProbabilityPrototypeSVM,
)
from svmbook.prototypes.sigmoids import cross_validated_sigmoids


@pytest.fixture
def three_classes():
    """Return 60 points of three overlapping classes."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    return centres[y] + rng.normal(size=(60, 2)), y


def test_members_classify_as_positive_where_libsvms_probability_exceeds_one_half(three_classes):
    X, y = three_classes
    is_own_class = y == y[:, None]
    positive = csr_array(np.eye(len(X), dtype=bool) | (np.arange(60) % 7 == 0) & is_own_class)
    negative = csr_array(~is_own_class & (np.arange(60) % 3 == 0))
    original_model = PrototypeSVM(C=1.0)
    hyperplanes = ProbabilityPrototypeSVM(C=1.0)._train(X, y, positive, negative)
    original_hyperplanes = original_model._train(X, y, positive, negative)
    sigmoids = cross_validated_sigmoids(
        X, positive, negative, np.ones(len(X)), original_model._train_weighted
    )
    original_outputs = X @ original_hyperplanes.coef.T + original_hyperplanes.intercept
    probability = sigmoids.probability(original_outputs)
    outputs = X @ hyperplanes.coef.T + hyperplanes.intercept
    is_unambiguous = np.abs(probability - 0.5) > 1e-9
    np.testing.assert_array_equal(
        (outputs > 0)[is_unambiguous], (probability > 0.5)[is_unambiguous]
    )
    assert ((outputs > 0) != (original_outputs > 0)).mean() > 0.05


def test_weight_of_a_positive_is_the_number_of_times_it_was_added(three_classes):
    X, y = three_classes
    addition_counts, trained_positives = [], []

    class Recorder(GrowingListPrototypeSVM):
        def _updated_positives(self, *args):
            addition_counts.append(super()._updated_positives(*args))
            return addition_counts[-1]

        def _train_weighted(self, X, positive, negative, positive_weights):
            trained_positives.append(positive)
            return super()._train_weighted(X, positive, negative, positive_weights)

    model = Recorder(n_shifts=4, random_state=0).fit(X, y)
    assert addition_counts[-1].max() > 2
    assert max(positive.max() for positive in trained_positives) == addition_counts[-1].max()
    assert all(len(set(member.positives)) == len(member.positives) for member in model.members_)
