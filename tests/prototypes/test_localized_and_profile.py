"""Localized and profile SVMs, against SVMs trained one at a time."""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from svmbook import DualSVC, LocalizedSVM, ProfileSVM
from svmbook.datasets import xor
from svmbook.prototypes.profile import _memberships

X, Y = make_moons(90, noise=0.2, random_state=0)
X_NEW, Y_NEW = make_moons(60, noise=0.2, random_state=1)


def weighted_svm(x, nearest=slice(None), **options):
    """Return an SVM of the nearest training points, weighted by similarity to x."""
    weights = np.exp(-2.0 * ((X[nearest] - x) ** 2).sum(axis=1))
    return DualSVC(C=5.0, **options).fit(X[nearest], Y[nearest], sample_weight=weights)


def test_output_is_that_of_weighted_svm_of_nearest_points():
    model = LocalizedSVM(C=5.0, gamma=2.0, n_neighbors=40).fit(X, Y)
    for x, output in zip(X_NEW[:12], model.decision_function(X_NEW[:12]), strict=True):
        nearest = np.argsort(((X - x) ** 2).sum(axis=1))[:40]
        if len(set(Y[nearest])) == 1:
            assert output == 2 * Y[nearest[0]] - 1
        else:
            expected = weighted_svm(x, nearest).decision_function([x])[0]
            assert output == pytest.approx(expected, abs=1e-3)


def test_omitting_small_weights_does_not_change_output():
    model = LocalizedSVM(C=5.0, gamma=2.0, n_neighbors=None).fit(X, Y)
    for x, output in zip(X_NEW[:12], model.decision_function(X_NEW[:12]), strict=True):
        expected = weighted_svm(x, tol=1e-9).decision_function([x])[0]
        assert output == pytest.approx(expected, abs=1e-7)


def test_blocks_of_query_points_do_not_change_outputs(monkeypatch):
    model = LocalizedSVM(C=5.0, gamma=2.0).fit(X, Y)
    one_block = model.decision_function(X_NEW)
    monkeypatch.setattr("svmbook.base.MAX_BLOCK_ENTRIES", 1000)
    np.testing.assert_allclose(model.decision_function(X_NEW), one_block, atol=1e-8)


@pytest.mark.parametrize("order", ["sorted", "reversed", "shuffled"])
def test_all_points_tied_with_last_neighbour_are_included(order):
    # At each of the two locations, 140 rows have one label and sixty rows the other.
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 200, axis=0)
    y = np.r_[np.repeat([0, 1], [60, 140]), np.repeat([0, 1], [140, 60])]
    indices = np.arange(400)
    indices = {"sorted": indices, "reversed": indices[::-1], "shuffled": indices * 37 % 400}[order]
    model = LocalizedSVM(n_neighbors=50).fit(X[indices], y[indices])
    assert model.predict([[0, 0], [1, 1]]).tolist() == [1, 0]


def test_memory_of_prediction_is_bounded_if_many_points_are_tied():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (2000, 3)).astype(float), rng.integers(0, 2, 2000)
    model = LocalizedSVM(n_neighbors=5).fit(X, y)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.predict(X[:40])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 40 * 250**2  # about 250 points are equal to each query point


def test_local_svms_are_more_accurate_than_linear_svm_on_moons():
    linear_accuracy = DualSVC(C=5.0).fit(X, Y).score(X_NEW, Y_NEW)
    localized = LocalizedSVM(C=5.0, gamma=2.0).fit(X, Y)
    profile = ProfileSVM(C=5.0, gamma=2.0, n_clusters=4, random_state=0).fit(X, Y)
    for model in (localized, profile):
        assert model.score(X_NEW, Y_NEW) > linear_accuracy + 0.03


def test_localized_svm_separates_xor():
    points, labels = xor()
    assert LocalizedSVM(C=100.0, gamma=1.0).fit(points, labels).score(points, labels) == 1.0


def test_zero_balance_is_plain_k_means():
    model = ProfileSVM(n_clusters=5, balance=0.0, use_profiles=False, random_state=0).fit(X, Y)
    k_means = KMeans(5, init=model.cluster_centers_, n_init=1, max_iter=1).fit(X)
    np.testing.assert_allclose(k_means.cluster_centers_, model.cluster_centers_, atol=1e-9)
    np.testing.assert_array_equal(k_means.labels_, model.labels_)


def test_memberships_minimise_objective_for_given_centres():
    rng = np.random.default_rng(0)
    squared_distances, codes = rng.random((12, 3)), rng.integers(0, 2, 12)

    def objective(Z, R):
        imbalance = sum(abs(Z[codes == 0, j].sum() - Z[codes == 1, j].sum()) for j in range(3))
        # For two classes, the paper's balance term is |n_0 - n_1| for each cluster.
        return (Z * squared_distances).sum() + R * imbalance

    for R in (0.05, 1.0):
        Z = _memberships(squared_distances, codes, 2, R)
        np.testing.assert_allclose(Z.sum(axis=1), 1.0, atol=1e-9)
        assert Z.min() > -1e-9
        for _ in range(300):
            random_Z = rng.dirichlet(np.full(3, 0.2), 12)
            assert objective(Z, R) <= objective(random_Z, R) + 1e-9
            mixture = 0.9 * Z + 0.1 * random_Z
            assert objective(Z, R) <= objective(mixture, R) + 1e-9


def test_balance_evens_out_class_counts_in_clusters():
    def imbalance(model):
        counts = [np.bincount(Y[model.labels_ == j], minlength=2) for j in range(4)]
        return sum(abs(a - b) for a, b in counts)

    plain = ProfileSVM(n_clusters=4, balance=0.0, gamma=2.0, random_state=0).fit(X, Y)
    balanced = ProfileSVM(n_clusters=4, balance=5.0, gamma=2.0, random_state=0).fit(X, Y)
    assert imbalance(balanced) < 0.5 * imbalance(plain)


def test_cluster_of_one_class_predicts_it():
    points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    model = ProfileSVM(n_clusters=2, balance=0.0, use_profiles=False, random_state=0)
    assert model.fit(points, [0, 0, 0, 1, 1, 2]).predict([[0.05], [5.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("model", [LocalizedSVM(C=10.0), ProfileSVM(C=10.0, n_clusters=3)])
def test_three_classes_have_votes_and_confidences_below_one_third(model):
    points, species = load_iris(return_X_y=True)
    model.fit(points[::2], species[::2])
    assert model.score(points[1::2], species[1::2]) > 0.85
    F = model.decision_function(points)
    assert F.shape == (150, 3)
    confidence = F - np.round(F)
    assert np.abs(confidence).max() < 1 / 3
    assert (confidence != 0).any()


def test_profiles_of_query_points_are_computed_in_blocks():
    X, y = make_moons(300, noise=0.2, random_state=0)
    model = ProfileSVM(n_clusters=4, random_state=0).fit(X, y)
    queries = np.tile(X, (200, 1))
    tracemalloc.start()
    outputs = model.decision_function(queries)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6  # all profiles take 144 MB
    np.testing.assert_array_equal(outputs[:300], model.decision_function(X))


def test_more_clusters_than_points_are_refused():
    with pytest.raises(ValueError, match="n_clusters=8 exceeds the number of points"):
        ProfileSVM().fit([[0.0], [1.0]], [0, 1])


def test_nearest_label_is_predicted_where_all_weights_underflow():
    three_classes = LocalizedSVM(gamma=1.0).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert three_classes.predict([[-100.0], [100.0], [0.9]]).tolist() == ["a", "c", "b"]
    two_classes = LocalizedSVM(gamma=1.0).fit([[0.0], [0.05]], ["a", "b"])
    assert two_classes.decision_function([[28.0], [40.0]]).tolist() == [1.0, 1.0]


def test_many_neighbours_with_negligible_weights_hardly_change_predictions():
    points, labels = make_moons(200, noise=0.2, random_state=0)
    many_neighbors = LocalizedSVM(C=10.0, gamma=30.0, n_neighbors=150).fit(points, labels)
    few_neighbors = LocalizedSVM(C=10.0, gamma=30.0, n_neighbors=60).fit(points, labels)
    assert (many_neighbors.predict(X_NEW) == few_neighbors.predict(X_NEW)).mean() > 0.97


def test_points_below_1e_10_of_largest_similarity_are_left_out():
    for ratio, is_included in ((1.1e-10, True), (0.9e-10, False)):
        near, far = -1.0, np.sqrt(1.0 - np.log(ratio))  # similarities to 0: 1/e and ratio/e
        model = LocalizedSVM(C=1e11, gamma=1.0).fit([[near], [far]], [0, 1])
        interpolated = -(near + far) / (far - near)  # at 0, from -1 and +1 at the two points
        expected = interpolated if is_included else -1.0
        assert model.decision_function([[0.0]])[0] == pytest.approx(expected, abs=1e-6)


def test_unconverged_clustering_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations") as caught:
        ProfileSVM(n_clusters=4, max_iter=1, random_state=0).fit(X, Y)
    assert caught[0].filename == __file__


def test_failed_fit_removes_fitted_attributes():
    for model in (LocalizedSVM(), ProfileSVM(n_clusters=3)):
        model.fit(X, Y)
        with pytest.raises(ValueError, match="class"):
            model.fit(X, np.zeros(90))
        assert [name for name in vars(model) if name.endswith("_")] == ["n_features_in_"]


@pytest.mark.parametrize("method", ["fit", "decision_function"])
def test_large_gap_warns_at_the_call_that_trains(method, monkeypatch):
    monkeypatch.setattr("svmbook.prototypes.gap_check.GAP_TOL", -1.0)
    with pytest.warns(ConvergenceWarning, match="the duality gap of a linear SVM") as caught:
        if method == "fit":
            ProfileSVM(n_clusters=3, random_state=0).fit(X, Y)
        else:
            LocalizedSVM(gamma=2.0).fit(X, Y).decision_function(X_NEW)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (LocalizedSVM(), {"C": 100.0, "n_neighbors": 5, "gamma": 9.0}),
        (ProfileSVM(n_clusters=3, random_state=0), {"use_profiles": False, "gamma": 9.0}),
    ],
)
def test_set_params_does_not_change_fitted_model(model, parameters):
    outputs = model.fit(X, Y).decision_function(X_NEW)
    np.testing.assert_array_equal(model.set_params(**parameters).decision_function(X_NEW), outputs)


def test_equal_points_are_clustered():
    model = ProfileSVM(n_clusters=1, use_profiles=False, random_state=0)
    model.fit(np.full((7, 2), 0.1), [0] + [1] * 6)


def test_memberships_do_not_depend_on_the_unit_of_distance():
    rng = np.random.default_rng(0)
    squared_distances, codes = rng.random((12, 3)), rng.integers(0, 2, 12)
    rescaled = _memberships(1e-9 * squared_distances, codes, 2, 1e-9 * 0.3)
    np.testing.assert_allclose(rescaled, _memberships(squared_distances, codes, 2, 0.3), atol=1e-6)
