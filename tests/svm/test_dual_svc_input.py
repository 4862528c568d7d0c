"""`DualSVC` on invalid input, and its warnings; `test_parameters` has the numeric parameters."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from svmbook import DualSVC
from svmbook.datasets import stdev


@pytest.fixture(scope="module")
def two_clouds():
    return stdev(2, n=120, random_state=0)


def test_failed_refit_leaves_the_estimator_unfitted(two_clouds):
    model = DualSVC().fit(*two_clouds)
    with pytest.raises(ValueError, match="hulls meet"):
        model.set_params(C=np.inf).fit(*two_clouds)
    with pytest.raises(NotFittedError):
        model.predict(two_clouds[0])


@pytest.mark.parametrize(
    ("name", "value"),
    [("C", "much"), ("kernel", "cosine"), ("gamma", "wide"), ("solver", "magic"), ("max_iter", 0)],
)
def test_invalid_parameters_are_reported(two_clouds, name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of DualSVC"):
        DualSVC(**{name: value}).fit(*two_clouds)


def test_invalid_kernels_are_reported(two_clouds):
    X, y = two_clouds
    with pytest.raises(ValueError, match="positive semi-definite"):
        DualSVC(kernel=lambda A, B: np.tanh(A @ B.T - 1)).fit(X, y)
    with pytest.raises(ValueError, match="not symmetric"):
        DualSVC(kernel=lambda A, B: np.abs(A[:, :1]) @ np.ones((1, len(B)))).fit(X, y)
    with pytest.raises(ValueError, match="returned shape"):
        DualSVC(kernel=lambda A, B: np.ones((len(A), 2))).fit(X, y)
    with pytest.raises(ValueError, match="not finite"):
        DualSVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="not finite"), np.errstate(over="ignore"):
        DualSVC(kernel="poly", gamma=1.0, degree=9).fit(1e40 * X, y)


@pytest.mark.parametrize("solver", ["active-set", "interior-point", "cvxopt", "smo"])
def test_warning_recommends_more_iterations(two_clouds, solver):
    with pytest.warns(ConvergenceWarning, match=r"duality gap of .* not certified.*max_iter"):
        DualSVC(kernel="rbf", C=100.0, solver=solver, max_iter=1).fit(*two_clouds)


def test_asymmetry_and_indefiniteness_are_found_despite_large_diagonal_entries():
    # With a kernel value of -3 between two points of equal labels, the multipliers of the last four
    # points are at the bound C.
    y = np.array([1, -1, 1, 1, -1, -1.0])
    asymmetric, indefinite = (-5, 5, -7, 3), (-3, -3, -3, -3)
    for entries, message in ((asymmetric, "not symmetric"), (indefinite, "semi-definite")):
        K = np.diag([1e8, 1e8, 1.0, 1, 1, 1])
        K[2, 3], K[3, 2], K[4, 5], K[5, 4] = entries
        with pytest.raises(ValueError, match=message):
            DualSVC(kernel="precomputed").fit(K, y)


def test_large_rounding_error_of_the_objective_is_reported():
    rng = np.random.default_rng(0)
    X = 2000 + rng.standard_normal((20, 2))
    y = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    with pytest.warns(ConvergenceWarning, match="relative rounding error"):
        DualSVC(kernel="poly", degree=2, solver="interior-point").fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_overflow_of_the_objective_is_reported(kernel):
    X, y = stdev(2, 150, random_state=0)
    model = DualSVC(C=1e160, kernel=kernel, solver="interior-point")
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="times C are too large"):
        model.fit(X, y)
