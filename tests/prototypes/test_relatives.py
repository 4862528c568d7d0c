"""Machines local by similarity, against one machine at a time."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from svmbook import DualSVC, LocalizedSVM, ProfileSVM
from svmbook.datasets import xor
from svmbook.prototypes.profile import _shares

X, Y = make_moons(90, noise=0.2, random_state=0)
NEW, Y_NEW = make_moons(60, noise=0.2, random_state=1)


@pytest.mark.parametrize("n_neighbors", [None, 40])
def test_each_point_has_a_machine_with_weights(n_neighbors):
    machine = LocalizedSVM(C=5.0, gamma=2.0, n_neighbors=n_neighbors).fit(X, Y)
    signs = np.sign(machine.decision_function(NEW))
    for x, sign in zip(NEW[:12], signs, strict=False):
        similar = np.exp(-2.0 * ((X - x) ** 2).sum(axis=1))
        near = np.argsort(-similar)[:n_neighbors]
        if len(set(Y[near])) == 1:
            assert sign == 2 * Y[near[0]] - 1
            continue
        alone = DualSVC(C=5.0).fit(X[near], Y[near], sample_weight=similar[near])
        assert sign == np.sign(alone.decision_function([x])[0])


def test_a_portion_of_points_knows_nothing_of_the_others(monkeypatch):
    machine = LocalizedSVM(C=5.0, gamma=2.0).fit(X, Y)
    whole = machine.decision_function(NEW)
    monkeypatch.setattr("svmbook.base.BLOCK_NUMBERS", 1000)
    np.testing.assert_allclose(machine.decision_function(NEW), whole, atol=1e-8)


@pytest.mark.parametrize("order", ["as it is", "reversed", "shuffled"])
def test_points_as_near_as_the_last_neighbour_all_take_part(order):
    # Two places, at each of which the labels of sixty rows differ from those of 140.
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 200, axis=0)
    y = np.r_[np.repeat([0, 1], [60, 140]), np.repeat([0, 1], [140, 60])]
    rows = np.arange(400)
    rows = {"as it is": rows, "reversed": rows[::-1], "shuffled": rows * 37 % 400}[order]
    machine = LocalizedSVM(n_neighbors=50).fit(X[rows], y[rows])
    assert machine.predict([[0, 0], [1, 1]]).tolist() == [1, 0]


def test_local_machines_bend_where_a_line_cannot():
    straight = DualSVC(C=5.0).fit(X, Y).score(NEW, Y_NEW)
    assert LocalizedSVM(C=5.0, gamma=2.0).fit(X, Y).score(NEW, Y_NEW) > straight + 0.03
    clusters = ProfileSVM(C=5.0, gamma=2.0, n_clusters=4, random_state=0).fit(X, Y)
    assert clusters.score(NEW, Y_NEW) > straight + 0.03
    square, labels = xor()
    assert LocalizedSVM(C=100.0, gamma=1.0).fit(square, labels).score(square, labels) == 1.0


def test_no_balance_is_plain_k_means():
    machine = ProfileSVM(n_clusters=5, balance=0.0, profiles=False, random_state=0).fit(X, Y)
    theirs = KMeans(5, init=machine.cluster_centers_, n_init=1, max_iter=1).fit(X)
    np.testing.assert_allclose(theirs.cluster_centers_, machine.cluster_centers_, atol=1e-9)
    np.testing.assert_array_equal(theirs.labels_, machine.labels_)


def test_shares_are_the_best_for_given_centres():
    rng = np.random.default_rng(0)
    squared, codes = rng.random((12, 3)), rng.integers(0, 2, 12)

    def objective(Z, R):
        excess = sum(abs(Z[codes == 0, j].sum() - Z[codes == 1, j].sum()) for j in range(3))
        return (Z * squared).sum() + R * excess  # for two classes |n_0 - n_1| is the paper's term

    for R in (0.05, 1.0):
        Z = _shares(squared, codes, 2, R)
        np.testing.assert_allclose(Z.sum(axis=1), 1.0, atol=1e-9)
        assert Z.min() > -1e-9
        for _ in range(300):
            other = rng.dirichlet(np.full(3, 0.2), 12)
            assert objective(Z, R) <= objective(other, R) + 1e-9
            step = 0.9 * Z + 0.1 * other
            assert objective(Z, R) <= objective(step, R) + 1e-9


def test_balance_mixes_the_classes_of_the_clusters():
    def imbalance(machine):
        counts = [np.bincount(Y[machine.labels_ == j], minlength=2) for j in range(4)]
        return sum(abs(a - b) for a, b in counts)

    plain = ProfileSVM(n_clusters=4, balance=0.0, gamma=2.0, random_state=0).fit(X, Y)
    mixed = ProfileSVM(n_clusters=4, balance=5.0, gamma=2.0, random_state=0).fit(X, Y)
    assert imbalance(mixed) < 0.5 * imbalance(plain)


def test_a_cluster_of_one_class_answers_with_it():
    points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    machine = ProfileSVM(n_clusters=2, balance=0.0, profiles=False, random_state=0)
    assert machine.fit(points, [0, 0, 0, 1, 1, 2]).predict([[0.05], [5.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("machine", [LocalizedSVM(C=10.0), ProfileSVM(C=10.0, n_clusters=3)])
def test_three_classes_are_told_apart(machine):
    flowers, names = load_iris(return_X_y=True)
    machine.fit(flowers[::2], names[::2])
    assert machine.score(flowers[1::2], names[1::2]) > 0.85
    assert machine.decision_function(flowers).shape == (150, 3)


def test_more_clusters_than_points_are_refused():
    with pytest.raises(ValueError, match="n_clusters=8 is more than there are points"):
        ProfileSVM().fit([[0.0], [1.0]], [0, 1])


def test_two_classes_have_the_output_of_their_machine():
    machine = LocalizedSVM(C=5.0, gamma=2.0, n_neighbors=40).fit(X, Y)
    outputs = machine.decision_function(NEW[:8])
    for x, output in zip(NEW[:8], outputs, strict=True):
        near = np.argsort(((X - x) ** 2).sum(axis=1))[:40]
        if len(set(Y[near])) == 2:
            weights = np.exp(-2.0 * ((X[near] - x) ** 2).sum(axis=1))
            alone = DualSVC(C=5.0).fit(X[near], Y[near], sample_weight=weights)
            assert output == pytest.approx(alone.decision_function([x])[0], abs=1e-3)


def test_far_from_all_points_the_nearest_answers():
    machine = LocalizedSVM(gamma=1.0).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert machine.predict([[-100.0], [100.0], [0.9]]).tolist() == ["a", "c", "b"]


def test_many_neighbours_with_vanishing_prices_are_solved():
    wide, labels = make_moons(200, noise=0.2, random_state=0)
    machine = LocalizedSVM(C=10.0, gamma=30.0, n_neighbors=150).fit(wide, labels)
    few = LocalizedSVM(C=10.0, gamma=30.0, n_neighbors=60).fit(wide, labels)
    assert (machine.predict(NEW) == few.predict(NEW)).mean() > 0.97


def test_rounds_of_the_clustering_that_run_out_are_admitted():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 rounds") as caught:
        ProfileSVM(n_clusters=4, max_iter=1, random_state=0).fit(X, Y)
    assert caught[0].filename == __file__


def test_a_failed_fit_leaves_nothing_of_an_earlier_one():
    for machine in (LocalizedSVM(), ProfileSVM(n_clusters=3)):
        machine.fit(X, Y)
        with pytest.raises(ValueError, match="class"):
            machine.fit(X, np.zeros(90))
        assert [name for name in vars(machine) if name.endswith("_")] == ["n_features_in_"]


@pytest.mark.parametrize("ask", ["fit", "decision_function"])
def test_a_wide_gap_is_admitted_where_it_was_asked_for(ask, monkeypatch):
    monkeypatch.setattr("svmbook.prototypes.voting.WIDE_GAP", -1.0)
    with pytest.warns(ConvergenceWarning, match="the duality gap of a member") as caught:
        if ask == "fit":
            ProfileSVM(n_clusters=3, random_state=0).fit(X, Y)
        else:
            LocalizedSVM(gamma=2.0).fit(X, Y).decision_function(NEW)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("machine", "change"),
    [
        (LocalizedSVM(), {"C": 100.0, "n_neighbors": 5, "gamma": 9.0}),
        (ProfileSVM(n_clusters=3, random_state=0), {"profiles": False, "gamma": 9.0}),
    ],
)
def test_a_fitted_machine_stays_what_it_is(machine, change):
    before = machine.fit(X, Y).decision_function(NEW)
    np.testing.assert_array_equal(machine.set_params(**change).decision_function(NEW), before)


def test_where_all_prices_vanish_the_nearest_answers():
    machine = LocalizedSVM(gamma=1.0).fit([[0.0], [0.05]], ["a", "b"])
    assert machine.decision_function([[28.0], [40.0]]).tolist() == [1.0, 1.0]


def test_what_is_left_out_for_its_small_price_does_not_matter():
    machine = LocalizedSVM(C=5.0, gamma=2.0, n_neighbors=None).fit(X, Y)
    for x, output in zip(NEW[:8], machine.decision_function(NEW[:8]), strict=True):
        weights = np.exp(-2.0 * ((X - x) ** 2).sum(axis=1))
        whole = DualSVC(C=5.0, tol=1e-9).fit(X, Y, sample_weight=weights)
        assert output == pytest.approx(whole.decision_function([x])[0], abs=1e-7)


def test_points_of_less_than_1e_10_of_the_largest_similarity_are_left_out():
    for share, counts in ((1.1e-10, True), (0.9e-10, False)):
        near, far = -1.0, np.sqrt(1.0 - np.log(share))  # similarities to 0: 1/e and share/e
        machine = LocalizedSVM(C=1e11, gamma=1.0).fit([[near], [far]], [0, 1])
        between = -(near + far) / (far - near)  # at 0: the output is -1 and +1 at the two points
        output = machine.decision_function([[0.0]])[0]
        assert output == pytest.approx(between if counts else -1.0, abs=1e-6)


def test_equal_points_and_small_units_are_clustered():
    machine = ProfileSVM(n_clusters=1, profiles=False, random_state=0)
    machine.fit(np.full((7, 2), 0.1), [0] + [1] * 6)
    rng = np.random.default_rng(0)
    squared, codes = rng.random((12, 3)), rng.integers(0, 2, 12)
    tiny = _shares(1e-9 * squared, codes, 2, 1e-9 * 0.3)
    np.testing.assert_allclose(tiny, _shares(squared, codes, 2, 0.3), atol=1e-6)


def test_pairs_are_won_and_how_clearly_is_a_third_of_a_vote_at_most():
    flowers, names = load_iris(return_X_y=True)
    F = LocalizedSVM(C=10.0).fit(flowers[::2], names[::2]).decision_function(flowers[1::2])
    off = F - np.round(F)
    assert np.abs(off).max() < 1 / 3
    assert (off != 0).any()
