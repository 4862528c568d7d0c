"""The smoothed hinge loss, and the sums over the points that its Newton steps need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..gram.low_rank import RidgeTerms
from ..losses import hinge
from ..rows import Maximum, Terms
from .one_pass import ClassTerms, by_class, ridge_of_points
from .reduced_hinge import count_kept_points

__all__ = ["HingeTerms", "SmoothedHinge", "SmoothedHingeTerms"]


class SmoothedHinge:
    r"""The smoothed hinge loss of outputs F, its multipliers and its curvature."""

    def __init__(self, y, C, width):
        self.y, self.C, self.width = y, C, width

    def multipliers(self, F):
        r"""Return :math:`\alpha_i` at outputs F."""
        return self.C * np.minimum(1.0, hinge(self.y * F) / self.width)

    def loss(self, F):
        """Return the loss of outputs F."""
        xi = hinge(self.y * F)
        capped_xi = np.minimum(xi, self.width)
        return float(self.C @ (xi - capped_xi + capped_xi * capped_xi / (2.0 * self.width)))

    def curvature(self, F):
        r"""Return :math:`C_i/\mu` for points on the parabola, else zero."""
        m = self.y * F
        return np.where((m < 1.0) & (m > 1.0 - self.width), self.C / self.width, 0.0)


@dataclass(frozen=True, eq=False)
class HingeTerms(ClassTerms):
    """`ClassTerms` of the hinge loss, and the violation of the optimality conditions.

    Attributes
    ----------
    violation : Maximum
        The largest violation, in units of the margin.
    """

    violation: Maximum

    @classmethod
    def of_points(cls, y, C, gram, alpha, F):
        """Return the terms of points in memory with multipliers alpha and outputs F."""
        slack, class_alpha = 1.0 - y * F, by_class(y, alpha)
        class_sums, class_weights = class_alpha.sum(axis=0), gram.adjoint(y[:, None] * class_alpha)
        shortfall = np.where(alpha < C, slack, 0.0).max(initial=0.0)
        excess = np.where(alpha > 0, -slack, 0.0).max(initial=0.0)
        violation = Maximum(max(shortfall, excess))
        return cls(C @ np.maximum(0.0, slack), class_sums, class_sums, class_weights, violation)

    @classmethod
    def of_solution(cls, y, C, gram, alpha, w, b):
        """Return the terms of points in memory for weights w and intercept b."""
        return cls.of_points(y, C, gram, alpha, gram.outputs(w) + b)


@dataclass(frozen=True, eq=False)
class SmoothedHingeTerms(Terms):
    """Sums over the points for one Newton step.

    Attributes
    ----------
    newton_loss : float
        The smoothed hinge loss.
    classes : HingeTerms
        With the multipliers of the smoothed hinge.
    n_near : int
        Number of points near the margin boundary, which a reduced problem would keep.
    ridge : RidgeTerms, or callable
        With the curvature of the smoothed hinge as weights; see `one_pass.Iterate`.
    """

    newton_loss: float
    classes: HingeTerms
    n_near: int
    ridge: RidgeTerms | Callable

    @classmethod
    def of_points(cls, y, C, gram, w, b, width, is_block=False):
        """Return the terms of points in memory for weights w, intercept b and a width."""
        loss_function, F = SmoothedHinge(y, C, width), gram.outputs(w) + b
        return cls(
            loss_function.loss(F),
            HingeTerms.of_points(y, C, gram, loss_function.multipliers(F), F),
            count_kept_points(y, C, F, width),
            ridge_of_points(gram, loss_function.curvature(F), is_block),
        )
