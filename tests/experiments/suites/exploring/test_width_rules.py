"""The suite on rules for the kernel width: its samples, runs and paired differences."""

import numpy as np
import pytest
from records import check_repeated_run, committed_record, committed_values, make_store
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.exploring import width_rules


def committed_errors(data_set, method):
    """Return the committed errors in percent, in the order of the runs."""
    return committed_values("width-rules", factor=100)[data_set, method]


@pytest.mark.parametrize(
    ("data_set", "method"),
    [("stripes", "grid"), ("ringnorm", "median"), ("nonSep", "scale")],
)
def test_run_reproduces_its_committed_record(data_set, method):
    check_repeated_run("width-rules", {"error": 0.004}, data_set=data_set, method=method, run=6)


def test_samples_differ_between_parts_and_runs_and_are_reproducible():
    parts = [part for run in range(2) for part in width_rules.draw_samples("stripes", run)]
    assert [len(y) for _, y in parts] == [400, 400, 4000] * 2
    assert len({X[0, 0] for X, _ in parts}) == 6
    np.testing.assert_array_equal(width_rules.draw_samples("stripes", 1)[0][0], parts[3][0])


def test_rules_agree_with_their_definitions():
    X, y = width_rules.draw_samples("ringnorm", 3)[0]
    squared_distances = euclidean_distances(X, squared=True)[np.triu_indices(len(X), k=1)]
    assert 1.0 / width_rules.median_rule(X) == pytest.approx(np.median(squared_distances))
    outputs, expected = (
        SVC(gamma=gamma).fit(X, y).decision_function(X)
        for gamma in (width_rules.scale_rule(X), "scale")
    )
    np.testing.assert_allclose(outputs, expected, atol=1e-9)
    record = committed_record("width-rules", data_set="ringnorm", method="median", run=3)
    assert 1.0 / record["parameters"]["gamma"] == pytest.approx(
        np.median(squared_distances), rel=1e-3
    )


def test_grid_method_has_the_smallest_validation_error_on_its_grid():
    train, validation, _ = width_rules.draw_samples("threenorm", 2)
    record = committed_record("width-rules", data_set="threenorm", method="grid", run=2)
    errors = [
        1 - SVC(C=C, gamma=gamma).fit(*train).score(*validation)
        for C in (0.1, 1.0, 10.0)
        for gamma in width_rules.GAMMA_GRID_20D
    ]
    assert record["validation_error"] == pytest.approx(min(errors), abs=0.005)


def test_rules_have_much_larger_errors_than_the_grid_on_the_stripes_only():
    for method in width_rules.RULES:
        for data_set in width_rules.DATA_SETS:
            differences = committed_errors(data_set, method) - committed_errors(data_set, "grid")
            if data_set == "stripes":
                assert differences.min() > 10
            else:
                assert differences.mean() < 0.8
                assert (np.sum(differences > 0) > 24) == (data_set == "ringnorm")


def test_table_of_incomplete_records_has_empty_cells(tmp_path):
    records = [r for r in load_records("width-rules") if r["run"] < 2 and r["method"] == "grid"]
    store = make_store(tmp_path / "runs.jsonl", [r for r in records if r["data_set"] == "stripes"])
    (table_row,) = report("width-rules", store).table.rows
    assert tuple(table_row[:2]) == ("stripes", "grid") and table_row[4] == ""
