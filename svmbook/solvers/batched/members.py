r"""Linear machines of many small sets of common points: from their sets to hyperplanes.

A member is a linear support vector machine on its own few points, some positive, the rest
negative. Sets of like sizes make a batch of `duals`; a set that is not small goes to the active
sets of :eq:`eq-face` that serve one large problem.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...gram import StoredGram
from ..dual.active_set import active_set
from .duals import DualBatch, duals

__all__ = ["Hyperplanes", "hyperplanes", "linear_members"]

MAX_BATCHED = 64  # points of a set up to which a batch is faster than separate problems
MAX_SIZE_RATIO = 1.25  # of the sizes of the sets in one batch,
FEW_SETS = 32  # unless there are so few sets that calls cost more than arithmetic
BATCH_NUMBERS = 4_000_000  # numbers that the arrays of one batch may hold


class Hyperplanes(NamedTuple):
    """Members of an ensemble: one row, or number, each."""

    coef: np.ndarray  # (n_members, n_features)
    intercept: np.ndarray  # (n_members,)
    gap: np.ndarray  # duality gap as a fraction of the objective

    def replaced(self, rows, new):
        """Return all members, some of them with what ``new`` says."""
        merged = Hyperplanes(*(values.copy() for values in self))
        for values, fresh in zip(merged, new, strict=True):
            values[rows] = fresh
        return merged

    def kept(self, rows):
        """Return some of the members."""
        return Hyperplanes(*(values[rows] for values in self))


def linear_members(X, positive, negative, C, weight):
    r"""Train a linear machine on each of many small sets.

    Member m minimises :math:`\tfrac12\|w\|^2 + \sum_i C_i\max(0, 1 - y_i(w^\top x_i + b))`, where i
    runs over its positives (:math:`y_i = 1`) and negatives (:math:`y_i = -1`).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Points.
    positive, negative : ndarray of bool, of shape (n_members, n_samples)
        Which points are a member's positives and negatives; at least one each.
    C : float
        Price of a negative.
    weight : ndarray of shape (n_members,) or (n_members, n_samples)
        Factor of C for a member's positives: one for all of them, or one for each.

    Returns
    -------
    Hyperplanes
    """
    n_positive = positive.sum(axis=1)
    n_points = n_positive + negative.sum(axis=1)
    # The points of one member after those of another, its positives first.
    flat = np.nonzero(np.hstack([positive, negative]))[1] % len(X)
    first = np.cumsum(n_points) - n_points
    parts, order = [], np.argsort(n_points, kind="stable")
    for rows in _batches_of_similar_size(order, n_points[order], X.shape[1]):
        place, size = np.arange(n_points[rows].max()), n_points[rows, None]
        chosen = flat[first[rows, None] + np.minimum(place, size - 1)]
        first_ones = place < n_positive[rows, None]
        factor = weight[rows, None] if weight.ndim == 1 else weight[rows[:, None], chosen]
        prices = C * np.where(first_ones, factor, place < size)
        parts.append(hyperplanes(X[chosen], np.where(first_ones, 1.0, -1.0), prices))
    back = np.argsort(order)
    return Hyperplanes(*(np.concatenate(values)[back] for values in zip(*parts, strict=True)))


def _batches_of_similar_size(order, sizes, d):
    """Yield the members in portions of like sizes, none of which takes too much memory."""
    start = 0
    while start < len(order):
        alike = np.searchsorted(sizes, MAX_SIZE_RATIO * sizes[start], "right")
        rest = sizes[start : max(alike, start + FEW_SETS)]
        cells = np.arange(1, len(rest) + 1) * rest * (rest + d)
        stop = start + max(1, np.searchsorted(cells, BATCH_NUMBERS, "right"))
        if sizes[start] <= MAX_BATCHED:  # a single batch needs no joining
            stop = min(stop, np.searchsorted(sizes, MAX_BATCHED, "right"))
        yield order[start:stop]
        start = stop


def hyperplanes(Z, y, prices):
    """Return the machines of one batch of sets, ``Z`` of shape (n_sets, n_points, n_features).

    Points of price zero only fill a set up.
    """
    # With a set's first point as origin, differences, which determine the SVM, keep all digits.
    origin = Z[:, 0]
    Z = Z - origin[:, None, :]
    K = np.matmul(Z, Z.transpose(0, 2, 1))
    # As exact as rounding allows, since a large C multiplies the rounding error of a slack.
    batch = duals(K, y, prices, tol=0.0) if K.shape[1] <= MAX_BATCHED else _one_by_one(K, y, prices)
    w = np.matmul((y * batch.alpha)[:, None, :], Z)[:, 0, :]
    b = batch.intercept - (w * origin).sum(axis=1)
    return Hyperplanes(w, b, batch.gap / batch.objective)


def _one_by_one(K, y, C):
    """Do as `duals`, with the solver of one large problem."""
    alpha, solved = np.zeros(y.shape), []
    for row, there in enumerate(C > 0):
        gram = StoredGram(K[row][np.ix_(there, there)])
        solved.append(active_set(gram, y[row, there], C[row, there]))
        alpha[row, there] = solved[-1].alpha
    names = ("intercept", "objective", "dual_objective", "kkt_residual", "n_iter", "converged")
    rest = {name: np.array([getattr(result, name) for result in solved]) for name in names}
    return DualBatch(alpha=alpha, **rest)
