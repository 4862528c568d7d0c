r"""Iteratively reweighted least squares (IRWLS) for classifiers with a cost of the slack.

Minimises over w and b, with the slack :math:`\xi_i = \max(0, 1 - y_i(w^\top z_i + b))`,

.. math:: J = \tfrac12\|w\|^2 + \sum_i C_i\,\theta(\xi_i),

which for the hinge, :math:`\theta(\xi) = \xi`, is :eq:`eq-hinge-penalty`. Each iteration replaces
each cost by a parabola in the error :math:`e_i = y_i - w^\top z_i - b` that has the slope of the
cost; :math:`e_i^2 = \xi_i^2` for points with slack. The result is a weighted least-squares problem,
one linear system, with the weights

.. math:: a_i = C_i\,\theta'(\xi_i)/\xi_i, \qquad a_i = 0 \text{ without slack.}

If :math:`\theta'(\xi)/\xi` never increases with :math:`\xi`, the parabola lies above the cost. A
full step then cannot raise J, provided that points without slack remain without slack. If the ratio
increases, the cost has more curvature than the parabola, and the weight is the second derivative of
the cost. A step that does not lower J enough is halved until it does. A full step is doubled as
long as that lowers J further.

As :math:`\xi_i \to 0` the weight of a cost with a kink at the margin 1 is unbounded. The cost is
therefore smoothed: for slacks below a width :math:`\epsilon` it is replaced by a parabola with the
same value and slope at :math:`\epsilon`. For the hinge, and for the unbiased cost with s up to 2,
smoothing raises the cost, less so for smaller widths. The width is reduced whenever the iterations
have nearly converged. For these costs J with the smoothed cost therefore never increases; for other
costs it can increase only when the width is reduced.

The source is Navia-Vazquez et al. (2004), "Advantages of unbiased support vector classifiers for
data mining applications", J. VLSI Signal Processing 37, whose equation numbers are used here. Its
equations (15) and (22) have weights twice as large, which solve the problem for 2C.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from sklearn.utils import check_array, check_scalar

from ...progress import logger
from ..checks import check_problem, check_stopping
from .costs import Cost
from .result import IRWLSResult

__all__ = ["irwls_path", "least_squares_step", "run_irwls", "solve_irwls"]

SMOOTHING_WIDTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # in this order
MIN_STEP_LENGTH = 2.0**-40  # shortest step length of a line search
SUFFICIENT_DECREASE = 1e-4  # share of the predicted decrease of J that a step must reach
WARM_START_TOL = 1e-2  # relative norm of the gradient where a warm start suffices


def solve_irwls(
    Z: ArrayLike,
    y: ArrayLike,
    C: ArrayLike,
    cost: Cost,
    *,
    start: tuple | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    use_printed_weights: bool = False,
) -> IRWLSResult:
    r"""Fit a linear classifier by iteratively reweighted least squares.

    Minimises over w and b, with :math:`\xi_i = \max(0, 1 - y_i(w^\top z_i + b))`,

    .. math:: J = \tfrac12\|w\|^2 + \sum_i C_i\,\theta(\xi_i).

    If the cost :math:`\theta` is not convex, the result is a stationary point, usually a local
    minimum. In that case compare the results of several starting points.

    Parameters
    ----------
    Z : array-like of shape (n, r)
        Points or their features; a factor of a Gram matrix gives a kernel classifier.
    y : array-like of shape (n,)
        Labels -1 and +1, both present.
    C : float or array-like of shape (n,)
        Regularisation parameter, or one per point, positive and finite.
    cost : Cost
        `svmbook.solvers.HINGE`, or the result of `svmbook.solvers.usvc_cost` or
        `svmbook.solvers.sigmoidal_cost`.
    start : tuple of (ndarray of shape (r,), float), default=None
        Initial weights and intercept; None starts at zero.
    tol : float, default=1e-4
        Relative norm of the gradient at which to stop. At 1e-4 the objective is usually within a
        fraction of 1e-6 of its limit.
    max_iter : int, default=1000
        Largest number of iterations; 10 to 100 are usual.
    use_printed_weights : bool, default=False
        Whether to use weights twice as large, as equations (15) and (22) of Navia-Vazquez et al.
        (2004) print them. This solves the problem for 2C.

    Returns
    -------
    IRWLSResult
        Its ``objective`` is the one for C.

    Raises
    ------
    ValueError, TypeError
        The shapes of the arrays do not match, or a number is out of range.

    References
    ----------
    Navia-Vazquez et al. (2004), equations (15) to (22) and the bordered system (25).

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import HINGE, solve_irwls
    >>> X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    >>> result = solve_irwls(X, [1, 1, -1, -1], 10.0, HINGE)
    >>> (7 * result.w).round(3), round(result.intercept, 3)
    (array([6., 4.]), -1.0)
    """
    Z, y, C = check_problem(Z, y, C, require_square=False, name="Z")
    if not isinstance(cost, Cost):
        raise TypeError(f"cost must be HINGE, usvc_cost(...) or another Cost; found {cost!r}.")
    tol, max_iter = check_stopping(tol, max_iter)
    if start is not None:
        w = check_array(start[0], dtype=np.float64, ensure_2d=False, input_name="start")
        if w.shape != Z.shape[1:]:
            raise ValueError(f"start must have {Z.shape[1]} weights; found shape {w.shape}.")
        b = float(check_scalar(start[1], "the intercept of start", Real))
        if not np.isfinite(b):
            raise ValueError(f"the intercept of start must be finite; found {b}.")
    # Centred, since the residual is relative to the norms, which are large for points far from 0.
    origin = Z.mean(axis=0)
    if start is not None:
        start = w, b + w @ origin
    options = {"start": start, "tol": tol, "max_iter": max_iter}
    result = run_irwls(Z - origin, y, C, cost, use_printed_weights=use_printed_weights, **options)
    return replace(result, intercept=float(result.intercept - result.w @ origin))


def run_irwls(Z, y, C, cost, *, start=None, tol, max_iter=1000, use_printed_weights=False):
    """Minimise J as `solve_irwls` does, for centred points and validated arguments."""
    C = np.broadcast_to(C, len(y))
    state = _IRWLSState(Z, y, 2.0 * C if use_printed_weights else C, cost, start)
    for width in SMOOTHING_WIDTHS:
        state.set_width(width)
        while state.residual > (tol if width == SMOOTHING_WIDTHS[-1] else max(tol, WARM_START_TOL)):
            step = state.next_step()
            if state.predicts_no_decrease:
                break
            if len(state.smoothed_objectives) >= max_iter:
                return state.to_result(C, tol, "max_iter was reached")
            if not state.take_step(step):
                break
    return state.to_result(C, tol, "no step lowers the objective")


class _IRWLSState:
    """The current w, b and outputs f of one problem, and the history of its iterations."""

    def __init__(self, Z, y, C, cost, start):
        self.Z, self.y, self.C, self.cost = Z, y, C, cost
        self.w, self.b = (np.zeros(Z.shape[1]), 0.0) if start is None else start
        self.f, self.norms = Z @ self.w + self.b, np.sqrt(np.einsum("ij,ij->i", Z, Z))
        self.smoothed_objectives, self.smoothing_widths = [], []

    def set_width(self, width):
        """Smooth the cost over this width."""
        self.width, self.predicted_decrease = width, np.inf
        self._evaluate()
        if not self.smoothed_objectives:
            self._record()

    def _evaluate(self):
        """Compute costs, multipliers, weights a_i, and the residual of the gradient."""
        m = self.y * self.f
        self.costs = _smoothed_cost(self.cost, m, self.width)
        self.alpha, self.a = _multipliers_and_weights(self.cost, self.C, m, self.width)
        self.residual, self.residual_rounding_error = self._residual_and_rounding_error(
            self.y * self.alpha
        )

    def _residual_and_rounding_error(self, dual_coef):
        """Return the residual of (17) and (18) and its rounding error, both relative to the terms.

        ``dual_coef`` are the signed multipliers y_i alpha_i. The rounding error of an output is eps
        times its size, which is taken to be at least 1; in the gradient it is multiplied by a_i.
        """
        weighted_output_errors = self.a * np.finfo(float).eps * np.maximum(1.0, np.abs(self.f))
        total_size = np.abs(dual_coef).sum()
        sizes = np.array([np.linalg.norm(self.w) + np.abs(dual_coef) @ self.norms, total_size])
        sizes = np.maximum(sizes, np.finfo(float).tiny)
        residuals = np.array([np.linalg.norm(self.w - self.Z.T @ dual_coef), abs(dual_coef.sum())])
        rounding_errors = np.array(
            [weighted_output_errors @ self.norms, weighted_output_errors.sum()]
        )
        return (residuals / sizes).max(), (rounding_errors / sizes).max()

    def _record(self):
        self.smoothed_objectives.append(0.5 * (self.w @ self.w) + self.C @ self.costs)
        self.smoothing_widths.append(self.width)

    def next_step(self):
        """Return the least-squares step, and store the decrease of J that it predicts."""
        dual_coef = self.y * self.alpha
        dw, db = least_squares_step(self.Z, dual_coef, self.a, self.w)
        df = self.Z @ dw + db
        self.predicted_decrease = 0.5 * (dual_coef @ df - self.w @ dw)
        return dw, db, df

    @property
    def predicts_no_decrease(self):
        """Whether the predicted decrease is at most the rounding error of J."""
        return self.predicted_decrease <= np.finfo(float).eps * self.smoothed_objectives[-1]

    def objective_change(self, step, t):
        """Return the change of J for step length t, computed without cancellation."""
        dw, _, df = step
        costs = _smoothed_cost(self.cost, self.y * (self.f + t * df), self.width)
        return t * (dw @ self.w) + 0.5 * t * t * (dw @ dw) + self.C @ (costs - self.costs)

    def take_step(self, step):
        """Take a step with a line search; return whether its length is positive."""
        dw, db, df = step
        t = _line_search(partial(self.objective_change, step), self.predicted_decrease)
        self.w, self.b, self.f = self.w + t * dw, self.b + t * db, self.f + t * df
        self._evaluate()
        self._record()
        n_iter, J = len(self.smoothed_objectives), self.smoothed_objectives[-1]
        logger.info("IRWLS, iteration %d: objective %.6g, width %.0e", n_iter, J, self.width)
        return t > 0.0

    def to_result(self, C, tol, failure_message):
        """Return the result after a last full step, which makes w a weighted sum of the points."""
        w, b, alpha = self.w, self.b, self.alpha
        dw, db, df = step = self.next_step()
        allowed_increase = np.sqrt(np.finfo(float).eps) * self.smoothed_objectives[-1]
        if self.objective_change(step, 1.0) <= allowed_increase:
            w, b, alpha = w + dw, b + db, self.alpha - self.y * self.a * df
        at_rounding_error = bool(
            np.isfinite(self.residual)
            and (self.residual <= self.residual_rounding_error or self.predicts_no_decrease)
        )
        stationary = self.residual <= tol
        message = "stopped at rounding error" if at_rounding_error else failure_message
        return IRWLSResult(
            w=w,
            intercept=float(b),
            alpha=alpha,
            objective=float(0.5 * (w @ w) + C @ self.cost.value(self.y * (self.Z @ w + b))),
            smoothed_objectives=np.array(self.smoothed_objectives),
            smoothing_widths=np.array(self.smoothing_widths),
            kkt_residual=float(self.residual),
            n_iter=len(self.smoothed_objectives),
            converged=bool(stationary or at_rounding_error),
            message="stationary" if stationary else message,
        )


def irwls_path(Z, y, C, costs, *, tol, **options):
    """Minimise for each cost, warm-started at the solution for the previous one.

    All but the last use a looser tolerance, since they only give warm starts.
    """
    results = []
    for cost in costs:
        cost_tol = tol if cost is costs[-1] else max(tol, WARM_START_TOL)
        results.append(run_irwls(Z, y, C, cost, tol=cost_tol, **options))
        options["start"] = results[-1].w, results[-1].intercept
    return results


def _multipliers_and_weights(cost, C, m, width):
    """Return alpha_i = C_i theta'(xi_i), (21), and the weights a_i, (22), of the smoothed cost."""
    clipped_xi = np.maximum(1.0 - m, width)
    a = np.where(m < 1.0, -C * cost.slope(1.0 - clipped_xi) / clipped_xi, 0.0)
    use_curvature = (m < 1.0 - width) & (C * cost.curvature(m) > a)
    return a * (1.0 - m), np.where(use_curvature, C * cost.curvature(m), a)


def _smoothed_cost(cost, m, width):
    """Return the smoothed cost of each margin."""
    xi = np.maximum(0.0, 1.0 - m)
    curvature = -cost.slope(np.array(1.0 - width)) / width
    parabola = 0.5 * curvature * np.minimum(xi**2 - width**2, 0.0)
    return cost.value(np.minimum(m, 1.0 - width)) + parabola


def least_squares_step(Z, dual_coef, a, w):
    """Solve the bordered system (20) for the changes of w and b.

    ``dual_coef`` are the signed multipliers y_i alpha_i at the current w and b. They equal a_i e_i,
    unless a_i is the second derivative of the cost. By the last equation of the system, the new
    ones sum to zero, so that subtracting weighted means from Z and from e = dual_coef / a
    eliminates b. (The changes are accurate even if the weights differ by orders of magnitude;
    solving for w itself would be less accurate.)
    """
    nonzero = np.flatnonzero(a)
    if not len(nonzero):  # no point has slack: only the penalty remains
        return -w, 0.0
    Z, dual_coef, a = Z[nonzero], dual_coef[nonzero], a[nonzero]
    z_mean, e_mean = (a @ Z) / a.sum(), dual_coef.sum() / a.sum()
    centred_Z = Z - z_mean
    A = centred_Z * np.sqrt(a)[:, None]
    H = A.T @ A
    H.flat[:: len(H) + 1] += 1.0
    try:
        dw = cho_solve(cho_factor(H, check_finite=False), centred_Z.T @ dual_coef - w)
    except LinAlgError:  # the penalty is below the rounding error of such large weights
        augmented_A = np.vstack([A, np.eye(len(w))])
        dw = lstsq(augmented_A, np.concatenate([dual_coef / np.sqrt(a), -w]))[0]
    return dw, e_mean - z_mean @ dw


def _line_search(objective_change, predicted_decrease):
    """Return a step length with sufficient decrease of J, found by halving or doubling 1.

    A step that does not change J is rejected, since the next step might reverse it.
    """
    t, change = 1.0, objective_change(1.0)
    while change > -SUFFICIENT_DECREASE * t * predicted_decrease:
        t *= 0.5
        if t < MIN_STEP_LENGTH:
            return 0.0
        change = objective_change(t)
    while t >= 1.0 and (doubled_change := objective_change(2.0 * t)) < change:
        t, change = 2.0 * t, doubled_change
    return t
