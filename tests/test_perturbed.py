"""Fits of data moved by a relative 1e-15 agree: it shows here what another processor would find.

Decisions must agree: predictions away from the boundary, supports, exemplars, stumps, histories.
Numbers agree as far as a stopping rule leaves them free; counts of steps and certificates need not.
"""

import warnings

import numpy as np
import pytest
from perturbation import DRAWS, perturbed
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from test_sklearn_api import ESTIMATORS

from svmbook import DualSVC, ExemplarSVM, LocalizedSVM, PrototypeSVM
from svmbook.datasets import xor
from svmbook.kernels import KERNELS
from svmbook.solvers import solve_dual_batch

CLOSE = 1e-3  # of the largest number of an array, or of one: what a stopping rule leaves free
CERTIFICATES = {"estimators_", "relative_gap_", "kkt_residual_", "n_iter_"}
MULTIPLIERS = {
    *("alpha_", "bounded_support_", "dual_coef_", "free_support_", "n_support_", "support_"),
    *("support_vectors_",),
}
LP_VERTEX = {"coef_", "intercept_", "outputs", "prototypes_"}


def moons():
    return make_moons(40, noise=0.25, random_state=0)


def integers():
    """Points of small integers, some of them twice and with both labels."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (40, 3)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.standard_normal(40) > 4).astype(int)


def grid():
    """A square of points, opposite quarters of one class: whatever is compared ties."""
    X = np.indices((6, 6)).reshape(2, -1).T - 2.5
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def corners():
    return xor(4)


def iris():
    X, y = load_iris(return_X_y=True)
    return X[::4], y[::4]


DATA = {draw.__name__: draw for draw in (moons, integers, grid, corners, iris)}


def varied():
    """Return the estimators of the list, with a seed, and those of kernels and votes it lacks."""
    local = [
        cls(voting=voting, metric=metric, n_neighbors=n_neighbors)
        for cls in (ExemplarSVM, PrototypeSVM)
        for voting, metric, n_neighbors in [
            ("local", "euclidean", None),
            ("local", "chebyshev", 3),
            ("count", "manhattan", None),
            ("probability", "manhattan", None),
        ]
    ]
    every = [*ESTIMATORS, *(DualSVC(kernel=name) for name in KERNELS), *local]
    for estimator in every:
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
    unique = {repr(estimator): estimator for estimator in every}
    return [machine for machine in unique.values() if "precomputed" not in repr(machine)]


def fitted(estimator, X, y):
    """Return a fit; one that stops early agrees as well, or is an error of the same kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(estimator).fit(X, y)


def disagreements(first, second, path=""):
    """Yield where two nested values differ."""
    if isinstance(first, np.ndarray | float) and np.asarray(first).dtype.kind != "O":
        first, second = np.asarray(first), np.asarray(second)
        if first.shape != second.shape:
            yield f"{path}: shape {first.shape} and {second.shape}"
        elif first.dtype.kind != "f":
            if (first != second).any():
                yield f"{path}: {(first != second).sum()} of {first.size} differ"
        elif not np.allclose(first, second, rtol=0, atol=CLOSE * size_of(first), equal_nan=True):
            yield f"{path}: up to {np.abs(first - second).max():.1e} apart"
    elif isinstance(first, dict):
        for key in first.keys() | second.keys():
            yield from disagreements(first.get(key), second.get(key), f"{path} {key}")
    elif isinstance(first, list | tuple | np.ndarray):
        if len(first) != len(second):
            yield f"{path}: length {len(first)} and {len(second)}"
        else:
            for part, other in zip(first, second, strict=True):
                yield from disagreements(part, other, path)
    elif first is None or isinstance(first, int | str | np.generic):
        if first != second:
            yield f"{path}: {first} and {second}"
    else:
        yield from disagreements(vars(first), vars(second), f"{path}.{type(first).__name__}")


def size_of(values):
    return max(1.0, np.abs(values[np.isfinite(values)]).max(initial=0.0))


def not_unique(machine, name):
    """Return the attributes that several optima share, where the data have no single one.

    The multipliers of points that repeat are no property of the problem, only their functions are;
    and with the one-norm a linear program has several optimal vertices. HiGHS, like LIBSVM, takes
    one of them, the same on each processor, for what it reads is the same.
    """
    repeated = name in ("integers", "corners")
    singular = name == "grid" and getattr(machine, "kernel", "") == "poly"
    free = MULTIPLIERS if isinstance(machine, DualSVC) and (repeated or singular) else set()
    if getattr(machine, "penalty", "") == "l1" and name in ("integers", "grid", "corners"):
        free = MULTIPLIERS | LP_VERTEX
    return free


def decisions(machine, X, left_out):
    """Return what a fit has decided: its attributes and outputs, but for certificates."""
    between = 0.6 * X[:20] + 0.4 * X[-20:][::-1]
    outputs = getattr(machine, "decision_function", None) or machine.predict_proba
    found = {name: value for name, value in vars(machine).items() if name.endswith("_")}
    found["outputs"] = outputs(np.concatenate([X[:20], between]))
    left_out = left_out | CERTIFICATES
    return {n: v for n, v in found.items() if not n.startswith("_") and n not in left_out}


MACHINES = varied()


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_a_fit_does_not_hang_on_the_last_bits_of_its_data(machine, name):
    X, y = DATA[name]()
    if not machine.__sklearn_tags__().classifier_tags.multi_class:
        X, y = X[y < 2], y[y < 2]
    left_out, found = not_unique(machine, name), []
    plain = decisions(fitted(machine, X, y), X, left_out)
    for draw in DRAWS:
        moved = perturbed(X, draw)
        again = decisions(fitted(machine, moved, y), moved, left_out)
        found += [f"draw {draw}{line}" for line in disagreements(plain, again)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("positives", [1, 2, 3])
@pytest.mark.parametrize("C", [0.3, 1.0, 3.0])
def test_an_intercept_that_is_not_unique_is_the_middle_of_its_interval(C, positives):
    # Where no multiplier is free, one that rounding leaves at 1e-16 must not count as free.
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-2, 2, (300, 8, 2)), np.where(np.arange(8) < positives, 1.0, -1.0)
    plain = in_batch(X, y, C)
    at_bound = (plain.alpha < 1e-9 * C) | (plain.alpha > (1 - 1e-9) * C)
    rows = np.flatnonzero(at_bound.all(axis=1))
    assert len(rows) >= 5
    e = y - outputs_of(X, y, plain.alpha)
    may_rise = np.where(y > 0, plain.alpha < 0.5 * C, plain.alpha > 0.5 * C)
    low, high = (
        np.where(may_rise, e, -np.inf).max(axis=1),
        np.where(may_rise, np.inf, e).min(axis=1),
    )
    np.testing.assert_allclose(plain.intercept[rows], 0.5 * (low + high)[rows], atol=1e-9)
    for draw in DRAWS:
        again = in_batch(perturbed(X, draw), y, C)
        np.testing.assert_allclose(again.intercept, plain.intercept, rtol=0, atol=1e-6)


def in_batch(X, y, C):
    return solve_dual_batch(X @ X.transpose(0, 2, 1), np.broadcast_to(y, X.shape[:2]), C, tol=1e-12)


def outputs_of(X, y, alpha):
    return np.einsum("pij,pj->pi", X @ X.transpose(0, 2, 1), y * alpha)


def test_a_grid_search_chooses_the_same_on_perturbed_data():
    X, y = moons()
    every = X, *(perturbed(X, draw) for draw in DRAWS)
    for machine, values in (
        (DualSVC(kernel="rbf"), {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.3, 1.0, 3.0]}),
        (LocalizedSVM(n_neighbors=10), {"C": [1.0, 10.0], "gamma": [0.3, 3.0]}),
    ):
        search = GridSearchCV(machine, values, cv=3)
        chosen = [search.fit(moved, y).best_params_ for moved in every]
        assert all(parameters == chosen[0] for parameters in chosen)
