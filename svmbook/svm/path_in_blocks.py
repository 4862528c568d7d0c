r"""Cross-validation of the linear SVM over several values of C, for points in Dask collections.

First, the problems of all values of C are solved for all points. Each of these solutions is the
start for all folds. Problems share their passes over the data: whenever each solver waits for a sum
over the points, one pass computes all these sums. So ten values with five folds take about twice as
many passes as one fit.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..dask_input import fits_in_workers, running_cluster
from ..rows import Blocks, map_rows, sum_rows
from ..shared_passes import run_together
from ..solvers.smoothed_hinge import find_start, solve_from_start
from ..solvers.start_sample import draw_start_sample
from ..ties import argmax_up_to_rounding
from ..weights import point_penalties
from .dual_svc import DualSVC
from .in_blocks import linear_gram, linear_problem, newton_options

__all__ = ["CrossValidation", "cross_validate_in_blocks"]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Validation errors of linear SVMs.

    Attributes
    ----------
    C_values : ndarray of shape (n_values,)
        The values of C.
    errors : ndarray of shape (n_values, n_folds)
        Weighted fraction of misclassified points of each fold, which was not trained on.
    relative_gaps : ndarray of shape (n_values, n_folds)
        Relative duality gaps of the fits.
    """

    C_values: np.ndarray
    errors: np.ndarray
    relative_gaps: np.ndarray

    @property
    def best_C(self) -> float:
        """The value with the smallest mean error; of equal ones, the smallest."""
        return float(self.C_values[argmax_up_to_rounding(-self.errors.mean(axis=1), scale=1.0)])


def cross_validate_in_blocks(
    model: DualSVC,
    X,
    y,
    C_values: ArrayLike,
    *,
    n_folds: int = 5,
    sample_weight=None,
    random_state: int = 0,
) -> CrossValidation:
    """Return validation errors of a linear `DualSVC` for several values of C.

    Each pass computes an r x r matrix for each fit that still runs, for r features. A worker needs
    memory for about ten times as many, in addition to its blocks.

    Parameters
    ----------
    model : DualSVC
        Linear SVM, whose parameters are used, except for ``C``. It is not fitted.
    X : dask.array.Array or dask.dataframe.DataFrame
        Points.
    y : dask.array.Array or dask.dataframe.Series
        Labels of two classes, in blocks that correspond to those of X.
    C_values : array-like of shape (n_values,)
        Positive and finite values of C; sorted in the result.
    n_folds : int, default=5
        Number of folds, to which the points are assigned at random.
    sample_weight : dask.array.Array, dask.dataframe.Series or None
        Nonnegative weights.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    CrossValidation

    Raises
    ------
    ValueError
        A value of C is not positive and finite, there are no values or fewer than two folds, or
        a fold has no points, or all points of a class.

    Warns
    -----
    ConvergenceWarning
        Some fits did not reach ``tol``.

    Examples
    --------
    >>> import dask.array as da
    >>> from svmbook import DualSVC
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.svm import cross_validate_in_blocks
    >>> X, y = twonorm(n=200, random_state=0)
    >>> data = da.from_array(X, chunks=(50, 20)), da.from_array(y, chunks=50)
    >>> result = cross_validate_in_blocks(DualSVC(), *data, [0.01], n_folds=2)
    >>> result.errors.shape, bool(result.relative_gaps.max() <= 1e-6)
    ((1, 2), True)
    """
    C_values = np.unique(np.asarray(C_values, dtype=float))
    if not (len(C_values) and (np.isfinite(C_values) & (C_values > 0)).all()):
        raise ValueError(f"C_values must be positive and finite; found {C_values.tolist()}.")
    if n_folds < 2:
        raise ValueError(f"n_folds == {n_folds}; at least two are needed.")
    model = clone(model).set_params(C=1.0)
    model._validate_params()
    options = newton_options(model)
    with running_cluster():
        problem, folds = _sorted_by_fold(
            linear_problem(model, X, y, sample_weight), n_folds, random_state
        )
        sum_weights = partial(_weights_of_folds, n_folds=n_folds)
        fold_weights = sum_rows(sum_weights, problem.y, problem.weights, folds)
        _check_folds(fold_weights)
        gram = linear_gram(problem)
        draw_start_sample(gram, problem.y, problem.weights)  # once, for all values of C
        starts = run_together([partial(_solve, problem, gram, C, options) for C in C_values])
        outside = [_outside(problem, folds, fold) for fold in range(n_folds)]
        fits = run_together(
            [
                partial(_solve, those, linear_gram(those), C, options, start)
                for those in outside
                for C, (_, *start) in zip(C_values, starts, strict=True)
            ]
        )
        W = np.array([w for _, (w, _), _ in fits]).T
        b = np.array([result.intercept for result, *_ in fits])
        count = partial(_wrong_weights, W=W, b=b, n_folds=n_folds)
        wrong = sum_rows(count, problem.y, problem.weights, folds, gram.rows, by_row=True)
    shape = n_folds, len(C_values)
    errors = (wrong.reshape(shape) / fold_weights.sum(axis=0)[:, None]).T
    gaps = np.array([result.relative_gap for result, *_ in fits]).reshape(shape).T
    n_failed = sum(not result.converged for result, *_ in fits)
    if n_failed:
        warnings.warn(
            f"{n_failed} of {len(fits)} fits stopped at a relative duality gap above "
            f"tol={model.tol:g}, up to {gaps.max():.1e}; scale the features, omit the largest "
            "values of C, or raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return CrossValidation(C_values, errors, gaps)


def _sorted_by_fold(problem, n_folds, random_state):
    """Return the problem with the points of each block sorted by fold, and their folds.

    So most chunks of rows belong to one fold, and are used or omitted without a copy.
    """
    numbers = Blocks(list(range(len(problem.block_sizes))))
    draw_folds = partial(_draw_folds, n_folds=n_folds, seed=random_state)
    folds = map_rows(draw_folds, problem.y, numbers)
    keep = fits_in_workers(sum(problem.block_sizes), len(problem.moments.mean))
    points = map_rows(_sort, problem.points, folds, keep=keep)
    y, weights = (map_rows(_sort, values, folds) for values in (problem.y, problem.weights))
    problem = problem._replace(points=points, y=y, weights=weights)
    return problem, map_rows(np.sort, folds)


def _solve(problem, gram, C, options, start=None):
    """Return what `solve_from_start` returns, by default from a solution of a sample."""
    penalties = partial(point_penalties, C)
    svm = gram, problem.y, map_rows(penalties, problem.weights, keep=False, by_row=True)
    return solve_from_start(svm, start or find_start(svm, **options), **options)


def _outside(problem, folds, fold):
    """Return the problem of the points that are not in a fold.

    Its ``block_sizes`` are still those of all points; they only enter estimates of the cost.
    """
    select = partial(_select_outside, fold=fold)
    points, y, weights = (
        map_rows(select, values, folds, keep=False, by_row=True)
        for values in (problem.points, problem.y, problem.weights)
    )
    return problem._replace(points=points, y=y, weights=weights)


def _check_folds(fold_weights):
    """Report folds without points, and those that contain all points of a class."""
    lacks_points = fold_weights.sum(axis=0) == 0
    takes_a_class = (fold_weights == fold_weights.sum(axis=1, keepdims=True)).any(axis=0)
    for is_invalid, found in (
        (lacks_points, "no points"),
        (takes_a_class, "all points of a class"),
    ):
        if is_invalid.any():
            raise ValueError(
                f"fold {np.flatnonzero(is_invalid)[0]} has {found}; use fewer folds, another "
                "random_state, or more points."
            )


# These functions are applied to each block of points.
def _draw_folds(y, number, n_folds, seed):
    return np.random.default_rng((seed, number)).integers(n_folds, size=len(y), dtype=np.int16)


def _sort(values, folds):
    return values[np.argsort(folds, kind="stable")]


def _select_outside(values, folds, fold):
    is_outside = folds != fold
    return values if is_outside.all() else values[is_outside]


def _weights_of_folds(y, weights, folds, n_folds):
    """Return the sum of the weights of each class, -1 and +1, and fold."""
    return np.array([np.bincount(folds[y == s], weights[y == s], n_folds) for s in (-1.0, 1.0)])


def _wrong_weights(y, weights, folds, gram, W, b, n_folds):
    """Return the weights of the misclassified points of the fold of each fit."""
    is_wrong = (gram.outputs(W) + b > 0) != (y > 0)[:, None]
    fold_weights = weights[:, None] * (folds[:, None] == np.arange(n_folds))
    n_values = len(b) // n_folds
    return np.array([fold_weights[:, j // n_values] @ is_wrong[:, j] for j in range(len(b))])
