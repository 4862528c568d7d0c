"""Weighted means and variances of features, of all points or of blocks that are added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rows import Terms

__all__ = ["Moments"]


@dataclass(frozen=True, eq=False)
class Moments(Terms):
    """Weighted moments of features, and their ranges over points of positive weight.

    Attributes
    ----------
    total_weight : float
        The sum of the weights.
    mean : ndarray of shape (d,)
        The weighted means.
    squares : ndarray of shape (d,)
        The weighted sums of squared differences from the mean; infinite if they overflow.
    smallest, largest : ndarray of shape (d,)
        The ranges.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.moments import Moments
    >>> first = Moments.of_points(np.array([[0.0], [2.0]]), np.ones(2))
    >>> both = first + Moments.of_points(np.array([[4.0]]), np.ones(1))
    >>> both.mean, both.deviations.round(3)
    (array([2.]), array([1.633]))
    """

    total_weight: float
    mean: np.ndarray
    squares: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray

    def __add__(self, other):
        """Return the moments of both sets of points together.

        The difference of the means contributes to the squares: Chan, Golub and LeVeque (1983),
        "Algorithms for computing the sample variance", The American Statistician 37, 242-247,
        equation 2.1.
        """
        total_weight = self.total_weight + other.total_weight
        share, difference = other.total_weight / (total_weight or 1.0), other.mean - self.mean
        with np.errstate(over="ignore"):
            squares_of_means = self.total_weight * share * difference**2
        return Moments(
            total_weight,
            self.mean + share * difference,
            self.squares + other.squares + squares_of_means,
            np.minimum(self.smallest, other.smallest),
            np.maximum(self.largest, other.largest),
        )

    @classmethod
    def of_points(cls, points, weights):
        """Return the moments of an array of points."""
        total_weight, has_weight = weights.sum(), weights > 0
        rows = points if has_weight.all() else points[has_weight]
        mean = weights @ points / (total_weight or 1.0)
        with np.errstate(over="ignore"):
            squares = weights @ (points - mean) ** 2
        return cls(
            total_weight,
            mean,
            squares,
            rows.min(axis=0, initial=np.inf),
            rows.max(axis=0, initial=-np.inf),
        )

    @property
    def deviations(self):
        """The weighted standard deviations."""
        return np.sqrt(self.squares / self.total_weight)
