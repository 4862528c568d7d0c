r"""Three planar data sets for prototype SVMs, on which a single linear classifier does badly.

References
----------
Shen (2013), *Prototype Support Vector Machines*, section 5.1.2, describes the first two data sets
without parameter values; the values here are our own. The spirals are exactly those of White et al.
(1995), CMU neural networks benchmark.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm
from sklearn.utils import check_random_state, check_scalar

from ...arguments import check_positive
from .class_balance import balanced_labels

__all__ = ["isolated", "isolated_bayes_error", "spirals", "striated", "striated_bayes_error"]

CLUSTER_CENTRES = np.array([[0.25, 0.3], [0.7, 0.25], [0.5, 0.75]])  # of `isolated`
DEFAULT_SPREAD = 0.05  # default standard deviation of the clusters
MAX_SPREAD = 0.075  # up to this value the circles around the clusters do not meet
CIRCLE_RADIUS = 3.0  # of the circles without points of class -1, in standard deviations


def isolated(
    n: int = 800,
    *,
    spread: float = DEFAULT_SPREAD,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw three small Gaussian clusters, and a uniform background at a distance from them.

    Class +1 has 3/8 of the points, in clusters of standard deviation ``spread``. Class -1 is
    uniform on the unit square outside the circles of radius 3 ``spread`` around the centres. If
    ``spread`` is above 0.02, the Bayes rule predicts +1 inside these circles, and outside the
    square, where hardly any points lie. Its error is :math:`\tfrac38 e^{-9/2}`, or 0.42 %.

    Parameters
    ----------
    n : int, default=800
        Number of points, at least 3.
    spread : float, default=0.05
        Standard deviation of a cluster, at most 0.075, so that the circles do not meet.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Points.
    y : ndarray of shape (n,)
        Labels in random order: +1 for 3 n // 8 points, at least one.

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
    check_scalar(spread, "spread", Real, max_val=MAX_SPREAD)
    rng = check_random_state(random_state)
    n_positive = max(1, 3 * n // 8)
    centres = CLUSTER_CENTRES[np.arange(n_positive) % len(CLUSTER_CENTRES)]
    positive = centres + spread * rng.standard_normal((n_positive, 2))
    negative = np.empty((0, 2))
    while len(negative) < n - n_positive:
        candidates = rng.uniform(size=(n, 2))
        distances = np.linalg.norm(candidates[:, None] - CLUSTER_CENTRES, axis=2)
        is_outside = distances.min(axis=1) > CIRCLE_RADIUS * spread
        negative = np.vstack([negative, candidates[is_outside]])
    order = rng.permutation(n)
    X = np.vstack([positive, negative[: n - n_positive]])
    y = np.where(np.arange(n) < n_positive, 1.0, -1.0)
    return X[order], y[order]


def isolated_bayes_error() -> float:
    r"""Return the Bayes error of `isolated`, :math:`\tfrac38 e^{-9/2}`, for a spread above 0.02.

    Examples
    --------
    >>> from svmbook.datasets import isolated_bayes_error
    >>> round(100 * isolated_bayes_error(), 2)
    0.42
    """
    return float(3 / 8 * np.exp(-(CIRCLE_RADIUS**2) / 2))


def striated(
    n: int = 800,
    *,
    n_stripes: int = 8,
    width: float = 0.2,
    length: float = 2.0,
    tilt: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw parallel stripes of alternating classes, each a long thin Gaussian.

    Stripe j has its centre at :math:`x_1 = j` and the standard deviations ``width`` across and
    ``length`` along. All stripes are then rotated by ``tilt``. If the stripes hardly overlap, the
    Bayes rule predicts the class of the nearest stripe.

    Parameters
    ----------
    n : int, default=800
        Number of points, at least 2.
    n_stripes : int, default=8
        Number of stripes, even: half of them belong to each class.
    width : float, default=0.2
        Standard deviation across, in units of the distance between neighbouring stripes.
    length : float, default=2.0
        Standard deviation along.
    tilt : float, default=0.0
        Angle in degrees by which the stripes are rotated about the mean of their centres. For
        multiples of 90 the stripes are parallel to an axis.
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
        An argument is of the wrong type or out of range, or ``n_stripes`` is odd.

    Examples
    --------
    >>> from svmbook.datasets import striated
    >>> X, y = striated(6, n_stripes=2, random_state=0)
    >>> X.shape, y.sum()
    ((6, 2), np.float64(0.0))
    """
    _check_stripes(n_stripes, width)
    check_positive("length", length)
    check_scalar(tilt, "tilt", Real)
    check_positive("tilt", abs(tilt), allow_zero=True)
    rng = check_random_state(random_state)
    y = balanced_labels(n, rng)
    stripe_indices = 2 * rng.randint(n_stripes // 2, size=n) + (y < 0)
    x_1 = stripe_indices + width * rng.standard_normal(n)
    X = np.column_stack([x_1, length * rng.standard_normal(n)])
    if tilt:
        angle, centre = np.deg2rad(tilt), np.array([(n_stripes - 1) / 2, 0.0])
        rotation = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        X = (X - centre) @ np.array(rotation) + centre
    return X, y


def striated_bayes_error(n_stripes: int = 8, width: float = 0.2) -> float:
    r"""Return the Bayes error of `striated`.

    It is half of the integral over :math:`x_1` of the smaller of the two class densities, which are
    mixtures of Gaussians.

    Examples
    --------
    >>> from svmbook.datasets import striated_bayes_error
    >>> round(100 * striated_bayes_error(), 2)
    1.09
    """
    _check_stripes(n_stripes, width)
    padding = 10.0 * width  # the probability beyond is negligible
    x_1 = np.linspace(-padding, n_stripes - 1 + padding, 200_001)
    stripe_densities = norm.pdf(x_1[:, None], np.arange(n_stripes), width)
    positive_density = stripe_densities[:, ::2].mean(axis=1)
    negative_density = stripe_densities[:, 1::2].mean(axis=1)
    return float(0.5 * trapezoid(np.minimum(positive_density, negative_density), x_1))


def spirals() -> tuple[np.ndarray, np.ndarray]:
    r"""Return two spirals of 97 points each that wind around each other three times.

    Point i of the first arm, i = 0 to 96, has radius :math:`6.5(104 - i)/104` and angle
    :math:`i\pi/16`; the second arm is its reflection in the origin. The points are not random.

    Returns
    -------
    X : ndarray of shape (194, 2)
        Points of the two arms, alternating.
    y : ndarray of shape (194,)
        Labels: +1 for the first arm, -1 for the second.

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


def _check_stripes(n_stripes, width):
    check_scalar(n_stripes, "n_stripes", Integral, min_val=2)
    check_positive("width", width)
    if n_stripes % 2:
        raise ValueError(f"n_stripes must be even, half for each class; found {n_stripes}.")
