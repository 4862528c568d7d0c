r"""Losses as functions of the margin, and their derivatives.

Each function takes functional margins :math:`m = y f(x)`, with labels :math:`y = \pm 1`, and
returns an array of the same shape. No finite margin makes it overflow.
"""

from .bounded import (
    sigmoidal,
    sigmoidal_curvature,
    sigmoidal_slope,
    usvc,
    usvc_curvature,
    usvc_slope,
    zero_one,
)
from .convex import (
    hinge,
    hinge_slope,
    logistic,
    logistic_conjugate,
    logistic_curvature,
    logistic_slope,
)

__all__ = [
    "hinge",
    "hinge_slope",
    "logistic",
    "logistic_conjugate",
    "logistic_curvature",
    "logistic_slope",
    "sigmoidal",
    "sigmoidal_curvature",
    "sigmoidal_slope",
    "usvc",
    "usvc_curvature",
    "usvc_slope",
    "zero_one",
]
