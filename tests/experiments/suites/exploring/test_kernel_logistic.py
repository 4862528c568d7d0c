"""Kernel logistic classifiers and an SVM: repeated runs, and the results that the book states."""

import numpy as np
import pytest
from records import check_repeated_run, committed_values
from scipy.special import expit

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.exploring import kernel_logistic

SUITE_NAME, RIDGE = "logistic-kernels", "logistic, ridge"


@pytest.fixture(scope="module")
def errors_and_log_losses():
    """Return an array per method with one row per run: error in percent and log loss."""
    errors, losses = (
        committed_values(SUITE_NAME, factor=100),
        committed_values(SUITE_NAME, "log_loss"),
    )
    return {method: np.column_stack([errors[d, method], losses[d, method]]) for d, method in errors}


@pytest.mark.parametrize("method", kernel_logistic.METHODS)
def test_run_reproduces_its_committed_record(method):
    tolerances = {"model_size": 3, "error": 0.002, "log_loss": 0.002}
    check_repeated_run(SUITE_NAME, tolerances, method=method, run=5)


def test_samples_of_a_run_have_no_common_points():
    parts, (X, _) = kernel_logistic.draw_samples(4)
    points = np.vstack([parts.X_train, X, parts.X_test])
    assert len(np.unique(points, axis=0)) == 400 + 400 + 20_000


def test_import_vectors_have_the_lambda_and_almost_the_error_of_ridge(errors_and_log_losses):
    lams = {(r["method"], r["run"]): r["parameters"]["lam"] for r in load_records(SUITE_NAME)}
    assert set(lams.values()) <= {float(f"{lam:.4g}") for lam in kernel_logistic.LAMBDAS}
    for run in range(30):
        assert lams["import vectors", run] == lams[RIDGE, run]
    differences = errors_and_log_losses["import vectors"] - errors_and_log_losses[RIDGE]
    assert abs(differences[:, 0]).max() < 0.5


def test_selected_lambda_has_the_smallest_validation_loss():
    parts, (X, y) = kernel_logistic.draw_samples(3)
    best = kernel_logistic.select_classifier(RIDGE, parts, (X, y))
    p = np.where(y > 0, *best.predict_proba(X).T[::-1])
    loss = -np.log(p).mean()
    for lam in kernel_logistic.LAMBDAS:
        other_model = type(best)(lam, gamma=0.5).fit(parts.X_train, parts.y_train)
        assert loss <= -np.log(expit(y * other_model.decision_function(X))).mean() + 1e-9


def test_log_losses_are_means_and_paired_differences_of_the_records():
    losses = committed_values(SUITE_NAME, "log_loss")
    for row in report(SUITE_NAME).rows:
        method_losses = losses["nonSep", row["method"]]
        differences = method_losses - losses["nonSep", RIDGE]
        assert row["log_loss"] == pytest.approx(method_losses.mean())
        if row["method"] != RIDGE:
            standard_error = differences.std(ddof=1) / np.sqrt(30)
            assert row["log_loss_difference"] == pytest.approx(differences.mean())
            assert row["log_loss_difference_se"] == pytest.approx(standard_error)


def test_selection_by_errors_keeps_the_error_and_increases_the_log_loss(errors_and_log_losses):
    for method in ("SVM with Platt scaling", "ridge, selected by errors"):
        differences = errors_and_log_losses[method] - errors_and_log_losses[RIDGE]
        error_differences, loss_differences = differences.T
        standard_error = error_differences.std(ddof=1) / np.sqrt(30)
        assert abs(error_differences.mean()) < 2 * standard_error, method
        assert (loss_differences > 0).mean() > 0.5 and loss_differences.mean() > 0.01, method
