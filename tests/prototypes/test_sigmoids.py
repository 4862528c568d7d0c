"""Sigmoids cross-validated within each member, against a loop over members and folds."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from svmbook import DualSVC, ExemplarSVM, PrototypeSVM
from svmbook.calibration import fit_sigmoid
from svmbook.prototypes.negatives import distances, initial_negatives
from svmbook.prototypes.sigmoids import N_FOLDS, cross_validated_sigmoids
from svmbook.solvers.batched.members import fit_linear_members

X, Y = make_moons(60, noise=0.25, random_state=0)
C = 10.0


def train(X, positive, negative, positive_weights):
    return fit_linear_members(X, positive, negative, C, positive_weights)


UNEQUAL_COUNTS = (4, 1, 2, 3, 1, 4)


def member_masks(*n_positives):
    """Return masks of the nearest positives and the initial negatives of some members."""
    dist, n = distances(X, X), len(n_positives)
    rank = np.where(Y[:, None] == Y, dist, np.inf).argsort(axis=1).argsort(axis=1)
    return rank[:n] < np.array(n_positives)[:, None], initial_negatives(X, Y, 7).toarray()[:n]


def folds(is_own):
    """Return the fold of each point of each member, from the random numbers of the fixed seed."""
    numbers = np.random.default_rng(0).random(is_own.shape)
    fold = np.full(is_own.shape, -1)
    for m, mask in enumerate(is_own):
        indices = np.flatnonzero(mask)
        shuffled = indices[numbers[m, indices].argsort()]
        fold[m, shuffled] = np.arange(len(shuffled)) * N_FOLDS // len(shuffled)
    return fold


def sigmoid_by_loops(P, N, fold, positive_weight):
    """Return the sigmoid of one member: train one SVM per fold, then fit the sigmoid."""
    indices = np.flatnonzero(P | N)
    outputs = np.zeros(len(X))
    for k in range(N_FOLDS):
        training, left_out = indices[fold[indices] != k], indices[fold[indices] == k]
        if not P[training].any():
            outputs[left_out] = -1.0
        elif not N[training].any():
            outputs[left_out] = 1.0
        else:
            signs = np.where(P[training], 1, -1)
            weights = np.where(P[training], positive_weight, 1.0)
            model = DualSVC(C=C, tol=1e-10).fit(X[training], signs, sample_weight=weights)
            outputs[left_out] = model.decision_function(X[left_out])
    return fit_sigmoid(outputs[indices], P[indices])


@pytest.mark.parametrize(
    ("n_positives", "positive_weight"),
    [([1] * 6, 1.0), ([4] * 6, 1.0), ([4] * 6, 3.0), (UNEQUAL_COUNTS, 1.0)],
)
def test_sigmoids_agree_with_loop_over_members_and_folds(n_positives, positive_weight):
    P, N = member_masks(*n_positives)
    sigmoids = cross_validated_sigmoids(X, P, N, np.full(len(P), positive_weight), train)
    fold = folds(P | N)
    for m in range(len(P)):
        expected = sigmoid_by_loops(P[m], N[m], fold[m], positive_weight)
        actual = sigmoids.slope[m], sigmoids.intercept[m]
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)


def test_each_point_is_left_out_once_in_folds_of_equal_size():
    P, N = member_masks(4, 4, 3, 4, 2, 4)  # every training set has a positive, so all are trained
    is_own, left_out = P | N, []

    def recording_train(X, positive, negative, positive_weights):
        left_out.append(is_own & ~(positive + negative).toarray())
        assert not (positive > P).any() and not (negative > N).any()
        return train(X, positive, negative, positive_weights)

    cross_validated_sigmoids(X, P, N, np.ones(len(P)), recording_train)
    np.testing.assert_array_equal(np.sum(left_out, axis=0), is_own)
    sizes = np.array([mask.sum(axis=1) for mask in left_out])
    assert sizes.shape == (N_FOLDS, len(P)) and (np.ptp(sizes, axis=0) <= 1).all()


def test_only_positive_of_a_member_has_output_minus_one():
    # The only negative has the output +1, so the fitted slope is negative.
    two_points = np.array([[0.0, 0.0], [1.0, 0.0]])
    positive, negative = np.array([[True, False]]), np.array([[False, True]])
    sigmoid = cross_validated_sigmoids(two_points, positive, negative, np.ones(1), train)
    assert sigmoid.slope[0] < 0
    expected = fit_sigmoid([-1.0, 1.0], [True, False])
    np.testing.assert_allclose(np.ravel(sigmoid), expected, atol=1e-6)


def test_sigmoids_are_reproducible_and_do_not_depend_on_later_members():
    P, N = member_masks(*[3] * 6)
    sigmoids = cross_validated_sigmoids(X, P, N, np.ones(len(P)), train)
    np.testing.assert_array_equal(
        cross_validated_sigmoids(X, P, N, np.ones(len(P)), train), sigmoids
    )
    four_sigmoids = cross_validated_sigmoids(X, P[:4], N[:4], np.ones(4), train)
    np.testing.assert_allclose(np.array(four_sigmoids), np.array(sigmoids)[:, :4], rtol=1e-6)


@pytest.mark.parametrize("model", [ExemplarSVM(C=C, mining=False), PrototypeSVM(C=C, n_shifts=2)])
def test_vote_sums_probabilities_of_positive_outputs(model):
    model.set_params(voting="cv_probability", positive_weight=1.0, random_state=0).fit(X, Y)
    X_new, _ = make_moons(30, noise=0.25, random_state=1)
    training = np.arange(len(X))
    if isinstance(model, PrototypeSVM):
        training = model.history_[0].exemplar_indices  # without the validation set
    P, N = np.zeros((2, len(model.members_), len(X)), dtype=bool)
    for m, member in enumerate(model.members_):
        P[m, member.positives] = N[m, member.negatives] = True
    sigmoids = cross_validated_sigmoids(
        X[training], P[:, training], N[:, training], np.ones(len(P)), train
    )
    F = X_new @ model.coef_.T + model.intercept_
    signs = np.array([1 if member.label else -1 for member in model.members_])
    votes = np.where(F > 0, sigmoids.probability(F), 0.0) @ signs
    np.testing.assert_allclose(model.decision_function(X_new), votes, atol=1e-5)
