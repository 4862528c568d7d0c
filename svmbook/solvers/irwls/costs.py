"""Costs of the slack as the rounds want them: a value and a slope in the margin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ...losses import hinge, hinge_slope, sigmoidal, sigmoidal_slope, unbiased, unbiased_slope

__all__ = ["HINGE", "Cost", "sigmoidal_cost", "unbiased_cost"]


class Cost(NamedTuple):
    """A cost of the margin, with slope zero from the margin 1 on, and its slope.

    Attributes
    ----------
    value, slope : callable
        Functions of an array of margins, which return an array of its shape.

    Examples
    --------
    >>> from svmbook.solvers import HINGE
    >>> float(HINGE.value(-1.0)), float(HINGE.slope(-1.0))
    (2.0, -1.0)
    """

    value: Callable
    slope: Callable


#: The cost of the support vector machine.
HINGE = Cost(hinge, hinge_slope)


def unbiased_cost(s=2.0, k=1e-6):
    """Return the `Cost` of `svmbook.losses.unbiased`.

    Parameters
    ----------
    s : float, default=2.0
        Steepness, at least 1.
    k : float, default=1e-6
        Gives the cost a slope at the margin 1; positive.

    Returns
    -------
    Cost

    Examples
    --------
    >>> from svmbook.solvers import unbiased_cost
    >>> float(unbiased_cost(s=4.0).value(0.0))
    0.5
    """
    return Cost(partial(unbiased, s=s, k=k), partial(unbiased_slope, s=s, k=k))


def sigmoidal_cost(slope=4.0):
    """Return the `Cost` of `svmbook.losses.sigmoidal`.

    Parameters
    ----------
    slope : float, default=4.0
        Slope of the sigmoid, positive.

    Returns
    -------
    Cost

    Examples
    --------
    >>> from svmbook.solvers import sigmoidal_cost
    >>> float(sigmoidal_cost(slope=10.0).value(1.0))
    0.0
    """
    return Cost(partial(sigmoidal, slope=slope), partial(sigmoidal_slope, slope=slope))
