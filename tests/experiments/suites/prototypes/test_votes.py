"""Exemplar SVMs under six voting rules: runs that can be repeated, and what the chapter says."""

import numpy as np
import pytest
from records import committed, committed_values
from sklearn.base import clone

from svmbook.experiments import load_records, report
from svmbook.experiments.methods.protocols import Generated, run_seed
from svmbook.experiments.suites.prototypes import votes as exemplar_votes
from svmbook.experiments.suites.prototypes.sets import DATA_SETS, WEIGHTED_NEIGHBOURS
from svmbook.prototypes import ExemplarSVM

NAME, REFERENCE = "exemplar-votes", exemplar_votes.REFERENCE
BASELINE, INNER = "5 neighbours, weighted", "LIBSVM's probability vote"
FIVE, ALL_POINTS = "5 nearest members, weighted", "all points, weighted"


@pytest.fixture(scope="module")
def errors():
    """Return the errors (%) of each method and data set, in the order of the runs."""
    found = committed_values(NAME, unit=100)
    return {(method, data_set): values for (data_set, method), values in found.items()}


@pytest.mark.parametrize(
    ("method", "data_set"),
    [
        ("decision tree", "wedge"),
        ("Gaussian SVM", "stripes"),
        ("majority vote", "islands"),
        ("probability vote", "wedge"),
        (INNER, "stripes"),
        (BASELINE, "slope"),
        (FIVE, "wedge"),
        (ALL_POINTS, "stripes"),
    ],
)
def test_a_committed_run_can_be_repeated(method, data_set):
    stored = committed(NAME, data_set=data_set, method=method, run=17)
    again = exemplar_votes.work(data_set, method, 17)
    assert (again["seed"], again["parameters"]) == (stored["seed"], stored["parameters"])
    assert again["model_size"] == pytest.approx(stored["model_size"], abs=3)
    assert again["error"] == pytest.approx(stored["error"], abs=0.002)


@pytest.mark.parametrize("data_set", DATA_SETS)
def test_training_and_test_points_are_drawn_with_different_seeds(data_set):
    parts = Generated(DATA_SETS[data_set], train=300, test=2000, runs=6)[5]
    X, y = DATA_SETS[data_set](300, random_state=run_seed(0, 5))
    np.testing.assert_array_equal(parts.X_train, X)
    np.testing.assert_array_equal(parts.y_train, y)
    assert not np.isin(parts.X_test[:, 0], X[:, 0]).any()


def test_methods_share_the_seeds_of_their_runs():
    seeds = {(r["run"], r["seed"]) for r in load_records(NAME)}
    assert len(seeds) == exemplar_votes.SUITE.runs


def test_the_votes_belong_to_the_same_members():
    X, y = DATA_SETS["islands"](60, random_state=0)
    assert all(isinstance(model, ExemplarSVM) for model in exemplar_votes.VOTES.values())
    votes = {name: clone(model).fit(X, y) for name, model in exemplar_votes.VOTES.items()}
    validation_split = votes.pop("probability vote")
    for model in votes.values():
        np.testing.assert_array_equal(model.coef_, votes["majority vote"].coef_)
    assert len(validation_split.prototypes_) < len(X) == len(votes[INNER].prototypes_)


def test_the_baseline_votes_by_one_over_the_squared_distance():
    X, y = DATA_SETS["wedge"](60, random_state=0)
    new, _ = DATA_SETS["wedge"](40, random_state=1)
    squared = ((new[:, None] - X) ** 2).sum(axis=2)
    nearest = squared.argsort(axis=1)[:, :5]
    votes = (y[nearest] / np.take_along_axis(squared, nearest, axis=1)).sum(axis=1)
    model = clone(WEIGHTED_NEIGHBOURS).fit(X, y)
    np.testing.assert_array_equal(model.predict(new), np.sign(votes))
    assert (model.predict(X) == y).all()  # a point at distance zero decides


def test_means_and_paired_differences_follow_from_the_records(errors):
    rows = report(NAME).rows
    assert {(row["method"], row["data_set"]) for row in rows} == errors.keys()
    for row in rows:
        pair, n = (row["method"], row["data_set"]), row["runs"]
        gap = errors[pair] - errors[REFERENCE, row["data_set"]]
        root = np.sqrt(n * (n - 1))
        assert n == len(errors[pair]) == 30
        assert row["error"] == pytest.approx(sum(errors[pair]) / n)
        spread = np.linalg.norm(errors[pair] - np.mean(errors[pair])) / root
        assert row["error_se"] == pytest.approx(spread)
        if row["method"] == REFERENCE:
            assert "difference" not in row
            continue
        assert row["difference"] == pytest.approx(sum(gap) / n, abs=1e-12)
        spread = np.linalg.norm(gap - np.mean(gap)) / root
        assert row["difference_se"] == pytest.approx(spread)


def test_the_distance_weighted_vote_makes_the_difference(errors):
    for data_set in ("islands", "wedge"):
        weighted = errors["distance-weighted vote", data_set]
        assert (errors["majority vote", data_set] - weighted).mean() > 20.0
        assert (errors["probability vote", data_set] - weighted).mean() > 10.0
    rows = {(row["method"], row["data_set"]): row for row in report(NAME).rows}
    behind = [rows["distance-weighted vote", data_set]["difference"] for data_set in DATA_SETS]
    assert max(behind) < 1.0 and behind[-1] < 0.0


def test_probabilities_from_inside_the_members_are_worse_than_the_majority_vote(errors):
    for data_set in DATA_SETS:
        worse = errors[INNER, data_set] - errors["majority vote", data_set]
        assert worse.mean() > 2 * worse.std() / np.sqrt(29) > 0


def test_five_weighted_members_are_the_nearest_with_a_positive_output():
    X, y = DATA_SETS["wedge"](60, random_state=0)
    new, _ = DATA_SETS["wedge"](40, random_state=1)
    model = clone(exemplar_votes.VOTES[FIVE]).fit(X, y)
    for point, predicted in zip(new, model.predict(new), strict=True):
        voters = np.flatnonzero(model.coef_ @ point + model.intercept_ > 0)
        squared = ((model.exemplars_[voters] - point) ** 2).sum(axis=1)
        nearest = squared.argsort()[:5]
        labels = np.array([member.label for member in model.prototypes_])[voters]
        assert predicted == np.sign((labels[nearest] / squared[nearest]).sum())
    everyone = clone(model).set_params(n_neighbors=len(X)).fit(X, y)
    weighted = clone(exemplar_votes.VOTES["distance-weighted vote"]).fit(X, y)
    np.testing.assert_array_equal(everyone.predict(new), weighted.predict(new))


def test_at_equal_numbers_of_voters_lines_gain_in_the_wedge_and_in_the_stripes(errors):
    for first, second in ((FIVE, BASELINE), ("distance-weighted vote", ALL_POINTS)):
        for data_set in DATA_SETS:
            gap = errors[first, data_set] - errors[second, data_set]
            clear = abs(gap.mean()) > 2 * gap.std() / np.sqrt(29)
            assert clear == (data_set in ("wedge", "stripes"))
            assert (gap.mean() < -0.1) == clear


def test_the_gain_over_five_neighbours_on_the_slope_is_smoothing(errors):
    gain = errors[BASELINE, "slope"] - errors["distance-weighted vote", "slope"]
    smoothing = errors[BASELINE, "slope"] - errors[ALL_POINTS, "slope"]
    assert 0.1 < gain.mean() < smoothing.mean() < 0.3
