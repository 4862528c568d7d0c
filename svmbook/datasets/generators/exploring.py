"""Random data like the data sets of *Exploring Classification*: two classes, labels -1 and +1.

The same integer as ``random_state`` gives the same data in each call; None gives new data. Bayes
errors assume classes of equal weight.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_random_state, check_scalar

from ...arguments import check_positive
from .class_balance import balanced_labels

__all__ = [
    "DataSplit",
    "draw_split",
    "forest_like",
    "non_separable",
    "non_separable_bayes_error",
    "stdev",
    "stdev_bayes_error",
    "xor",
]

# Distance between the two means of `stdev`; reproduces the reported error rates.
DISTANCE_BETWEEN_MEANS = 5.4
# Absolute coordinate of the centres of `non_separable`; reproduces the reported error of 5 %.
CENTRE_COORDINATE = 1.95
# Standard deviation of the noise that `forest_like` adds to the score, relative to the score's.
RELATIVE_SCORE_NOISE = 0.7


class DataSplit(NamedTuple):
    """Training, validation and test set, each a pair ``(X, y)``."""

    train: tuple[np.ndarray, np.ndarray]
    validation: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def stdev(
    sd: float, n: int = 400, *, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw two spherical Gaussians in the plane, with means at a distance of 5.4.

    The data sets ``stdev1``, ``stdev2`` and ``stdev4`` of *Exploring Classification* are not
    published. Gaussians of standard deviation ``sd`` around :math:`\pm(2.7, 2.7)/\sqrt2` reproduce
    the errors reported for them. The Bayes rule is the sign of :math:`x_1 + x_2`. Its error is
    :math:`\Phi(-2.7/sd)`: 0.35 %, 8.9 % and 25 % for ``sd`` 1, 2 and 4.

    Parameters
    ----------
    sd : float
        Standard deviation of each coordinate, positive.
    n : int, default=400
        Number of points, at least 2.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Points.
    y : ndarray of shape (n,)
        Labels: +1 for n // 2 points, -1 for the others, in random order.

    Raises
    ------
    ValueError, TypeError
        ``sd`` is not positive and finite, or ``n`` is not an integer of at least 2.

    Examples
    --------
    >>> from svmbook.datasets import stdev
    >>> X, y = stdev(2, n=6, random_state=0)
    >>> X.shape, y.sum()
    ((6, 2), np.float64(0.0))
    """
    check_positive("sd", sd)
    rng = check_random_state(random_state)
    y = balanced_labels(n, rng)
    coordinate = DISTANCE_BETWEEN_MEANS / 2 / np.sqrt(2)
    return sd * rng.standard_normal((n, 2)) + coordinate * y[:, None], y


def stdev_bayes_error(sd: float) -> float:
    r"""Return the Bayes error of `stdev`, :math:`\Phi(-2.7/sd)`.

    Parameters
    ----------
    sd : float
        Standard deviation of each coordinate, positive.

    Returns
    -------
    float
        Probability of an error, between 0 and 1/2.

    Raises
    ------
    ValueError, TypeError
        ``sd`` is not positive and finite.

    Examples
    --------
    >>> from svmbook.datasets import stdev_bayes_error
    >>> [round(100 * stdev_bayes_error(sd), 2) for sd in (1, 2, 4)]
    [0.35, 8.85, 24.98]
    """
    check_positive("sd", sd)
    return float(norm.cdf(-DISTANCE_BETWEEN_MEANS / 2 / sd))


def non_separable(
    n: int = 400, *, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw four unit Gaussians at (+-1.95, +-1.95); opposite corners have the same label.

    The Bayes rule is the sign of :math:`x_1 x_2`. Its error is :math:`2p(1-p)` with
    :math:`p = \Phi(-1.95)`, or 4.99 %, as reported for ``nonSep`` in *Exploring Classification*. A
    line through the origin has an error of 50 %. The best line separates one Gaussian from the rest
    and has an error of 31 %.

    Parameters
    ----------
    n : int, default=400
        Number of points, at least 2.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Points.
    y : ndarray of shape (n,)
        Labels in random order: +1 for n // 2 points, from the two Gaussians whose coordinates have
        equal signs, -1 for the others. The Gaussian of a point is chosen at random among the two of
        its class, so their sizes differ.

    Raises
    ------
    ValueError, TypeError
        ``n`` is not an integer of at least 2.

    Examples
    --------
    >>> from svmbook.datasets import non_separable
    >>> X, y = non_separable(random_state=0)
    >>> float((y == np.sign(X[:, 0] * X[:, 1])).mean().round(2))
    0.95
    """
    rng = check_random_state(random_state)
    y = balanced_labels(n, rng)
    signs = rng.choice([-1.0, 1.0], size=n)
    centres = CENTRE_COORDINATE * np.column_stack([signs, signs * y])
    return centres + rng.standard_normal((n, 2)), y


def non_separable_bayes_error() -> float:
    r"""Return the Bayes error of `non_separable`, :math:`2p(1-p)`.

    Returns
    -------
    float
        Probability of an error.

    Examples
    --------
    >>> from svmbook.datasets import non_separable_bayes_error
    >>> round(100 * non_separable_bayes_error(), 2)
    4.99
    """
    p = float(norm.cdf(-CENTRE_COORDINATE))
    return 2 * p * (1 - p)


def xor(
    n_per_corner: int = 1,
    *,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw points at the four corners of a square; opposite corners have the same label.

    Parameters
    ----------
    n_per_corner : int, default=1
        Number of points at each of (-1, -1), (-1, 1), (1, -1), (1, 1), at least 1.
    noise : float, default=0.0
        Standard deviation of each coordinate around the corner, not negative.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (4 * n_per_corner, 2)
        Points, corner by corner.
    y : ndarray of shape (4 * n_per_corner,)
        Labels: the product of the corner's coordinates, so half of them are +1 for any noise.

    Raises
    ------
    ValueError, TypeError
        ``n_per_corner`` is not an integer of at least 1, or ``noise`` is negative or not finite.

    Examples
    --------
    >>> from svmbook.datasets import xor
    >>> xor()[1]
    array([ 1., -1., -1.,  1.])
    """
    check_scalar(n_per_corner, "n_per_corner", Integral, min_val=1)
    check_positive("noise", noise, allow_zero=True)
    rng = check_random_state(random_state)
    corners = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
    X = np.repeat(corners, n_per_corner, axis=0)
    y = X[:, 0] * X[:, 1]
    return X + noise * rng.standard_normal(X.shape), y


def forest_like(
    n: int = 5040, *, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw data with the columns of the forest cover problem: 10 measurements, 44 indicators.

    Columns 0-9 are correlated and normal, with mean about 0 and standard deviation 1. Columns
    10-13 encode one of four areas and 14-53 one of forty soils, whose probabilities depend on the
    measurements. The score is a linear function of all columns minus its median. Normal noise,
    with 0.7 times the standard deviation of the score, is added to the score. The label is the sign
    of the sum. So the Bayes rule is linear: the sign of the score. Its error is about 20 %; for a
    normal score it is :math:`\arctan(0.7)/\pi`, or 19 %.

    The problem itself depends on the seed: another seed gives other correlations and another
    score. For training and test data draw once and split.

    Parameters
    ----------
    n : int, default=5040
        Number of points, at least 2.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 54)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1, about half of each; if n is small, all labels may be equal.

    Raises
    ------
    ValueError, TypeError
        ``n`` is not an integer of at least 2.

    Examples
    --------
    >>> from svmbook.datasets import forest_like
    >>> X, y = forest_like(100, random_state=0)
    >>> X[:, 10:14].sum(), X[:, 14:].sum()
    (np.float64(100.0), np.float64(100.0))
    """
    check_scalar(n, "n", Integral, min_val=2)
    rng = check_random_state(random_state)
    mixing = rng.standard_normal((10, 10)) / np.sqrt(10) + np.eye(10)
    measurements = rng.standard_normal((n, 10)) @ mixing
    measurements /= measurements.std(axis=0)
    X = np.zeros((n, 54))
    X[:, :10] = measurements
    for first_column, n_columns in ((10, 4), (14, 40)):
        logits = measurements @ rng.standard_normal((10, n_columns))
        category = np.argmax(logits + 3 * rng.gumbel(size=(n, n_columns)), axis=1)
        X[np.arange(n), first_column + category] = 1.0
    weights = rng.standard_normal(54)
    score = X @ weights
    score -= np.median(score)
    noise = RELATIVE_SCORE_NOISE * score.std() * rng.standard_normal(n)
    return X, np.where(score + noise > 0, 1.0, -1.0)


def draw_split(draw: Callable, *, random_state: int | None = None) -> DataSplit:
    """Return training, validation and test data, drawn by a generator with independent seeds.

    The distribution of the generator must not depend on the seed; that of `forest_like` does.

    Parameters
    ----------
    draw : callable
        ``draw(random_state=seed)`` returning ``(X, y)``.
    random_state : int or None, default=None
        Seed, not negative, from which `numpy.random.SeedSequence` derives three seeds.

    Returns
    -------
    DataSplit
        ``train``, ``validation`` and ``test``.

    Raises
    ------
    ValueError, TypeError
        ``random_state`` is neither None nor an integer of at least 0.

    Examples
    --------
    >>> from svmbook.datasets import draw_split, non_separable
    >>> parts = draw_split(non_separable, random_state=7)
    >>> [len(y) for X, y in parts]
    [400, 400, 400]
    """
    if random_state is not None:
        check_scalar(random_state, "random_state", Integral, min_val=0)
    seeds = np.random.SeedSequence(random_state).generate_state(3)
    return DataSplit(*(draw(random_state=int(seed)) for seed in seeds))
