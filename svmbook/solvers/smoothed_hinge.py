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

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..progress import is_interrupted, logger
from ..rows import is_in_blocks, map_rows, sum_rows
from .dual.result import SolverResult
from .hinge_terms import HingeTerms, SmoothedHinge, SmoothedHingeTerms
from .one_pass import Iterate, line_search
from .reduced_hinge import solve_reduced_problem
from .start_sample import draw_start_sample

__all__ = ["find_start", "solve_from_start", "solve_smoothed_hinge"]

WIDTH_RATIO = 0.25  # smallest ratio of consecutive widths while the gap is below LARGE_RELATIVE_GAP
LARGE_RELATIVE_GAP = 0.5  # relative duality gap from which on the ratio is WIDTH_RATIO squared
START_RELATIVE_GAP = 5e-4  # relative duality gap on the sample that gives a warm start
# The outputs of the sample's solution differ from those of the solution by about the square root of
# the number of unknowns over the size of the sample. The first width is at least this fraction.
SAMPLE_ERROR_FACTOR = 0.25
TARGET_GAP_FACTOR = 0.7  # times ``tol``: the relative duality gap that the next width aims at
INNER_GAP_SHARE = 0.3  # the width decreases once at most this share of the gap is not due to it
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
    problem = gram, y, C
    start = find_start(problem, tol, max_iter)
    result, (weights, _), _ = solve_from_start(problem, start, tol, max_iter)
    return result, weights


def find_start(problem, tol, max_iter=200):
    """Return weights and intercept, and a width, from which to solve a problem.

    They are the solution of a random sample if there are many points.
    """
    gram, _, _ = problem
    solution = np.zeros(gram.n_unknowns), 0.0
    sample = draw_start_sample(*problem)
    if sample is None:
        return solution, _first_width(problem)
    sample_tol = max(START_RELATIVE_GAP, tol)
    start = solution, _first_width(sample)
    result, solution, width = solve_from_start(sample, start, sample_tol, max_iter)
    width *= _width_ratio(max(result.relative_gap, sample_tol), tol)
    return solution, max(width, SAMPLE_ERROR_FACTOR * np.sqrt(gram.n_unknowns / sample[0].n))


def _first_width(problem):
    """Return the width at which the loss has no more curvature than the penalty.

    Then no Newton step can jump over all parabolas.
    """
    gram, _, C = problem
    return max(1.0, float(sum_rows(_weighted_trace, C, gram.rows, by_row=True) / gram.n_unknowns))


def _width_ratio(relative_gap, tol):
    """Return the ratio of the next width to one for which the relative duality gap is given.

    If there are many points, the gap is proportional to the square of the width: the number of
    points on the parabolas, and what each of them contributes, are proportional to the width.
    """
    if relative_gap >= LARGE_RELATIVE_GAP:
        return WIDTH_RATIO**2
    return max(WIDTH_RATIO, np.sqrt(TARGET_GAP_FACTOR * tol / relative_gap))


def solve_from_start(problem, start, tol, max_iter=200):
    """Solve for smaller and smaller widths until the gap is within the tolerance.

    Returns the best result, its weights and intercept, and the last width. ``start`` consists of
    such a pair, weights and intercept, and such a width.
    """
    gram, _, _ = problem
    with gram.limit_blas_threads():
        return _decrease_widths(problem, start, tol, max_iter)


def _decrease_widths(problem, start, tol, max_iter):
    """Return what `solve_from_start` returns."""
    solution, width = start
    smallest_gap, n_idle = np.inf, 0
    iterate = _iterate(problem, solution, width)
    best = Certified.by_smoothing(problem, iterate, width)
    for n_iter in range(max_iter + 1):
        logger.info(
            "Newton, step %d: width %.1e, relative gap %.2e", n_iter, width, iterate.relative_gap
        )
        if iterate.gap < best.gap:
            best = Certified.by_smoothing(problem, iterate, width)
        if best.relative_gap <= tol or n_iter == max_iter or is_interrupted():
            break
        step, decrease = iterate.newton_step()
        if 0.5 * decrease > iterate.newton_objective and np.isinf(smallest_gap):
            # No step decreases the objective by more than its value. Too few points are on the
            # parabolas.
            width /= WIDTH_RATIO**2
            iterate = _iterate(problem, solution, width)
            continue
        is_minimal = _is_minimal(iterate)
        next_iterate = None if is_minimal else line_search(iterate, step, decrease)
        if next_iterate is None:
            if _reduction_pays(problem, iterate, tol):
                exact = Certified.by_reduction(problem, iterate, width, REDUCED_TOL_FACTOR * tol)
                best = exact if exact.gap < best.gap else best
            n_idle = 0 if iterate.gap < smallest_gap else n_idle + 1
            if best.relative_gap <= tol or n_idle == PATIENCE:
                break
            smallest_gap = min(iterate.gap, smallest_gap)
            width *= _width_ratio(iterate.relative_gap, tol)
            w, b = iterate.solution
            solution = (w + step[0], b + step[1]) if is_minimal else iterate.solution
            next_iterate = _iterate(problem, solution, width)
        iterate = next_iterate
    return best.result(problem, tol, n_iter), best.solution, width


def _iterate(problem, solution, width):
    """Return the `Iterate` of weights and intercept for a width."""
    gram, y, C = problem

    def evaluate(w, b):
        at = {"w": w, "b": b, "width": width, "is_block": is_in_blocks(gram.rows)}
        terms = partial(SmoothedHingeTerms.of_points, **at)
        return sum_rows(terms, y, C, gram.rows, by_row=True)

    return Iterate(evaluate, solution, 1.0)


def _is_minimal(iterate):
    r"""Return whether an iterate minimises the smoothed objective, relative to the gap.

    At the minimum, the gap is due to the width alone:
    :math:`\sum_i C_i\max(0, \xi_i) - \alpha_i\xi_i` with the slack :math:`\xi_i`.
    """
    (w, b), (R, r), classes = iterate.solution, iterate.negative_gradient, iterate.terms.classes
    alpha_times_slack = classes.class_sums.sum() - w @ (R + w) - b * r
    gap_of_width = classes.loss - alpha_times_slack
    return iterate.gap - gap_of_width <= INNER_GAP_SHARE * iterate.gap


def _reduction_pays(problem, iterate, tol):
    """Return whether the exact solution from few points costs less than further widths."""
    gram, _, _ = problem
    if iterate.relative_gap > LARGE_RELATIVE_GAP:
        return False
    n_widths = np.log(iterate.relative_gap / tol) / np.log(1.0 / WIDTH_RATIO)
    max_points = min(MAX_KEPT_POINTS, n_widths * gram.n / (REDUCTION_COST * gram.n_unknowns))
    return iterate.terms.n_near <= max(max_points, gram.n_unknowns)


class Certified(NamedTuple):
    """Weights and intercept, and multipliers that bound the SVM objective from below."""

    solution: tuple
    objective: float
    classes: HingeTerms
    multipliers: Callable  # returns the multipliers, without the factors of the classes
    message: str

    @classmethod
    def by_smoothing(cls, problem, iterate, width):
        """Certify an iterate by the multipliers of the smoothed hinge."""
        (gram, y, C), (w, b) = problem, iterate.solution
        multipliers = partial(_multipliers, w=w, b=b, width=width)
        message = f"Newton's method on hinge losses smoothed over a width of {width:.1e}"
        return cls(
            iterate.solution,
            iterate.objective,
            iterate.terms.classes,
            lambda: map_rows(multipliers, y, C, gram.rows, keep=False),
            message,
        )

    @classmethod
    def by_reduction(cls, problem, iterate, width, tol):
        """Solve the reduced problem, and certify its solution by its multipliers."""
        gram, y, C = problem
        w, b, alpha = solve_reduced_problem(problem, iterate.solution, width, tol)
        terms = partial(HingeTerms.of_solution, w=w, b=b)
        classes = sum_rows(terms, y, C, gram.rows, alpha, by_row=True)
        objective = float(0.5 * w @ w + classes.loss)
        message = "the SVM of the points near the margin boundary"
        return cls((w, b), objective, classes, lambda: alpha, message)

    @property
    def gap(self):
        """The duality gap."""
        return self.objective - self.classes.dual_objective(1.0)

    @property
    def relative_gap(self):
        """The gap as a fraction of the objective."""
        return self.gap / self.objective if np.isfinite(self.gap) else np.inf

    def result(self, problem, tol, n_iter):
        """Return the `SolverResult`.

        The KKT residual includes the relative distance between the weights and those that the
        multipliers define.
        """
        (_, y, _), (w, b), classes = problem, self.solution, self.classes
        # No solution has a larger norm than the square root of twice the objective.
        distance = np.linalg.norm(w - classes.dual_weights) / np.sqrt(2.0 * self.objective or 1.0)
        balance = partial(_scale_classes, factors=classes.class_factors)
        return SolverResult(
            alpha=map_rows(balance, y, self.multipliers(), keep=False),
            intercept=float(b),
            objective=self.objective,
            dual_objective=classes.dual_objective(1.0),
            n_iter=n_iter,
            w_squared=float(w @ w),
            kkt_residual=max(float(classes.violation), float(distance)),
            converged=bool(self.relative_gap <= tol),
            message=self.message,
        )


# These functions are applied to each block of points.
def _weighted_trace(C, gram):
    return C @ gram.diagonal


def _multipliers(y, C, gram, w, b, width):
    return SmoothedHinge(y, C, gram.outputs(w) + b, width).multipliers


def _scale_classes(y, alpha, factors):
    return alpha * factors[(y > 0).astype(int)]
