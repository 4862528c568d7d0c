r"""Newton's method with one pass over the points per step, for data in memory or in blocks.

The objective is a loss of the outputs :math:`F = Zw + b1` plus a ridge penalty,

.. math:: \sum_i \ell_i(y_iF_i) + \tfrac\lambda2\,\|w\|^2 .

Everything that a step and its certificate need is a sum over the points: the loss, its gradient and
its weighted ridge regression, and for each class the sums of the multipliers
:math:`\alpha_i = -\ell_i'(y_iF_i) \ge 0`, of :math:`-\ell_i^*(-\alpha_i)` and of
:math:`\alpha_iy_iz_i`. If the multipliers of both classes had the same sum, they would be feasible
for the dual. The multipliers of the class with the larger sum are therefore scaled down; since
:math:`-\ell_i^*` is concave and zero at zero, its sum decreases at most by the same factor. So a
lower bound of the objective is known after each pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..rows import Terms

__all__ = ["ClassTerms", "Iterate", "line_search", "ridge_of_points", "times_label_by_class"]

SLOPE_RATIO = 0.5  # slope at which the line search stops, relative to the initial slope
OBJECTIVE_ROUNDING = 1e-14  # relative to the objective: a smaller change is a rounding error
STEP_SHARES = 0.1, 0.5  # shares of the interval of a line search between which the next trial lies
MAX_TRIALS = 40  # step lengths tried in one line search
MAX_INTERCEPT_STEP = 1e12  # a longer step means that the loss is linear in double precision


@dataclass(frozen=True, eq=False)
class ClassTerms(Terms):
    r"""Sums over the points for a bound by duality, the arrays for the classes -1 and +1.

    Attributes
    ----------
    loss : float
        The loss.
    class_sums : ndarray of shape (2,)
        Sums of the multipliers.
    class_values : ndarray of shape (2,)
        Sums of :math:`-\ell_i^*(-\alpha_i)`; for the hinge loss, those of the multipliers.
    class_weights : ndarray of shape (r, 2)
        Weights :math:`\sum_i \alpha_iy_iz_i`.
    """

    loss: float
    class_sums: np.ndarray
    class_values: np.ndarray
    class_weights: np.ndarray

    @property
    def class_factors(self):
        """Factors of the multipliers of the classes that make their sums equal: y'alpha = 0."""
        sums = self.class_sums
        return np.divide(sums.min(), sums, out=np.ones(2), where=sums > 0)

    @property
    def dual_weights(self):
        """The weights that the scaled multipliers define, times lambda."""
        return self.class_weights @ self.class_factors

    def dual_objective(self, lam):
        """Return the lower bound of the objective."""
        v = self.dual_weights
        return float(self.class_factors @ self.class_values - 0.5 / lam * (v @ v))


def times_label_by_class(y, values):
    """Return nonnegative values times labels in two columns, those of the classes -1 and +1.

    Each column is contiguous in memory, so that it is quickly summed.
    """
    columns = np.empty((2, len(y)))
    y_times_values = np.multiply(y, values, out=columns[1])
    np.minimum(y_times_values, 0.0, out=columns[0])
    np.maximum(y_times_values, 0.0, out=columns[1])
    return columns.T


def ridge_of_points(gram, W, is_block):
    """Return the `RidgeTerms` of a block, or for all points a function that returns them."""
    return gram.ridge_terms(W) if is_block else partial(gram.ridge_terms, W)


class Iterate:
    """Weights and intercept, with the sums over the points that belong to them.

    Parameters
    ----------
    evaluate : callable
        Maps weights and intercept to the terms: an object with ``newton_loss``, the loss that
        Newton's method minimises, ``classes`` (`ClassTerms` of the loss that is certified, whose
        multipliers are the negative slopes of the first), and ``ridge``: `RidgeTerms` with its
        curvature, or for points in memory a function that returns them, since most trials of a line
        search do not need them.
    solution : tuple (w, b)
        Weights and intercept.
    lam : float
        The regularisation parameter.
    """

    def __init__(self, evaluate: Callable, solution: tuple, lam: float) -> None:
        self.evaluate, self.solution, self.lam = evaluate, solution, lam
        self.terms = evaluate(*solution)

    def after(self, step, t=1.0):
        """Return the iterate after a step of length t."""
        solution = (value + t * change for value, change in zip(self.solution, step, strict=True))
        return Iterate(self.evaluate, tuple(solution), self.lam)

    @property
    def penalty(self):
        """The ridge penalty."""
        w, _ = self.solution
        return 0.5 * self.lam * float(w @ w)

    @property
    def newton_objective(self):
        """The objective that Newton's method minimises."""
        return self.terms.newton_loss + self.penalty

    @property
    def objective(self):
        """The objective that is certified."""
        return float(self.terms.classes.loss + self.penalty)

    @property
    def gap(self):
        """The duality gap."""
        return self.objective - self.terms.classes.dual_objective(self.lam)

    @property
    def relative_gap(self):
        """The gap as a fraction of the objective."""
        return self.gap / self.objective if np.isfinite(self.gap) else np.inf

    @property
    def negative_gradient(self):
        """Minus the gradient of the objective of Newton's method in weights and intercept."""
        (w, _), classes = self.solution, self.terms.classes
        return classes.class_weights.sum(axis=1) - self.lam * w, np.diff(classes.class_sums).item()

    def newton_step(self):
        """Return the step in weights and intercept, and minus the slope of the objective along it.

        If the loss is linear in double precision, only the penalty has curvature. Then the step is
        one in the intercept alone, of length one. If the penalty is lost by rounding, the step is
        zero and the slope infinite.
        """
        (R, r), ridge = self.negative_gradient, self.terms.ridge
        ridge = ridge() if callable(ridge) else ridge
        if abs(r) > MAX_INTERCEPT_STEP * ridge.total_weight:
            step = np.zeros_like(R), np.sign(r)
        else:
            try:
                step = ridge.factor(self.lam)(R, r)
            except ArithmeticError:
                return (np.zeros_like(R), 0.0), np.inf
        return step, float(R @ step[0] + r * step[1])


def line_search(iterate: Iterate, step: tuple, decrease: float) -> Iterate | None:
    """Return the `Iterate` after a step that lowers the objective of Newton's method, or None.

    The secant method, with safeguards, looks for a step length at which the slope of the objective
    is at most half of its initial size, ``-decrease``. Each trial is one pass over the points; the
    first, a full step, is nearly always accepted. If the decrease is below rounding error, a full
    step must lower the gap.
    """
    if np.isinf(decrease):
        return None
    if decrease <= OBJECTIVE_ROUNDING * iterate.newton_objective:
        trial = iterate.after(step)
        return trial if trial.gap < iterate.gap else None
    (low, low_slope), (high, high_slope), t, best = (0.0, -decrease), (np.inf, np.inf), 1.0, iterate
    for _ in range(MAX_TRIALS):
        trial = iterate.after(step, t)
        best = trial if trial.newton_objective < best.newton_objective else best
        R, r = trial.negative_gradient
        slope = -float(R @ step[0] + r * step[1])
        if best is trial and abs(slope) <= SLOPE_RATIO * decrease:
            break
        if slope > 0:
            high, high_slope = t, slope
        else:
            low, low_slope = t, slope
        if np.isinf(high):
            t = 2.0 * low
        else:
            share = np.clip(low_slope / (low_slope - high_slope), *STEP_SHARES)
            t = low + share * (high - low)
    return None if best is iterate else best
