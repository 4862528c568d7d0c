"""The smoothed hinge loss, and the sums over the points that its Newton steps need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..gram.low_rank import RidgeTerms
from ..rows import Maximum, Terms
from .one_pass import ClassTerms, ridge_of_points, times_label_by_class
from .reduced_hinge import count_kept_points

__all__ = ["HingeTerms", "SmoothedHinge", "SmoothedHingeTerms"]


class SmoothedHinge:
    r"""The smoothed hinge loss of points with outputs F.

    Attributes
    ----------
    slack : ndarray of shape (n,)
        :math:`1 - y_iF_i`.
    multipliers : ndarray of shape (n,)
        The slopes :math:`\alpha_i`.
    curvature : ndarray of shape (n,)
        :math:`C_i/\mu` for points on the parabola, else zero.
    """

    def __init__(self, y, C, F, width):
        # Much is computed in place. If the system takes freed memory back at once, as on Dask's
        # workers, new arrays cost more than the arithmetic.
        self.C, slack = C, y * F
        self.slack = np.subtract(1.0, slack, out=slack)
        self._xi = np.maximum(0.0, slack)
        self._capped_xi = np.minimum(self._xi, width)
        self.multipliers = self._capped_xi / width
        self.multipliers *= C
        on_parabola = (slack > 0.0) & (slack < width)
        self.curvature = np.divide(C, width, out=np.zeros(len(y)), where=on_parabola)

    @property
    def loss(self):
        """The smoothed hinge loss."""
        linear_part = self.C @ self._xi - self.C @ self._capped_xi
        return float(linear_part + 0.5 * self.multipliers @ self._capped_xi)

    @property
    def hinge_loss(self):
        """The hinge loss."""
        return float(self.C @ self._xi)

    @property
    def violation(self):
        """The largest slack of a multiplier below its bound; only points with slack have one."""
        return np.where(self.curvature > 0.0, self.slack, 0.0).max(initial=0.0)


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
    def of_multipliers(cls, y, gram, alpha, loss, violation):
        """Return the terms of points in memory with their multipliers, hinge loss and violation."""
        class_y_alpha = times_label_by_class(y, alpha)
        class_sums, class_weights = np.abs(class_y_alpha.sum(axis=0)), gram.adjoint(class_y_alpha)
        return cls(loss, class_sums, class_sums, class_weights, Maximum(violation))

    @classmethod
    def of_solution(cls, y, C, gram, alpha, w, b):
        """Return the terms of points in memory for weights w and intercept b."""
        slack = 1.0 - y * (gram.outputs(w) + b)
        shortfall = np.where(alpha < C, slack, 0.0).max(initial=0.0)
        excess = np.where(alpha > 0, -slack, 0.0).max(initial=0.0)
        loss = float(C @ np.maximum(0.0, slack))
        return cls.of_multipliers(y, gram, alpha, loss, max(shortfall, excess))


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
        F = gram.outputs(w)
        F += b
        smoothed = SmoothedHinge(y, C, F, width)
        alpha, loss, violation = smoothed.multipliers, smoothed.hinge_loss, smoothed.violation
        return cls(
            smoothed.loss,
            HingeTerms.of_multipliers(y, gram, alpha, loss, violation),
            count_kept_points(smoothed.slack, C, width),
            ridge_of_points(gram, smoothed.curvature, is_block),
        )
