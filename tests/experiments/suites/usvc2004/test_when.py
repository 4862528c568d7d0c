"""When the bounded loss pays: samples with both classes, and a choice that is one of its parts."""

import numpy as np
import pytest

from svmbook.experiments import load_records, report
from svmbook.experiments.suites.usvc2004 import when as suite


@pytest.mark.parametrize("seed", range(30))
def test_small_samples_have_at_least_two_points_of_each_class(seed):
    draw, n = suite.DATA_SETS["case-a-10"]
    _, y = draw(n, random_state=seed)
    assert len(y) == 10 and np.unique(y, return_counts=True)[1].min() >= 2


def test_the_chosen_loss_errs_as_often_as_the_one_that_it_chose():
    of = {(r["data_set"], r["method"], r["run"]): r for r in load_records("usvc-when")}
    loss_of = {getattr(loss, "s", 0.0): name for name, loss in suite.LOSSES.items()}
    agree = []
    for (data_set, method, run), record in of.items():
        if method == suite.CHOSEN_LOSS:
            fixed = of[data_set, loss_of[record["parameters"]["s"]], run]
            agree.append(fixed["error"] == record["error"])
    assert len(agree) == 700 and np.mean(agree) > 0.99


def test_the_gain_grows_with_the_number_of_points():
    rows = {(row["data_set"], row["method"]): row for row in report("usvc-when").rows}
    gains = [rows[f"case-a-{n}", "s = 2"]["difference"] for n in suite.SIZES]
    assert gains == sorted(gains, reverse=True)
    assert all(rows[f"clouds-{n}", "s = 2"]["difference"] > 0 for n in suite.CLOUD_SIZES)
