"""The parameter ``kernel``: its resolution to a kernel, and the checks of the values."""

import numpy as np
import pytest

from svmbook import kernels
from svmbook.kernels.kernel import resolve_kernel

X = np.random.default_rng(0).standard_normal((12, 3))
DEFAULTS = {"gamma": "scale", "degree": 3, "coef0": 1.0}


def resolve(kernel, X=X, weights=None, **params):
    weights = np.ones(len(X)) if weights is None else weights
    return resolve_kernel(kernel, X, weights, **(DEFAULTS | params))


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_kernel_function_of_the_package_is_equivalent_to_the_kernel_name(name):
    named_kernel, function_kernel = resolve(name), resolve(kernels.KERNELS[name][0])
    assert named_kernel.name == function_kernel.name == name
    assert str(named_kernel.params) == str(function_kernel.params)
    assert set(named_kernel.params) == set(kernels.KERNELS[name][1])
    np.testing.assert_array_equal(named_kernel.gram(X), function_kernel.values(X, X))


def test_gamma_may_be_scale_auto_or_a_number():
    assert resolve("rbf").params["gamma"] == pytest.approx(1 / (3 * X.var()))
    assert resolve("rbf", gamma="auto").params["gamma"] == pytest.approx(1 / 3)
    assert resolve("rbf", gamma=0.2).params["gamma"] == 0.2
    weights = np.arange(1.0, 13.0)
    kernel_of_repeated_points = resolve("rbf", X=np.repeat(X, weights.astype(int), axis=0))
    assert resolve("rbf", weights=weights).params == pytest.approx(kernel_of_repeated_points.params)
    assert resolve("rbf", weights=1e300 * weights).params == pytest.approx(
        kernel_of_repeated_points.params
    )


def test_resolved_kernels_are_hashable_and_compared_by_identity():
    assert resolve("poly") != resolve("poly") and len({resolve("poly")}) == 1


def test_named_kernels_are_known_definite_unless_a_negative_coef0_is_used():
    assert resolve("poly", coef0=0.0).is_known_definite
    assert resolve("poly", coef0=2.0).is_known_definite
    assert not resolve("poly", coef0=-0.1).is_known_definite
    assert resolve("linear", coef0=-0.1).is_known_definite
    assert not resolve(lambda A, B: A @ B.T).is_known_definite
    assert not resolve("precomputed", X=np.eye(3)).is_known_definite


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (lambda K: K[:, :2], r"returned shape \(12, 2\) for 12 points against 12"),
        (lambda K: K + 0j, "[Cc]omplex"),
        (lambda K: K * np.nan, "not finite"),
        (lambda K: None, r"returned shape \(\)"),
        (lambda K: K + np.triu(np.ones_like(K)), "not symmetric"),
        (lambda K: K - 20 * np.eye(12), "negative"),
        (lambda K: K - 0.1, "semi-definite"),
    ],
    ids=["shape", "complex", "NaN", "None", "asymmetric", "diagonal", "indefinite"],
)
def test_invalid_gram_matrix_is_refused(corrupt, message):
    kernel = resolve(lambda A, B: corrupt(A @ B.T))
    with pytest.raises(ValueError, match=message):
        kernel.gram(X)


def test_rounding_errors_of_single_precision_are_accepted():
    K = (X @ X.T).astype(np.float32)
    assert np.linalg.eigvalsh(K.astype(float))[0] < -1e-9 * np.trace(K)
    assert resolve(lambda A, B: (A @ B.T).astype(np.float32)).gram(X).dtype == np.float64


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (lambda K: K[:, :1], r"returned shape \(5, 1\) for 5 points against 12"),
        (lambda K: K + 0j, "[Cc]omplex"),
        (lambda K: K * np.inf, "not finite on these points"),
    ],
    ids=["shape", "complex", "infinite"],
)
def test_invalid_values_at_new_points_are_refused(corrupt, message):
    with pytest.raises(ValueError, match=message):
        resolve(lambda A, B: corrupt(A @ B.T)).values(X[:5], X)


def test_error_on_overflow_names_the_kernel():
    with pytest.raises(ValueError, match=r"kernel \(poly\).*not finite on these points"):
        resolve("poly").values(1e150 * X, X)


@pytest.mark.parametrize("name", ["rbf", "poly", "linear"])
def test_data_whose_squares_overflow_are_refused(name):
    huge_X = 1e200 * X
    with pytest.raises(ValueError, match=r"not finite.*scale the features"):
        resolve(name, X=huge_X).gram(huge_X)


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e150])
def test_gamma_scale_uses_the_weighted_variance_of_features_of_any_scale(scale):
    rng = np.random.default_rng(4)
    points, weights = rng.standard_normal((50, 3)), rng.uniform(0.5, 2, 50)
    centred_points = points - np.average(points.mean(axis=1), weights=weights)
    variance = np.average((centred_points**2).mean(axis=1), weights=weights)
    gamma = resolve("rbf", X=scale * points, weights=weights).params["gamma"]
    assert gamma * scale * scale == pytest.approx(1 / (3 * variance))


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0, 7e9])
def test_gamma_scale_is_one_for_constant_data(value):
    assert resolve("rbf", X=np.full((20, 3), value)).params["gamma"] == 1.0


def test_features_too_small_for_gamma_scale_are_refused():
    with pytest.raises(ValueError, match=r"gamma='scale'.*size .*e-170; scale the features"):
        resolve("rbf", X=1e-170 * X)
