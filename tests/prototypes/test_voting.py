"""How members vote, counted one by one; and exemplars against all points of other classes."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from svmbook import ExemplarSVM, PrototypeSVM
from svmbook.calibration import fit_sigmoid
from svmbook.solvers import solve_active_set

X, Y = make_moons(100, noise=0.25, random_state=0)
NAMES = np.array(["left", "right"])[Y]
NEW, _ = make_moons(40, noise=0.25, random_state=1)


def votes_by_loops(machine, weight):
    """Return the votes for the second class minus those for the first."""
    votes = np.zeros(len(NEW))
    for i, x in enumerate(NEW):
        claimants = []
        for m, member in enumerate(machine.prototypes_):
            output = member.coef @ x + member.intercept
            if output > 0:
                rho = np.linalg.norm(x - machine.exemplars_[m])
                claimants.append((rho, 1 if member.label == "right" else -1, m, output))
        claimants.sort()
        votes[i] = sum(side * weight(claimants, *rest) for _, side, *rest in claimants)
    return votes


def one(claimants, m, output):
    return 1.0


def by_distance(claimants, m, output):
    rho = next(c[0] for c in claimants if c[2] == m)
    return (claimants[0][0] / rho) ** 2


def three_nearest(claimants, m, output):
    return float(m in [c[2] for c in claimants[:3]])


@pytest.mark.parametrize(
    ("voting", "n_neighbors", "weight"),
    [("count", None, one), ("local", None, by_distance), ("local", 3, three_nearest)],
)
def test_votes_are_those_of_the_claimants(voting, n_neighbors, weight):
    machine = PrototypeSVM(C=10.0, voting=voting, n_neighbors=n_neighbors, random_state=0).fit(
        X, NAMES
    )
    votes = votes_by_loops(machine, weight)
    np.testing.assert_allclose(machine.decision_function(NEW), votes, atol=1e-8)


def test_probabilities_come_from_points_held_out():
    machine = PrototypeSVM(C=10.0, voting="probability", random_state=0).fit(X, NAMES)
    trained = machine.history_[0].exemplars
    out = np.setdiff1d(np.arange(100), trained)
    sigmoids = [
        fit_sigmoid(X[out] @ m.coef + m.intercept, NAMES[out] == m.label)
        for m in machine.prototypes_
    ]
    votes = votes_by_loops(machine, lambda _, m, output: sigmoids[m].probability(output))
    np.testing.assert_allclose(machine.decision_function(NEW), votes, atol=1e-6)


def test_equal_votes_go_to_the_more_frequent_class():
    X = np.array([[0.0], [1.0], [5.0], [6.0], [7.0]])
    machine = ExemplarSVM(C=1e-9, positive_weight=1.0, voting="count")
    with pytest.warns(ConvergenceWarning, match="no member claims any training point"):
        machine.fit(X, [0, 0, 1, 1, 1])
    assert machine.predict([[0.0], [100.0]]).tolist() == [1, 1]  # nobody claims anything


@pytest.mark.filterwarnings("ignore:no member claims")
@pytest.mark.parametrize("weight", [1.0, "balanced"])
@pytest.mark.parametrize("C", [0.01, 0.3, 100.0])
def test_mined_members_are_those_against_all_other_points(C, weight):
    # More of one class than of the other, so that the weights of the two differ; and far points,
    # whose members are done after the first round.
    rows = np.concatenate([np.flatnonzero(Y == 0)[:20], np.flatnonzero(Y == 1)])
    mixed = np.random.default_rng(0).permutation(72)
    D = np.vstack([[[0.0, 60.0], [-60.0, 0.0]], X[rows]])[mixed]
    d = np.concatenate([[0, 1], Y[rows]])[mixed]
    machine = ExemplarSVM(C=C, positive_weight=weight, voting="count", n_negatives=3).fit(D, d)
    assert machine.n_rounds_ > 0
    for i in range(0, 70, 5):
        others = np.flatnonzero(d[i] != d)
        points, y = D[[i, *others]], np.array([1.0, *(-1.0,) * len(others)])
        member = machine.prototypes_[i]
        factor = len(others) if weight == "balanced" else 1.0
        prices = np.where(y > 0, C * factor, C)
        exact = solve_active_set(points @ points.T, y, prices, tol=1e-12)
        w = points.T @ (y * exact.alpha)
        np.testing.assert_allclose(member.coef, w, atol=1e-5 * max(1.0, np.abs(w).max()))
    few = ExemplarSVM(C=C, positive_weight=weight, voting="count", mining=False, n_negatives=3)
    assert max(len(m.negatives) for m in few.fit(X, Y).prototypes_) <= 3


def test_the_one_norm_leaves_out_features():
    rng = np.random.default_rng(0)
    wide = np.hstack([X, 0.1 * rng.standard_normal((100, 6))])
    machine = PrototypeSVM(C=10.0, penalty="l1", random_state=0).fit(wide, Y)
    used = np.abs(machine.coef_) > 1e-9
    assert used[:, 2:].mean() < 0.2 < used[:, :2].mean()
    dense = PrototypeSVM(C=10.0, random_state=0).fit(wide, Y)
    assert (np.abs(dense.coef_) > 1e-9).mean() > 0.95


def test_a_wide_gap_is_a_warning(monkeypatch):
    monkeypatch.setattr("svmbook.prototypes.voting.WIDE_GAP", 1e-300)
    with pytest.warns(ConvergenceWarning, match="the duality gap of a member") as caught:
        ExemplarSVM(C=10.0).fit(X, Y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("machine", [ExemplarSVM(), PrototypeSVM()])
def test_a_machine_is_the_same_for_the_same_seed(machine):
    machine.set_params(C=5.0, random_state=3)
    once = machine.fit(X, Y).decision_function(NEW)
    np.testing.assert_array_equal(machine.fit(X, Y).decision_function(NEW), once)
    assert (machine.set_params(random_state=4).fit(X, Y).decision_function(NEW) != once).any()


def test_members_vote_as_they_were_fitted():
    machine = PrototypeSVM(C=10.0, random_state=0).fit(X, Y)
    before = machine.decision_function(NEW)
    machine.set_params(voting="probability", n_neighbors=1, metric="manhattan")
    np.testing.assert_array_equal(machine.decision_function(NEW), before)


def test_a_round_of_mining_looks_at_twice_as_many_as_the_last():
    few = ExemplarSVM(C=100.0, voting="count", n_negatives=1).fit(X, Y)
    most = max(len(member.negatives) for member in few.prototypes_)
    assert most <= 2**few.n_rounds_ + few.n_rounds_  # 1 + 1 + 2 + 4 and so on
    assert few.n_rounds_ < 8  # fifty negatives, one by one, would take many more


def test_rounds_of_mining_are_counted_and_the_first_adds_n_negatives():
    # At this C all sixteen points of the other class have slack, so each round adds as many
    # negatives as it may: the number of negatives doubles until all sixteen are used.
    far = np.random.default_rng(0).normal(size=(32, 2)) + np.repeat([[0, 0], [9, 0]], 16, axis=0)
    for n_negatives, rounds in ((1, 4), (3, 3), (4, 2), (15, 1), (16, 0)):
        for mining in (True, False):
            machine = ExemplarSVM(C=1e-4, voting="count", n_negatives=n_negatives, mining=mining)
            machine.fit(far, np.repeat([0, 1], 16))
            assert machine.n_rounds_ == (rounds if mining else 0)
            sizes = {len(member.negatives) for member in machine.prototypes_}
            assert sizes == {16 if mining else n_negatives}


def test_three_classes_are_counted():
    points = np.array([[0.0, 0.0], [0.2, 0.1], [5.0, 0.0], [5.2, 0.1], [0.0, 5.0], [0.1, 5.2]])
    machine = ExemplarSVM(C=10.0, positive_weight=1.0, voting="count", mining=False)
    votes = machine.fit(points, list("aabbcc")).decision_function([[0.1, 0.0]])
    claims = [m.coef @ [0.1, 0.0] + m.intercept > 0 for m in machine.prototypes_]
    counted = [sum(claims[:2]), sum(claims[2:4]), sum(claims[4:])]
    np.testing.assert_allclose(votes[0], counted, atol=1e-8)


def test_a_metric_without_numbers_is_named():
    with pytest.raises(ValueError, match="distances that are negative or not finite"):
        PrototypeSVM(metric=lambda a, b: np.nan).fit(X, Y)


def test_an_ensemble_that_claims_nothing_says_so():
    with pytest.warns(ConvergenceWarning, match="no member claims any training point") as caught:
        machine = ExemplarSVM(C=0.01, positive_weight=1.0, random_state=0).fit(X, Y)
    assert len(set(machine.predict(X))) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("voting", ["count", "local", "probability"])
def test_points_are_answered_in_portions_of_a_bounded_size(voting, monkeypatch):
    machine = PrototypeSVM(voting=voting, random_state=0).fit(X, NAMES)
    whole, sizes = machine.decision_function(NEW), []
    votes = type(machine._committee_)._votes

    def counted(ensemble, part):
        sizes.append(len(part) * len(ensemble.coef))
        return votes(ensemble, part)

    monkeypatch.setattr(type(machine._committee_), "_votes", counted)
    monkeypatch.setattr("svmbook.prototypes.ensemble.BLOCK_OUTPUTS", 500)
    np.testing.assert_allclose(machine.decision_function(NEW), whole, atol=1e-9)
    members = len(machine.prototypes_)
    assert len(sizes) > 1 and sum(sizes) == len(NEW) * members
    assert max(sizes) <= max(500, members)
