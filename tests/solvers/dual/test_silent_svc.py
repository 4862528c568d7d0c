"""LIBSVM without checks of the labels gives the multipliers of scikit-learn's SVC."""

import numpy as np
import pytest
from sklearn.svm import SVC
from svm_problems import overlapping_problem

from svmbook.solvers.dual.silent_svc import SilentSVC, fit_multipliers


@pytest.mark.parametrize("C", [0.5, 50.0])
def test_labels_that_are_not_checked_give_the_solution_of_svc(C):
    K, y = overlapping_problem(60)
    bounds = C * np.random.default_rng(0).uniform(0.5, 2.0, 60)
    params = {"C": 1.0, "kernel": "precomputed"}
    alpha = fit_multipliers(SilentSVC(**params), K, y, bounds)
    svc = SVC(**params).fit(K, y, sample_weight=bounds)
    np.testing.assert_array_equal(y[svc.support_] * alpha[svc.support_], svc.dual_coef_[0])
    assert np.count_nonzero(alpha) == len(svc.support_)
