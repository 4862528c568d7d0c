"""The parameter study: complete, repeatable, and near what theory allows."""

import itertools

import numpy as np
import pytest

from svmbook.datasets import non_separable_bayes_error, stdev_bayes_error, three_parts
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.exploring.parameters import (
    C_GRID,
    DATA_SETS,
    GAMMA_GRID,
    METHODS,
    REPORTED,
    candidates,
    parameter_study,
)

POINT = 1 / 400 + 1e-9  # one point of a part may change sides between two builds of BLAS
PAIRS = list(itertools.product(DATA_SETS, METHODS))


def stored(data_set, kernel):
    """Return the committed records of a data set and a kernel, by run."""
    records = load_records("exploring-parameters")
    return {r["run"]: r for r in records if (r["data_set"], r["method"]) == (data_set, kernel)}


def errors_of(machine, parts):
    return [1 - machine.score(*part) for part in (parts.validation, parts.test)]


def parameters(record):
    return record["parameters"]["C"], record["parameters"].get("gamma")


@pytest.mark.parametrize(("data_set", "kernel"), PAIRS)
def test_a_committed_record_measures_its_machine(data_set, kernel):
    record = stored(data_set, kernel)[17]
    parts = three_parts(DATA_SETS[data_set], random_state=17)
    chosen = {(C, gamma): machine for C, gamma, machine in candidates(kernel)}
    machine = chosen[parameters(record)].fit(*parts.train)
    recorded = record["validation_error"], record["error"]
    assert errors_of(machine, parts) == pytest.approx(recorded, abs=POINT)
    # Which of the points on the margin count is a matter of rounding, but they are few.
    assert len(machine.support_) == pytest.approx(record["model_size"], abs=3)


@pytest.mark.parametrize(("data_set", "kernel"), PAIRS)
def test_the_smallest_validation_error_wins_then_the_smallest_parameters(data_set, kernel):
    record = parameter_study(data_set, kernel, run=17)
    parts = three_parts(DATA_SETS[data_set], random_state=17)
    measured = [
        (*errors_of(machine.fit(*parts.train), parts), C, gamma, len(machine.support_))
        for C, gamma, machine in candidates(kernel)
    ]
    best, test, C, gamma, support_vectors = min(
        measured, key=lambda row: (row[0], row[2], row[3] or 0)
    )
    assert parameters(record) == (C, gamma)
    assert record["model_size"] == support_vectors
    assert (record["validation_error"], record["error"]) == pytest.approx((best, test))
    committed = stored(data_set, kernel)[17]
    assert record.keys() <= committed.keys()
    assert best == pytest.approx(committed["validation_error"], abs=POINT)


def test_the_gaussian_machines_come_near_the_bayes_error_and_not_below():
    bayes = [stdev_bayes_error(sd) for sd in (1, 2, 4)] + [non_separable_bayes_error()]
    for data_set, best in zip(DATA_SETS, bayes, strict=True):
        errors = np.array([r["error"] for r in stored(data_set, "gaussian").values()])
        noise = errors.std(ddof=1) / np.sqrt(len(errors))
        assert best - 3 * noise < errors.mean() < best + 0.02


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("stdev3", "linear", 0), ValueError, "data_set is 'stdev3'; choose one of stdev1"),
        (("stdev1", "rbf", 0), ValueError, "kernel is 'rbf'; choose one of gaussian, linear"),
        (("stdev1", "linear", -1), ValueError, "run == -1, must be >= 0"),
        (("stdev1", "linear", 0.5), TypeError, "run must be an instance of int"),
    ],
)
def test_a_study_that_there_is_not(arguments, error, message):
    with pytest.raises(error, match=message):
        parameter_study(*arguments)


def test_the_table_shows_what_the_records_hold():
    shown = report("exploring-parameters").to_frame()
    assert len(shown) == len(PAIRS)
    for row in shown.to_dict("records"):
        percent = [100 * r["error"] for r in stored(row["data_set"], row["method"]).values()]
        found = row["reproduced"], row["deviation"], row["runs"]
        assert found == pytest.approx((np.mean(percent), np.std(percent, ddof=1), len(percent)))
        sizes = [r["model_size"] for r in stored(row["data_set"], row["method"]).values()]
        assert row["support_vectors"] == np.percentile(sizes, [25, 50, 75]).tolist()


# Figure 4 of the report, by row: C, beta, support vectors, test error in percent.
PRINTED = {
    "gaussian": ([1, 0.01, 0.01, 10], [0.1, 0.1, 0.01, 1], [22, 400, 100, 99], [0.25, 6, 21.75, 5]),
    "linear": ([10, 0.01, 0.01, 1], [3, 125, 249, 392], [0, 7.25, 22, 49.5]),
}


def test_what_is_reported_is_what_the_report_prints():
    for method, rows in PRINTED.items():
        for data_set, (*chosen, size, error) in zip(
            DATA_SETS, zip(*rows, strict=True), strict=True
        ):
            assert REPORTED[data_set, method] == (tuple(chosen), size, error)


def test_what_the_records_chose_lies_on_the_grid():
    chosen = [parameters(r) for r in load_records("exploring-parameters")]
    assert {C for C, _ in chosen} <= set(C_GRID)
    assert {gamma for _, gamma in chosen} <= {None, *GAMMA_GRID}
