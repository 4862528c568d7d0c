"""The suite noise-islands: repeated runs, samples, and statements of the chapter on label noise."""

import numpy as np
import pytest
from records import check_repeated_run, committed_values
from sklearn.base import clone

from svmbook.experiments import report
from svmbook.experiments.suites.prototypes import noise_islands

SUITE_NAME, (CLEAN, NOISY) = "noise-islands", noise_islands.DATA_SETS
WEIGHTED_VOTE = "distance-weighted vote"


@pytest.fixture(scope="module")
def errors():
    """Return the errors in percent by data set and method, in the order of the runs."""
    return committed_values(SUITE_NAME, factor=100)


@pytest.mark.parametrize(
    ("data_set", "method"),
    [
        (CLEAN, "majority vote"),
        (NOISY, "15 neighbours"),
        (NOISY, "distance-weighted vote, C = 10"),
        *((NOISY, method) for method in noise_islands.METHODS_WITH_ABSTENTION),
    ],
)
def test_run_reproduces_its_committed_record(data_set, method):
    tolerances = {
        "error": 0.005,
        "model_size": 3,
        "votes_per_point": 0.5,
        "n_mislabelled_members": 3,
    }
    check_repeated_run(SUITE_NAME, tolerances, data_set=data_set, method=method, run=17)


def test_data_sets_differ_in_a_fifth_of_the_training_labels():
    clean_parts, clean_labels = noise_islands.draw_samples(CLEAN, 4)
    noisy_parts, noisy_labels = noise_islands.draw_samples(NOISY, 4)
    np.testing.assert_array_equal(clean_parts.X_train, noisy_parts.X_train)
    np.testing.assert_array_equal(clean_labels, clean_parts.y_train)
    np.testing.assert_array_equal(clean_parts.y_test, noisy_parts.y_test)
    assert len(noisy_labels) == 300 and (noisy_labels != clean_labels).sum() == 60
    assert not np.isin(noisy_parts.X_test[:, 0], noisy_parts.X_train[:, 0]).any()


def test_abstaining_members_do_not_affect_the_majority_vote():
    parts, labels = noise_islands.draw_samples(NOISY, 0)
    model = clone(noise_islands.METHODS["majority vote"]).set_params(random_state=0)
    model.fit(parts.X_train[:80], labels[:80])
    abstaining = np.arange(len(model.coef_)) % 3 == 0
    X = parts.X_test
    is_positive = X @ model.coef_.T + model.intercept_ > 0
    votes = (is_positive * [member.label for member in model.members_])[:, ~abstaining].sum(axis=1)
    predicted_labels = noise_islands.remove_votes(model, abstaining).predict(X)
    np.testing.assert_array_equal(predicted_labels[votes != 0], np.sign(votes)[votes != 0])
    unchanged_model = noise_islands.remove_votes(model, np.zeros_like(abstaining))
    np.testing.assert_array_equal(unchanged_model.predict(X), model.predict(X))


def test_noise_differences_are_paired_with_the_clean_data_set(errors):
    rows = report(SUITE_NAME).rows
    assert len(rows) == 2 * 7 + 2
    for row in rows:
        data_set, method = row["data_set"], row["method"]
        has_difference = data_set == NOISY and (CLEAN, method) in errors
        assert ("noise_difference" in row) == has_difference
        if has_difference:
            differences = errors[NOISY, method] - errors[CLEAN, method]
            assert row["noise_difference"] == pytest.approx(differences.mean())
            assert row["noise_difference_se"] == pytest.approx(
                differences.std(ddof=1) / np.sqrt(30)
            )


def test_abstention_of_mislabelled_but_not_of_random_members_lowers_the_error(errors):
    mislabelled, random = (
        errors[NOISY, m] - errors[NOISY, WEIGHTED_VOTE]
        for m in noise_islands.METHODS_WITH_ABSTENTION
    )
    increases = errors[NOISY, WEIGHTED_VOTE] - errors[CLEAN, WEIGHTED_VOTE]
    assert 0.5 < -mislabelled.mean() / increases.mean() < 0.65
    assert random.mean() > 0
    assert (mislabelled < random).mean() > 0.9


def test_label_noise_increases_the_error_of_fifteen_neighbours_least(errors):
    increases = {m: (errors[NOISY, m] - errors[CLEAN, m]).mean() for d, m in errors if d == CLEAN}
    assert min(increases, key=increases.get) == "15 neighbours"
    assert increases["15 neighbours"] < 3 < 10 < sorted(increases.values())[1]
