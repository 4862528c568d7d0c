"""The parameter study: its selection, its committed records, and the Bayes error."""

import itertools

import numpy as np
import pytest

from svmbook.datasets import draw_split, non_separable_bayes_error, stdev_bayes_error
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.exploring.parameters import (
    C_GRID,
    DATA_SETS,
    GAMMA_GRID,
    METHODS,
    REPORTED,
    candidates,
    carry_out_run,
)

ERROR_TOL = 1 / 400 + 1e-9  # one point may change sides between two builds of BLAS
DATA_SETS_AND_METHODS = list(itertools.product(DATA_SETS, METHODS))


def committed_records(data_set, kernel):
    """Return the committed records of a data set and a kernel, by run."""
    records = load_records("exploring-parameters")
    return {r["run"]: r for r in records if (r["data_set"], r["method"]) == (data_set, kernel)}


def validation_and_test_error(model, parts):
    return [1 - model.score(*part) for part in (parts.validation, parts.test)]


def chosen_parameters(record):
    return record["parameters"]["C"], record["parameters"].get("gamma")


@pytest.mark.parametrize(("data_set", "kernel"), DATA_SETS_AND_METHODS)
def test_classifier_of_a_committed_record_has_the_recorded_errors_and_size(data_set, kernel):
    record = committed_records(data_set, kernel)[17]
    parts = draw_split(DATA_SETS[data_set], random_state=17)
    models = {(C, gamma): model for C, gamma, model in candidates(kernel)}
    model = models[chosen_parameters(record)].fit(*parts.train)
    recorded_errors = record["validation_error"], record["error"]
    assert validation_and_test_error(model, parts) == pytest.approx(recorded_errors, abs=ERROR_TOL)
    # Rounding decides whether a few points on the margin are support vectors.
    assert len(model.support_) == pytest.approx(record["model_size"], abs=3)


@pytest.mark.parametrize(("data_set", "kernel"), DATA_SETS_AND_METHODS)
def test_smallest_validation_error_is_chosen_then_the_smallest_parameters(data_set, kernel):
    record = carry_out_run(data_set, kernel, run=17)
    parts = draw_split(DATA_SETS[data_set], random_state=17)
    results = [
        (*validation_and_test_error(model.fit(*parts.train), parts), C, gamma, len(model.support_))
        for C, gamma, model in candidates(kernel)
    ]
    validation_error, error, C, gamma, n_support = min(
        results, key=lambda row: (row[0], row[2], row[3] or 0)
    )
    assert chosen_parameters(record) == (C, gamma)
    assert record["model_size"] == n_support
    assert record["validation_error"] == pytest.approx(validation_error)
    assert record["error"] == pytest.approx(error)
    committed = committed_records(data_set, kernel)[17]
    assert record.keys() <= committed.keys()
    assert validation_error == pytest.approx(committed["validation_error"], abs=ERROR_TOL)


def test_error_of_the_gaussian_kernel_is_close_to_the_bayes_error_and_not_below():
    bayes_errors = [stdev_bayes_error(sd) for sd in (1, 2, 4)] + [non_separable_bayes_error()]
    for data_set, bayes_error in zip(DATA_SETS, bayes_errors, strict=True):
        errors = np.array([r["error"] for r in committed_records(data_set, "gaussian").values()])
        standard_error = errors.std(ddof=1) / np.sqrt(len(errors))
        assert bayes_error - 3 * standard_error < errors.mean() < bayes_error + 0.02


@pytest.mark.parametrize(
    ("arguments", "exception", "message"),
    [
        (("stdev3", "linear", 0), ValueError, "data_set must be one of .* found 'stdev3'"),
        (("stdev1", "rbf", 0), ValueError, "kernel must be one of gaussian, linear; found 'rbf'"),
        (("stdev1", "linear", -1), ValueError, "run == -1, must be >= 0"),
        (("stdev1", "linear", 0.5), TypeError, "run must be an instance of int"),
    ],
)
def test_invalid_arguments_raise(arguments, exception, message):
    with pytest.raises(exception, match=message):
        carry_out_run(*arguments)


def test_rows_are_statistics_of_the_records():
    frame = report("exploring-parameters").to_frame()
    assert len(frame) == len(DATA_SETS_AND_METHODS)
    for row in frame.to_dict("records"):
        records = committed_records(row["data_set"], row["method"]).values()
        errors = [100 * r["error"] for r in records]
        statistics = row["reproduced"], row["deviation"], row["n_runs"]
        assert statistics == pytest.approx((np.mean(errors), np.std(errors, ddof=1), len(errors)))
        sizes = [r["model_size"] for r in records]
        assert row["support_vector_quartiles"] == np.percentile(sizes, [25, 50, 75]).tolist()


#: The rows of Figure 4: C, beta (our gamma, Gaussian only), support vectors, test error in percent.
FIGURE_4_ROWS = {
    "gaussian": ([1, 0.01, 0.01, 10], [0.1, 0.1, 0.01, 1], [22, 400, 100, 99], [0.25, 6, 21.75, 5]),
    "linear": ([10, 0.01, 0.01, 1], [3, 125, 249, 392], [0, 7.25, 22, 49.5]),
}


def test_reported_results_agree_with_figure_4():
    for method, rows in FIGURE_4_ROWS.items():
        columns = zip(*rows, strict=True)
        for data_set, (*chosen, size, error) in zip(DATA_SETS, columns, strict=True):
            assert REPORTED[data_set, method] == (tuple(chosen), size, error)


def test_chosen_parameters_lie_on_the_grid():
    chosen = [chosen_parameters(r) for r in load_records("exploring-parameters")]
    assert {C for C, _ in chosen} <= set(C_GRID)
    assert {gamma for _, gamma in chosen} <= {None, *GAMMA_GRID}
