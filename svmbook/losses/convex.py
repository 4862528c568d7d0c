"""Convex losses: the hinge and the logistic loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlog1py, xlogy

__all__ = [
    "hinge",
    "hinge_slope",
    "logistic",
    "logistic_conjugate",
    "logistic_curvature",
    "logistic_slope",
]


def hinge(m: ArrayLike) -> np.ndarray:
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


def hinge_slope(m: ArrayLike) -> np.ndarray:
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


def logistic(m: ArrayLike) -> np.ndarray:
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


def logistic_slope(m: ArrayLike) -> np.ndarray:
    r"""Return :math:`-\sigma(-m) = -1/(1 + e^m)`, the derivative of `logistic`.

    Its absolute value is the predicted probability of the wrong label.

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


def logistic_curvature(m: ArrayLike) -> np.ndarray:
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


def logistic_conjugate(p: ArrayLike) -> np.ndarray:
    r"""Return :math:`p\log p + (1 - p)\log(1 - p)`, the conjugate of `logistic` at :math:`-p`.

    For every margin m, :math:`\log(1 + e^{-m}) \ge -pm - (p\log p + (1-p)\log(1-p))`, with
    equality where :math:`p = \sigma(-m)`: the right-hand side is a tangent, which bounds the loss
    from below. A dual objective is the minimum of the sum of such tangents plus the penalty.

    Parameters
    ----------
    p : array-like
        Numbers between 0 and 1.

    Returns
    -------
    ndarray
        Not positive on [0, 1], infinite elsewhere.

    Examples
    --------
    >>> from svmbook.losses import logistic_conjugate
    >>> logistic_conjugate([0.0, 0.5, 1.0]).round(4)
    array([ 0.    , -0.6931,  0.    ])
    """
    p = np.asarray(p, dtype=float)
    is_probability = (p >= 0.0) & (p <= 1.0)
    valid_p = np.where(is_probability, p, 0.0)
    return np.where(
        is_probability, xlogy(valid_p, valid_p) + xlog1py(1.0 - valid_p, -valid_p), np.inf
    )
