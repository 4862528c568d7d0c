"""Exemplar and prototype SVMs: votes agree with loops, mined members with exact SVMs."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from svmbook import ExemplarSVM, PrototypeSVM
from svmbook.calibration import fit_sigmoid
from svmbook.solvers import solve_active_set

X, Y = make_moons(100, noise=0.25, random_state=0)
LABELS = np.array(["left", "right"])[Y]
X_NEW, _ = make_moons(40, noise=0.25, random_state=1)


def vote_differences_by_loops(model, vote_weight):
    """Return the votes for the second class minus the votes for the first."""
    differences = np.zeros(len(X_NEW))
    for i, x in enumerate(X_NEW):
        voters = []
        for m, member in enumerate(model.members_):
            output = member.coef @ x + member.intercept
            if output > 0:
                distance = np.linalg.norm(x - model.exemplars_[m])
                voters.append((distance, 1 if member.label == "right" else -1, m, output))
        voters.sort()
        differences[i] = sum(sign * vote_weight(voters, *rest) for _, sign, *rest in voters)
    return differences


def unit_weight(voters, m, output):
    return 1.0


def distance_weight(voters, m, output):
    distance = next(voter[0] for voter in voters if voter[2] == m)
    return (voters[0][0] / distance) ** 2


def three_nearest_weight(voters, m, output):
    return float(m in [voter[2] for voter in voters[:3]])


@pytest.mark.parametrize(
    ("voting", "n_neighbors", "vote_weight"),
    [
        ("majority", None, unit_weight),
        ("local", None, distance_weight),
        ("local", 3, three_nearest_weight),
    ],
)
def test_votes_agree_with_loop_over_members(voting, n_neighbors, vote_weight):
    model = PrototypeSVM(C=10.0, voting=voting, n_neighbors=n_neighbors, random_state=0)
    differences = vote_differences_by_loops(model.fit(X, LABELS), vote_weight)
    np.testing.assert_allclose(model.decision_function(X_NEW), differences, atol=1e-8)


def test_sigmoids_are_fitted_on_validation_points():
    model = PrototypeSVM(C=10.0, voting="probability", random_state=0).fit(X, LABELS)
    validation = np.setdiff1d(np.arange(100), model.history_[0].exemplar_indices)
    sigmoids = [
        fit_sigmoid(
            X[validation] @ member.coef + member.intercept, LABELS[validation] == member.label
        )
        for member in model.members_
    ]
    differences = vote_differences_by_loops(
        model, lambda _, m, output: sigmoids[m].probability(output)
    )
    np.testing.assert_allclose(model.decision_function(X_NEW), differences, atol=1e-6)


def test_most_frequent_class_is_predicted_without_votes():
    points, y = np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]), [0, 0, 1, 1, 1]
    model = ExemplarSVM(C=1e-9, positive_weight=1.0, voting="majority")
    with pytest.warns(ConvergenceWarning, match="any training point as positive") as caught:
        model.fit(points, y)
    assert model.predict([[0.0], [100.0]]).tolist() == [1, 1]
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:no member classifies")
@pytest.mark.parametrize("positive_weight", [1.0, "balanced"])
@pytest.mark.parametrize("C", [0.01, 0.3, 100.0])
def test_mined_members_equal_svms_against_all_other_points(C, positive_weight):
    # The classes are unbalanced, so that their weights differ. The members of the two distant
    # points need no further negatives after the first round.
    rows = np.concatenate([np.flatnonzero(Y == 0)[:20], np.flatnonzero(Y == 1)])
    order = np.random.default_rng(0).permutation(72)
    all_points = np.vstack([[[0.0, 60.0], [-60.0, 0.0]], X[rows]])[order]
    all_labels = np.concatenate([[0, 1], Y[rows]])[order]
    model = ExemplarSVM(C=C, positive_weight=positive_weight, voting="majority", n_negatives=3).fit(
        all_points, all_labels
    )
    assert model.n_rounds_ > 0
    for i in range(0, 70, 5):
        others = np.flatnonzero(all_labels[i] != all_labels)
        points, y = all_points[[i, *others]], np.array([1.0, *(-1.0,) * len(others)])
        factor = len(others) if positive_weight == "balanced" else 1.0
        exact = solve_active_set(points @ points.T, y, np.where(y > 0, C * factor, C), tol=1e-12)
        w = points.T @ (y * exact.alpha)
        atol = 1e-5 * max(1.0, np.abs(w).max())
        np.testing.assert_allclose(model.members_[i].coef, w, atol=atol)
    model.set_params(mining=False).fit(X, Y)
    assert max(len(member.negatives) for member in model.members_) <= 3


def test_l1_penalty_gives_sparse_coefficients():
    rng = np.random.default_rng(0)
    X_wide = np.hstack([X, 0.1 * rng.standard_normal((100, 6))])
    model = PrototypeSVM(C=10.0, penalty="l1", random_state=0).fit(X_wide, Y)
    is_used = np.abs(model.coef_) > 1e-9
    assert is_used[:, 2:].mean() < 0.2 < is_used[:, :2].mean()
    dense = PrototypeSVM(C=10.0, random_state=0).fit(X_wide, Y)
    assert (np.abs(dense.coef_) > 1e-9).mean() > 0.95


def test_large_duality_gap_warns(monkeypatch):
    monkeypatch.setattr("svmbook.prototypes.gap_check.GAP_TOL", 1e-300)
    with pytest.warns(ConvergenceWarning, match="the duality gap of a linear SVM") as caught:
        ExemplarSVM(C=10.0).fit(X, Y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("model", [ExemplarSVM(), PrototypeSVM()])
def test_same_seed_gives_same_model(model):
    model.set_params(C=5.0, random_state=3)
    first = model.fit(X, Y).decision_function(X_NEW)
    np.testing.assert_array_equal(model.fit(X, Y).decision_function(X_NEW), first)
    assert (model.set_params(random_state=4).fit(X, Y).decision_function(X_NEW) != first).any()


def test_set_params_does_not_change_votes_of_fitted_model():
    model = PrototypeSVM(C=10.0, random_state=0).fit(X, Y)
    outputs = model.decision_function(X_NEW)
    model.set_params(voting="probability", n_neighbors=1, metric="manhattan")
    np.testing.assert_array_equal(model.decision_function(X_NEW), outputs)


def test_mining_doubles_the_number_of_added_negatives():
    # At this C all sixteen points of the other class violate the margin, so each round adds the
    # maximum number of negatives. The total number doubles until all sixteen are used.
    points = np.random.default_rng(0).normal(size=(32, 2))
    points += np.repeat([[0, 0], [9, 0]], 16, axis=0)
    for n_negatives, n_rounds in ((1, 4), (3, 3), (4, 2), (15, 1), (16, 0)):
        for mining in (True, False):
            model = ExemplarSVM(C=1e-4, voting="majority", n_negatives=n_negatives, mining=mining)
            model.fit(points, np.repeat([0, 1], 16))
            assert model.n_rounds_ == (n_rounds if mining else 0)
            sizes = {len(member.negatives) for member in model.members_}
            assert sizes == {16 if mining else n_negatives}


def test_majority_votes_of_three_classes_count_covering_members():
    points = np.array([[0.0, 0.0], [0.2, 0.1], [5.0, 0.0], [5.2, 0.1], [0.0, 5.0], [0.1, 5.2]])
    model = ExemplarSVM(C=10.0, positive_weight=1.0, voting="majority", mining=False)
    votes = model.fit(points, list("aabbcc")).decision_function([[0.1, 0.0]])
    covers = [member.coef @ [0.1, 0.0] + member.intercept > 0 for member in model.members_]
    expected = [sum(covers[:2]), sum(covers[2:4]), sum(covers[4:])]
    np.testing.assert_allclose(votes[0], expected, atol=1e-8)


@pytest.mark.parametrize("voting", ["majority", "local", "probability"])
def test_prediction_uses_blocks_of_bounded_size(voting, monkeypatch):
    model = PrototypeSVM(voting=voting, random_state=0).fit(X, LABELS)
    expected, numbers_of_outputs = model.decision_function(X_NEW), []
    votes_of_block = type(model._ensemble_)._votes_of_block

    def recording_votes(ensemble, block):
        numbers_of_outputs.append(len(block) * len(ensemble.coef))
        return votes_of_block(ensemble, block)

    monkeypatch.setattr(type(model._ensemble_), "_votes_of_block", recording_votes)
    monkeypatch.setattr("svmbook.prototypes.ensemble.MAX_BLOCK_OUTPUTS", 500)
    np.testing.assert_allclose(model.decision_function(X_NEW), expected, atol=1e-9)
    n_members = len(model.members_)
    assert len(numbers_of_outputs) > 1
    assert sum(numbers_of_outputs) == len(X_NEW) * n_members
    assert max(numbers_of_outputs) <= max(500, n_members)
