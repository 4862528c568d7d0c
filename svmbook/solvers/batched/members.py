r"""Linear SVMs on many small subsets of the same points, as members of an ensemble.

Subsets of similar sizes form a batch for `solve_validated_batch`. Larger subsets are solved one at
a time by the active-set method for a single problem, :eq:`eq-face`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...gram import StoredGram
from ..dual.active_sets.solver import solve_active_set_on_gram
from .duals import DualBatchResult, solve_validated_batch

__all__ = ["Hyperplanes", "fit_hyperplanes", "fit_linear_members"]

MAX_BATCHED_POINTS = 64  # largest subset size for which a batch is faster than separate problems
MAX_SIZE_RATIO = 1.25  # largest ratio of subset sizes in a batch of more than MAX_MIXED_SUBSETS
MAX_MIXED_SUBSETS = 32  # smaller batches may mix sizes, since calls cost more than arithmetic
MAX_BATCH_ENTRIES = 4_000_000  # largest number of array entries of a batch


class Hyperplanes(NamedTuple):
    """The hyperplanes of an ensemble, one entry per member."""

    coef: np.ndarray  # (n_members, n_features)
    intercept: np.ndarray  # (n_members,)
    relative_gap: np.ndarray  # duality gap as a fraction of the objective

    def replace_rows(self, rows, replacements):
        """Return a copy in which the hyperplanes of some members are replaced."""
        merged = Hyperplanes(*(values.copy() for values in self))
        for values, replacement in zip(merged, replacements, strict=True):
            values[rows] = replacement
        return merged

    def select_rows(self, rows):
        """Return the hyperplanes of some members."""
        return Hyperplanes(*(values[rows] for values in self))


def fit_linear_members(X, positive, negative, C, positive_weights):
    r"""Train a linear SVM on each of many small subsets.

    Each member minimises :math:`\tfrac12\|w\|^2 + \sum_i C_i\max(0, 1 - y_i(w^\top x_i + b))`,
    where i runs over its positive points (:math:`y_i = 1`) and its negative points
    (:math:`y_i = -1`).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points.
    positive, negative : ndarray or sparse array, of shape (n_members, n_samples)
        The positive and negative points of each member, at least one of each. An entry of
        ``positive`` may be the number of times that a point counts, otherwise entries are bool.
    C : float
        Regularisation parameter :math:`C_i` of negative points.
    positive_weights : ndarray of shape (n_members,)
        Factors of C for the positive points of each member.

    Returns
    -------
    Hyperplanes
    """
    positive, negative = sparse.csr_array(positive), sparse.csr_array(negative)
    n_positive = np.diff(positive.indptr)
    # The points of all members in one array, the positive points of each member first.
    points = sparse.hstack([positive, negative], format="csr")
    point_indices, counts = points.indices % len(X), points.data
    offsets, n_points = points.indptr[:-1], np.diff(points.indptr)
    results, order = [], np.argsort(n_points, kind="stable")
    for rows in _batches_by_subset_size(order, n_points[order], X.shape[1]):
        position, size = np.arange(n_points[rows].max()), n_points[rows, None]
        entries = offsets[rows, None] + np.minimum(position, size - 1)
        indices, is_positive = point_indices[entries], position < n_positive[rows, None]
        positive_factors = positive_weights[rows, None] * counts[entries]
        slack_weights = C * np.where(is_positive, positive_factors, position < size)
        results.append(fit_hyperplanes(X[indices], np.where(is_positive, 1.0, -1.0), slack_weights))
    inverse = np.argsort(order)
    return Hyperplanes(*(np.concatenate(values)[inverse] for values in zip(*results, strict=True)))


def _batches_by_subset_size(order, sizes, d):
    """Yield batches of members whose subsets have similar sizes and fit into memory together."""
    start = 0
    while start < len(order):
        similar_stop = np.searchsorted(sizes, MAX_SIZE_RATIO * sizes[start], "right")
        padded_sizes = sizes[start : max(similar_stop, start + MAX_MIXED_SUBSETS)]
        n_entries = np.arange(1, len(padded_sizes) + 1) * padded_sizes * (padded_sizes + d)
        stop = start + max(1, np.searchsorted(n_entries, MAX_BATCH_ENTRIES, "right"))
        if sizes[start] <= MAX_BATCHED_POINTS:  # do not mix batched subsets with larger ones
            stop = min(stop, np.searchsorted(sizes, MAX_BATCHED_POINTS, "right"))
        yield order[start:stop]
        start = stop


def fit_hyperplanes(Z, y, C):
    """Return the SVMs of a batch of subsets.

    ``Z`` has shape (n_subsets, n_points, n_features), and ``y`` and ``C`` have shape (n_subsets,
    n_points). Points with C = 0 are padding.
    """
    # The SVM does not depend on the origin. With a point of the subset as origin, the rounding
    # error of the Gram matrix does not grow with the distance of the points from zero.
    origin = Z[:, 0]
    Z = Z - origin[:, None, :]
    K = np.matmul(Z, Z.transpose(0, 2, 1))
    # The tolerance is zero, because a large C multiplies the error of each slack.
    batch = (
        solve_validated_batch(K, y, C, tol=0.0)
        if K.shape[1] <= MAX_BATCHED_POINTS
        else _solve_one_by_one(K, y, C)
    )
    w = np.matmul((y * batch.alpha)[:, None, :], Z)[:, 0, :]
    b = batch.intercept - (w * origin).sum(axis=1)
    return Hyperplanes(w, b, batch.gap / batch.objective)


def _solve_one_by_one(K, y, C):
    """Solve the problems of a batch one at a time by `solve_active_set_on_gram`."""
    alpha, results = np.zeros(y.shape), []  # points with C = 0 are padding
    for problem, is_point in enumerate(C > 0):
        gram = StoredGram(K[problem][np.ix_(is_point, is_point)])
        results.append(solve_active_set_on_gram(gram, y[problem, is_point], C[problem, is_point]))
        alpha[problem, is_point] = results[-1].alpha
    names = ("intercept", "objective", "dual_objective", "kkt_residual", "n_iter", "converged")
    values = {name: np.array([getattr(result, name) for result in results]) for name in names}
    return DualBatchResult(alpha=alpha, **values)
