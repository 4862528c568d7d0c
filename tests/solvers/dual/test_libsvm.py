"""LIBSVM with the interface of the other solvers."""

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
def test_named_kernel_and_precomputed_kernel_agree(kernel, params):
    X, y = stdev(2, n=80, random_state=0)
    named_result = solve_libsvm(X, y, 1.0, kernel=kernel, **params)
    kernel_function, _ = KERNELS[kernel]
    precomputed_result = solve_libsvm(kernel_function(X, **params), y, 1.0)
    assert named_result.converged
    np.testing.assert_allclose(named_result.alpha, precomputed_result.alpha, atol=1e-8)


@pytest.mark.parametrize(
    ("kernel", "params", "message"),
    [
        ("sigmoid", {}, "kernel is 'sigmoid'; choose"),
        ("rbf", {}, "are gamma; found none"),
        ("linear", {"gamma": 1.0}, "are none; found gamma"),
    ],
)
def test_unsupported_kernels_and_wrong_kernel_parameters_raise(kernel, params, message):
    with pytest.raises(ValueError, match=message):
        solve_libsvm(np.eye(2), [1, -1], 1.0, kernel=kernel, **params)


@pytest.mark.parametrize("max_iter", [2, 20])
def test_stopped_solver_keeps_the_support_vectors_of_libsvm(max_iter):
    X, y = stdev(4, n=80, random_state=0)
    result = solve_libsvm(X, y, 1.0, kernel="rbf", gamma=0.5, max_iter=max_iter)
    with pytest.warns(ConvergenceWarning):
        svc = SVC(kernel="rbf", gamma=0.5, tol=1e-6, max_iter=max_iter).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(result.alpha), np.sort(svc.support_))
    assert not result.converged and "iteration limit reached" in result.message
