r"""Three data sets in the plane on which one global machine does badly: for prototype machines.

References
----------
Shen (2013), *Prototype Support Vector Machines*, section 5.1.2, describes the first two in words;
here the words have got numbers. The spirals are exact: White et al. (1995), CMU neural networks
benchmark.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm
from sklearn.utils import check_random_state, check_scalar

from ...arguments import check_positive
from .draw import balanced_labels

__all__ = ["isolated", "isolated_bayes_error", "spirals", "striated", "striated_bayes_error"]

CENTRES = np.array([[0.25, 0.3], [0.7, 0.25], [0.5, 0.75]])  # of the clusters of `isolated`
CLUSTER = 0.05  # their standard deviation
WIDEST = 0.075  # up to it circles of `EMPTY` times it around the centres do not meet
EMPTY = 3.0  # standard deviations around a centre that the background leaves free


def isolated(
    n: int = 800,
    *,
    spread: float = CLUSTER,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw three small Gaussian clusters in a uniform background that keeps its distance.

    Class +1 is 3/8 of the points, in clusters of standard deviation ``spread``; class -1 is uniform
    on the unit square outside three standard deviations of every centre. The Bayes rule is "+1
    within three standard deviations of a centre"; its error :math:`\tfrac38 e^{-9/2}`, 0.42 %.

    Parameters
    ----------
    n : int, default=800
        Points, at least 3.
    spread : float, default=0.05
        Standard deviation of a cluster, at most 0.075: up to it circles of three of them do not
        meet.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Points.
    y : ndarray of shape (n,)
        Labels: +1 for 3 n // 8 points, at least one, in random order.

    Raises
    ------
    ValueError, TypeError
        ``n`` is not an integer of at least 3, or ``spread`` is not in (0, 0.075].

    Examples
    --------
    >>> from svmbook.datasets import isolated
    >>> X, y = isolated(random_state=0)
    >>> int((y > 0).sum()), int((y < 0).sum())
    (300, 500)
    """
    check_scalar(n, "n", Integral, min_val=3)
    check_positive("spread", spread)
    check_scalar(spread, "spread", Real, max_val=WIDEST)
    rng = check_random_state(random_state)
    positive = max(1, 3 * n // 8)
    clusters = CENTRES[np.arange(positive) % len(CENTRES)]
    inside = clusters + spread * rng.standard_normal((positive, 2))
    outside = np.empty((0, 2))
    while len(outside) < n - positive:
        tried = rng.uniform(size=(n, 2))
        outside = np.vstack([outside, tried[_distance(tried) > EMPTY * spread]])
    order = rng.permutation(n)
    X = np.vstack([inside, outside[: n - positive]])
    y = np.where(np.arange(n) < positive, 1.0, -1.0)
    return X[order], y[order]


def isolated_bayes_error() -> float:
    r"""Return the error of the best possible rule on `isolated`, :math:`\tfrac38 e^{-9/2}`.

    Examples
    --------
    >>> from svmbook.datasets import isolated_bayes_error
    >>> round(100 * isolated_bayes_error(), 2)
    0.42
    """
    return float(3 / 8 * np.exp(-(EMPTY**2) / 2))


def striated(
    n: int = 800,
    *,
    stripes: int = 8,
    width: float = 0.2,
    length: float = 2.0,
    tilt: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw parallel stripes of alternating class, each a long thin Gaussian.

    Stripe j has its centre at :math:`x_1 = j`, standard deviation ``width`` across and ``length``
    along; then all are turned. The Bayes rule takes the class of the nearest stripe, as long as
    stripes hardly overlap.

    Parameters
    ----------
    n : int, default=800
        Points, at least 2.
    stripes : int, default=8
        Number of stripes, even: half of them belong to each class.
    width : float, default=0.2
        Standard deviation across, in units of the distance of two stripes.
    length : float, default=2.0
        Standard deviation along.
    tilt : float, default=0.0
        Angle in degrees by which the stripes are turned round the mean of their centres. With a
        whole number of right angles the axes see the stripes.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Points.
    y : ndarray of shape (n,)
        Labels: +1 for n // 2 points, which lie in stripes 0, 2, 4, and so on.

    Raises
    ------
    ValueError, TypeError
        An argument is of the wrong type or out of range, or ``stripes`` is odd.

    Examples
    --------
    >>> from svmbook.datasets import striated
    >>> X, y = striated(6, stripes=2, random_state=0)
    >>> X.shape, y.sum()
    ((6, 2), np.float64(0.0))
    """
    _check_stripes(stripes, width)
    check_positive("length", length)
    check_scalar(tilt, "tilt", Real)
    check_positive("tilt", abs(tilt), or_zero=True)
    y, rng = balanced_labels(n, random_state)
    stripe = 2 * rng.randint(stripes // 2, size=n) + (y < 0)
    across = stripe + width * rng.standard_normal(n)
    X = np.column_stack([across, length * rng.standard_normal(n)])
    if tilt:
        angle, middle = np.deg2rad(tilt), np.array([(stripes - 1) / 2, 0.0])
        turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        X = (X - middle) @ np.array(turn) + middle
    return X, y


def striated_bayes_error(stripes: int = 8, width: float = 0.2) -> float:
    r"""Return the error of the best possible rule on `striated`.

    It is half of the integral of the smaller of the two densities along :math:`x_1`, each a mixture
    of Gaussians.

    Examples
    --------
    >>> from svmbook.datasets import striated_bayes_error
    >>> round(100 * striated_bayes_error(), 2)
    1.09
    """
    _check_stripes(stripes, width)
    reach = 10.0 * width  # beyond it a stripe has no mass
    x = np.linspace(-reach, stripes - 1 + reach, 200_001)
    density = norm.pdf(x[:, None], np.arange(stripes), width)
    positive, negative = density[:, ::2].mean(axis=1), density[:, 1::2].mean(axis=1)
    return float(0.5 * trapezoid(np.minimum(positive, negative), x))


def spirals() -> tuple[np.ndarray, np.ndarray]:
    r"""Draw two spirals of 97 points that wind around each other three times.

    Point i of the first arm, i = 0 to 96, has radius :math:`6.5(104 - i)/104` and angle
    :math:`i\pi/16`; the second arm is its mirror image in the origin. Nothing is random.

    Returns
    -------
    X : ndarray of shape (194, 2)
        Points, the two arms in turn.
    y : ndarray of shape (194,)
        Labels, +1 for the first arm.

    Examples
    --------
    >>> from svmbook.datasets import spirals
    >>> X, y = spirals()
    >>> X[:2], y[:2]
    (array([[ 0. ,  6.5],
           [-0. , -6.5]]), array([ 1., -1.]))
    """
    i = np.arange(97)
    radius, angle = 6.5 * (104 - i) / 104, i * np.pi / 16
    arm = np.column_stack([radius * np.sin(angle), radius * np.cos(angle)])
    return np.stack([arm, -arm], axis=1).reshape(-1, 2), np.tile([1.0, -1.0], 97)


def _distance(X):
    """Return the distance of each point to the nearest centre of `isolated`."""
    return np.linalg.norm(X[:, None] - CENTRES, axis=2).min(axis=1)


def _check_stripes(stripes, width):
    check_scalar(stripes, "stripes", Integral, min_val=2)
    check_positive("width", width)
    if stripes % 2:
        raise ValueError(f"stripes must be even, half for each class; found {stripes}.")
