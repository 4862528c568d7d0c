"""The suite interactions: its samples, repeated runs, errors and log losses."""

import numpy as np
import pytest
from records import check_repeated_run, committed_values, make_store

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.lin2005 import interactions


def values_of(data_set, method, field="error"):
    """Return the committed values of a field in the order of the runs."""
    return committed_values("interactions", field)[data_set, method]


@pytest.mark.parametrize("method", interactions.METHODS)
def test_run_reproduces_its_committed_record(method):
    tolerances = {"error": 0.004, "log_loss": 1e-3}
    check_repeated_run("interactions", tolerances, data_set="c = 2", method=method, run=3)


def test_labels_follow_the_log_odds():
    X, y = interactions.draw_with_interaction(4, 200_000, random_state=0)
    x_1, x_2 = X.T
    log_odds = 3 * (x_1 + x_2 + 4 * x_1 * x_2)
    for low, high in ((-2.0, -1.0), (-0.5, 0.5), (1.0, 2.0)):
        in_bin = (low < log_odds) & (log_odds < high)
        probability = 1 / (1 + np.exp(-log_odds[in_bin]))
        assert np.mean(y[in_bin] > 0) == pytest.approx(probability.mean(), abs=0.02)


def test_training_and_test_points_of_a_run_differ():
    parts = interactions.draw_samples("c = 4", 2)
    assert len(parts.y_train) == 300 and len(parts.y_test) == 3000
    assert not np.isin(parts.X_train[:, 0], parts.X_test[:, 0]).any()


@pytest.mark.parametrize(
    ("field", "factor", "difference_field"),
    [("error", 100, "difference_from_product"), ("log_loss", 1, "log_loss_difference")],
)
def test_differences_from_the_model_with_the_product_are_paired(field, factor, difference_field):
    rows = {(r["data_set"], r["method"]): r for r in report("interactions").rows}
    for data_set in interactions.DATA_SETS:
        additive, product = (values_of(data_set, m, field) for m in interactions.METHODS[:2])
        differences = factor * (additive - product)
        row = rows[data_set, "additive"]
        assert row[difference_field] == pytest.approx(differences.mean())
        assert row[f"{difference_field}_se"] == pytest.approx(differences.std(ddof=1) / 30**0.5)


def test_product_improves_the_log_loss_of_every_run_with_a_strong_interaction():
    for data_set in ("c = 2", "c = 4"):
        additive = values_of(data_set, "additive", "log_loss")
        assert (additive > values_of(data_set, "additive with product", "log_loss")).all()


def test_table_of_incomplete_records_has_empty_cells(tmp_path):
    records = [r for r in load_records("interactions") if r["run"] < 2]
    store = make_store(
        tmp_path / "runs.jsonl",
        [r for r in records if r["data_set"] == "c = 1" and r["method"] != "additive with product"],
    )
    (table_row,) = report("interactions", store).table.rows
    assert table_row[0] == "1" and "±" in table_row[3]
    assert [k for k, cell in enumerate(table_row) if not cell] == [1, 2, 5]
