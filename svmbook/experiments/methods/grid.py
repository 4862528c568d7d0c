r"""Choosing C and gamma by cross-validation, without computing a distance twice.

A kernel that depends on distances alone, :math:`k = \exp(-\gamma D)`, needs one matrix of
distances for a whole study: each gamma is one exponential of it, each fold a choice of rows and
columns. On a fold of many points all C are one path of solutions; on one of few, one call of
LIBSVM each on a matrix that is there already, and none at all once no multiplier meets its bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import combinations
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.svm import SVC
from sklearn.utils import check_scalar, check_X_y

from ...gram import StoredGram
from ...kernels import CONDITIONAL, DISTANCES, KERNELS
from ...kernels.choice import shifted
from ...solvers.dual.path import path_over_C

__all__ = ["GridChoice", "choose_by_grid", "coarser", "fit_choice", "grid_run"]

PATH_POINTS = 500  # to train on, from which a path is faster than LIBSVM at its tolerance
GRID_CACHE = 500  # megabytes; LIBSVM copies rows of the matrix into it
# Kernels with no parameter but C.
PARAMETER_FREE = tuple(name for name, (_, reads) in KERNELS.items() if not reads)


class GridChoice(NamedTuple):
    """What a grid search chose, and all that it saw.

    Attributes
    ----------
    kernel : str
        The kernel.
    C, gamma : float
        The parameters with the best mean accuracy; of equals the first in the order of the grid,
        C outside and gamma inside, as in `sklearn.model_selection.GridSearchCV`. ``gamma`` is None
        for a kernel without parameters.
    score : float
        Their mean accuracy.
    scores : ndarray of shape (n_C, n_gamma, n_folds)
        The accuracies.
    Cs, gammas : list
        The grid.
    """

    kernel: str
    C: float
    gamma: float | None
    score: float
    scores: np.ndarray
    Cs: list
    gammas: list

    @property
    def parameters(self):
        """The chosen parameters by name."""
        return {"C": self.C} | ({} if self.gamma is None else {"gamma": self.gamma})


def choose_by_grid(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kernel: str = "rbf",
    C: Sequence[float],
    gamma: Sequence[float] | None = None,
    cv: int | object,
) -> GridChoice:
    """Choose C and gamma of a support vector classifier by cross-validation.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training points.
    y : array-like of shape (n,)
        Their labels; more than two are served one against one, as in `sklearn.svm.SVC`.
    kernel : str, default="rbf"
        A key of `svmbook.kernels.DISTANCES`, or a kernel without parameters.
    C : sequence of float
        Prices to try.
    gamma : sequence of float, default=None
        Widths to try; none for a kernel without parameters.
    cv : int, cross-validation splitter or iterable of (train, test)
        The folds; a number of stratified ones, in order.

    Returns
    -------
    GridChoice

    Raises
    ------
    ValueError
        The kernel is none of these, a grid is empty or holds what is not positive, there is
        no fold, or one with a single class, or a kernel without parameters is given a gamma.

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods.grid import choose_by_grid
    >>> X, y = twonorm(60, random_state=0)
    >>> cv = StratifiedKFold(3)
    >>> choice = choose_by_grid(X, y, C=[0.1, 1.0], gamma=[0.01, 0.1], cv=cv)
    >>> choice.scores.shape
    (2, 2, 3)
    """
    X, y = check_X_y(X, y)
    Cs, gammas = _check_grid(kernel, C, gamma)
    folds = list(check_cv(cv, y, classifier=True).split(X, y))
    if not folds:
        raise ValueError("cv has no folds; give a splitter, or pairs of training and test rows.")
    if any(len(np.unique(y[train])) < 2 for train, _ in folds):
        raise ValueError("a fold of cv has one class to train on; give folds with two or more.")
    base = KERNELS[kernel][0](X) if kernel in PARAMETER_FREE else DISTANCES[kernel](X, X)
    if kernel in CONDITIONAL:  # shifted at any point: the SVM is the same
        base = shifted(base, base[0], base[0], base[0, 0])
    scores = np.empty((len(Cs), len(gammas), len(folds)))
    for j, width in enumerate(gammas):
        K = base if kernel in PARAMETER_FREE else np.exp(-width * base)
        for f, (train, test) in enumerate(folds):
            K_train, K_test = K[np.ix_(train, train)], K[np.ix_(test, train)]
            labels = _by_paths if len(train) >= PATH_POINTS else _by_libsvm
            for i, found in enumerate(labels(K_train, y[train], Cs, K_test)):
                scores[i, j, f] = (found == y[test]).mean()
    return _best(kernel, scores, Cs, gammas)


def coarser(choice: GridChoice, step: int) -> GridChoice:
    """Return what a coarser grid would have chosen: every ``step``-th value of each parameter.

    Parameters
    ----------
    choice : GridChoice
        From `choose_by_grid`.
    step : int
        Positive.

    Returns
    -------
    GridChoice

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods.grid import choose_by_grid, coarser
    >>> X, y = twonorm(60, random_state=0)
    >>> grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    >>> choice = choose_by_grid(X, y, **grid, cv=StratifiedKFold(3))
    >>> coarser(choice, 2).scores.shape
    (2, 1, 3)
    """
    scores = choice.scores[::step, ::step]
    return _best(choice.kernel, scores, choice.Cs[::step], choice.gammas[::step])


def _best(kernel, scores, Cs, gammas):
    means = scores.mean(axis=2)
    i, j = np.unravel_index(np.argmax(means), means.shape)
    return GridChoice(kernel, Cs[i], gammas[j], float(means[i, j]), scores, Cs, gammas)


def _by_libsvm(K, y, Cs, K_test):
    """Return the labels of the test points for each price, one call of LIBSVM after the other."""
    labels, order = [None] * len(Cs), np.argsort(Cs, kind="stable")
    # Hundreds of fits of milliseconds: checking the same matrix each time would cost as much again.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for position, i in enumerate(order):
            machine = SVC(C=Cs[i], kernel="precomputed", cache_size=GRID_CACHE).fit(K, y)
            labels[i] = machine.predict(K_test)
            if np.abs(machine.dual_coef_).max() < Cs[i]:
                # No multiplier meets its bound: a larger C has the same solution.
                for larger in order[position + 1 :]:
                    labels[larger] = labels[i]
                break
    return labels


def _by_paths(K, y, Cs, K_test):
    """Return the labels of the test points for each price: one path for each pair of classes.

    As in LIBSVM the pairs vote, and of equals the first class wins.
    """
    classes = np.unique(y)
    votes = np.zeros((len(Cs), len(K_test), len(classes)))
    for a, b in combinations(range(len(classes)), 2):
        pair = np.flatnonzero((y == classes[a]) | (y == classes[b]))
        signs = np.where(y[pair] == classes[a], 1.0, -1.0)
        among = K if len(pair) == len(y) else K[np.ix_(pair, pair)]
        for i, machine in enumerate(path_over_C(StoredGram(among), signs, Cs, np.ones(len(signs)))):
            output = K_test[:, pair] @ (signs * machine.alpha) + machine.intercept
            votes[i, :, a] += output > 0
            votes[i, :, b] += output <= 0
    return classes[votes.argmax(axis=2)]


def fit_choice(
    choice: GridChoice, X: ArrayLike, y: ArrayLike, X_test: ArrayLike
) -> tuple[np.ndarray, int]:
    """Fit the chosen machine on all training points; return its labels of others and its size.

    Parameters
    ----------
    choice : GridChoice
        From `choose_by_grid`.
    X, y : array-like of shapes (n, d) and (n,)
        Training points and labels.
    X_test : array-like of shape (m, d)
        Points to label.

    Returns
    -------
    labels : ndarray of shape (m,)
    support_vectors : int
        Their number.

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods.grid import choose_by_grid, fit_choice
    >>> X, y = twonorm(60, random_state=0)
    >>> cv = StratifiedKFold(3)
    >>> choice = choose_by_grid(X, y, kernel="linear", C=[0.1], cv=cv)
    >>> labels, size = fit_choice(choice, X, y, X[:4])
    >>> len(labels)
    4
    """
    X, y = check_X_y(X, y)
    function, reads = KERNELS[choice.kernel]
    params = {"gamma": choice.gamma} if reads else {}
    machine = SVC(C=choice.C, kernel="precomputed", cache_size=GRID_CACHE)
    machine.fit(function(X, **params), y)
    labels = machine.predict(function(X_test, X, **params))
    return labels, int(machine.n_support_.sum())


def grid_run(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    seed: int,
    kernel: str | Callable,
    C: ArrayLike,
    gamma: ArrayLike | None = None,
) -> dict:
    """Do one run of a study: choose by five stratified folds, fit, and count the errors.

    Parameters
    ----------
    X, y, X_test, y_test : ndarray
        Training and test points with their labels.
    seed : int
        Shuffles the points before they are cut into folds.
    kernel, C, gamma
        As in `choose_by_grid`.

    Returns
    -------
    dict
        What a record keeps: "parameters", "error" (the share of the test points), "model_size"
        (support vectors) and "selection_seconds".

    Examples
    --------
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods.grid import grid_run
    >>> train, test = twonorm(60, random_state=0), twonorm(200, random_state=1)
    >>> grid_run(*train, *test, seed=0, kernel="linear", C=[0.01])["parameters"]
    {'C': 0.01}
    """
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    start = time.perf_counter()
    choice = choose_by_grid(X, y, kernel=kernel, C=C, gamma=gamma, cv=folds)
    selection = time.perf_counter() - start
    labels, support_vectors = fit_choice(choice, X, y, X_test)
    return {
        "parameters": choice.parameters,
        "error": round(float(np.mean(labels != y_test)), 6),
        "model_size": support_vectors,
        "selection_seconds": round(selection, 4),
    }


def _check_grid(kernel, C, gamma):
    """Return the two grids as lists."""
    if kernel not in (*DISTANCES, *PARAMETER_FREE):
        raise ValueError(
            f"kernel is {kernel!r}; choose one of {', '.join((*DISTANCES, *PARAMETER_FREE))}."
        )
    if kernel in PARAMETER_FREE and gamma is not None:
        raise ValueError(f"the kernel {kernel!r} has no gamma; leave it out.")
    grids = {"C": C} if kernel in PARAMETER_FREE else {"C": C, "gamma": gamma}
    for name, grid in grids.items():
        if np.ndim(grid) != 1 or len(grid) == 0:
            raise ValueError(f"{name} is {grid!r}; give a list of values to try.")
        for value in grid:
            check_scalar(value, name, Real, min_val=0, include_boundaries="neither")
            if not np.isfinite(value):
                raise ValueError(f"{name} holds {value}; give finite values.")
    return list(C), [None] if kernel in PARAMETER_FREE else list(gamma)
