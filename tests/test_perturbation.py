"""Fits agree on data perturbed by a relative 1e-15, which simulates another processor's rounding.

Discrete attributes must be equal: support vectors, exemplars, stumps, histories. Numbers must agree
up to the tolerance of the stopping rule; iteration counts and certificates may differ.
"""

import warnings

import numpy as np
import pytest
from perturbation import SEEDS, perturb
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from test_sklearn_api import ESTIMATORS

from svmbook import DualSVC, ExemplarSVM, LocalizedSVM, PrototypeSVM
from svmbook.datasets import xor
from svmbook.kernels import KERNELS
from svmbook.solvers import solve_dual_batch

TOLERANCE = 1e-3  # that of the stopping rules, relative to max(1, largest absolute entry)
ALWAYS_EXCLUDED_ATTRIBUTES = {"estimators_", "relative_gap_", "kkt_residual_", "n_iter_"}
MULTIPLIER_ATTRIBUTES = {
    *("alpha_", "bounded_support_", "dual_coef_", "free_support_", "n_support_", "support_"),
    *("support_vectors_",),
}
LP_VERTEX_ATTRIBUTES = {"coef_", "intercept_", "members_", "outputs", "prototypes_"}


def moons():
    return make_moons(40, noise=0.25, random_state=0)


def integers():
    """Return points with small integer coordinates; some repeat, even with different labels."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (40, 3)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.standard_normal(40) > 4).astype(int)


def grid():
    """Return a square grid with equal labels in opposite quadrants; many comparisons tie."""
    X = np.indices((6, 6)).reshape(2, -1).T - 2.5
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def corners():
    return xor(4)


def iris():
    X, y = load_iris(return_X_y=True)
    return X[::4], y[::4]


GENERATORS = {generate.__name__: generate for generate in (moons, integers, grid, corners, iris)}


def seeded_models():
    """Return all estimators, some with several kernels or voting rules, with random_state=0."""
    voting_models = [
        cls(voting=voting, metric=metric, n_neighbors=n_neighbors)
        for cls in (ExemplarSVM, PrototypeSVM)
        for voting, metric, n_neighbors in [
            ("local", "euclidean", None),
            ("local", "chebyshev", 3),
            ("majority", "manhattan", None),
            ("probability", "manhattan", None),
        ]
    ]
    estimators = [*ESTIMATORS, *(DualSVC(kernel=name) for name in KERNELS), *voting_models]
    for estimator in estimators:
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
    estimators_by_repr = {repr(estimator): estimator for estimator in estimators}
    return [model for name, model in estimators_by_repr.items() if "precomputed" not in name]


def fit_clone(estimator, X, y):
    """Return a fitted clone; fits that stop early must agree as well, so warnings are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(X, y)


def disagreements(first, second, path=""):
    """Yield a message for each difference between two nested values."""
    if isinstance(first, np.ndarray | float) and np.asarray(first).dtype.kind != "O":
        first, second = np.asarray(first), np.asarray(second)
        if first.shape != second.shape:
            yield f"{path}: shape {first.shape} and {second.shape}"
        elif first.dtype.kind != "f":
            if (first != second).any():
                yield f"{path}: {(first != second).sum()} of {first.size} differ"
        elif not np.allclose(first, second, rtol=0, atol=TOLERANCE * scale(first), equal_nan=True):
            yield f"{path}: differ by up to {np.abs(first - second).max():.1e}"
    elif isinstance(first, dict):
        for key in first.keys() | second.keys():
            yield from disagreements(first.get(key), second.get(key), f"{path} {key}")
    elif isinstance(first, list | tuple | np.ndarray):
        if len(first) != len(second):
            yield f"{path}: length {len(first)} and {len(second)}"
        else:
            for a, b in zip(first, second, strict=True):
                yield from disagreements(a, b, path)
    elif first is None or isinstance(first, int | str | np.generic):
        if first != second:
            yield f"{path}: {first} and {second}"
    else:
        yield from disagreements(vars(first), vars(second), f"{path}.{type(first).__name__}")


def scale(values):
    return max(1.0, np.abs(values[np.isfinite(values)]).max(initial=0.0))


def nonunique_attributes(model, data_set):
    """Return the attributes that the problem does not determine uniquely.

    With repeated points, or with the polynomial kernel on the grid, the multipliers are not unique;
    only the decision function is. With the l1 penalty, a linear program may have several optimal
    vertices. If their input is exactly the same, HiGHS returns the same vertex, and LIBSVM the same
    multipliers, on each processor.
    """
    has_repeated_points = data_set in ("integers", "corners")
    is_polynomial_on_grid = data_set == "grid" and getattr(model, "kernel", "") == "poly"
    attributes = (
        MULTIPLIER_ATTRIBUTES
        if isinstance(model, DualSVC) and (has_repeated_points or is_polynomial_on_grid)
        else set()
    )
    if getattr(model, "penalty", "") == "l1" and data_set in ("integers", "grid", "corners"):
        attributes = MULTIPLIER_ATTRIBUTES | LP_VERTEX_ATTRIBUTES
    return attributes


def values_to_compare(model, X, excluded):
    """Return the fitted attributes and outputs of a model that are not excluded."""
    mixtures = 0.6 * X[:20] + 0.4 * X[-20:][::-1]
    outputs = getattr(model, "decision_function", None) or model.predict_proba
    values = {name: value for name, value in vars(model).items() if name.endswith("_")}
    values["outputs"] = outputs(np.concatenate([X[:20], mixtures]))
    excluded = excluded | ALWAYS_EXCLUDED_ATTRIBUTES
    return {n: v for n, v in values.items() if not n.startswith("_") and n not in excluded}


@pytest.mark.parametrize("data_set", GENERATORS)
@pytest.mark.parametrize("model", seeded_models(), ids=repr)
def test_fit_does_not_depend_on_the_last_bits_of_the_data(model, data_set):
    X, y = GENERATORS[data_set]()
    if not model.__sklearn_tags__().classifier_tags.multi_class:
        X, y = X[y < 2], y[y < 2]
    excluded, messages = nonunique_attributes(model, data_set), []
    original = values_to_compare(fit_clone(model, X, y), X, excluded)
    for seed in SEEDS:
        X_perturbed = perturb(X, seed)
        perturbed_values = values_to_compare(
            fit_clone(model, X_perturbed, y), X_perturbed, excluded
        )
        messages += [
            f"seed {seed}{message}" for message in disagreements(original, perturbed_values)
        ]
    assert not messages, "\n".join(messages)


@pytest.mark.parametrize("n_positive", [1, 2, 3])
@pytest.mark.parametrize("C", [0.3, 1.0, 3.0])
def test_intercept_that_is_not_unique_is_the_midpoint_of_its_interval(C, n_positive):
    # A multiplier that is 1e-16 because of rounding must be treated as zero, not as free. If no
    # multiplier is free, the intercept is bounded by values of e = y - f, where f is the decision
    # function without the intercept.
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-2, 2, (300, 8, 2)), np.where(np.arange(8) < n_positive, 1.0, -1.0)
    original = solve_batch(X, y, C)
    alpha = original.alpha
    at_bound = (alpha < 1e-9 * C) | (alpha > (1 - 1e-9) * C)
    bounded_problems = np.flatnonzero(at_bound.all(axis=1))
    assert len(bounded_problems) >= 5
    e = y - np.einsum("pij,pj->pi", gram(X), y * alpha)
    # Whether y * alpha may increase, if alpha is at a bound; otherwise it may decrease.
    may_increase = np.where(y > 0, alpha < 0.5 * C, alpha > 0.5 * C)
    low = np.where(may_increase, e, -np.inf).max(axis=1)
    high = np.where(may_increase, np.inf, e).min(axis=1)
    midpoints = 0.5 * (low + high)[bounded_problems]
    np.testing.assert_allclose(original.intercept[bounded_problems], midpoints, atol=1e-9)
    for seed in SEEDS:
        result = solve_batch(perturb(X, seed), y, C)
        np.testing.assert_allclose(result.intercept, original.intercept, rtol=0, atol=1e-6)


def gram(X):
    return X @ X.transpose(0, 2, 1)


def solve_batch(X, y, C):
    return solve_dual_batch(gram(X), np.broadcast_to(y, X.shape[:2]), C, tol=1e-12)


def test_grid_search_selects_the_same_parameters_on_perturbed_data():
    X, y = moons()
    arrays = X, *(perturb(X, seed) for seed in SEEDS)
    for model, parameter_grid in (
        (DualSVC(kernel="rbf"), {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.3, 1.0, 3.0]}),
        (LocalizedSVM(n_neighbors=10), {"C": [1.0, 10.0], "gamma": [0.3, 3.0]}),
    ):
        search = GridSearchCV(model, parameter_grid, cv=3)
        selected = [search.fit(Z, y).best_params_ for Z in arrays]
        assert all(parameters == selected[0] for parameters in selected)
