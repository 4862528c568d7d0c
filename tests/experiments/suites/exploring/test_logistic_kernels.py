"""Kernel logistic classifiers beside an SVM: runs done again, and what the chapter says of them."""

import numpy as np
import pytest
from records import committed, committed_values
from scipy.special import expit

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.exploring import logistic_kernels as suite

NAME, RIDGE = "logistic-kernels", "logistic, ridge"


@pytest.fixture(scope="module")
def values():
    """Return error in percent and log loss by method, one row per run in order."""
    errors, losses = committed_values(NAME, unit=100), committed_values(NAME, "log_loss")
    return {method: np.column_stack([errors[d, method], losses[d, method]]) for d, method in errors}


@pytest.mark.parametrize("method", suite.METHODS)
def test_a_committed_run_can_be_done_again(method):
    stored = committed(NAME, data_set="nonSep", method=method, run=5)
    again = suite.work("nonSep", method, 5)
    assert (again["seed"], again["parameters"]) == (stored["seed"], stored["parameters"])
    assert again["model_size"] == pytest.approx(stored["model_size"], abs=3)
    assert again["error"] == pytest.approx(stored["error"], abs=0.002)
    assert again["log_loss"] == pytest.approx(stored["log_loss"], abs=0.002)


def test_the_points_of_a_run_are_drawn_with_different_seeds():
    parts, (X, _) = suite.division(4)
    together = np.vstack([parts.X_train, X, parts.X_test])
    assert len(np.unique(together, axis=0)) == 400 + 400 + 20_000


def test_import_vectors_take_the_value_of_the_ridge():
    lams = {(r["method"], r["run"]): r["parameters"]["lam"] for r in load_records(NAME)}
    allowed = [float(f"{lam:.4g}") for lam in suite.LAMS]
    assert set(lams.values()) <= set(allowed)
    for run in range(30):
        assert lams["import vectors", run] == lams[RIDGE, run]


def test_no_value_of_lambda_is_better_on_the_validation_points():
    parts, (X, y) = suite.division(3)
    best = suite.chosen(RIDGE, parts, (X, y))
    p = np.where(y > 0, *best.predict_proba(X).T[::-1])
    loss = -np.log(p).mean()
    for lam in suite.LAMS:
        other = type(best)(lam, gamma=0.5).fit(parts.X_train, parts.y_train)
        assert loss <= -np.log(expit(y * other.decision_function(X))).mean() + 1e-9


def test_the_rows_are_means_and_paired_differences_of_the_records(values):
    rows = report(NAME).rows
    assert [row["method"] for row in rows] == list(suite.METHODS)
    for row in rows:
        ours, extra = values[row["method"]], values[row["method"]] - values[RIDGE]
        assert row["runs"] == len(ours) == 30
        assert (row["error"], row["log_loss"]) == pytest.approx(tuple(ours.mean(axis=0)))
        if row["method"] == RIDGE:
            assert "difference" not in row
            continue
        names = "difference", "log_loss_difference"
        errors = extra.std(axis=0, ddof=1) / np.sqrt(30)
        for name, mean, error in zip(names, extra.mean(axis=0), errors, strict=True):
            assert row[name] == pytest.approx(mean)
            assert row[f"{name}_se"] == pytest.approx(error)


def test_the_svm_errs_as_often_as_the_ridge_and_its_log_loss_is_larger(values):
    for method, (error, loss) in (
        (m, (values[m] - values[RIDGE]).T) for m in ("SVM and Platt", "ridge, chosen by errors")
    ):
        assert abs(error.mean()) < 2 * error.std(ddof=1) / np.sqrt(30), method
        assert (loss > 0).mean() > 0.5 and loss.mean() > 0.01, method
    assert abs(values["import vectors"] - values[RIDGE])[:, 0].max() < 0.5
