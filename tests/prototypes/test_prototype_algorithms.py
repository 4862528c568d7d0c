"""Prototype SVMs: the algorithms of Shen (2013), against a direct implementation with loops."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from svmbook import DualSVC, PrototypeSVM, SampledPrototypeSVM
from svmbook.prototypes.ensemble import validation_split
from svmbook.prototypes.negatives import (
    duplicate_distance,
    initial_negatives,
    smallest_per_row_mask,
)

X, Y = make_moons(120, noise=0.25, random_state=0)
X_NEW, Y_NEW = make_moons(80, noise=0.25, random_state=1)


def negatives_by_loops(X, codes, i, k):
    """Return the k initial negatives of point i: Algorithm 2, line by line, from the points."""
    others = [j for j in range(len(X)) if codes[j] != codes[i]]
    others.sort(key=lambda j: np.linalg.norm(X[j] - X[i]))
    normal = X[others[0]] - X[i]
    normal = normal / np.linalg.norm(normal)
    chosen = []
    for j in others:
        if normal @ (X[j] - X[i]) > 0:
            chosen.append(j)
            if len(chosen) == k:
                break
    return sorted(chosen)


@pytest.mark.parametrize(("d", "k"), [(1, 3), (2, 7), (6, 4)])
def test_initial_negatives_are_those_of_algorithm_2(d, k):
    rng = np.random.default_rng(d)
    points, codes = rng.standard_normal((60, d)), rng.integers(0, 3, 60)
    negatives = initial_negatives(points, codes, k).toarray()
    for i in range(60):
        assert np.flatnonzero(negatives[i]).tolist() == negatives_by_loops(points, codes, i, k)


def test_points_on_the_hyperplane_of_algorithm_2_are_excluded():
    points = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    codes = np.random.default_rng(0).integers(0, 2, 36)
    negatives = initial_negatives(points, codes, 100).toarray()
    for i in range(36):
        others = np.flatnonzero(codes != codes[i])
        squared_distances = ((points[others] - points[i]) ** 2).sum(axis=1)
        normal = points[others[squared_distances.argmin()]] - points[i]
        expected = others[(points[others] - points[i]) @ normal > 0]  # integers, so exact
        assert np.flatnonzero(negatives[i]).tolist() == expected.tolist()


def test_smallest_values_are_those_of_a_stable_sort():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, (50, 12)).astype(float)
    values[values == 5] = np.inf
    for k in (1, 4, 12, 20):
        expected = np.zeros(values.shape, dtype=bool)
        np.put_along_axis(expected, values.argsort(axis=1, kind="stable")[:, :k], True, axis=1)
        np.testing.assert_array_equal(smallest_per_row_mask(values, k), expected)


def test_duplicate_distance_is_proportional_to_the_median_distance():
    points = np.random.default_rng(0).standard_normal(1500)
    for n, rtol in ((1000, 1e-12), (1500, 0.05)):  # of 1,500 points every second is used
        median = np.median(np.abs(points[:n, None] - points[:n]))
        assert duplicate_distance(points[:n, None]) == pytest.approx(1e-10 * median, rel=rtol)
    assert duplicate_distance(np.zeros((9, 2))) > 0


def test_exemplar_with_duplicate_is_added_to_no_other_member():
    points, labels = np.vstack([X[:60], X[:60]]), np.tile(Y[:60], 2)
    history = PrototypeSVM(C=1e6, p_negative=0.0, random_state=0).fit(points, labels).history_
    assert all(len(iteration.new_positives) == 0 for iteration in history)


def test_duplicate_with_another_label_is_skipped_if_there_are_other_points():
    points = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    negatives = initial_negatives(points, np.array([0, 1, 1]), 7).toarray()
    assert np.flatnonzero(negatives[0]).tolist() == [2]
    assert np.flatnonzero(negatives[1]).tolist() == [0]


@pytest.mark.parametrize("voting", ["majority", "local"])
def test_one_wrong_label_does_not_change_prediction_at_its_duplicates(voting):
    X, y = np.repeat([[0.0, 0.0], [1.0, 1.0]], 100, axis=0), np.repeat([0, 1], 100)
    noisy_labels = y.copy()
    noisy_labels[[0, 100]] = 1, 0
    model = PrototypeSVM(voting=voting, p_negative=0.0, random_state=0).fit(X, noisy_labels)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("precomputed", "cannot be computed from two points alone"),
        ("mahalanobis", "cannot be computed from two points alone"),
        (lambda a, b: -1.0, "distances that are negative or not finite"),
        (lambda a, b: np.nan, "distances that are negative or not finite"),
    ],
)
def test_invalid_metrics_are_refused(metric, message):
    with pytest.raises(ValueError, match=message):
        PrototypeSVM(metric=metric, random_state=0).fit(X, Y)


def test_initial_negatives_use_the_given_metric():
    points = np.array([[0.0, 0.0], [2.0, 2.0], [0.0, 3.0]])
    codes = np.array([0, 1, 1])
    for metric, nearest in (("euclidean", 1), ("manhattan", 2)):
        negatives = initial_negatives(points, codes, 1, metric).toarray()
        assert np.flatnonzero(negatives[0]).tolist() == [nearest]


def shift_by_loops(members, X, codes, is_drawn):
    """Return the remaining members and their sets: Algorithm 3, line by line.

    ``is_drawn`` has an entry per member and point: whether a false positive becomes a negative.
    """
    covers = [w @ x + b > 0 for w, b in zip(*members.planes[:2], strict=True) for x in X]
    covers = np.reshape(covers, (len(members.codes), len(X)))
    positives, negatives = sets_of_points(members.positive), sets_of_points(members.negative)
    for j, x in enumerate(X):
        candidates = []
        for m, code in enumerate(members.codes):
            if covers[m, j] and code == codes[j]:
                candidates.append((np.linalg.norm(x - X[members.exemplar_indices[m]]), m))
            elif covers[m, j] and is_drawn[m, j]:
                negatives[m].add(j)
        if candidates:
            positives[min(candidates)[1]].add(j)
    rows = np.flatnonzero(covers.any(axis=1))
    return rows, [positives[m] for m in rows], [negatives[m] for m in rows]


def sets_of_points(masks):
    return [set(np.flatnonzero(row)) for row in masks.toarray()]


@pytest.mark.parametrize("max_block_outputs", [1, 500, 10**6])
@pytest.mark.parametrize(("C", "p_negative"), [(1.0, 1.0), (30.0, 1.0), (1.0, 0.3)])
def test_shift_is_that_of_algorithm_3(C, p_negative, max_block_outputs, monkeypatch):
    monkeypatch.setattr("svmbook.prototypes.ensemble.MAX_BLOCK_OUTPUTS", max_block_outputs)
    model = PrototypeSVM(C=C, p_negative=p_negative)
    members = model._train_exemplars(X, Y)
    rng, same_rng = np.random.default_rng(0), np.random.default_rng(0)
    for _ in range(3):
        shifted_members, (_, _, removed) = model._shift(members, X, Y, rng)
        is_drawn = same_rng.random((len(members.codes), len(X))) < p_negative
        rows, positives, negatives = shift_by_loops(members, X, Y, is_drawn)
        np.testing.assert_array_equal(
            shifted_members.exemplar_indices, members.exemplar_indices[rows]
        )
        assert sets_of_points(shifted_members.positive) == positives
        assert sets_of_points(shifted_members.negative) == negatives
        np.testing.assert_array_equal(
            np.sort(removed),
            np.setdiff1d(members.exemplar_indices, shifted_members.exemplar_indices),
        )
        members = shifted_members


def test_positives_have_label_of_member_and_negatives_other_labels():
    model = PrototypeSVM(C=3.0, random_state=0).fit(X, Y)
    assert model.n_shifts_ > 0
    for member in model.members_:
        assert Y[member.exemplar] == member.label
        assert (Y[member.positives] == member.label).all()
        assert (Y[member.negatives] != member.label).all()
        assert member.exemplar in member.positives
    for iteration, previous in zip(model.history_[1:], model.history_, strict=False):
        assert set(iteration.exemplar_indices) | set(iteration.removed) == set(
            previous.exemplar_indices
        )


def test_members_minimise_objective_with_weighted_positives():
    for weight in (0.4, "balanced"):
        model = PrototypeSVM(C=3.0, positive_weight=weight, p_negative=0.05, random_state=0)
        members = model.fit(X, Y).members_
        ratios = [len(member.negatives) / len(member.positives) for member in members]
        assert np.ptp(ratios) > 1
        for member, ratio in list(zip(members, ratios, strict=True))[::3]:
            indices = np.concatenate([member.positives, member.negatives])
            y = np.repeat([1, -1], [len(member.positives), len(member.negatives)])
            sample_weight = np.where(y > 0, ratio if weight == "balanced" else weight, 1.0)
            exact = DualSVC(C=3.0, tol=1e-10).fit(X[indices], y, sample_weight=sample_weight)
            np.testing.assert_allclose(member.coef, exact.coef_[0], atol=1e-5)


def test_initial_sets_and_updates_give_the_final_sets_of_members():
    model = PrototypeSVM(C=3.0, p_negative=0.05, random_state=0).fit(X, Y)
    iterations = model.history_[1 : model.n_shifts_ + 1]
    new_positives = np.vstack([iteration.new_positives for iteration in iterations])
    new_negatives = np.vstack([iteration.new_negatives for iteration in iterations])
    assert len(new_positives)
    assert len(new_negatives)
    initial_model = PrototypeSVM(C=3.0, n_shifts=0, random_state=0).fit(X, Y)
    initial_members = {member.exemplar: member for member in initial_model.members_}
    for member in model.members_:
        exemplar = member.exemplar
        positives = set(initial_members[exemplar].positives) | set(
            new_positives[new_positives[:, 0] == exemplar, 1]
        )
        assert set(member.positives) == positives
        negatives = set(initial_members[exemplar].negatives) | set(
            new_negatives[new_negatives[:, 0] == exemplar, 1]
        )
        assert set(member.negatives) == negatives


def test_last_ensemble_of_highest_validation_accuracy_is_kept():
    for seed in range(5):
        model = PrototypeSVM(C=3.0, random_state=seed).fit(X, Y)
        accuracies = np.array([iteration.accuracy for iteration in model.history_])
        assert model.validation_score_ == accuracies.max()
        assert model.n_shifts_ == np.flatnonzero(accuracies == accuracies.max())[-1]
        selected = model.history_[model.n_shifts_]
        np.testing.assert_array_equal(model.coef_, selected.coef)


def test_n_shifts_only_truncates_the_history():
    six_shifts = PrototypeSVM(C=3.0, n_shifts=6, random_state=0).fit(X, Y)
    two_shifts = PrototypeSVM(C=3.0, n_shifts=2, random_state=0).fit(X, Y)
    assert len(two_shifts.history_) == 3
    for a, b in zip(two_shifts.history_, six_shifts.history_, strict=False):
        np.testing.assert_array_equal(a.coef, b.coef)


@pytest.mark.parametrize(("C", "p_negative"), [(1e6, 0.05), (3.0, 0.05), (3.0, 0.0)])
def test_exemplar_covered_by_its_own_member_is_added_to_no_other(C, p_negative):
    history = PrototypeSVM(C=C, p_negative=p_negative, random_state=0).fit(X, Y).history_
    for iteration, previous in zip(history[1:], history, strict=False):
        covers = previous.coef @ X.T + previous.intercept[:, None] > 0
        for _, point in iteration.new_positives:
            assert not covers[previous.exemplar_indices == point, point].any()


def test_positive_sets_grow_only_if_members_misclassify_their_exemplars():
    large_C_model = PrototypeSVM(C=1e6, p_negative=0.0, random_state=0).fit(X, Y)
    assert all(
        len(iteration.new_positives) == len(iteration.removed) == 0
        for iteration in large_C_model.history_
    )
    small_C_model = PrototypeSVM(C=3.0, p_negative=0.0, random_state=0).fit(X, Y)
    assert any(len(iteration.new_positives) > 0 for iteration in small_C_model.history_)


def test_last_ensemble_is_kept_if_all_members_would_be_removed():
    points, labels = make_blobs([40, 80], centers=[[0, 0], [9, 9]], random_state=0)
    with pytest.warns(ConvergenceWarning, match="no member covers any training point") as caught:
        model = PrototypeSVM(C=1e-6, random_state=0).fit(points, labels)
    assert caught[0].filename == __file__
    assert len(model.members_) == 90
    assert len(model.history_) == 1
    assert (model.predict(points) == 1).all()


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.9])
def test_every_class_keeps_a_training_point(fraction):
    codes = np.repeat([0, 1, 2], [1, 2, 40])
    for seed in range(20):
        train, validation = validation_split(codes, fraction, np.random.default_rng(seed))
        assert sorted([*train, *validation]) == list(range(43))
        assert set(codes[train]) == {0, 1, 2}
        assert len(validation) >= 1


def test_class_of_one_point_has_a_member():
    points, labels = make_blobs([30, 30], random_state=0)
    points, labels = np.vstack([points, [[50.0, 50.0]]]), np.append(labels, 2)
    model = PrototypeSVM(C=10.0, random_state=0).fit(points, labels)
    assert model.predict([[50.0, 50.0]]) == [2]


def test_empty_validation_set_is_refused():
    message = r"validation_fraction=0\.25 leaves the validation set empty"
    with pytest.raises(ValueError, match=message):
        PrototypeSVM().fit([[0.0], [1.0]], ["a", "b"])


def test_samples_grow_by_misclassified_points():
    model = SampledPrototypeSVM(C=1.0, n_samplings=3, random_state=0).fit(X, Y)
    first, *later = model.samples_
    assert len(first) == 60
    assert np.bincount(Y[first]).tolist() == [30, 30]
    for sample, previous_sample in zip(later, model.samples_, strict=False):
        assert set(previous_sample) < set(sample)
        assert len(sample) - len(previous_sample) <= 30
    one_sample = SampledPrototypeSVM(C=1.0, n_samplings=1, random_state=0).fit(X, Y)
    added = np.setdiff1d(later[0], first)
    assert (one_sample.predict(X[added]) != Y[added]).all()


def test_sample_of_all_points_is_as_accurate_as_prototype_svm():
    sampled = SampledPrototypeSVM(C=3.0, first_share=1.0, n_samplings=1, random_state=0).fit(X, Y)
    plain = PrototypeSVM(C=3.0, random_state=0).fit(X, Y)
    # The validation sets differ, because sampling uses the random number generator first.
    assert abs(sampled.score(X_NEW, Y_NEW) - plain.score(X_NEW, Y_NEW)) < 0.15
    assert sampled.samples_[0].tolist() == list(range(120))
