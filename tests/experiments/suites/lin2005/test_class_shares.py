"""The suite class-shares: the class sizes of its samples, and the effect of the intercept."""

import numpy as np
import pytest
from records import skip_without_table

from svmbook import DualSVC
from svmbook.experiments import report
from svmbook.experiments.suites.lin2005 import class_shares


@pytest.mark.parametrize("data_set", class_shares.DATA_SETS)
def test_training_sets_have_the_stated_class_sizes(data_set):
    if data_set.startswith("sonar"):
        skip_without_table("sonar")
    parts = class_shares.draw_samples(data_set, 2)
    smaller, larger = sorted((np.sum(parts.y_train > 0), np.sum(parts.y_train < 0)))
    sizes = class_shares.DATA_SETS[data_set]
    if sizes is None:
        assert larger > smaller and larger + smaller == 124
    elif sizes == "equal":
        assert larger == smaller
    else:
        assert (larger, smaller) == sizes


@pytest.mark.parametrize("C", [0.25, 10.0])
def test_intercept_for_an_identity_gram_matrix_equals_its_closed_form(C):
    y = np.repeat([1.0, -1.0], [80, 70])
    model = DualSVC(C=C, kernel="precomputed", tol=1e-10).fit(np.eye(150), y)
    expected = 1 - C * 70 / 80 if C < 1 else y.mean()
    assert model.intercept_[0] == pytest.approx(expected, abs=1e-6)


def test_deep_kernel_is_worse_than_the_shallow_one_only_with_its_intercept():
    rows = {(row["data_set"], row["method"]): row for row in report("class-shares").rows}
    for data_set in ("sonar", "threenorm-60, 80:70"):
        assert rows[data_set, "L = 60"]["difference"] > 20
        assert rows[data_set, "L = 60, b = 0"]["difference"] < 0
