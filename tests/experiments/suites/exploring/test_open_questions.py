"""Softmax regression with more data, and Figure 8 of Exploring Classification repeated."""

import itertools

import numpy as np
import pytest
from records import committed_record, skip_without_table
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from svmbook import DualSVC
from svmbook.experiments import load_records, report
from svmbook.experiments.methods.protocols import run_seed
from svmbook.experiments.suites.exploring import open_questions
from svmbook.experiments.suites.exploring.parameters import C_GRID

SUITE_NAME = "exploring-more"


@pytest.fixture
def small_covtype(monkeypatch):
    """Return the points and classes of a small table, which replaces forest cover in the suite."""
    rng = np.random.default_rng(1)
    y = np.repeat([1, 2, 3], 60)
    X = np.column_stack([y + 0.9 * rng.standard_normal(180), 3 * rng.standard_normal(180)])
    monkeypatch.setattr(open_questions, "PART_SIZE", 60)
    monkeypatch.setattr(open_questions, "FIGURE_8_PART_SIZE", 45)
    monkeypatch.setattr(open_questions, "load", lambda name: Bunch(data=X, target=y))
    return X, y


def errors_for_each_C(make_classifier, train, test, *, standardise=True):
    """Return the test error of the classifier ``make_classifier(C)`` for each C."""
    (X, y), (X_test, y_test) = train, test
    if standardise:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    return np.array([1 - make_classifier(C).fit(X, y).score(X_test, y_test) for C in C_GRID])


def test_softmax_run_agrees_with_logistic_regression_of_sklearn(small_covtype):
    X, y = small_covtype
    order = np.random.RandomState(run_seed(0, 2)).permutation(180)
    train, validation, test = order[:60], order[60:90], order[120:]
    outcome = open_questions.carry_out_run("90", open_questions.SOFTMAX, 2)

    def make_softmax(C):
        return LogisticRegression(C=C, tol=1e-8, max_iter=1000)

    validation_errors = errors_for_each_C(
        make_softmax, (X[train], y[train]), (X[validation], y[validation])
    )
    np.testing.assert_allclose(outcome["validation_errors"], validation_errors, atol=1 / 29)
    refit_plots = np.concatenate([train, validation])
    test_errors = errors_for_each_C(
        make_softmax, (X[refit_plots], y[refit_plots]), (X[test], y[test])
    )
    chosen = C_GRID.index(outcome["parameters"]["C"])
    assert outcome["error"] == pytest.approx(test_errors[chosen], abs=1 / 59)


@pytest.mark.parametrize("method", ["svm-scaled", "svm-raw"])
def test_runs_of_figure_8_agree_with_separately_fitted_svms(small_covtype, method):
    X, y = small_covtype
    order = np.random.RandomState(run_seed(0, 3)).permutation(180)
    train, validation, test = order[:45], order[60:105], order[120:]
    outcome = open_questions.carry_out_run(open_questions.FIGURE_8, method, 3)

    def make_svms(C):
        return OneVsRestClassifier(DualSVC(C=C))

    standardise = open_questions.IS_STANDARDISED[method]
    validation_errors = errors_for_each_C(
        make_svms, (X[train], y[train]), (X[validation], y[validation]), standardise=standardise
    )
    np.testing.assert_allclose(outcome["validation_errors"], validation_errors, atol=2.1 / 45)
    test_errors = errors_for_each_C(
        make_svms, (X[train], y[train]), (X[test], y[test]), standardise=standardise
    )
    chosen = C_GRID.index(outcome["parameters"]["C"])
    assert outcome["error"] == pytest.approx(test_errors[chosen], abs=2.1 / 60)


def test_records_have_the_first_C_with_the_smallest_validation_error_and_54_features():
    for record in load_records(SUITE_NAME):
        first_smallest = np.argmin(record["validation_errors"])
        assert record["parameters"] == {"C": C_GRID[first_smallest]}
        assert record["model_size"] == 54


def test_seeds_are_those_of_the_forest_study():
    suites_and_data_sets = (
        (SUITE_NAME, "500"),
        (SUITE_NAME, open_questions.FIGURE_8),
        ("exploring-forest", "covtype"),
    )
    for run in range(10):
        seeds = {
            committed_record(name, run=run, data_set=d)["seed"] for name, d in suites_and_data_sets
        }
        assert len(seeds) == 1


def test_run_of_figure_8_reproduces_its_committed_record():
    skip_without_table("covtype")
    record = committed_record(
        SUITE_NAME, data_set=open_questions.FIGURE_8, method="svm-scaled", run=0
    )
    repeated = open_questions.carry_out_run(open_questions.FIGURE_8, "svm-scaled", 0)
    np.testing.assert_allclose(
        repeated["validation_errors"], record["validation_errors"], atol=0.0031
    )


def test_rows_are_means_of_the_records():
    rows = report(SUITE_NAME).rows
    assert len(rows) == len(open_questions.TRAINING_SIZES) + 2
    for row in rows:
        key = row["data_set"], row["method"]
        records = [r for r in load_records(SUITE_NAME) if (r["data_set"], r["method"]) == key]
        assert row["accuracy"] == pytest.approx(100 * (1 - np.mean([r["error"] for r in records])))
        mean_errors = np.mean([r["validation_errors"] for r in records], axis=0)
        np.testing.assert_allclose(row["validation_errors"], 100 * mean_errors)
        assert sum(row["n_runs_lowest"]) >= len(records) == row["n_runs"] == 10


def test_more_plots_increase_the_accuracy_by_less_than_one_point_at_the_end():
    rows = {
        row["data_set"]: row
        for row in report(SUITE_NAME).rows
        if row["method"] == open_questions.SOFTMAX
    }
    accuracies = [rows[str(n)]["accuracy"] for n in open_questions.TRAINING_SIZES]
    gains = [after - before for before, after in itertools.pairwise(accuracies)]
    assert min(gains) > 0 and gains[-1] < 1 < gains[0]
