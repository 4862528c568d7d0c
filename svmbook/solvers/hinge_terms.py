"""The smoothed hinge loss, and the sums over the points that its Newton steps need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..gram.low_rank import RidgeTerms
from ..losses import hinge
from ..rows import Maximum, Terms
from .logistic.likelihoods import TwoClassLoss
from .reduced_hinge import count_kept_points

__all__ = ["DualityTerms", "NewtonTerms", "SmoothedHinge"]


class SmoothedHinge(TwoClassLoss):
    r"""The smoothed hinge loss of outputs F, with its derivatives."""

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

    def negative_gradient(self, F):
        r"""Return :math:`y_i\alpha_i`."""
        return self.y * self.multipliers(F)

    def curvature(self, F):
        r"""Return :math:`C_i/\mu` for points on the parabola, else zero."""
        m = self.y * F
        return np.where((m < 1.0) & (m > 1.0 - self.width), self.C / self.width, 0.0)


@dataclass(frozen=True, eq=False)
class DualityTerms(Terms):
    """The hinge loss, and what the dual needs: sums over the points, for the classes -1 and +1.

    Attributes
    ----------
    loss : float
        The hinge loss.
    class_sums : ndarray of shape (2,)
        Sum of the multipliers of each class.
    class_weights : ndarray of shape (r, 2)
        Weights that the multipliers of each class define.
    violation : Maximum
        Largest violation of the optimality conditions, in units of the margin.
    """

    loss: float
    class_sums: np.ndarray
    class_weights: np.ndarray
    violation: Maximum

    @classmethod
    def of_points(cls, y, C, gram, alpha, F):
        """Return the terms of points in memory with multipliers alpha and outputs F."""
        slack = 1.0 - y * F
        class_alpha = np.where(y[:, None] == [-1.0, 1.0], alpha[:, None], 0.0)
        class_weights = gram.adjoint(y[:, None] * class_alpha)
        shortfall = np.where(alpha < C, slack, 0.0).max(initial=0.0)
        excess = np.where(alpha > 0, -slack, 0.0).max(initial=0.0)
        violation = Maximum(max(shortfall, excess))
        return cls(C @ np.maximum(0.0, slack), class_alpha.sum(axis=0), class_weights, violation)

    @property
    def class_factors(self):
        """Factors of the multipliers of the classes that make their sums equal: y'alpha = 0."""
        sums = self.class_sums
        return np.divide(sums.min(), sums, out=np.ones(2), where=sums > 0)

    @property
    def dual_weights(self):
        """The weights that the multipliers define."""
        return self.class_weights @ self.class_factors

    @property
    def dual_objective(self):
        """The dual objective of the multipliers."""
        v = self.dual_weights
        return float(self.class_factors @ self.class_sums - 0.5 * v @ v)

    @classmethod
    def of_solution(cls, y, C, gram, alpha, w, b):
        """Return the terms of points in memory for weights w and intercept b."""
        return cls.of_points(y, C, gram, alpha, gram.outputs(w) + b)


@dataclass(frozen=True, eq=False)
class NewtonTerms(Terms):
    """Sums over the points for one Newton step.

    Attributes
    ----------
    duality : DualityTerms
        With the multipliers of the smoothed hinge, which also are its gradient.
    smoothed_loss : float
        The smoothed hinge loss.
    n_near : int
        Number of points near the margin boundary, which a reduced problem would keep.
    ridge : RidgeTerms
        With the curvature of the smoothed hinge as weights.
    """

    duality: DualityTerms
    smoothed_loss: float
    n_near: int
    ridge: RidgeTerms

    @classmethod
    def of_points(cls, y, C, gram, w, b, width):
        """Return the terms of points in memory for weights w, intercept b and a width."""
        loss_function, F = SmoothedHinge(y, C, width), gram.outputs(w) + b
        alpha = loss_function.multipliers(F)
        return cls(
            DualityTerms.of_points(y, C, gram, alpha, F),
            loss_function.loss(F),
            count_kept_points(y, F, width),
            gram.ridge_terms(loss_function.curvature(F)),
        )
