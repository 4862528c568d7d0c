"""Bounded losses: the count of errors, and two smooth costs that tend to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

__all__ = [
    "error_count",
    "sigmoidal",
    "sigmoidal_curvature",
    "sigmoidal_slope",
    "unbiased",
    "unbiased_curvature",
    "unbiased_slope",
]


def error_count(m: ArrayLike) -> np.ndarray:
    r"""Return 1 for a mistake, a margin of at most 0, else 0: what `unbiased` tends to.

    In terms of the slack :math:`\xi = \max(0, 1 - m)` it is the step at :math:`\xi = 1`.

    Parameters
    ----------
    m : array-like
        Margins.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import error_count
    >>> error_count([-1.0, 0.0, 0.5, 3.0])
    array([1., 1., 0., 0.])
    """
    return 1.0 * (np.asarray(m, dtype=float) <= 0.0)


def unbiased(m: ArrayLike, s: float = 2.0, k: float = 1e-6) -> np.ndarray:
    r"""Return the cost of the unbiased machine: a smooth, bounded stand-in for a count of errors.

    With the slack :math:`\xi = \max(0, 1 - m)` and :math:`\kappa = k^{1/s}`

    .. math::

        \theta_s(\xi) = \begin{cases}
            \dfrac{(\xi + \kappa)^s}{2\,(1 + \kappa)^s} & \xi < 1, \\[2ex]
            1 - \dfrac{(1 + \kappa)^s}{2\,(\xi + \kappa)^s} & \xi \ge 1.
        \end{cases}

    It is one half where the point changes sides, and tends to the step of `error_count` as s
    grows.

    Parameters
    ----------
    m : array-like
        Margins.
    s : float, default=2.0
        Steepness, at least 1.
    k : float, default=1e-6
        A small positive number. It gives the cost a slope at the margin 1, without which a
        machine whose points are all right would not look for the widest street.

    Returns
    -------
    ndarray

    References
    ----------
    Navia-Vazquez et al. (2004), equation (6).

    Examples
    --------
    >>> from svmbook.losses import unbiased
    >>> unbiased([-1e9, -1.0, 0.0, 0.5, 3.0]).round(3)
    array([1.   , 0.875, 0.5  , 0.125, 0.   ])
    """
    xi = np.maximum(0.0, 1.0 - np.asarray(m, dtype=float))
    kappa = k ** (1.0 / s)
    ratio = (xi + kappa) / (1.0 + kappa)
    far = np.maximum(ratio, 1.0)
    return np.where(xi < 1.0, 0.5 * np.minimum(ratio, 1.0) ** s, 1.0 - 0.5 * far**-s)


def unbiased_slope(m: ArrayLike, s: float = 2.0, k: float = 1e-6) -> np.ndarray:
    r"""Return the derivative of `unbiased` in the margin: zero above 1, steepest at 0.

    Parameters
    ----------
    m : array-like
        Margins.
    s, k : float, default=2.0 and 1e-6
        As in `unbiased`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import unbiased_slope
    >>> unbiased_slope([-1e9, -1.0, 0.0, 0.5, 3.0]).round(3)
    array([-0.   , -0.125, -0.999, -0.5  , -0.   ])
    """
    xi = np.maximum(0.0, 1.0 - np.asarray(m, dtype=float))
    kappa = k ** (1.0 / s)
    ratio = (xi + kappa) / (1.0 + kappa)
    rate = 0.5 * s / (1.0 + kappa)
    near = np.minimum(ratio, 1.0) ** (s - 1.0)
    far = np.maximum(ratio, 1.0) ** (-s - 1.0)
    return -rate * (xi > 0.0) * np.where(xi < 1.0, near, far)


def unbiased_curvature(m: ArrayLike, s: float = 2.0, k: float = 1e-6) -> np.ndarray:
    r"""Return the second derivative of `unbiased` in the margin: negative below 0.

    Parameters
    ----------
    m : array-like
        Margins.
    s, k : float, default=2.0 and 1e-6
        As in `unbiased`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import unbiased_curvature
    >>> unbiased_curvature([-1.0, 0.5, 3.0]).round(2)
    array([-0.19,  1.  ,  0.  ])
    """
    xi = np.maximum(0.0, 1.0 - np.asarray(m, dtype=float))
    kappa = k ** (1.0 / s)
    ratio = (xi + kappa) / (1.0 + kappa)
    rate = 0.5 * s / (1.0 + kappa) ** 2
    near = (s - 1.0) * np.minimum(ratio, 1.0) ** (s - 2.0)
    far = -(s + 1.0) * np.maximum(ratio, 1.0) ** (-s - 2.0)
    return rate * (xi > 0.0) * np.where(xi < 1.0, near, far)


def sigmoidal(m: ArrayLike, slope: float = 4.0) -> np.ndarray:
    r"""Return a cost of sigmoidal shape, for `svmbook.ERMSVC`.

    With the slack :math:`\xi = \max(0, 1 - m)` and :math:`\sigma(t) = 1/(1 + e^{-t})`

    .. math:: \frac{\sigma(a(\xi - 1)) - \sigma(-a)}{1 - \sigma(-a)} ,

    which is zero at the margin 1, tends to one far on the wrong side, and to the step of
    `error_count` as the slope a grows. The source names a sigmoidal cost and prints none; this is
    ours.

    Parameters
    ----------
    m : array-like
        Margins.
    slope : float, default=4.0
        The slope a, positive.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import sigmoidal
    >>> sigmoidal([-1e9, -1.0, 0.0, 0.5, 3.0]).round(3)
    array([1.   , 0.982, 0.491, 0.103, 0.   ])
    """
    xi = np.maximum(0.0, 1.0 - np.asarray(m, dtype=float))
    lowest = expit(-slope)
    return (expit(slope * (xi - 1.0)) - lowest) / (1.0 - lowest)


def sigmoidal_slope(m: ArrayLike, slope: float = 4.0) -> np.ndarray:
    r"""Return the derivative of `sigmoidal` in the margin.

    Parameters
    ----------
    m : array-like
        Margins.
    slope : float, default=4.0
        As in `sigmoidal`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import sigmoidal_slope
    >>> sigmoidal_slope([-1e9, -1.0, 0.0, 0.5, 3.0]).round(3)
    array([-0.   , -0.072, -1.018, -0.428, -0.   ])
    """
    xi = np.maximum(0.0, 1.0 - np.asarray(m, dtype=float))
    t = slope * (xi - 1.0)
    return -slope * expit(t) * expit(-t) / (1.0 - expit(-slope)) * (xi > 0.0)


def sigmoidal_curvature(m: ArrayLike, slope: float = 4.0) -> np.ndarray:
    r"""Return the second derivative of `sigmoidal` in the margin: negative below 0.

    Parameters
    ----------
    m : array-like
        Margins.
    slope : float, default=4.0
        As in `sigmoidal`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import sigmoidal_curvature
    >>> sigmoidal_curvature([-1.0, 0.5, 3.0]).round(2)
    array([-0.28,  1.3 ,  0.  ])
    """
    xi = np.maximum(0.0, 1.0 - np.asarray(m, dtype=float))
    rising, falling = expit(slope * (xi - 1.0)), expit(-slope * (xi - 1.0))
    bent = slope**2 * rising * falling * (falling - rising)
    return bent / (1.0 - expit(-slope)) * (xi > 0.0)
