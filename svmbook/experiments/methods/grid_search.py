r"""Grid search for C and gamma by cross-validation, in which each distance is computed once.

A kernel :math:`k = \exp(-\gamma D)` depends on the distances D only. Their matrix is computed once
for the whole grid. Each gamma takes one exponential of it, and each fold a subset of rows and
columns. On large folds one solution path serves all C. On small folds LIBSVM is called for each C
on the precomputed matrix, until no multiplier reaches its bound C: larger C have the same solution.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
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
from ...kernels import CONDITIONALLY_DEFINITE, DISTANCE_FUNCTIONS, KERNELS
from ...kernels.kernel import shift_values
from ...solvers.dual.active_sets.path import svm_path_on_gram

__all__ = ["GridChoice", "choose_parameters", "coarsen", "fit_and_predict", "run_svm_with_tuning"]

MIN_PATH_POINTS = 500  # smallest number of training points for which a path is faster than LIBSVM
CACHE_MEGABYTES = 500  # for the cache into which LIBSVM copies rows of the matrix
PARAMETER_FREE_KERNELS = tuple(name for name, (_, parameters) in KERNELS.items() if not parameters)


class GridChoice(NamedTuple):
    """Parameters chosen by a grid search, and all of its scores.

    Attributes
    ----------
    kernel : str
        The kernel.
    C, gamma : float
        The parameters with the best mean accuracy. Among ties the first in the grid is chosen, with
        C in the outer loop, as in `sklearn.model_selection.GridSearchCV`. ``gamma`` is None for a
        kernel without parameters.
    score : float
        Mean accuracy of the chosen parameters.
    scores : ndarray of shape (n_C, n_gamma, n_folds)
        Accuracy on each fold.
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


def choose_parameters(
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
        Labels. With more than two classes there is one SVM per pair of classes, as in
        `sklearn.svm.SVC`.
    kernel : str, default="rbf"
        A key of `svmbook.kernels.DISTANCE_FUNCTIONS`, or a kernel without parameters.
    C : sequence of float
        Values of the regularisation parameter to try.
    gamma : sequence of float, default=None
        Values of gamma to try; None for a kernel without parameters.
    cv : int, cross-validation splitter or iterable of (train, test)
        The folds; an integer means that many stratified folds, without shuffling.

    Returns
    -------
    GridChoice

    Raises
    ------
    ValueError
        The kernel is unknown, a grid is empty or has a value that is not positive and finite,
        there are no folds, the training part of a fold has one class only, or gamma is given for a
        kernel without parameters.

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods.grid_search import choose_parameters
    >>> X, y = twonorm(60, random_state=0)
    >>> cv = StratifiedKFold(3)
    >>> choice = choose_parameters(X, y, C=[0.1, 1.0], gamma=[0.01, 0.1], cv=cv)
    >>> choice.scores.shape
    (2, 2, 3)
    """
    X, y = check_X_y(X, y)
    Cs, gammas = _check_grid(kernel, C, gamma)
    folds = list(check_cv(cv, y, classifier=True).split(X, y))
    if not folds:
        raise ValueError("cv has no folds; give a splitter, or pairs of training and test rows.")
    if any(len(np.unique(y[train])) < 2 for train, _ in folds):
        raise ValueError("the training part of a fold of cv has one class; it needs two or more.")
    # The kernel matrix of a kernel without parameters, otherwise the matrix of distances.
    base_matrix = (
        KERNELS[kernel][0](X)
        if kernel in PARAMETER_FREE_KERNELS
        else DISTANCE_FUNCTIONS[kernel](X, X)
    )
    if kernel in CONDITIONALLY_DEFINITE:
        # Shifted at the first point; the SVM does not depend on the choice of this point.
        row = base_matrix[0]
        base_matrix = shift_values(base_matrix, row, row, row[0])
    scores = np.empty((len(Cs), len(gammas), len(folds)))
    for j, gamma_j in enumerate(gammas):
        K = base_matrix if kernel in PARAMETER_FREE_KERNELS else np.exp(-gamma_j * base_matrix)
        for f, (train, test) in enumerate(folds):
            K_train, K_test = K[np.ix_(train, train)], K[np.ix_(test, train)]
            predict = _predict_by_paths if len(train) >= MIN_PATH_POINTS else _predict_by_libsvm
            for i, labels in enumerate(predict(K_train, y[train], Cs, K_test)):
                scores[i, j, f] = (labels == y[test]).mean()
    return _best_choice(kernel, scores, Cs, gammas)


def coarsen(choice: GridChoice, step: int) -> GridChoice:
    """Return the choice from a coarser grid: every ``step``-th value of each parameter.

    Parameters
    ----------
    choice : GridChoice
        From `choose_parameters`.
    step : int
        Step between the values that are kept, at least 1.

    Returns
    -------
    GridChoice

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods import grid_search
    >>> X, y = twonorm(60, random_state=0)
    >>> grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    >>> cv = StratifiedKFold(3)
    >>> choice = grid_search.choose_parameters(X, y, **grid, cv=cv)
    >>> grid_search.coarsen(choice, 2).scores.shape
    (2, 1, 3)
    """
    scores = choice.scores[::step, ::step]
    return _best_choice(choice.kernel, scores, choice.Cs[::step], choice.gammas[::step])


def _best_choice(kernel, scores, Cs, gammas):
    means = scores.mean(axis=2)
    i, j = np.unravel_index(np.argmax(means), means.shape)
    return GridChoice(kernel, Cs[i], gammas[j], float(means[i, j]), scores, Cs, gammas)


def _predict_by_libsvm(K, y, Cs, K_test):
    """Return the predicted labels of the test points for each C, with one LIBSVM fit per C."""
    labels, ascending = [None] * len(Cs), np.argsort(Cs, kind="stable")
    # Each fit takes milliseconds; validating the same matrix each time would double the time.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for position, i in enumerate(ascending):
            model = SVC(C=Cs[i], kernel="precomputed", cache_size=CACHE_MEGABYTES).fit(K, y)
            labels[i] = model.predict(K_test)
            if np.abs(model.dual_coef_).max() < Cs[i]:
                # No multiplier reaches its bound, so all larger C have the same solution.
                for j in ascending[position + 1 :]:
                    labels[j] = labels[i]
                break
    return labels


def _predict_by_paths(K, y, Cs, K_test):
    """Return the predicted labels of the test points for each C, with one path per class pair.

    As in LIBSVM the pairs vote, and the first of tied classes wins.
    """
    classes = np.unique(y)
    votes = np.zeros((len(Cs), len(K_test), len(classes)))
    for a, b in combinations(range(len(classes)), 2):
        rows = np.flatnonzero((y == classes[a]) | (y == classes[b]))
        signs = np.where(y[rows] == classes[a], 1.0, -1.0)
        gram = StoredGram(K if len(rows) == len(y) else K[np.ix_(rows, rows)])
        for i, solution in enumerate(svm_path_on_gram(gram, signs, Cs, np.ones(len(signs)))):
            output = K_test[:, rows] @ (signs * solution.alpha) + solution.intercept
            votes[i, :, a] += output > 0
            votes[i, :, b] += output <= 0
    return classes[votes.argmax(axis=2)]


def fit_and_predict(
    choice: GridChoice, X: ArrayLike, y: ArrayLike, X_test: ArrayLike
) -> tuple[np.ndarray, int]:
    """Fit an SVM with the chosen parameters on all training points, and predict test points.

    Parameters
    ----------
    choice : GridChoice
        From `choose_parameters`.
    X, y : array-like of shapes (n, d) and (n,)
        Training points and labels.
    X_test : array-like of shape (m, d)
        Test points.

    Returns
    -------
    labels : ndarray of shape (m,)
        Predicted labels of the test points.
    n_support : int
        Number of support vectors.

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods import grid_search
    >>> X, y = twonorm(60, random_state=0)
    >>> cv = StratifiedKFold(3)
    >>> grid = {"kernel": "linear", "C": [0.1]}
    >>> choice = grid_search.choose_parameters(X, y, **grid, cv=cv)
    >>> labels, n_support = grid_search.fit_and_predict(choice, X, y, X[:4])
    >>> len(labels)
    4
    """
    X, y = check_X_y(X, y)
    kernel_function, parameter_names = KERNELS[choice.kernel]
    params = {"gamma": choice.gamma} if parameter_names else {}
    model = SVC(C=choice.C, kernel="precomputed", cache_size=CACHE_MEGABYTES)
    model.fit(kernel_function(X, **params), y)
    labels = model.predict(kernel_function(X_test, X, **params))
    return labels, int(model.n_support_.sum())


def run_svm_with_tuning(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    seed: int,
    kernel: str,
    C: Sequence[float],
    gamma: Sequence[float] | None = None,
) -> dict:
    """Carry out one run: choose parameters by 5-fold cross-validation, fit, and test.

    Parameters
    ----------
    X, y, X_test, y_test : ndarray
        Training and test points with their labels.
    seed : int
        Seed for shuffling the points before they are divided into folds.
    kernel, C, gamma
        As in `choose_parameters`.

    Returns
    -------
    dict
        Fields for a record: "parameters", "error" (test error, between 0 and 1), "model_size"
        (number of support vectors) and "selection_seconds".

    Examples
    --------
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.experiments.methods.grid_search import run_svm_with_tuning
    >>> train, test = twonorm(60, random_state=0), twonorm(200, random_state=1)
    >>> grid = {"kernel": "linear", "C": [0.01]}
    >>> fields = run_svm_with_tuning(*train, *test, seed=0, **grid)
    >>> fields["parameters"]
    {'C': 0.01}
    """
    splitter = StratifiedKFold(5, shuffle=True, random_state=seed)
    start = time.perf_counter()
    choice = choose_parameters(X, y, kernel=kernel, C=C, gamma=gamma, cv=splitter)
    selection_seconds = time.perf_counter() - start
    labels, n_support = fit_and_predict(choice, X, y, X_test)
    return {
        "parameters": choice.parameters,
        "error": round(float(np.mean(labels != y_test)), 6),
        "model_size": n_support,
        "selection_seconds": round(selection_seconds, 4),
    }


def _check_grid(kernel, C, gamma):
    """Validate the kernel and the values to try; return the values of C and gamma as lists."""
    available = (*DISTANCE_FUNCTIONS, *PARAMETER_FREE_KERNELS)
    if kernel not in available:
        raise ValueError(f"kernel must be one of {', '.join(available)}; found {kernel!r}.")
    if kernel in PARAMETER_FREE_KERNELS and gamma is not None:
        raise ValueError(f"the kernel {kernel!r} has no gamma; leave it out.")
    grids = {"C": C} if kernel in PARAMETER_FREE_KERNELS else {"C": C, "gamma": gamma}
    for name, grid in grids.items():
        if np.ndim(grid) != 1 or len(grid) == 0:
            raise ValueError(f"{name} must be a list of values to try; found {grid!r}.")
        for value in grid:
            check_scalar(value, name, Real, min_val=0, include_boundaries="neither")
            if not np.isfinite(value):
                raise ValueError(f"{name} must have finite values; found {value}.")
    return list(C), [None] if kernel in PARAMETER_FREE_KERNELS else list(gamma)
