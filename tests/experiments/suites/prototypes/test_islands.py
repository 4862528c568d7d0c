"""Votes under label noise: runs that can be repeated, shared points, and what the chapter says."""

import numpy as np
import pytest
from records import committed, committed_values
from sklearn.base import clone

from svmbook.experiments import report
from svmbook.experiments.suites.prototypes import islands as suite

NAME, (CLEAN, NOISY) = "noise-islands", suite.DATA_SETS
WEIGHTED = "distance-weighted vote"


@pytest.fixture(scope="module")
def errors():
    """Return the errors in percent by data set and method, one per run in order."""
    return committed_values(NAME, unit=100)


@pytest.mark.parametrize(
    ("data_set", "method"),
    [
        (CLEAN, "majority vote"),
        (NOISY, "15 neighbours"),
        (NOISY, "distance-weighted vote, C = 10"),
        *((NOISY, method) for method in suite.ABSTAIN),
    ],
)
def test_a_committed_run_can_be_repeated(data_set, method):
    stored = committed(NAME, data_set=data_set, method=method, run=17)
    again = suite.work(data_set, method, 17)
    assert again["seed"] == stored["seed"]
    assert again["model_size"] == pytest.approx(stored["model_size"], abs=3)
    assert again["error"] == pytest.approx(stored["error"], abs=0.005)
    assert again.keys() <= stored.keys()
    for name, near in (("votes", 0.5), ("mislabelled_members", 3)):  # of prototypes only
        assert again.get(name) == pytest.approx(stored.get(name), abs=near), name


def test_a_fifth_of_the_training_labels_differs_between_the_data_sets():
    parts, right = suite.division(CLEAN, 4)
    others, labels = suite.division(NOISY, 4)
    np.testing.assert_array_equal(parts.X_train, others.X_train)
    np.testing.assert_array_equal(right, parts.y_train)
    np.testing.assert_array_equal(parts.y_test, others.y_test)
    assert len(labels) == 300 and (labels != right).sum() == 60
    assert not np.isin(parts.X_test[:, 0], parts.X_train[:, 0]).any()


def test_members_without_a_vote_are_as_if_they_were_not_there():
    parts, labels = suite.division(NOISY, 0)
    model = clone(suite.METHODS["majority vote"]).set_params(random_state=0)
    model.fit(parts.X_train[:80], labels[:80])
    abstaining = np.arange(len(model.coef_)) % 3 == 0
    X = parts.X_test
    positive = X @ model.coef_.T + model.intercept_ > 0
    votes = (positive * [p.label for p in model.prototypes_])[:, ~abstaining].sum(axis=1)
    voted = suite.without_members(model, abstaining).predict(X)
    np.testing.assert_array_equal(voted[votes != 0], np.sign(votes)[votes != 0])
    everybody = suite.without_members(model, np.zeros_like(abstaining))
    np.testing.assert_array_equal(everybody.predict(X), model.predict(X))


def test_the_rows_are_means_and_paired_differences_of_the_records(errors):
    rows = {(row["data_set"], row["method"]): row for row in report(NAME).rows}
    assert rows.keys() == errors.keys() and len(rows) == 2 * 7 + 2
    for (data_set, method), row in rows.items():
        ours = errors[data_set, method]
        expected = {"error": ours}
        if method != WEIGHTED:
            expected["difference"] = ours - errors[data_set, WEIGHTED]
        if data_set == NOISY and (CLEAN, method) in errors:
            expected["lost"] = ours - errors[CLEAN, method]
        assert row["runs"] == len(ours) == 30
        assert {"error", "difference", "lost"} & row.keys() == expected.keys()
        for name, values in expected.items():
            assert row[name] == pytest.approx(values.mean())
            assert row[f"{name}_se"] == pytest.approx(values.std(ddof=1) / np.sqrt(30))


def test_mislabelled_members_cause_half_of_the_loss_and_random_members_none(errors):
    mislabelled, at_random = (errors[NOISY, m] - errors[NOISY, WEIGHTED] for m in suite.ABSTAIN)
    lost = errors[NOISY, WEIGHTED] - errors[CLEAN, WEIGHTED]
    assert 0.5 < -mislabelled.mean() / lost.mean() < 0.65
    assert at_random.mean() > 0
    assert (mislabelled < at_random).mean() > 0.9


def test_fifteen_neighbours_lose_least(errors):
    lost = {m: (errors[NOISY, m] - errors[CLEAN, m]).mean() for d, m in errors if d == CLEAN}
    assert min(lost, key=lost.get) == "15 neighbours"
    assert lost["15 neighbours"] < 3 < 10 < sorted(lost.values())[1]
