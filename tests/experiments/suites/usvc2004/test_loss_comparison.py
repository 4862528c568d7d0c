"""The suite usvc-when: its samples, and when the bounded loss reduces the error."""

import numpy as np
import pytest

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import loss_comparison


@pytest.mark.parametrize("seed", range(30))
def test_small_samples_have_at_least_two_points_of_each_class(seed):
    draw, n = loss_comparison.DATA_SETS["case-a-10"]
    _, y = draw(n, random_state=seed)
    assert len(y) == 10 and np.unique(y, return_counts=True)[1].min() >= 2


def test_chosen_loss_has_the_error_of_the_same_fixed_loss():
    records_by_key = {(r["data_set"], r["method"], r["run"]): r for r in load_records("usvc-when")}
    loss_names = {
        getattr(model, "s", 0.0): loss
        for loss, model in loss_comparison.CLASSIFIERS_BY_LOSS.items()
    }
    is_equal = []
    for (data_set, method, run), record in records_by_key.items():
        if method == loss_comparison.CHOSEN_LOSS:
            fixed_loss_record = records_by_key[data_set, loss_names[record["parameters"]["s"]], run]
            is_equal.append(fixed_loss_record["error"] == record["error"])
    assert len(is_equal) == 700 and np.mean(is_equal) > 0.99


def test_more_points_favour_the_bounded_loss_on_case_a_but_it_is_worse_on_clouds():
    rows = {(row["data_set"], row["method"]): row for row in report("usvc-when").rows}
    differences = [
        rows[f"case-a-{n}", "s = 2"]["difference"] for n in loss_comparison.CASE_A_TRAINING_SIZES
    ]
    assert differences == sorted(differences, reverse=True)
    assert all(
        rows[f"clouds-{n}", "s = 2"]["difference"] > 0
        for n in loss_comparison.CLOUDS_TRAINING_SIZES
    )
