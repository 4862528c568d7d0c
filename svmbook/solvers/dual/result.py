"""The result of every dual solver: a solution with its certificate.

The certificate is the duality gap: the dual objective of a feasible dual point bounds the optimum
from below, and the primal objective of any ``(w, b)`` bounds it from above. The functions here
compute both from the solution alone, so that the certificate does not depend on the solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["SolverResult", "certify", "fall_back_to_zero", "intercept_interval"]

# Relative to the sum of alpha: a smaller |y'alpha|, or a smaller -||w||^2, is numerically zero.
ROUNDING_TOL = 1e-10


@dataclass(frozen=True, eq=False)
class SolverResult:
    r"""Solution of an SVM dual together with its certificate.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Feasible multipliers: :math:`0 \le \alpha_i \le C_i`, and :math:`y^\top\alpha = 0` up to
        rounding.
    intercept : float
        The intercept :math:`b` of :math:`f(x) + b`.
    objective, dual_objective : float
        Primal and dual objective: upper and lower bound on the optimum, computed from ``alpha``
        and ``intercept``.
    w_squared : float
        :math:`\|w\|^2`.
    kkt_residual : float
        Largest violation of the optimality conditions: how far :math:`m_i = y_i(f_i + b)` lies
        below 1 for :math:`\alpha_i < C_i`, or above 1 for :math:`\alpha_i > 0`.
    n_iter : int
        Iterations of the solver.
    converged : bool
        Whether ``relative_gap`` is at most the tolerance and the bounds are valid:
        :math:`y^\top\alpha = 0` holds up to rounding, :math:`\|w\|^2` is not negative, and the
        rounding error of the objective is within the tolerance.
    message : str
        Why the solver stopped.
    """

    alpha: np.ndarray
    intercept: float
    objective: float
    dual_objective: float
    w_squared: float
    kkt_residual: float
    n_iter: int
    converged: bool
    message: str = ""

    @property
    def gap(self):
        """Difference of primal and dual objective, which is zero at the optimum."""
        return self.objective - self.dual_objective

    @property
    def relative_gap(self):
        """The gap as a fraction of the primal objective (which is positive)."""
        return self.gap / self.objective if np.isfinite(self.gap) else np.inf


def intercept_interval(
    alpha: ArrayLike, y: ArrayLike, C: ArrayLike, f: ArrayLike
) -> tuple[float, float]:
    r"""Return the interval of intercepts that are optimal for ``alpha``.

    Optimality requires :math:`b \ge y_i - f_i` on :math:`I_{up}`, the points whose
    :math:`y_i\alpha_i` can increase, and :math:`b \le y_i - f_i` on :math:`I_{low}`, those whose
    :math:`y_i\alpha_i` can decrease. At an optimum with a free support vector both ends coincide;
    without one every ``b`` between them is optimal. If ``alpha`` is not optimal, ``low`` exceeds
    ``high``.

    Parameters
    ----------
    alpha, y, C, f : ndarray of shape (n,)
        Multipliers, labels -1 and +1, upper bounds, and outputs without intercept.

    Returns
    -------
    low, high : float
        The ends of the interval. If ``low - high`` is positive, it is the largest violation of the
        optimality conditions by a pair of points.
    """
    e = y - f
    can_increase = np.where(y > 0, alpha < C, alpha > 0)
    can_decrease = np.where(y > 0, alpha > 0, alpha < C)
    return e[can_increase].max(initial=-np.inf), e[can_decrease].min(initial=np.inf)


def certify(
    alpha: ArrayLike,
    intercept: float,
    y: ArrayLike,
    C: ArrayLike,
    f: ArrayLike,
    *,
    n_iter: int,
    tol: float,
    scale: float = 0.0,
    message: str = "",
) -> SolverResult:
    r"""Return the solution with its objectives, its KKT residual and whether it converged.

    The objectives are those of :eq:`eq-dual` and :eq:`eq-primal`. With
    :math:`f = K(y \circ \alpha)` and :math:`\|w\|^2 = (y\circ\alpha)^\top f`,

    .. math::

        D &= 1^\top\alpha - \tfrac12\|w\|^2, \\
        P &= \tfrac12\|w\|^2 + \sum_i C_i \max(0, 1 - y_i(f_i + b)).

    For the hard margin (``C`` infinite) no slack is allowed. Dividing ``(w, b)`` by the smallest
    functional margin :math:`m` makes it feasible, with :math:`P = \|w\|^2 / (2 m^2)`.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        Feasible multipliers.
    intercept : float
        Intercept.
    y, C, f : ndarray of shape (n,)
        Labels -1 and +1, upper bounds (possibly all infinite), outputs without intercept.
    n_iter : int
        Number of iterations.
    tol : float
        Tolerance of the relative gap for ``converged``.
    scale : float, default=0.0
        A typical :math:`k(x, x)`. The rounding error of an output is about
        :math:`\varepsilon\,k(x, x)\,\|\alpha\|`, :math:`\varepsilon` = 2e-16, and that of the
        primal objective is :math:`\|C\|` times as large. If it exceeds ``tol`` times the
        objective, the gap is meaningless and ``converged`` is False.
    message : str, optional
        Why the solver stopped.

    Returns
    -------
    SolverResult

    Examples
    --------
    >>> from svmbook.solvers import certify
    >>> f = [0.2, -0.2]
    >>> result = certify([0.1, 0.1], 0, [1, -1], 1, f, n_iter=0, tol=0.1)
    >>> round(result.dual_objective, 3), round(result.objective, 3)
    (0.18, 1.62)
    """
    alpha, y, f = (np.asarray(values, dtype=float) for values in (alpha, y, f))
    C = np.broadcast_to(np.asarray(C, dtype=float), alpha.shape)
    w_squared = (y * alpha) @ f
    margins = y * (f + intercept)
    dual_objective = alpha.sum() - 0.5 * w_squared
    if np.isinf(C).any():
        smallest_margin = margins.min()
        primal_objective = 0.5 * w_squared / smallest_margin**2 if smallest_margin > 0 else np.inf
    else:
        primal_objective = 0.5 * w_squared + C @ np.maximum(0.0, 1.0 - margins)
    shortfall = np.where(alpha < C, 1.0 - margins, 0.0)
    excess = np.where(alpha > 0, margins - 1.0, 0.0)
    balanced = abs(y @ alpha) <= ROUNDING_TOL * alpha.sum()
    output_error = np.finfo(float).eps * scale * np.linalg.norm(alpha)
    nonnegative = w_squared >= -(ROUNDING_TOL + 10 * output_error) * alpha.sum()
    if abs(w_squared) <= 10 * output_error * alpha.sum():  # all terms cancel: w = 0 up to rounding
        w_squared = 0.0
    soft_margin = np.isfinite(C).all() and primal_objective > 0
    relative_rounding_error = (
        output_error * np.linalg.norm(C) / primal_objective if soft_margin else 0.0
    )
    if relative_rounding_error > tol:
        message += f"; the objective has a relative rounding error of {relative_rounding_error:.0e}"
    bounds_are_valid = (
        balanced
        and nonnegative
        and relative_rounding_error <= tol
        and np.isfinite(primal_objective)
    )
    return SolverResult(
        alpha=alpha,
        intercept=float(intercept),
        objective=float(primal_objective),
        dual_objective=float(dual_objective),
        n_iter=int(n_iter),
        w_squared=float(w_squared),
        kkt_residual=float(max(shortfall.max(), excess.max())),  # never negative
        converged=bool(
            bounds_are_valid and abs(primal_objective - dual_objective) <= tol * primal_objective
        ),
        message=message,
    )


def fall_back_to_zero(result, y, C):
    r"""Return the result for :math:`w = 0` if its objective is smaller, else the given result.

    For w = 0 all outputs are b. The best b is the label of the class with the larger sum of
    :math:`C_i`, and the objective is twice the smaller sum. A solver that stopped because of
    rounding errors may end above this value.

    Parameters
    ----------
    result : SolverResult
        A solver's result.
    y, C : ndarray of shape (n,)
        Labels -1 and +1, and upper bounds.

    Returns
    -------
    SolverResult
        Always ``result`` itself if it has converged or C is infinite.
    """
    if result.converged or np.isinf(C).any():
        return result
    signed_sum = y @ C
    if result.objective <= C.sum() - abs(signed_sum):
        return result
    message = f"{result.message}; w = 0 has a smaller objective and is returned"
    zeros, report = np.zeros(len(y)), {"n_iter": result.n_iter, "message": message}
    return certify(zeros, np.sign(signed_sum), y, C, zeros, tol=0.0, **report)
