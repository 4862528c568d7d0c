"""From the parameter ``kernel`` to checked values."""

import numpy as np
import pytest

from svmbook import kernels
from svmbook.kernels.choice import choose_kernel

X = np.random.default_rng(0).standard_normal((12, 3))
DEFAULTS = {"gamma": "scale", "degree": 3, "coef0": 1.0}


def choose(kernel, X=X, weights=None, **params):
    weights = np.ones(len(X)) if weights is None else weights
    return choose_kernel(kernel, X, weights, **(DEFAULTS | params))


@pytest.mark.parametrize("name", kernels.KERNELS)
def test_a_function_of_ours_is_its_name(name):
    by_name, by_function = choose(name), choose(kernels.KERNELS[name][0])
    assert by_name.name == by_function.name == name
    assert str(by_name.params) == str(by_function.params)
    assert set(by_name.params) == set(kernels.KERNELS[name][1])
    np.testing.assert_array_equal(by_name.gram(X), by_function.between(X, X))


def test_the_three_kinds_of_gamma():
    assert choose("rbf").params["gamma"] == pytest.approx(1 / (3 * X.var()))
    assert choose("rbf", gamma="auto").params["gamma"] == pytest.approx(1 / 3)
    assert choose("rbf", gamma=0.2).params["gamma"] == 0.2
    assert choose("rbf", X=np.ones((4, 2))).params["gamma"] == 1.0  # no variance to divide by
    weights = np.arange(1.0, 13.0)
    repeated = choose("rbf", X=np.repeat(X, weights.astype(int), axis=0))
    assert choose("rbf", weights=weights).params == pytest.approx(repeated.params)
    assert choose("rbf", weights=1e300 * weights).params == pytest.approx(repeated.params)


def test_a_choice_is_equal_to_itself_alone():
    assert choose("poly") != choose("poly") and len({choose("poly")}) == 1


def test_what_theory_answers_for():
    assert choose("poly", coef0=0.0).known_definite
    assert choose("poly", coef0=2.0).known_definite
    assert not choose("poly", coef0=-0.1).known_definite
    assert choose("linear", coef0=-0.1).known_definite
    assert not choose(lambda A, B: A @ B.T).known_definite
    assert not choose("precomputed", X=np.eye(3)).known_definite


@pytest.mark.parametrize(
    ("answer", "message"),
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
def test_a_function_that_is_no_kernel_is_named(answer, message):
    choice = choose(lambda A, B: answer(A @ B.T))
    with pytest.raises(ValueError, match=message):
        choice.gram(X)


def test_single_precision_is_no_indefiniteness():
    K = (X @ X.T).astype(np.float32)
    assert np.linalg.eigvalsh(K.astype(float))[0] < -1e-9 * np.trace(K)
    assert choose(lambda A, B: (A @ B.T).astype(np.float32)).gram(X).dtype == np.float64


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda K: K[:, :1], r"returned shape \(5, 1\) for 5 points against 12"),
        (lambda K: K + 0j, "[Cc]omplex"),
        (lambda K: K * np.inf, "not finite on these points"),
    ],
    ids=["shape", "complex", "infinite"],
)
def test_new_points_are_checked_as_well(answer, message):
    with pytest.raises(ValueError, match=message):
        choose(lambda A, B: answer(A @ B.T)).between(X[:5], X)


def test_a_named_kernel_that_overflows_is_named():
    with pytest.raises(ValueError, match=r"kernel \(poly\).*not finite on these points"):
        choose("poly").between(1e150 * X, X)


@pytest.mark.parametrize("name", ["rbf", "poly", "linear"])
def test_data_without_squares_are_refused(name):
    huge = 1e200 * X
    with pytest.raises(ValueError, match=r"not finite.*scale the features"):
        choose(name, X=huge).gram(huge)


@pytest.mark.parametrize("size", [1e-150, 1e-3, 1e150])
def test_scale_is_one_over_the_variance_at_any_size(size):
    rng = np.random.default_rng(4)
    points, weights = rng.standard_normal((50, 3)), rng.uniform(0.5, 2, 50)
    away = points - np.average(points.mean(axis=1), weights=weights)
    variance = np.average((away**2).mean(axis=1), weights=weights)
    chosen = choose_kernel("rbf", size * points, weights, **DEFAULTS)
    assert chosen.params["gamma"] * size * size == pytest.approx(1 / (3 * variance))


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0, 7e9])
def test_points_that_are_all_the_same_have_no_scale(value):
    same = np.full((20, 3), value)
    assert choose_kernel("rbf", same, np.ones(20), **DEFAULTS).params["gamma"] == 1.0


def test_features_too_small_for_a_scale_are_named():
    with pytest.raises(ValueError, match=r"gamma='scale'.*size .*e-170; scale the features"):
        choose_kernel("rbf", 1e-170 * X, np.ones(len(X)), **DEFAULTS)
