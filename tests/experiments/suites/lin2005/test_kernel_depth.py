"""The suite kernel-depth: its samples, repeated runs, and `paired_summaries` of given records."""

import numpy as np
import pytest
from records import check_repeated_run, committed_record, committed_values, make_store

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.lin2005 import kernel_depth
from svmbook.experiments.suites.paired import paired_summaries
from svmbook.kernels.ensembles import bounding_box, stump_mass


@pytest.mark.parametrize(
    ("data_set", "method"),
    [
        ("moons", "regions, L = 2"),
        ("threenorm", "leaves, L = d"),
        ("threenorm-60", "leaves, L = d"),
    ],
)
def test_run_reproduces_its_committed_record(data_set, method):
    check_repeated_run("kernel-depth", {"error": 0.004}, data_set=data_set, method=method, run=4)


def test_each_run_draws_new_training_and_test_points():
    parts_by_run = [kernel_depth.draw_samples("threenorm-60", run) for run in range(3)]
    for parts in parts_by_run:
        assert parts.X_train.shape == (150, 60) and parts.X_test.shape == (3000, 60)
    first_values = [row[0] for parts in parts_by_run for row in (parts.X_train[0], parts.X_test[0])]
    assert len(set(first_values)) == 6
    repeated_parts = kernel_depth.draw_samples("threenorm-60", 1)
    np.testing.assert_array_equal(repeated_parts.X_train, parts_by_run[1].X_train)


def test_recorded_depth_is_equivalent_to_gamma():
    for record in load_records("kernel-depth"):
        assert ("equivalent_depth" in record) == (record["method"] == "Laplacian")
    stored = committed_record("kernel-depth", data_set="threenorm", method="Laplacian", run=7)
    box = bounding_box(kernel_depth.draw_samples("threenorm", 7).X_train)
    gamma = stored["equivalent_depth"] / (2 * stump_mass(box))
    assert gamma == pytest.approx(stored["parameters"]["gamma"], rel=1e-4)


def test_depth_20_is_better_than_depth_60_with_60_features():
    errors = committed_values("kernel-depth", factor=100)
    gain = errors["threenorm-60", "leaves, L = d"] - errors["threenorm-60", "leaves, L = 20"]
    assert gain.mean() > 1.0 and np.sum(gain > 0) > 20


def test_only_common_runs_are_compared():
    records = [
        {"data_set": "moons", "method": method, "run": run, "error": error}
        for method, errors in {"a": (0.1, 0.2, 0.3, 0.9), "b": (0.3, 0.2, 0.1)}.items()
        for run, error in enumerate(errors)
    ]
    mean, difference = paired_summaries(records, "moons", "a", "b", factor=1.0)
    assert mean.n_values == difference.n_values == 3
    assert mean.mean == pytest.approx(0.2) and difference.mean == pytest.approx(0.0)
    assert difference.deviation == pytest.approx(0.2)
    assert paired_summaries(records[:1] + records[4:], "moons", "a", "b") is None


def test_table_of_incomplete_records_has_empty_cells(tmp_path):
    records = [r for r in load_records("kernel-depth") if r["run"] < 2 and "leaves" in r["method"]]
    store = make_store(tmp_path / "runs.jsonl", records)
    table_rows = report("kernel-depth", store, table="sixty-features").table.rows
    assert [table_row[1] for table_row in table_rows] == ["leaves, L = d", "leaves, L = 20"]
    # The reference method has no runs here.
    assert {table_row[-1] for table_row in report("kernel-depth", store).table.rows} == {""}
