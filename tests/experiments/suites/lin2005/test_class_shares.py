"""Unequal classes and deep leaves: what the divisions hold, and what the intercept becomes."""

import numpy as np
import pytest
from records import needs_table

from svmbook import DualSVC
from svmbook.experiments import report
from svmbook.experiments.suites.lin2005 import class_shares as suite


@pytest.mark.parametrize("data_set", suite.DATA_SETS)
def test_training_sets_have_the_classes_that_they_name(data_set):
    if data_set.startswith("sonar"):
        needs_table("sonar")
    parts = suite.division(data_set, 2)
    larger, smaller = sorted((np.sum(parts.y_train > 0), np.sum(parts.y_train < 0)))[::-1]
    wanted = suite.DATA_SETS[data_set]
    if wanted is None:
        assert larger > smaller and larger + smaller == 124
    elif wanted == "equal":
        assert larger == smaller
    else:
        assert (larger, smaller) == wanted


@pytest.mark.parametrize("C", [0.25, 10.0])
def test_the_intercept_of_an_identity_matrix_is_that_of_the_chapter(C):
    y = np.repeat([1.0, -1.0], [80, 70])
    fitted = DualSVC(C=C, kernel="precomputed", tol=1e-10).fit(np.eye(150), y)
    wanted = 1 - C * 70 / 80 if C < 1 else y.mean()
    assert fitted.intercept_[0] == pytest.approx(wanted, abs=1e-6)


def test_without_its_intercept_the_deep_kernel_is_no_worse_than_the_shallow_one():
    rows = {(row["data_set"], row["method"]): row for row in report("class-shares").rows}
    for data_set in ("sonar", "threenorm-60, 80:70"):
        assert rows[data_set, "L = 60"]["difference"] > 20
        assert rows[data_set, "L = 60, b = 0"]["difference"] < 0
