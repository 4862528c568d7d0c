r"""Breiman's artificial data: two classes in d dimensions whose Bayes rules are known.

Twonorm, threenorm and ringnorm are mixtures of Gaussians at distances that do not depend on the
dimension. In these, half of the points (rounded down) belong to class +1, Breiman's class 1.
Waveform consists of mixtures of triangular waves with noise.

References
----------
Breiman (1998), "Arcing classifiers", Annals of Statistics 26, 801-849, section 2; for waveform
Breiman, Friedman, Olshen and Stone (1984), *Classification and Regression Trees*, section 2.6.1.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.stats import ncx2, norm
from sklearn.utils import check_random_state, check_scalar

from ...arguments import check_positive
from .class_balance import balanced_labels

__all__ = [
    "ringnorm",
    "ringnorm_bayes_error",
    "threenorm",
    "threenorm_bayes_error",
    "twonorm",
    "twonorm_bayes_error",
    "waveform",
    "waveform_bayes_rule",
]

MEAN_NORM = 2.0  # norm of the class means: each of the d coordinates is +-2 / sqrt(d)
WAVES = np.array(
    [np.maximum(6.0 - np.abs(np.arange(1, 22) - peak), 0.0) for peak in (11, 15, 7)]
)  # h_1, h_2, h_3 of `waveform`
CLASS_WAVES = {1: (0, 1), 2: (0, 2), 3: (1, 2)}  # the two waves of each class


def twonorm(
    n: int = 300, *, d: int = 20, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw points from two unit Gaussians, one for each class.

    Their means are :math:`\pm(a, \dots, a)`, where :math:`a = 2/\sqrt d`. The Bayes rule is the
    sign of :math:`\sum_j x_j`. Its error is :math:`\Phi(-2)`, or 2.28 %.

    Parameters
    ----------
    n : int, default=300
        Number of points, at least 2.
    d : int, default=20
        Dimension, at least 1.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.

    Raises
    ------
    ValueError, TypeError
        ``n`` or ``d`` is not an integer, or is too small.

    Examples
    --------
    >>> from svmbook.datasets import twonorm
    >>> X, y = twonorm(4, random_state=0)
    >>> X.shape
    (4, 20)
    """
    noise, y, _ = _draw_noise_and_labels(n, d, random_state)
    return noise + MEAN_NORM / np.sqrt(d) * y[:, None], y


def twonorm_bayes_error() -> float:
    r"""Return the Bayes error of `twonorm`, :math:`\Phi(-2)`.

    Examples
    --------
    >>> from svmbook.datasets import twonorm_bayes_error
    >>> round(100 * twonorm_bayes_error(), 2)
    2.28
    """
    return float(norm.cdf(-MEAN_NORM))


def threenorm(
    n: int = 300, *, d: int = 20, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw points from three unit Gaussians, two of class +1 and one of class -1.

    Class +1 has mean :math:`(a, \dots, a)` or :math:`-(a, \dots, a)`, each with probability one
    half; class -1 has mean :math:`(a, -a, a, -a, \dots)`; :math:`a = 2/\sqrt d`. With
    :math:`s = \sum_j x_j/\sqrt d` and :math:`t = \sum_j (-1)^{j+1} x_j/\sqrt d` the Bayes rule is
    the sign of :math:`\log\cosh(2s) - 2t`. Its error is 10.5 % in every even dimension.

    Parameters
    ----------
    n : int, default=300
        Number of points, at least 2.
    d : int, default=20
        Dimension, even, so that the two directions are orthogonal.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.

    Raises
    ------
    ValueError, TypeError
        ``n`` or ``d`` is not an integer or too small, or ``d`` is odd.

    Examples
    --------
    >>> from svmbook.datasets import threenorm
    >>> X, y = threenorm(6, d=2, random_state=0)
    >>> X.shape
    (6, 2)
    """
    noise, y, rng = _draw_noise_and_labels(n, d, random_state)
    if d % 2:
        raise ValueError(f"threenorm needs an even dimension; found d == {d}.")
    signs = rng.choice([-1.0, 1.0], size=n)
    alternating_signs = np.where(np.arange(d) % 2 == 0, 1.0, -1.0)
    mean_signs = np.where(y[:, None] > 0, signs[:, None], alternating_signs)
    return noise + MEAN_NORM / np.sqrt(d) * mean_signs, y


def threenorm_bayes_error() -> float:
    r"""Return the Bayes error of `threenorm`, by one integral over s.

    Examples
    --------
    >>> from svmbook.datasets import threenorm_bayes_error
    >>> round(100 * threenorm_bayes_error(), 2)
    10.46
    """

    def error_density(s):
        boundary = np.log(np.cosh(MEAN_NORM * s)) / MEAN_NORM  # value of t
        # Only one of the two Gaussians of class +1 is needed, by symmetry.
        miss_density = norm.pdf(s - MEAN_NORM) * norm.sf(boundary)
        false_alarm_density = norm.pdf(s) * norm.cdf(boundary - MEAN_NORM)
        return 0.5 * (miss_density + false_alarm_density)

    return float(quad(error_density, -12, 12)[0])


def ringnorm(
    n: int = 300,
    *,
    d: int = 20,
    distance: float = MEAN_NORM,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw points from a wide Gaussian around the origin and a narrow Gaussian near it.

    Class +1 has mean zero and covariance :math:`4I`; class -1 has mean :math:`m = (a, \dots, a)`
    and covariance :math:`I`. The Bayes rule predicts -1 inside the ball
    :math:`\|x - \tfrac43 m\|^2 < \tfrac83 d\log2 + \tfrac49\|m\|^2`.

    There are two versions of Breiman's :math:`a`. The DELVE archive has :math:`a = 2/\sqrt d`, a
    distance of 2, as in `twonorm`. The R package mlbench has :math:`a = 1/\sqrt d`, a distance of
    1. Their Bayes errors in 20 dimensions are 1.24 % and 1.49 %; Breiman gives 1.3 %.

    Parameters
    ----------
    n : int, default=300
        Number of points, at least 2.
    d : int, default=20
        Dimension, at least 1.
    distance : float, default=2
        :math:`\|m\|`, not negative.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.

    Raises
    ------
    ValueError, TypeError
        ``n`` or ``d`` is not an integer, or is too small; ``distance`` is negative or not finite.

    Examples
    --------
    >>> from svmbook.datasets import ringnorm
    >>> X, y = ringnorm(1000, random_state=0)
    >>> bool(X[y > 0].std() > 1.9 * X[y < 0].std())
    True
    """
    check_positive("distance", distance, allow_zero=True)
    noise, y, _ = _draw_noise_and_labels(n, d, random_state)
    is_wide = y[:, None] > 0
    return np.where(is_wide, 2.0 * noise, noise + distance / np.sqrt(d)), y


def ringnorm_bayes_error(d: int = 20, *, distance: float = MEAN_NORM) -> float:
    r"""Return the Bayes error of `ringnorm` in d dimensions.

    The squared distance of a point of one class to the centre of the ball has a non-central
    chi-squared distribution, up to its scale.

    Examples
    --------
    >>> from svmbook.datasets import ringnorm_bayes_error
    >>> [round(100 * ringnorm_bayes_error(d), 2) for d in (2, 20)]
    [18.49, 1.24]
    """
    check_scalar(d, "d", Integral, min_val=1)
    check_positive("distance", distance, allow_zero=True)
    squared_distance = distance**2
    squared_radius = 8 / 3 * d * np.log(2) + 4 / 9 * squared_distance
    narrow_class_error = ncx2.sf(squared_radius, d, squared_distance / 9)
    wide_class_error = ncx2.cdf(squared_radius / 4, d, 4 / 9 * squared_distance)
    return float(0.5 * (narrow_class_error + wide_class_error))


def waveform(
    n: int = 300, *, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw random mixtures of two triangular waves in 21 dimensions, with unit noise.

    With waves :math:`h_1, h_2, h_3` and a uniform :math:`u`, the original class 1 is
    :math:`uh_1 + (1-u)h_2`, class 2 :math:`uh_1 + (1-u)h_3`, class 3 :math:`uh_2 + (1-u)h_3`, each
    plus standard normal noise. Here class 1 has the label +1, and classes 2 and 3 have the label
    -1.

    Parameters
    ----------
    n : int, default=300
        Number of points, at least 2; a third (rounded down, at least one) have the label +1.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 21)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.

    Raises
    ------
    ValueError, TypeError
        ``n`` is not an integer of at least 2.

    Examples
    --------
    >>> from svmbook.datasets import waveform
    >>> X, y = waveform(300, random_state=0)
    >>> X.shape, int((y > 0).sum())
    ((300, 21), 100)
    """
    check_scalar(n, "n", Integral, min_val=2)
    rng = check_random_state(random_state)
    n_positive = max(1, n // 3)
    other_classes = 2 + np.arange(n - n_positive) % 2
    classes = rng.permutation(np.concatenate([np.ones(n_positive, dtype=int), other_classes]))
    first_waves, second_waves = (WAVES[[CLASS_WAVES[c][k] for c in classes]] for k in (0, 1))
    u = rng.uniform(size=(n, 1))
    X = u * first_waves + (1 - u) * second_waves + rng.standard_normal((n, 21))
    return X, np.where(classes == 1, 1.0, -1.0)


def waveform_bayes_rule(X: ArrayLike) -> np.ndarray:
    r"""Return the labels that the Bayes rule predicts at points of `waveform`.

    The density of a class is the integral over :math:`u` of a Gaussian whose mean moves along the
    segment between the two waves. This integral has a closed form.

    Parameters
    ----------
    X : ndarray of shape (m, 21)
        Points.

    Returns
    -------
    ndarray of shape (m,)
        Labels -1 and +1.

    Examples
    --------
    >>> from svmbook.datasets import waveform, waveform_bayes_rule
    >>> X, y = waveform(20_000, random_state=0)
    >>> float((waveform_bayes_rule(X) != y).mean().round(3))
    0.083
    """
    X = np.asarray(X, dtype=float)
    log_densities = {}
    for c, (a, b) in CLASS_WAVES.items():
        segment = WAVES[a] - WAVES[b]
        length = np.linalg.norm(segment)
        direction = segment / length
        offset = X - WAVES[b]
        position = offset @ direction  # of the projection onto the line of the segment
        squared_distance = (offset**2).sum(axis=1) - position**2  # from the line
        # The normal probability of the interval from -position to length - position. An interval
        # on the right is mirrored to the left, because there the difference does not cancel.
        is_on_right = position < 0.5 * length
        start = np.where(is_on_right, position - length, -position)
        log_cdf_end, log_cdf_start = norm.logcdf(start + length), norm.logcdf(start)
        log_integral = log_cdf_end + np.log1p(-np.exp(log_cdf_start - log_cdf_end)) - np.log(length)
        log_densities[c] = log_integral - 0.5 * squared_distance
    is_positive = log_densities[1] > np.logaddexp(log_densities[2], log_densities[3])
    return np.where(is_positive, 1.0, -1.0)


def _draw_noise_and_labels(n, d, random_state):
    """Return standard normal noise, balanced labels, and the random generator."""
    check_scalar(d, "d", Integral, min_val=1)
    rng = check_random_state(random_state)
    y = balanced_labels(n, rng)
    return rng.standard_normal((n, d)), y, rng
