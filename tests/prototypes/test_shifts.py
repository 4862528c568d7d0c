"""The algorithms of the thesis, against a literal reading of them with loops."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from svmbook import DualSVC, PrototypeSVM, SampledPrototypeSVM
from svmbook.prototypes.ensemble import validation_split
from svmbook.prototypes.negatives import distances, initial_negatives

X, Y = make_moons(120, noise=0.25, random_state=0)
NEW, Y_NEW = make_moons(80, noise=0.25, random_state=1)


def chosen_by_loops(X, codes, i, k):
    """Algorithm 2, line by line, with vectors."""
    others = [j for j in range(len(X)) if codes[j] != codes[i]]
    others.sort(key=lambda j: np.linalg.norm(X[j] - X[i]))
    n = X[others[0]] - X[i]
    n = n / np.linalg.norm(n)
    chosen = []
    for j in others:
        if n @ (X[j] - X[i]) > 0:
            chosen.append(j)
            if len(chosen) == k:
                break
    return sorted(chosen)


@pytest.mark.parametrize(("d", "k"), [(1, 3), (2, 7), (6, 4)])
def test_first_negatives_are_those_of_the_algorithm(d, k):
    rng = np.random.default_rng(d)
    points, codes = rng.standard_normal((60, d)), rng.integers(0, 3, 60)
    chosen = initial_negatives(distances(points, points), codes, k)
    for i in range(60):
        assert np.flatnonzero(chosen[i]).tolist() == chosen_by_loops(points, codes, i, k)


def test_a_point_on_the_plane_is_not_beyond_it():
    points = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    codes = np.random.default_rng(0).integers(0, 2, 36)
    chosen = initial_negatives(distances(points, points), codes, 100)
    for i in range(36):
        others = np.flatnonzero(codes != codes[i])
        far = ((points[others] - points[i]) ** 2).sum(axis=1)
        normal = points[others[far.argmin()]] - points[i]
        beyond = others[(points[others] - points[i]) @ normal > 0]  # whole numbers: exact
        assert np.flatnonzero(chosen[i]).tolist() == beyond.tolist()


def test_a_duplicate_does_not_take_an_exemplar_from_its_member():
    twice, labels = np.vstack([X[:60], X[:60]]), np.tile(Y[:60], 2)
    history = PrototypeSVM(C=1e6, p_negative=0.0, random_state=0).fit(twice, labels).history_
    assert all(len(round_.joined) == 0 for round_ in history)


def test_a_duplicate_with_another_label_is_passed_over_where_there_are_others():
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    chosen = initial_negatives(distances(points, points), np.array([0, 1, 1]), 7)
    assert np.flatnonzero(chosen[0]).tolist() == [2]
    assert np.flatnonzero(chosen[1]).tolist() == [0]


@pytest.mark.parametrize("voting", ["count", "local"])
def test_one_wrong_label_does_not_take_all_copies_of_a_point(voting):
    X, y = np.repeat([[0.0, 0.0], [1.0, 1.0]], 100, axis=0), np.repeat([0, 1], 100)
    told = y.copy()
    told[[0, 100]] = 1, 0
    machine = PrototypeSVM(voting=voting, p_negative=0.0, random_state=0).fit(X, told)
    assert machine.score(X, y) == 1.0


@pytest.mark.parametrize("metric", ["precomputed", "mahalanobis", lambda a, b: -1.0])
def test_a_metric_that_is_no_distance_of_two_points_is_refused(metric):
    with pytest.raises(ValueError, match="metric="):
        PrototypeSVM(metric=metric, random_state=0).fit(X, Y)


def test_another_metric_chooses_by_its_own_distances():
    points = np.array([[0.0, 0.0], [2.0, 2.0], [0.0, 3.0]])
    codes = np.array([0, 1, 1])
    for metric, nearest in (("euclidean", 1), ("manhattan", 2)):
        chosen = initial_negatives(distances(points, points, metric), codes, 1)
        assert np.flatnonzero(chosen[0]).tolist() == [nearest]


def shifted_by_loops(members, X, codes):
    """Algorithm 3, line by line, with the probability one of becoming a negative."""
    claims = [w @ x + b > 0 for w, b in zip(*members.planes[:2], strict=True) for x in X]
    claims = np.reshape(claims, (len(members.codes), len(X)))
    positives = [set(np.flatnonzero(row)) for row in members.positive]
    negatives = [set(np.flatnonzero(row)) for row in members.negative]
    for j, x in enumerate(X):
        candidates = []
        for m, code in enumerate(members.codes):
            if claims[m, j] and code == codes[j]:
                candidates.append((np.linalg.norm(x - X[members.exemplars[m]]), m))
            elif claims[m, j]:
                negatives[m].add(j)
        if candidates:
            positives[min(candidates)[1]].add(j)
    kept = np.flatnonzero(claims.any(axis=1))
    return kept, [positives[m] for m in kept], [negatives[m] for m in kept]


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_a_shift_is_that_of_the_algorithm(C):
    machine = PrototypeSVM(C=C, p_negative=1.0)
    between = distances(X, X)
    members, rng = machine._exemplars(X, Y, between), np.random.default_rng(0)
    for _ in range(3):
        after, moves = machine._iterate(members, X, Y, between, rng)
        kept, positives, negatives = shifted_by_loops(members, X, Y)
        np.testing.assert_array_equal(after.exemplars, members.exemplars[kept])
        assert [set(np.flatnonzero(row)) for row in after.positive] == positives
        assert [set(np.flatnonzero(row)) for row in after.negative] == negatives
        np.testing.assert_array_equal(
            np.sort(moves[2]), np.setdiff1d(members.exemplars, after.exemplars)
        )
        members = after


def test_members_are_trained_on_what_they_hold():
    machine = PrototypeSVM(C=3.0, random_state=0).fit(X, Y)
    assert machine.n_shifts_ > 0
    for member in machine.prototypes_:
        assert Y[member.exemplar] == member.label
        assert (Y[member.positives] == member.label).all()
        assert (Y[member.negatives] != member.label).all()
        assert member.exemplar in member.positives
    for round_, before in zip(machine.history_[1:], machine.history_, strict=False):
        assert set(round_.exemplars) | set(round_.dropped) == set(before.exemplars)


def test_members_minimise_with_positives_at_their_weight():
    for weight in (0.4, "balanced"):
        machine = PrototypeSVM(C=3.0, positive_weight=weight, p_negative=0.05, random_state=0)
        members = machine.fit(X, Y).prototypes_
        balanced = [len(member.negatives) / len(member.positives) for member in members]
        assert np.ptp(balanced) > 1
        for member, share in list(zip(members, balanced, strict=True))[::3]:
            points = np.concatenate([member.positives, member.negatives])
            y = np.repeat([1, -1], [len(member.positives), len(member.negatives)])
            factors = np.where(y > 0, share if weight == "balanced" else weight, 1.0)
            exact = DualSVC(C=3.0, tol=1e-10).fit(X[points], y, sample_weight=factors)
            np.testing.assert_allclose(member.coef, exact.coef_[0], atol=1e-5)


def test_the_moves_of_the_history_lead_to_the_prototypes():
    machine = PrototypeSVM(C=3.0, p_negative=0.05, random_state=0).fit(X, Y)
    rounds = machine.history_[1 : machine.n_shifts_ + 1]
    joined = np.vstack([r.joined for r in rounds])
    mined = np.vstack([r.mined for r in rounds])
    assert len(joined)
    assert len(mined)
    first = PrototypeSVM(C=3.0, n_shifts=0, random_state=0).fit(X, Y)
    begun = {m.exemplar: m for m in first.prototypes_}
    for member in machine.prototypes_:
        e = member.exemplar
        grown = set(begun[e].positives) | set(joined[joined[:, 0] == e, 1])
        assert set(member.positives) == grown
        grown = set(begun[e].negatives) | set(mined[mined[:, 0] == e, 1])
        assert set(member.negatives) == grown


def test_the_best_ensemble_is_kept_and_of_equal_ones_the_last():
    for seed in range(5):
        machine = PrototypeSVM(C=3.0, random_state=seed).fit(X, Y)
        accuracies = np.array([r.accuracy for r in machine.history_])
        assert machine.validation_score_ == accuracies.max()
        assert machine.n_shifts_ == np.flatnonzero(accuracies == accuracies.max())[-1]
        kept = machine.history_[machine.n_shifts_]
        np.testing.assert_array_equal(machine.coef_, kept.coef)


def test_fewer_shifts_are_the_first_of_more():
    more = PrototypeSVM(C=3.0, n_shifts=6, random_state=0).fit(X, Y)
    fewer = PrototypeSVM(C=3.0, n_shifts=2, random_state=0).fit(X, Y)
    assert len(fewer.history_) == 3
    for one, other in zip(fewer.history_, more.history_, strict=False):
        np.testing.assert_array_equal(one.coef, other.coef)


@pytest.mark.parametrize(("C", "p"), [(1e6, 0.05), (3.0, 0.05), (3.0, 0.0)])
def test_an_exemplar_claimed_by_its_own_member_joins_no_other(C, p):
    history = PrototypeSVM(C=C, p_negative=p, random_state=0).fit(X, Y).history_
    for round_, before in zip(history[1:], history, strict=False):
        own = before.coef @ X.T + before.intercept[:, None] > 0
        for _, point in round_.joined:
            assert not own[before.exemplars == point, point].any()


def test_without_rejected_exemplars_no_positive_set_grows():
    dear = PrototypeSVM(C=1e6, p_negative=0.0, random_state=0).fit(X, Y)
    assert all(len(r.joined) == len(r.dropped) == 0 for r in dear.history_)
    cheap = PrototypeSVM(C=3.0, p_negative=0.0, random_state=0).fit(X, Y)
    assert any(len(r.joined) > 0 for r in cheap.history_)


def test_where_all_members_would_be_dropped_the_last_ensemble_stays():
    points, labels = make_blobs([40, 80], centers=[[0, 0], [9, 9]], random_state=0)
    with pytest.warns(ConvergenceWarning, match="no member claims any training point") as caught:
        machine = PrototypeSVM(C=1e-6, random_state=0).fit(points, labels)
    assert caught[0].filename == __file__
    assert len(machine.prototypes_) == 90
    assert len(machine.history_) == 1
    assert (machine.predict(points) == 1).all()


@pytest.mark.parametrize("share", [0.1, 0.25, 0.9])
def test_no_class_is_held_out_to_its_last_point(share):
    codes = np.repeat([0, 1, 2], [1, 2, 40])
    for seed in range(20):
        kept, out = validation_split(codes, share, np.random.default_rng(seed))
        assert sorted([*kept, *out]) == list(range(43))
        assert set(codes[kept]) == {0, 1, 2}
        assert len(out) >= 1


def test_a_class_of_one_point_has_its_member():
    points, labels = make_blobs([30, 30], random_state=0)
    points, labels = np.vstack([points, [[50.0, 50.0]]]), np.append(labels, 2)
    machine = PrototypeSVM(C=10.0, random_state=0).fit(points, labels)
    assert machine.predict([[50.0, 50.0]]) == [2]


def test_a_point_a_class_cannot_be_validated():
    with pytest.raises(ValueError, match=r"validation_fraction=0\.25 holds no point out"):
        PrototypeSVM().fit([[0.0], [1.0]], ["a", "b"])


def test_samples_grow_where_the_ensemble_errs():
    machine = SampledPrototypeSVM(C=1.0, n_samplings=3, random_state=0).fit(X, Y)
    first, *later = machine.samples_
    assert len(first) == 60
    assert np.bincount(Y[first]).tolist() == [30, 30]
    for sample, before in zip(later, machine.samples_, strict=False):
        assert set(before) < set(sample)
        assert len(sample) - len(before) <= 30
    alone = SampledPrototypeSVM(C=1.0, n_samplings=1, random_state=0).fit(X, Y)
    added = np.setdiff1d(later[0], first)
    assert (alone.predict(X[added]) != Y[added]).all()


def test_a_sample_of_all_points_is_the_whole_machine():
    whole = SampledPrototypeSVM(C=3.0, first_share=1.0, n_samplings=1, random_state=0)
    plain = PrototypeSVM(C=3.0, random_state=0).fit(X, Y)
    # The draws differ, and so the points held out; what is held is of the same kind.
    assert abs(whole.fit(X, Y).score(NEW, Y_NEW) - plain.score(NEW, Y_NEW)) < 0.15
    assert whole.samples_[0].tolist() == list(range(120))
