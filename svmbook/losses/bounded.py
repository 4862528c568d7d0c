"""Bounded losses: the 0-1 loss, and two continuous losses that tend to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from .convex import hinge

__all__ = [
    "sigmoidal",
    "sigmoidal_curvature",
    "sigmoidal_slope",
    "usvc",
    "usvc_curvature",
    "usvc_slope",
    "zero_one",
]


def zero_one(m: ArrayLike) -> np.ndarray:
    r"""Return the 0-1 loss: 1 for an error, that is a margin of at most 0, else 0.

    As a function of the slack :math:`\xi = \max(0, 1 - m)` it is a step at :math:`\xi = 1`.

    Parameters
    ----------
    m : array-like
        Margins.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import zero_one
    >>> zero_one([-1.0, 0.0, 0.5, 3.0])
    array([1., 1., 0., 0.])
    """
    return np.where(np.asarray(m, dtype=float) <= 0.0, 1.0, 0.0)


def usvc(m: ArrayLike, s: float = 2.0, k: float = 1e-6) -> np.ndarray:
    r"""Return the bounded loss of the unbiased SVM, which approximates the 0-1 loss.

    With the slack :math:`\xi = \max(0, 1 - m)` and :math:`\kappa = k^{1/s}`

    .. math::

        \theta_s(\xi) = \begin{cases}
            \dfrac{(\xi + \kappa)^s}{2\,(1 + \kappa)^s} & \xi < 1, \\[2ex]
            1 - \dfrac{(1 + \kappa)^s}{2\,(\xi + \kappa)^s} & \xi \ge 1.
        \end{cases}

    It is one half on the decision boundary, and tends to the 0-1 loss `zero_one` as s grows.

    Parameters
    ----------
    m : array-like
        Margins.
    s : float, default=2.0
        Steepness, at least 1.
    k : float, default=1e-6
        A small positive number, which gives the loss a non-zero slope just below the margin 1.
        Without this slope, the margin would not be maximised once all points are classified
        correctly.

    Returns
    -------
    ndarray

    References
    ----------
    Navia-Vazquez et al. (2004), equation (6).

    Examples
    --------
    >>> from svmbook.losses import usvc
    >>> usvc([-1e9, -1.0, 0.0, 0.5, 3.0]).round(3)
    array([1.   , 0.875, 0.5  , 0.125, 0.   ])
    """
    xi, scaled_xi, _ = _slack_terms(m, s, k)
    loss_if_correct = 0.5 * np.minimum(scaled_xi, 1.0) ** s
    loss_if_wrong = 1.0 - 0.5 * np.maximum(scaled_xi, 1.0) ** -s
    return np.where(xi < 1.0, loss_if_correct, loss_if_wrong)


def usvc_slope(m: ArrayLike, s: float = 2.0, k: float = 1e-6) -> np.ndarray:
    r"""Return the derivative of `usvc` with respect to the margin: zero above 1, steepest at 0.

    Parameters
    ----------
    m : array-like
        Margins.
    s, k : float, default=2.0 and 1e-6
        As in `usvc`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import usvc_slope
    >>> usvc_slope([-1e9, -1.0, 0.0, 0.5, 3.0]).round(3)
    array([-0.   , -0.125, -0.999, -0.5  , -0.   ])
    """
    xi, scaled_xi, kappa = _slack_terms(m, s, k)
    factor = 0.5 * s / (1.0 + kappa)
    slope_if_correct = -factor * np.minimum(scaled_xi, 1.0) ** (s - 1.0)
    slope_if_wrong = -factor * np.maximum(scaled_xi, 1.0) ** (-s - 1.0)
    return (xi > 0.0) * np.where(xi < 1.0, slope_if_correct, slope_if_wrong)


def usvc_curvature(m: ArrayLike, s: float = 2.0, k: float = 1e-6) -> np.ndarray:
    r"""Return the second derivative of `usvc` with respect to the margin: negative below 0.

    Parameters
    ----------
    m : array-like
        Margins.
    s, k : float, default=2.0 and 1e-6
        As in `usvc`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import usvc_curvature
    >>> usvc_curvature([-1.0, 0.5, 3.0]).round(2)
    array([-0.19,  1.  ,  0.  ])
    """
    xi, scaled_xi, kappa = _slack_terms(m, s, k)
    factor = 0.5 * s / (1.0 + kappa) ** 2
    curvature_if_correct = factor * ((s - 1.0) * np.minimum(scaled_xi, 1.0) ** (s - 2.0))
    curvature_if_wrong = -factor * ((s + 1.0) * np.maximum(scaled_xi, 1.0) ** (-s - 2.0))
    return (xi > 0.0) * np.where(xi < 1.0, curvature_if_correct, curvature_if_wrong)


def _slack_terms(m, s, k):
    """Return the slack xi, (xi + kappa) / (1 + kappa), and kappa, as in `usvc`."""
    xi, kappa = hinge(m), k ** (1.0 / s)
    return xi, (xi + kappa) / (1.0 + kappa), kappa


def sigmoidal(m: ArrayLike, steepness: float = 4.0) -> np.ndarray:
    r"""Return the sigmoidal bounded loss that `svmbook.ERMSVC` uses.

    With the slack :math:`\xi = \max(0, 1 - m)` and :math:`\sigma(t) = 1/(1 + e^{-t})`

    .. math:: \frac{\sigma(a(\xi - 1)) - \sigma(-a)}{1 - \sigma(-a)} ,

    which is zero from the margin 1 upwards, and tends to one as the margin decreases. As the
    steepness a grows, the loss tends to the 0-1 loss `zero_one`. Navia-Vazquez et al. (2004)
    mention a sigmoidal cost but give no formula; this formula is ours.

    Parameters
    ----------
    m : array-like
        Margins.
    steepness : float, default=4.0
        The steepness a, positive.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from svmbook.losses import sigmoidal
    >>> sigmoidal([-1e9, -1.0, 0.0, 0.5, 3.0]).round(3)
    array([1.   , 0.982, 0.491, 0.103, 0.   ])
    """
    sigmoid = expit(steepness * (hinge(m) - 1.0))
    sigmoid_at_zero_slack = expit(-steepness)
    return (sigmoid - sigmoid_at_zero_slack) / (1.0 - sigmoid_at_zero_slack)


def sigmoidal_slope(m: ArrayLike, steepness: float = 4.0) -> np.ndarray:
    r"""Return the derivative of `sigmoidal` with respect to the margin.

    Parameters
    ----------
    m : array-like
        Margins.
    steepness : float, default=4.0
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
    xi = hinge(m)
    t = steepness * (xi - 1.0)
    return -steepness * expit(t) * expit(-t) / (1.0 - expit(-steepness)) * (xi > 0.0)


def sigmoidal_curvature(m: ArrayLike, steepness: float = 4.0) -> np.ndarray:
    r"""Return the second derivative of `sigmoidal` with respect to the margin: negative below 0.

    Parameters
    ----------
    m : array-like
        Margins.
    steepness : float, default=4.0
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
    xi = hinge(m)
    sigmoid, complement = expit(steepness * (xi - 1.0)), expit(-steepness * (xi - 1.0))
    second_derivative = steepness**2 * sigmoid * complement * (complement - sigmoid)
    return second_derivative / (1.0 - expit(-steepness)) * (xi > 0.0)
