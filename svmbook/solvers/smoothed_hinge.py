r"""The SVM with many points and few weights: Newton's method on smoothed hinge losses.

The hinge has a kink at the margin 1, and no curvature. The smoothed hinge replaces it by a parabola
over a width :math:`\mu` of slack:

.. math:: h_\mu(\xi) = \begin{cases} \xi^2/(2\mu), & 0 \le \xi \le \mu, \\
    \xi - \mu/2, & \xi > \mu. \end{cases}

Its slope :math:`\alpha_i = C_i \min(1, \xi_i/\mu)` is a multiplier between 0 and :math:`C_i` for
every :math:`\mu`. So each smoothed solution gives a lower bound of the SVM objective. Newton's
method solves the smoothed problem by weighted ridge regressions, in which only points on the
parabola have non-zero weight. As the width decreases, these points become few, and the duality gap
closes. Once few points are near the margin boundary, the exact solution is computed from them
(`svmbook.solvers.reduced_hinge`). The cost is linear in the number of points if the Gram matrix has
low rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..losses import hinge
from ..progress import is_interrupted
from ..rows import Maximum, Terms, map_rows, sum_rows
from .dual.result import SolverResult
from .logistic.likelihoods import TwoClassLoss
from .logistic.newton import NewtonState, RidgeProblem, run_newton
from .reduced_hinge import count_kept_points, solve_reduced_problem
from .start_sample import draw_start_sample

__all__ = ["SmoothedHinge", "solve_smoothed_hinge"]

WIDTH_RATIO = 0.25  # smallest ratio of consecutive widths while the gap is below LARGE_RELATIVE_GAP
LARGE_RELATIVE_GAP = 0.5  # relative duality gap from which on the ratio is WIDTH_RATIO squared
START_RELATIVE_GAP = 5e-4  # relative duality gap on the sample that gives a warm start
TARGET_GAP_FACTOR = 0.7  # times ``tol``: the relative duality gap that the next width aims at
# The tolerance of a smoothed problem is this factor times ``tol``, or its square times the relative
# gap if that is larger.
INNER_TOL_FACTOR = 0.3
MAX_NEWTON_STEPS = 200  # largest number of Newton steps at one width
MAX_KEPT_POINTS = 20_000  # most points near the margin boundary from which a solution is computed
# Twenty interior-point iterations take 20 r^2 operations per kept point, and the steps at one width
# about 8 r operations per point.
REDUCTION_COST = 2.5
REDUCED_TOL_FACTOR = 0.1  # times ``tol``: the relative duality gap of the reduced problem
PATIENCE = 2  # consecutive widths without a smaller gap after which rounding error is assumed


class SmoothedHinge(TwoClassLoss):
    r"""The smoothed hinge loss, as the loss function of `svmbook.solvers.logistic.newton`."""

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

    def curvature_bound(self):
        """Return zero: only the penalty has curvature if no point is on a parabola."""
        return np.zeros(len(self.y))


def solve_smoothed_hinge(gram, y, C, *, tol=1e-6, max_iter=200):
    """Solve the SVM for a Gram matrix of low rank by Newton's method on smoothed hinge losses.

    Parameters
    ----------
    gram : LowRankGram
        Gram matrix of the points.
    y : ndarray of shape (n,), or Blocks
        Labels -1 and +1, both present.
    C : ndarray of shape (n,), or Blocks
        Upper bounds, positive and finite.
    tol : float, default=1e-6
        Relative duality gap to reach.
    max_iter : int, default=200
        Largest number of Newton steps, not counting those on a sample.

    Returns
    -------
    result : SolverResult
        ``objective`` belongs to the weights, ``dual_objective`` to the multipliers.
    weights : ndarray
        Weights of the fitted function in the coordinates of the Gram matrix.
    """
    with gram.limit_blas_threads():
        problem, start = (gram, y, C), (np.zeros(gram.n_unknowns), 0.0)
        sample = draw_start_sample(*problem)
        width_and_relative_gap = _first_width(sample or problem), 1.0
        if sample is not None:
            relative_gap = max(START_RELATIVE_GAP, tol)
            _, start, width = _solve_with_decreasing_widths(
                sample, start, width_and_relative_gap, relative_gap, max_iter
            )
            width_and_relative_gap = width, relative_gap
        result, (weights, _), _ = _solve_with_decreasing_widths(
            problem, start, width_and_relative_gap, tol, max_iter
        )
        return result, weights


def _first_width(problem):
    """Return the width at which the loss has no more curvature than the penalty.

    Then no Newton step can jump over all parabolas.
    """
    gram, _, C = problem
    return max(1.0, float(sum_rows(_weighted_trace, C, gram.rows) / gram.n_unknowns))


def _solve_with_decreasing_widths(problem, start, width_and_relative_gap, tol, max_iter):
    """Solve for smaller and smaller widths until the gap is within the tolerance.

    ``start`` and the second value are weights and intercept. Returns the best result, its weights
    and intercept, and its width.
    """
    (gram, y, C), (width, relative_gap) = problem, width_and_relative_gap
    n_steps, best_solution, n_idle = 0, None, 0
    state = NewtonState(*start, gram.outputs(start[0]))
    while True:
        loss_function = map_rows(partial(SmoothedHinge, width=width), y, C)
        inner_tol = INNER_TOL_FACTOR * max(tol, INNER_TOL_FACTOR * relative_gap)
        n_steps_left = min(max_iter - n_steps, MAX_NEWTON_STEPS)
        smoothed_problem = RidgeProblem(loss_function, gram, 1.0)
        state = run_newton(smoothed_problem, state, inner_tol, n_steps_left)
        n_steps += state.n_iter
        message = f"Newton's method on hinge losses smoothed over a width of {width:.1e}"
        result = _certified_result(smoothed_problem, state, tol)
        result = replace(result, n_iter=n_steps, message=message)
        n_idle = 0 if best_solution is None or result.gap < best_solution[0].gap else n_idle + 1
        if n_idle == 0:
            best_solution = result, state[:2], width
        if not result.converged and _reduction_pays(smoothed_problem, state, result, tol):
            exact_result, solution = _solve_exactly(smoothed_problem, state, tol)
            if exact_result.gap < best_solution[0].gap:
                result = replace(exact_result, n_iter=n_steps)
                best_solution = result, solution, width
        if result.converged or n_steps >= max_iter or n_idle == PATIENCE or is_interrupted():
            return replace(best_solution[0], n_iter=n_steps), *best_solution[1:]
        relative_gap = result.relative_gap  # roughly proportional to the width
        width *= (
            max(WIDTH_RATIO, TARGET_GAP_FACTOR * tol / relative_gap)
            if relative_gap < LARGE_RELATIVE_GAP
            else WIDTH_RATIO**2
        )


@dataclass(frozen=True, eq=False)
class HingeTerms(Terms):
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
    def of_points(cls, loss_function, alpha, gram, w, b):
        """Return the terms of points in memory, for weights w and intercept b."""
        y, C, F = loss_function.y, loss_function.C, gram.outputs(w) + b
        slack = 1.0 - y * F
        class_alpha = np.where(y[:, None] == [-1.0, 1.0], alpha[:, None], 0.0)
        class_weights = gram.adjoint(y[:, None] * class_alpha)
        shortfall = np.where(alpha < C, slack, 0.0).max(initial=0.0)
        excess = np.where(alpha > 0, -slack, 0.0).max(initial=0.0)
        violation = Maximum(max(shortfall, excess))
        return cls(C @ np.maximum(0.0, slack), class_alpha.sum(axis=0), class_weights, violation)


def _reduction_pays(smoothed_problem, state, result, tol):
    """Return whether the exact solution from few points costs less than further widths."""
    (loss_function, gram, _), (_, b, f) = smoothed_problem, state[:3]
    if result.relative_gap > LARGE_RELATIVE_GAP:
        return False
    n_widths = np.log(result.relative_gap / tol) / np.log(1.0 / WIDTH_RATIO)
    max_points = min(MAX_KEPT_POINTS, n_widths * gram.n / (REDUCTION_COST * gram.n_unknowns))
    return count_kept_points(loss_function, f, b) <= max(max_points, gram.n_unknowns)


def _solve_exactly(smoothed_problem, state, tol):
    """Return the result of the reduced problem, and its weights and intercept."""
    (loss_function, gram, _), (_, b, f) = smoothed_problem, state[:3]
    reduced_tol = REDUCED_TOL_FACTOR * tol
    w, b, alpha = solve_reduced_problem(gram, loss_function, f, b, reduced_tol)
    result = _certify(smoothed_problem, (w, b), alpha, tol)
    return replace(result, message="the SVM of the points near the margin boundary"), (w, b)


def _certified_result(smoothed_problem, state, tol):
    """Return the result for the hinge: primal objective of the weights, dual of the multipliers."""
    loss_function, (w, b, f) = smoothed_problem.loss_function, state[:3]
    alpha = map_rows(partial(_multipliers, b=b), loss_function, f)
    return _certify(smoothed_problem, (w, b), alpha, tol)


def _certify(smoothed_problem, solution, alpha, tol):
    """Return the result of weights and intercept, and multipliers between 0 and C.

    The multipliers of the class with the larger sum are scaled down, so that y'alpha = 0. The KKT
    residual includes the relative distance between the weights and those that the multipliers
    define.
    """
    (loss_function, gram, _), (w, b) = smoothed_problem, solution
    terms = sum_rows(partial(HingeTerms.of_points, w=w, b=b), loss_function, alpha, gram.rows)
    sums = terms.class_sums
    factors = np.divide(sums.min(), sums, out=np.ones(2), where=sums > 0)
    v, w_norm = terms.class_weights @ factors, float(np.linalg.norm(w))
    primal_objective = float(0.5 * w_norm**2 + terms.loss)
    dual_objective = float(factors @ sums - 0.5 * v @ v)
    # No solution has a larger norm than the square root of twice the objective.
    relative_distance = float(np.linalg.norm(w - v) / np.sqrt(2.0 * primal_objective or 1.0))
    return SolverResult(
        alpha=map_rows(partial(_scale_classes, factors=factors), loss_function, alpha),
        intercept=b,
        objective=primal_objective,
        dual_objective=dual_objective,
        n_iter=0,
        w_squared=w_norm**2,
        kkt_residual=max(float(terms.violation), relative_distance),
        converged=bool(primal_objective - dual_objective <= tol * primal_objective < np.inf),
        message="",
    )


# These functions are applied to each block of points.
def _weighted_trace(C, gram):
    return C @ gram.diagonal


def _multipliers(loss_function, f, b):
    return loss_function.multipliers(f + b)


def _scale_classes(loss_function, alpha, factors):
    return alpha * factors[(loss_function.y > 0).astype(int)]
