"""Costs for IRWLS: value, first and second derivative as functions of the margin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ...arguments import check_positive
from ...losses import (
    hinge,
    hinge_slope,
    sigmoidal,
    sigmoidal_curvature,
    sigmoidal_slope,
    usvc,
    usvc_curvature,
    usvc_slope,
)

__all__ = ["HINGE", "Cost", "sigmoidal_cost", "usvc_cost"]


class Cost(NamedTuple):
    """A cost of the margin and its derivatives; it must be constant from the margin 1 upwards.

    Attributes
    ----------
    value, slope, curvature : callable
        Functions that map an array of margins to an array of the same shape.

    Examples
    --------
    >>> from svmbook.solvers import HINGE
    >>> float(HINGE.value(-1.0)), float(HINGE.slope(-1.0))
    (2.0, -1.0)
    """

    value: Callable
    slope: Callable
    curvature: Callable


#: The cost of the support vector machine, :eq:`eq-hinge-penalty`.
HINGE = Cost(hinge, hinge_slope, np.zeros_like)


def usvc_cost(s: float = 2.0, k: float = 1e-6) -> Cost:
    """Return the `Cost` of `svmbook.losses.usvc`.

    Parameters
    ----------
    s : float, default=2.0
        Steepness, at least 1.
    k : float, default=1e-6
        Positive; gives the cost a non-zero slope just below the margin 1.

    Returns
    -------
    Cost

    Raises
    ------
    ValueError, TypeError
        A number is out of range.

    Examples
    --------
    >>> from svmbook.solvers import usvc_cost
    >>> float(usvc_cost(s=4.0).value(0.0))
    0.5
    """
    if not s >= 1.0:
        raise ValueError(f"s must be at least 1; found {s!r}.")
    check_positive("k", k)
    functions = usvc, usvc_slope, usvc_curvature
    return Cost(*(partial(function, s=s, k=k) for function in functions))


def sigmoidal_cost(steepness: float = 4.0) -> Cost:
    """Return the `Cost` of `svmbook.losses.sigmoidal`.

    Parameters
    ----------
    steepness : float, default=4.0
        Steepness of the sigmoid, positive.

    Returns
    -------
    Cost

    Raises
    ------
    ValueError, TypeError
        The steepness is not a positive, finite number.

    Examples
    --------
    >>> from svmbook.solvers import sigmoidal_cost
    >>> float(sigmoidal_cost(steepness=10.0).value(1.0))
    0.0
    """
    check_positive("steepness", steepness)
    functions = sigmoidal, sigmoidal_slope, sigmoidal_curvature
    return Cost(*(partial(function, steepness=steepness) for function in functions))
