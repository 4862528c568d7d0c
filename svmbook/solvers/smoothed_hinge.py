r"""The SVM with many points and few weights: Newton's method on smoothed hinge losses.

The hinge has a kink at the margin 1, and no curvature. The smoothed hinge replaces it by a parabola
over a width :math:`\mu` of slack:

.. math:: h_\mu(\xi) = \begin{cases} \xi^2/(2\mu), & 0 \le \xi \le \mu, \\
    \xi - \mu/2, & \xi > \mu. \end{cases}

Its slope :math:`\alpha_i = C_i \min(1, \xi_i/\mu)` is a multiplier between 0 and :math:`C_i` for
every :math:`\mu`. So each pair of weights and intercept gives a lower bound of the SVM objective.
Newton's method minimises the smoothed objective by weighted ridge regressions, in which only points
on the parabola have non-zero weight. As the width decreases, these points become few, and the
duality gap closes. Once few points are near the margin boundary, the exact solution is computed
from them (`svmbook.solvers.reduced_hinge`). The cost is linear in the number of points if the Gram
matrix has low rank.

Each Newton step takes one pass over the points. It evaluates the smoothed objective with its
gradient and curvature, and both bounds of the SVM objective.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..progress import is_interrupted, logger
from ..rows import map_rows, sum_rows
from .dual.result import SolverResult
from .hinge_terms import DualityTerms, NewtonTerms, SmoothedHinge
from .logistic.likelihoods import best_intercept
from .reduced_hinge import solve_reduced_problem
from .start_sample import draw_start_sample

__all__ = ["solve_smoothed_hinge"]

WIDTH_RATIO = 0.25  # smallest ratio of consecutive widths while the gap is below LARGE_RELATIVE_GAP
LARGE_RELATIVE_GAP = 0.5  # relative duality gap from which on the ratio is WIDTH_RATIO squared
START_RELATIVE_GAP = 5e-4  # relative duality gap on the sample that gives a warm start
TARGET_GAP_FACTOR = 0.7  # times ``tol``: the relative duality gap that the next width aims at
INNER_GAP_SHARE = 0.1  # the width decreases once at most this share of the gap is not due to it
SLOPE_RATIO = 0.5  # slope at which the line search stops, relative to the initial slope
OBJECTIVE_ROUNDING = 1e-14  # relative to the objective: a smaller change is a rounding error
STEP_SHARES = 0.1, 0.5  # shares of the interval of a line search between which the next trial lies
MAX_TRIALS = 40  # step lengths tried in one line search
MAX_KEPT_POINTS = 20_000  # most points near the margin boundary from which a solution is computed
# Twenty interior-point iterations take 20 r^2 operations per kept point, and the steps at one width
# about 8 r operations per point.
REDUCTION_COST = 2.5
REDUCED_TOL_FACTOR = 0.1  # times ``tol``: the relative duality gap of the reduced problem
PATIENCE = 4  # consecutive widths without a smaller gap after which rounding error is assumed


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
        problem, solution = (gram, y, C), (np.zeros(gram.n_unknowns), 0.0)
        sample = draw_start_sample(*problem)
        width = _first_width(sample or problem)
        if sample is not None:
            sample_tol = max(START_RELATIVE_GAP, tol)
            result, solution, width = _solve(sample, solution, width, sample_tol, max_iter)
            width *= _width_ratio(max(result.relative_gap, sample_tol), tol)
        result, (weights, _), _ = _solve(problem, solution, width, tol, max_iter)
        return result, weights


def _first_width(problem):
    """Return the width at which the loss has no more curvature than the penalty.

    Then no Newton step can jump over all parabolas.
    """
    gram, _, C = problem
    return max(1.0, float(sum_rows(_weighted_trace, C, gram.rows) / gram.n_unknowns))


def _width_ratio(relative_gap, tol):
    """Return the ratio of the next width to one for which the relative duality gap is given.

    If there are many points, the gap is proportional to the square of the width: the number of
    points on the parabolas, and what each of them contributes, are proportional to the width.
    """
    if relative_gap >= LARGE_RELATIVE_GAP:
        return WIDTH_RATIO**2
    return max(WIDTH_RATIO, np.sqrt(TARGET_GAP_FACTOR * tol / relative_gap))


def _solve(problem, solution, width, tol, max_iter):
    """Solve for smaller and smaller widths until the gap is within the tolerance.

    ``solution`` and the second value are weights and intercept. Returns the best result, its
    weights and intercept, and the last width.
    """
    smallest_gap, n_idle = np.inf, 0
    best = iterate = Iterate(problem, solution, width)
    for n_iter in range(max_iter + 1):
        logger.info(
            "Newton, step %d: width %.1e, relative gap %.2e", n_iter, width, iterate.relative_gap
        )
        best = iterate if iterate.gap < best.gap else best
        if best.relative_gap <= tol or n_iter == max_iter or is_interrupted():
            break
        step, decrease = iterate.newton_step()
        if 0.5 * decrease > iterate.smoothed_objective and np.isinf(smallest_gap):
            # No step decreases the objective by more than its value. Too few points are on the
            # parabolas.
            width /= WIDTH_RATIO**2
            iterate = Iterate(problem, solution, width)
            continue
        next_iterate = None if iterate.is_minimal else _line_search(iterate, step, decrease)
        if next_iterate is None:
            if _reduction_pays(iterate, tol):
                exact = _solve_exactly(iterate, tol)
                best = exact if exact.gap < best.gap else best
            n_idle = 0 if iterate.gap < smallest_gap else n_idle + 1
            if best.relative_gap <= tol or n_idle == PATIENCE:
                break
            smallest_gap = min(iterate.gap, smallest_gap)
            width *= _width_ratio(iterate.relative_gap, tol)
            solution = iterate.moved(step) if iterate.is_minimal else iterate.solution
            next_iterate = Iterate(problem, solution, width)
        iterate = next_iterate
    return best.result(problem[1], tol, n_iter), best.solution, width


class Certified:
    """Weights and intercept, and multipliers whose dual objective bounds the SVM objective.

    Parameters
    ----------
    solution : tuple (w, b)
    duality : DualityTerms
        The sums over the points for both.
    multipliers : callable
        Returns the multipliers before `DualityTerms.class_factors` balance them.
    message : str
        What they are.
    """

    def __init__(self, solution, duality, multipliers, message):
        self.solution, self.duality = solution, duality
        self.multipliers, self.message = multipliers, message

    @property
    def objective(self):
        """The SVM objective."""
        w, _ = self.solution
        return float(0.5 * w @ w + self.duality.loss)

    @property
    def gap(self):
        """The duality gap."""
        return self.objective - self.duality.dual_objective

    @property
    def relative_gap(self):
        """The gap as a fraction of the objective."""
        return self.gap / self.objective if np.isfinite(self.gap) else np.inf

    def result(self, y, tol, n_iter):
        """Return the `SolverResult`.

        The KKT residual includes the relative distance between the weights and those that the
        multipliers define.
        """
        (w, b), duality = self.solution, self.duality
        # No solution has a larger norm than the square root of twice the objective.
        distance = np.linalg.norm(w - duality.dual_weights) / np.sqrt(2.0 * self.objective or 1.0)
        balance = partial(_scale_classes, factors=duality.class_factors)
        return SolverResult(
            alpha=map_rows(balance, y, self.multipliers(), keep=False),
            intercept=float(b),
            objective=self.objective,
            dual_objective=duality.dual_objective,
            n_iter=n_iter,
            w_squared=float(w @ w),
            kkt_residual=max(float(duality.violation), float(distance)),
            converged=bool(self.relative_gap <= tol),
            message=self.message,
        )


class Iterate(Certified):
    """Weights and intercept with the multipliers of the smoothed hinge of a width.

    One pass over the points computes all sums that belong to them.
    """

    def __init__(self, problem, solution, width):
        (gram, y, C), (w, b) = problem, solution
        self.problem, self.width, at = problem, width, {"w": w, "b": b, "width": width}
        self.terms = sum_rows(partial(NewtonTerms.of_points, **at), y, C, gram.rows)
        super().__init__(
            solution,
            self.terms.duality,
            lambda: map_rows(partial(_multipliers, **at), y, C, gram.rows, keep=False),
            f"Newton's method on hinge losses smoothed over a width of {width:.1e}",
        )

    @property
    def smoothed_objective(self):
        """The smoothed objective."""
        w, _ = self.solution
        return float(0.5 * w @ w + self.terms.smoothed_loss)

    @property
    def negative_gradient(self):
        """Minus the gradient of the smoothed objective in the weights and in the intercept."""
        w, _ = self.solution
        return self.duality.class_weights.sum(axis=1) - w, np.diff(self.duality.class_sums).item()

    @property
    def is_minimal(self):
        r"""Whether the solution minimises the smoothed objective, relative to the gap.

        At the minimum, the gap is due to the width alone:
        :math:`\sum_i C_i\max(0, \xi_i) - \alpha_i\xi_i` with the slack :math:`\xi_i`.
        """
        (w, b), (R, r) = self.solution, self.negative_gradient
        alpha_times_slack = self.duality.class_sums.sum() - w @ (R + w) - b * r
        gap_of_width = self.duality.loss - alpha_times_slack
        return self.gap - gap_of_width <= INNER_GAP_SHARE * self.gap

    def newton_step(self):
        """Return the step in weights and intercept, and minus the slope of the objective along it.

        If no point is on a parabola, only the penalty has curvature. Then the step is one in the
        intercept alone, to its best value, unless it has this value. If the penalty is lost by
        rounding, the step is zero and the slope infinite.
        """
        (gram, y, C), (w, b), (R, r) = self.problem, self.solution, self.negative_gradient
        if self.terms.ridge.total_weight == 0.0 and r != 0.0:
            loss_function = map_rows(partial(SmoothedHinge, width=self.width), y, C)
            step = np.zeros_like(w), best_intercept(loss_function, gram.outputs(w), b)[0] - b
        else:
            try:
                step = self.terms.ridge.factor(1.0)(R, r)
            except ArithmeticError:
                return (np.zeros_like(w), 0.0), np.inf
        return step, float(R @ step[0] + r * step[1])

    def moved(self, step, t=1.0):
        """Return weights and intercept after a step of length t."""
        return tuple(value + t * change for value, change in zip(self.solution, step, strict=True))


def _line_search(iterate, step, decrease):
    """Return the `Iterate` after a step that lowers the smoothed objective, or None.

    The secant method, with safeguards, looks for a step length at which the slope of the objective
    is at most half of its initial size, ``-decrease``. Each trial is one pass over the points; the
    first, a full step, is nearly always accepted. If the decrease is below rounding error, a full
    step must lower the gap.
    """
    if decrease <= OBJECTIVE_ROUNDING * iterate.smoothed_objective:
        trial = Iterate(iterate.problem, iterate.moved(step), iterate.width)
        return trial if trial.gap < iterate.gap else None
    (low, low_slope), (high, high_slope), t, best = (0.0, -decrease), (np.inf, np.inf), 1.0, iterate
    for _ in range(MAX_TRIALS):
        trial = Iterate(iterate.problem, iterate.moved(step, t), iterate.width)
        best = trial if trial.smoothed_objective < best.smoothed_objective else best
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


def _reduction_pays(iterate, tol):
    """Return whether the exact solution from few points costs less than further widths."""
    gram, _, _ = iterate.problem
    if iterate.relative_gap > LARGE_RELATIVE_GAP:
        return False
    n_widths = np.log(iterate.relative_gap / tol) / np.log(1.0 / WIDTH_RATIO)
    max_points = min(MAX_KEPT_POINTS, n_widths * gram.n / (REDUCTION_COST * gram.n_unknowns))
    return iterate.terms.n_near <= max(max_points, gram.n_unknowns)


def _solve_exactly(iterate, tol):
    """Return the certified solution of the reduced problem."""
    gram, y, C = iterate.problem
    tol = REDUCED_TOL_FACTOR * tol
    w, b, alpha = solve_reduced_problem(iterate.problem, iterate.solution, iterate.width, tol)
    duality = sum_rows(partial(DualityTerms.of_solution, w=w, b=b), y, C, gram.rows, alpha)
    message = "the SVM of the points near the margin boundary"
    return Certified((w, b), duality, lambda: alpha, message)


# These functions are applied to each block of points.
def _weighted_trace(C, gram):
    return C @ gram.diagonal


def _multipliers(y, C, gram, w, b, width):
    return SmoothedHinge(y, C, width).multipliers(gram.outputs(w) + b)


def _scale_classes(y, alpha, factors):
    return alpha * factors[(y > 0).astype(int)]
