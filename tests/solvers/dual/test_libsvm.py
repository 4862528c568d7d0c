"""LIBSVM behind the interface of the other solvers."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from svmbook.datasets import stdev
from svmbook.kernels import KERNELS
from svmbook.solvers import solve_libsvm


@pytest.mark.parametrize(
    ("kernel", "params"),
    [("linear", {}), ("rbf", {"gamma": 0.3}), ("poly", {"gamma": 0.5, "coef0": 0.7, "degree": 2})],
)
def test_libsvm_by_name_is_libsvm_on_the_matrix(kernel, params):
    X, y = stdev(2, n=80, random_state=0)
    by_name = solve_libsvm(X, y, 1.0, kernel=kernel, **params)
    function, _ = KERNELS[kernel]
    by_matrix = solve_libsvm(function(X, **params), y, 1.0)
    assert by_name.converged
    np.testing.assert_allclose(by_name.alpha, by_matrix.alpha, atol=1e-8)


@pytest.mark.parametrize(
    ("kernel", "params", "message"),
    [
        ("sigmoid", {}, "LIBSVM knows"),
        ("rbf", {}, "are gamma; found none"),
        ("linear", {"gamma": 1.0}, "are none; found gamma"),
    ],
)
def test_libsvm_wants_the_parameters_that_the_kernel_reads(kernel, params, message):
    with pytest.raises(ValueError, match=message):
        solve_libsvm(np.eye(2), [1, -1], 1.0, kernel=kernel, **params)


@pytest.mark.parametrize("max_iter", [2, 20])
def test_what_was_stopped_has_the_support_of_libsvm(max_iter):
    X, y = stdev(4, n=80, random_state=0)
    result = solve_libsvm(X, y, 1.0, kernel="rbf", gamma=0.5, max_iter=max_iter)
    with pytest.warns(ConvergenceWarning):
        machine = SVC(kernel="rbf", gamma=0.5, tol=1e-6, max_iter=max_iter).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(result.alpha), np.sort(machine.support_))
    assert not result.converged and "used up" in result.message
