r"""The SVM with many points and few weights: Newton's method on smoothed hinge losses.

The hinge has a kink at the margin 1, and no curvature. The smoothed hinge replaces it by a parabola
over a width :math:`\mu` of slack:

.. math:: h_\mu(\xi) = \begin{cases} \xi^2/(2\mu), & 0 \le \xi \le \mu, \\
    \xi - \mu/2, & \xi > \mu. \end{cases}

Its slope :math:`\alpha_i = C_i \min(1, \xi_i/\mu)` is a multiplier between 0 and :math:`C_i` for
every :math:`\mu`. So each smoothed solution gives a lower bound of the SVM objective. Newton's
method solves the smoothed problem by weighted ridge regressions, in which only points on the
parabola have non-zero weight. As the width decreases, these points become few, and the duality gap
closes. The cost is linear in the number of points if the Gram matrix has low rank.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..losses import hinge
from .dual.result import certify
from .logistic.likelihoods import TwoClassLoss
from .logistic.newton import ridge_path

__all__ = ["SmoothedHinge", "solve_smoothed_hinge"]

WIDTH_RATIO = 0.25  # smallest ratio of consecutive widths while the gap is below LARGE_RELATIVE_GAP
LARGE_RELATIVE_GAP = 0.5  # relative duality gap from which on the ratio is WIDTH_RATIO squared
START_SAMPLE_SIZE = 20_000  # size of the random sample that gives a large problem its warm start
START_RELATIVE_GAP = 5e-4  # relative duality gap on that sample
TARGET_GAP_FACTOR = 0.7  # times ``tol``: the relative duality gap that the next width aims at
# The tolerance of a smoothed problem is this factor times ``tol``, or its square times the relative
# gap if that is larger.
INNER_TOL_FACTOR = 0.3
MAX_NEWTON_STEPS = 200  # largest number of Newton steps at one width
PATIENCE = 2  # consecutive widths without a smaller gap after which rounding error is assumed


class SmoothedHinge(TwoClassLoss):
    r"""The smoothed hinge loss, as the loss function of `svmbook.solvers.logistic.newton`."""

    def __init__(self, y, C, width):
        self.y, self.C, self.width = y, C, width

    def loss(self, F):
        """Return the loss of outputs F."""
        xi = hinge(self.y * F)
        capped_xi = np.minimum(xi, self.width)
        return float(self.C @ (xi - capped_xi + capped_xi * capped_xi / (2.0 * self.width)))

    def negative_gradient(self, F):
        r"""Return :math:`y_i\alpha_i`."""
        return self.y * self.C * np.minimum(1.0, hinge(self.y * F) / self.width)

    def curvature(self, F):
        r"""Return :math:`C_i/\mu` for points on the parabola, else zero."""
        m = self.y * F
        return np.where((m < 1.0) & (m > 1.0 - self.width), self.C / self.width, 0.0)

    def newton_step(self, gram, lam, F, R, r):
        """Return the Newton step; only the penalty has curvature if no point is on a parabola."""
        W = self.curvature(F)
        return gram.factor_ridge(W, lam)(R, r) if W.any() else (R / lam, 0.0)


def solve_smoothed_hinge(gram, y, C, *, tol=1e-6, max_iter=200):
    """Solve the SVM for a Gram matrix of low rank by Newton's method on smoothed hinge losses.

    Parameters
    ----------
    gram : LowRankGram
        Gram matrix of the points.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : ndarray of shape (n,)
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
        # At this width the loss has no more curvature than the penalty, so that no Newton step can
        # jump over all parabolas.
        start, width, relative_gap = None, max(1.0, float(C @ gram.diagonal / gram.n_unknowns)), 1.0
        if gram.n > 2 * START_SAMPLE_SIZE:
            sample_indices = np.sort(
                np.random.default_rng(0).choice(gram.n, START_SAMPLE_SIZE, replace=False)
            )
            sample_y, sample_C = y[sample_indices], C[sample_indices]
            if np.ptp(sample_y):
                sample_C = sample_C * (C.sum() / sample_C.sum())
                sample_problem = gram.submatrix(sample_indices), sample_y, sample_C
                relative_gap = max(START_RELATIVE_GAP, tol)
                _, start, width = _solve_with_decreasing_widths(
                    sample_problem, start, (width, 1.0), relative_gap, max_iter
                )
        problem = gram, y, C
        result, (weights, _), _ = _solve_with_decreasing_widths(
            problem, start, (width, relative_gap), tol, max_iter
        )
        return result, weights


def _solve_with_decreasing_widths(problem, start, width_and_relative_gap, tol, max_iter):
    """Solve for smaller and smaller widths until the gap is within the tolerance.

    Returns the best result, its (weights, intercept) and its width.
    """
    (gram, y, C), (width, relative_gap) = problem, width_and_relative_gap
    n_steps, best_solution, n_idle = 0, None, 0
    while True:
        (smoothed_result,) = ridge_path(
            gram,
            SmoothedHinge(y, C, width),
            [1.0],
            tol=INNER_TOL_FACTOR * max(tol, INNER_TOL_FACTOR * relative_gap),
            max_iter=min(max_iter - n_steps, MAX_NEWTON_STEPS),
            start=start,
        )
        n_steps += smoothed_result.n_iter
        start = smoothed_result.coef, smoothed_result.intercept
        result = _certified_result(problem, smoothed_result, width, n_steps, tol)
        n_idle = 0 if best_solution is None or result.gap < best_solution[0].gap else n_idle + 1
        if n_idle == 0:
            best_solution = result, start, width
        if result.converged or n_steps >= max_iter or n_idle == PATIENCE:
            return replace(best_solution[0], n_iter=n_steps), *best_solution[1:]
        relative_gap = result.relative_gap  # roughly proportional to the width
        width *= (
            max(WIDTH_RATIO, TARGET_GAP_FACTOR * tol / relative_gap)
            if relative_gap < LARGE_RELATIVE_GAP
            else WIDTH_RATIO**2
        )


def _certified_result(problem, smoothed_result, width, n_steps, tol):
    """Return the result for the hinge: primal objective of the weights, dual of the multipliers.

    Its KKT residual includes the relative distance between the weights and those that the
    multipliers define.
    """
    gram, y, C = problem
    w, b, f = smoothed_result.coef, smoothed_result.intercept, gram.outputs(smoothed_result.coef)
    unbalanced_alpha = y * smoothed_result.negative_gradient
    message = f"Newton's method on hinge losses smoothed over a width of {width:.1e}"
    result = certify(unbalanced_alpha, b, y, C, f, n_iter=n_steps, tol=tol, message=message)
    alpha = _balance_classes(unbalanced_alpha, y)
    v, w_norm = gram.adjoint(y * alpha), float(np.linalg.norm(w))
    primal_objective = 0.5 * w_norm**2 + float(C @ hinge(y * (f + b)))
    dual_objective = float(alpha.sum() - 0.5 * v @ v)
    relative_distance = float(np.linalg.norm(w - v)) / (w_norm or 1.0)
    return replace(
        result,
        alpha=alpha,
        objective=primal_objective,
        dual_objective=dual_objective,
        w_squared=w_norm**2,
        kkt_residual=max(result.kkt_residual, relative_distance),
        converged=bool(primal_objective - dual_objective <= tol * primal_objective < np.inf),
    )


def _balance_classes(alpha, y):
    """Return multipliers with y'alpha = 0: those of the class with the larger sum scaled down."""
    sums = alpha[y > 0].sum(), alpha[y < 0].sum()
    factors = [min(sums) / total if total else 1.0 for total in sums]
    return alpha * np.where(y > 0, *factors)
