r"""Losses: what a margin costs, and how fast the price changes.

Each function takes functional margins :math:`m = y f(x)`, with labels :math:`y = \pm 1`, and
returns an array of their shape. None of them overflows, whatever the size of a margin.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlog1py, xlogy

__all__ = [
    "error_count",
    "hinge",
    "hinge_slope",
    "logistic",
    "logistic_conjugate",
    "logistic_curvature",
    "logistic_slope",
    "sigmoidal",
    "sigmoidal_curvature",
    "sigmoidal_slope",
    "unbiased",
    "unbiased_curvature",
    "unbiased_slope",
]


def hinge(m):
    r"""Return :math:`\max(0, 1 - m)`, the slack of the support vector machine.

    Parameters
    ----------
    m : array-like
        Margins.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import hinge
    >>> hinge([-1.0, 0.5, 3.0])
    array([2. , 0.5, 0. ])
    """
    return np.maximum(0.0, 1.0 - np.asarray(m, dtype=float))


def hinge_slope(m):
    r"""Return the derivative of `hinge`: -1 below the margin 1, else 0.

    Parameters
    ----------
    m : array-like
        Margins.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import hinge_slope
    >>> hinge_slope([-1.0, 0.5, 3.0])
    array([-1., -1.,  0.])
    """
    return np.where(np.asarray(m, dtype=float) < 1.0, -1.0, 0.0)


def logistic(m):
    r"""Return :math:`\log(1 + e^{-m})`, minus the log of the probability of the true label.

    Parameters
    ----------
    m : array-like
        Margins, in natural log odds.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import logistic
    >>> logistic([-1e4, 0.0, 1e4]).round(4)
    array([1.000e+04, 6.931e-01, 0.000e+00])
    """
    return np.logaddexp(0.0, -np.asarray(m, dtype=float))


def logistic_slope(m):
    r"""Return :math:`-\sigma(-m) = -1/(1 + e^m)`, the derivative of `logistic`.

    Its size is the probability that the machine gives to the wrong label.

    Parameters
    ----------
    m : array-like
        Margins.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import logistic_slope
    >>> logistic_slope([-1e4, 0.0, 1e4])
    array([-1. , -0.5, -0. ])
    """
    return -expit(-np.asarray(m, dtype=float))


def logistic_curvature(m):
    r"""Return :math:`\sigma(m)\,\sigma(-m)`, the second derivative of `logistic`.

    Parameters
    ----------
    m : array-like
        Margins.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import logistic_curvature
    >>> logistic_curvature([-1e4, 0.0, 1e4])
    array([0.  , 0.25, 0.  ])
    """
    m = np.asarray(m, dtype=float)
    return expit(m) * expit(-m)


def logistic_conjugate(p):
    r"""Return :math:`p\log p + (1 - p)\log(1 - p)`, the conjugate of `logistic` at :math:`-p`.

    For every margin m, :math:`\log(1 + e^{-m}) \ge -pm - (p\log p + (1-p)\log(1-p))`, with
    equality where :math:`p = \sigma(-m)`: the loss from below, by its tangents. Dual objectives
    are sums of such tangents.

    Parameters
    ----------
    p : array-like
        Numbers between 0 and 1.

    Returns
    -------
    ndarray
        Not positive; infinite outside [0, 1].

    Examples
    --------
    >>> from svmbook.losses import logistic_conjugate
    >>> logistic_conjugate([0.0, 0.5, 1.0]).round(4)
    array([ 0.    , -0.6931,  0.    ])
    """
    p = np.asarray(p, dtype=float)
    inside = (p >= 0.0) & (p <= 1.0)
    q = np.where(inside, p, 0.0)
    return np.where(inside, xlogy(q, q) + xlog1py(1.0 - q, -q), np.inf)


def error_count(m):
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


def unbiased(m, s=2.0, k=1e-6):
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


def unbiased_slope(m, s=2.0, k=1e-6):
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


def unbiased_curvature(m, s=2.0, k=1e-6):
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


def sigmoidal(m, slope=4.0):
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


def sigmoidal_slope(m, slope=4.0):
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


def sigmoidal_curvature(m, slope=4.0):
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
