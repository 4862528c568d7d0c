"""The suite exemplar-votes: repeated runs, voting rules, and statements on exemplar SVMs."""

import numpy as np
import pytest
from records import check_repeated_run, committed_values
from sklearn.base import clone

from svmbook.experiments.methods.protocols import GeneratedSamples, run_seed
from svmbook.experiments.suites.prototypes import exemplar_votes
from svmbook.experiments.suites.prototypes.data_sets import DATA_SETS, WEIGHTED_NEIGHBOURS
from svmbook.prototypes import ExemplarSVM

SUITE_NAME = "exemplar-votes"
BASELINE, LIBSVM_VOTE = "5 neighbours, weighted", "LIBSVM's probability vote"
FIVE_MEMBERS, ALL_POINTS = "5 nearest members, weighted", "all points, weighted"
ALL_MEMBERS = "distance-weighted vote"


@pytest.fixture(scope="module")
def errors():
    """Return the errors in percent by data set and method, in the order of the runs."""
    return committed_values(SUITE_NAME, factor=100)


@pytest.mark.parametrize(
    ("method", "data_set"),
    [
        ("decision tree", "wedge"),
        ("Gaussian SVM", "stripes"),
        ("majority vote", "islands"),
        ("probability vote", "wedge"),
        (LIBSVM_VOTE, "stripes"),
        (BASELINE, "slope"),
        (FIVE_MEMBERS, "wedge"),
        (ALL_POINTS, "stripes"),
    ],
)
def test_run_reproduces_its_committed_record(method, data_set):
    tolerances = {"error": 0.002, "model_size": 3}
    check_repeated_run(SUITE_NAME, tolerances, data_set=data_set, method=method, run=17)


@pytest.mark.parametrize("data_set", DATA_SETS)
def test_training_and_test_points_are_drawn_with_different_seeds(data_set):
    parts = GeneratedSamples(DATA_SETS[data_set], n_train=300, n_test=2000, n_runs=6)[5]
    X, y = DATA_SETS[data_set](300, random_state=run_seed(0, 5))
    np.testing.assert_array_equal(parts.X_train, X)
    np.testing.assert_array_equal(parts.y_train, y)
    assert not np.isin(parts.X_test[:, 0], X[:, 0]).any()


def test_all_voting_rules_except_the_probability_vote_have_the_same_members():
    X, y = DATA_SETS["islands"](60, random_state=0)
    assert all(isinstance(model, ExemplarSVM) for model in exemplar_votes.EXEMPLAR_SVMS.values())
    models = {name: clone(model).fit(X, y) for name, model in exemplar_votes.EXEMPLAR_SVMS.items()}
    probability_model = models.pop("probability vote")
    for model in models.values():
        np.testing.assert_array_equal(model.coef_, models["majority vote"].coef_)
    assert len(probability_model.members_) < len(X) == len(models[LIBSVM_VOTE].members_)


def test_baseline_votes_with_inverse_squared_distances():
    X, y = DATA_SETS["wedge"](60, random_state=0)
    X_new, _ = DATA_SETS["wedge"](40, random_state=1)
    sq_dist = ((X_new[:, None] - X) ** 2).sum(axis=2)
    nearest = sq_dist.argsort(axis=1)[:, :5]
    votes = (y[nearest] / np.take_along_axis(sq_dist, nearest, axis=1)).sum(axis=1)
    model = clone(WEIGHTED_NEIGHBOURS).fit(X, y)
    np.testing.assert_array_equal(model.predict(X_new), np.sign(votes))
    assert (model.predict(X) == y).all()  # the training point at distance zero decides


def test_distance_weighted_vote_is_much_better_than_majority_and_probability_votes(errors):
    for data_set in ("islands", "wedge"):
        weighted_errors = errors[data_set, ALL_MEMBERS]
        assert (errors[data_set, "majority vote"] - weighted_errors).mean() > 20.0
        assert (errors[data_set, "probability vote"] - weighted_errors).mean() > 10.0


def test_distance_weighted_vote_is_about_as_accurate_as_the_gaussian_svm(errors):
    mean_differences = [
        (errors[data_set, ALL_MEMBERS] - errors[data_set, "Gaussian SVM"]).mean()
        for data_set in DATA_SETS
    ]
    assert max(mean_differences) < 1.0 and mean_differences[-1] < 0.0


def test_libsvm_probability_vote_is_worse_than_the_majority_vote(errors):
    for data_set in DATA_SETS:
        differences = errors[data_set, LIBSVM_VOTE] - errors[data_set, "majority vote"]
        assert differences.mean() > 2 * differences.std() / np.sqrt(29) > 0


def test_five_weighted_members_are_the_nearest_with_a_positive_output():
    X, y = DATA_SETS["wedge"](60, random_state=0)
    X_new, _ = DATA_SETS["wedge"](40, random_state=1)
    model = clone(exemplar_votes.EXEMPLAR_SVMS[FIVE_MEMBERS]).fit(X, y)
    for x, predicted in zip(X_new, model.predict(X_new), strict=True):
        positive_members = np.flatnonzero(model.coef_ @ x + model.intercept_ > 0)
        sq_dist = ((model.exemplars_[positive_members] - x) ** 2).sum(axis=1)
        nearest = sq_dist.argsort()[:5]
        labels = np.array([member.label for member in model.members_])[positive_members]
        assert predicted == np.sign((labels[nearest] / sq_dist[nearest]).sum())
    all_members_model = clone(model).set_params(n_neighbors=len(X)).fit(X, y)
    weighted_vote_model = clone(exemplar_votes.EXEMPLAR_SVMS[ALL_MEMBERS]).fit(X, y)
    np.testing.assert_array_equal(
        all_members_model.predict(X_new), weighted_vote_model.predict(X_new)
    )


def test_members_have_fewer_errors_than_as_many_points_only_on_wedge_and_stripes(errors):
    for members, points in ((FIVE_MEMBERS, BASELINE), (ALL_MEMBERS, ALL_POINTS)):
        for data_set in DATA_SETS:
            differences = errors[data_set, members] - errors[data_set, points]
            is_significant = abs(differences.mean()) > 2 * differences.std() / np.sqrt(29)
            assert is_significant == (data_set in ("wedge", "stripes"))
            assert (differences.mean() < -0.1) == is_significant


def test_gain_over_five_neighbours_on_the_slope_is_due_to_smoothing(errors):
    gain = errors["slope", BASELINE] - errors["slope", ALL_MEMBERS]
    smoothing_gain = errors["slope", BASELINE] - errors["slope", ALL_POINTS]
    assert 0.1 < gain.mean() < smoothing_gain.mean() < 0.3
