"""Sigmoids from a cross-validation inside each member, against one SVM and one fit at a time."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from svmbook import DualSVC, ExemplarSVM, PrototypeSVM
from svmbook.calibration import fit_sigmoid
from svmbook.prototypes.inner import FOLDS, inner_sigmoids
from svmbook.prototypes.negatives import distances, initial_negatives
from svmbook.solvers.batched.members import linear_members

X, Y = make_moons(60, noise=0.25, random_state=0)
C = 10.0


def train(X, positive, negative, weight):
    return linear_members(X, positive, negative, C, weight)


RAGGED = (4, 1, 2, 3, 1, 4)


def members(*n_positives):
    """Return the positives and negatives of some members, each with its nearest positives."""
    between, n = distances(X, X), len(n_positives)
    rank = np.where(Y[:, None] == Y, between, np.inf).argsort(axis=1).argsort(axis=1)
    return rank[:n] < np.array(n_positives)[:, None], initial_negatives(between, Y, 7)[:n]


def folds(present):
    """Return the fold of each point of each member, from the numbers that a fixed seed gives."""
    numbers = np.random.default_rng(0).random(present.shape)
    found = np.full(present.shape, -1)
    for m, there in enumerate(present):
        points = np.flatnonzero(there)
        ranked = points[numbers[m, points].argsort()]
        found[m, ranked] = np.arange(len(ranked)) * FOLDS // len(ranked)
    return found


def sigmoid_by_loops(P, N, fold, weight):
    """Return the sigmoid of one member: one SVM for each fold, then one fit."""
    points = np.flatnonzero(P | N)
    outputs = np.zeros(len(X))
    for k in range(FOLDS):
        inside, left_out = points[fold[points] != k], points[fold[points] == k]
        if not P[inside].any():
            outputs[left_out] = -1.0
        elif not N[inside].any():
            outputs[left_out] = 1.0
        else:
            signs = np.where(P[inside], 1, -1)
            costs = np.where(P[inside], weight, 1.0)
            model = DualSVC(C=C, tol=1e-10).fit(X[inside], signs, sample_weight=costs)
            outputs[left_out] = model.decision_function(X[left_out])
    return fit_sigmoid(outputs[points], P[points])


@pytest.mark.parametrize(
    ("n_positives", "weight"), [([1] * 6, 1.0), ([4] * 6, 1.0), ([4] * 6, 3.0), (RAGGED, 1.0)]
)
def test_sigmoids_are_those_of_one_fit_at_a_time(n_positives, weight):
    P, N = members(*n_positives)
    sigmoids = inner_sigmoids(X, P, N, np.full(len(P), weight), train)
    fold = folds(P | N)
    for m in range(len(P)):
        expected = sigmoid_by_loops(P[m], N[m], fold[m], weight)
        found = sigmoids.slope[m], sigmoids.intercept[m]
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_each_point_of_a_member_is_left_out_once_in_folds_of_equal_size():
    P, N = members(4, 4, 3, 4, 2, 4)  # here each fold leaves a positive, so all are trained
    present, left_out = P | N, []

    def watched(X, positive, negative, weight):
        left_out.append(present & ~(positive | negative))
        assert not (positive & ~P).any() and not (negative & ~N).any()
        return train(X, positive, negative, weight)

    inner_sigmoids(X, P, N, np.ones(len(P)), watched)
    np.testing.assert_array_equal(np.sum(left_out, axis=0), present)
    sizes = np.array([out.sum(axis=1) for out in left_out])
    assert sizes.shape == (FOLDS, len(P)) and (np.ptp(sizes, axis=0) <= 1).all()


def test_a_single_positive_has_the_output_minus_one():
    # Two points: the negative alone has the output 1, so that the slope has the wrong sign.
    pair = np.array([[0.0, 0.0], [1.0, 0.0]])
    one = np.array([[True, False]]), np.array([[False, True]])
    sigmoid = inner_sigmoids(pair, *one, np.ones(1), train)
    assert sigmoid.slope[0] < 0
    expected = fit_sigmoid([-1.0, 1.0], [True, False])
    np.testing.assert_allclose(np.ravel(sigmoid), expected, atol=1e-6)


def test_sigmoids_are_the_same_each_time_and_members_do_not_depend_on_later_ones():
    P, N = members(*[3] * 6)
    once = inner_sigmoids(X, P, N, np.ones(len(P)), train)
    again = inner_sigmoids(X, P, N, np.ones(len(P)), train)
    np.testing.assert_array_equal(once, again)
    fewer = inner_sigmoids(X, P[:4], N[:4], np.ones(4), train)
    np.testing.assert_allclose(np.array(fewer), np.array(once)[:, :4], rtol=1e-6)


@pytest.mark.parametrize("model", [ExemplarSVM(C=C, mining=False), PrototypeSVM(C=C, n_shifts=2)])
def test_the_vote_sums_the_probabilities_of_positive_outputs(model):
    model.set_params(voting="libsvm", positive_weight=1.0, random_state=0).fit(X, Y)
    new, _ = make_moons(30, noise=0.25, random_state=1)
    D = np.arange(len(X))
    if isinstance(model, PrototypeSVM):
        D = model.history_[0].exemplars  # the validation set is left out
    P, N = np.zeros((2, len(model.prototypes_), len(X)), dtype=bool)
    for m, member in enumerate(model.prototypes_):
        P[m, member.positives] = N[m, member.negatives] = True
    sigmoids = inner_sigmoids(X[D], P[:, D], N[:, D], np.ones(len(P)), train)
    F = new @ model.coef_.T + model.intercept_
    signs = np.array([1 if member.label else -1 for member in model.prototypes_])
    votes = np.where(F > 0, sigmoids.probability(F), 0.0) @ signs
    np.testing.assert_allclose(model.decision_function(new), votes, atol=1e-5)
