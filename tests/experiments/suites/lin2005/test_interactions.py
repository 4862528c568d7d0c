"""The suite on interactions: its samples, its runs, and what errors and forecasts show."""

import numpy as np
import pytest
from records import committed, committed_values, store_of

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.lin2005 import interactions

DATA_SETS = ("c = 0", "c = 1", "c = 2", "c = 4")


def values_of(data_set, method, field="error"):
    """Return what is committed, in the order of the runs."""
    return committed_values("interactions", field)[data_set, method]


@pytest.mark.parametrize("method", interactions.METHODS)
def test_a_committed_run_can_be_done_again(method):
    stored = committed("interactions", data_set="c = 2", method=method, run=3)
    again = interactions.work("c = 2", method, 3)
    assert again["seed"] == stored["seed"] and again["parameters"] == stored["parameters"]
    assert again["error"] == pytest.approx(stored["error"], abs=0.004)
    assert again.get("log_loss", 0) == pytest.approx(stored.get("log_loss", 0), abs=1e-3)


def test_the_labels_follow_the_log_odds():
    X, y = interactions.mixed(4, 200_000, random_state=0)
    x_1, x_2 = X.T
    odds = 3 * (x_1 + x_2 + 4 * x_1 * x_2)
    for low, high in ((-2.0, -1.0), (-0.5, 0.5), (1.0, 2.0)):
        near = (low < odds) & (odds < high)
        law = 1 / (1 + np.exp(-odds[near]))
        assert np.mean(y[near] > 0) == pytest.approx(law.mean(), abs=0.02)
    parts = interactions.draw("c = 4", 2)
    assert len(parts.y_train) == 300 and len(parts.y_test) == 3000
    assert not np.isin(parts.X_train[:, 0], parts.X_test[:, 0]).any()


def test_differences_are_paired():
    rows = {(r["data_set"], r["method"]): r for r in report("interactions").rows}
    for data_set in DATA_SETS:
        row = rows[data_set, "additive"]
        errors = values_of(data_set, "additive"), values_of(data_set, "Gaussian SVM")
        more = 100 * np.subtract(*errors)
        assert row["error"] == pytest.approx(100 * errors[0].mean())
        assert row["difference"] == pytest.approx(more.mean())
        assert row["difference_se"] == pytest.approx(more.std(ddof=1) / 30**0.5)
        with_product = values_of(data_set, "additive with product")
        assert row["product_difference"] == pytest.approx(100 * np.mean(errors[0] - with_product))
        losses = np.subtract(
            *(values_of(data_set, m, "log_loss") for m in interactions.METHODS[:2])
        )
        assert row["log_loss_difference"] == pytest.approx(losses.mean())
        assert row["log_loss_difference_se"] == pytest.approx(losses.std(ddof=1) / 30**0.5)
        assert "difference" not in rows[data_set, "Gaussian SVM"]


def test_the_product_helps_every_forecast_once_the_interaction_is_strong():
    for data_set in ("c = 2", "c = 4"):
        alone = values_of(data_set, "additive", "log_loss")
        assert (alone > values_of(data_set, "additive with product", "log_loss")).all()


def test_a_part_of_the_runs_has_a_table(tmp_path):
    records = [r for r in load_records("interactions") if r["run"] < 2]
    store = store_of(
        tmp_path / "runs.jsonl",
        [r for r in records if r["data_set"] == "c = 1" and r["method"] != "additive with product"],
    )
    (line,) = report("interactions", store).table.rows
    assert line[0] == "1" and "±" in line[3]
    assert [k for k, cell in enumerate(line) if not cell] == [1, 2, 5]
