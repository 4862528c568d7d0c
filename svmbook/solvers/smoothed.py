r"""The hinge by way of smoother ones: Newton's method where all else would be counting corners.

The hinge has a corner at the margin 1, and no curvature. Let a parabola round it off over a width
:math:`\mu` of slack:

.. math:: h_\mu(\xi) = \begin{cases} \xi^2/(2\mu), & 0 \le \xi \le \mu, \\
    \xi - \mu/2, & \xi > \mu. \end{cases}

Its slope is a multiplier, :math:`\alpha_i = C_i \min(1, \xi_i/\mu)`, which lies in the box of the
dual whatever :math:`\mu` is: so each smooth machine carries a bound on the true one. Newton's
method solves the smooth problem by weighted ridge regressions, in which only points on the parabola
weigh anything. As the width falls these become few, and the bound closes. It takes a Gram matrix of
few unknowns, and then any number of points.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..gram import LowRankGram
from ..losses import hinge
from .dual.result import certify
from .logistic.newton import ridge_path

__all__ = ["SmoothedHinge", "smoothed"]

# Next width, relative to the last; smaller where the gap is already below the second number.
NARROWER, FAR = 0.25, 0.5
START_SAMPLE = 20_000  # points from which a large problem is started
START_GAP = 5e-4  # relative gap of that start
GAP_TARGET = 0.7  # relative to the gap that is wanted: the gap that the width is chosen for
INNER_ACCURACY = 0.3  # relative to the gap: accuracy of a smooth problem
MAX_NEWTON_STEPS = 200  # Newton steps at one width
PATIENCE = 2  # widths in a row without a smaller gap: rounding prevents a smaller one


class SmoothedHinge:
    r"""The smoothed hinge as a likelihood for `svmbook.solvers.logistic.newton`."""

    def __init__(self, y, C, width):
        self.y, self.C, self.width = y, C, width
        self.no_intercept = 0.0

    def loss(self, F):
        """Return the loss of outputs F."""
        xi = hinge(self.y * F)
        curved = np.minimum(xi, self.width)
        return float(self.C @ (xi - curved + curved * curved / (2.0 * self.width)))

    def negative_gradient(self, F):
        r"""Return :math:`y_i\alpha_i`."""
        return self.y * self.C * np.minimum(1.0, hinge(self.y * F) / self.width)

    def curvature(self, F):
        r"""Return :math:`C_i/\mu` for points on the parabola, else zero."""
        m = self.y * F
        return np.where((m < 1.0) & (m > 1.0 - self.width), self.C / self.width, 0.0)

    def curvature_along(self, F, D):
        """Return the second derivative of the loss along D, a number."""
        return float(self.curvature(F) @ (D * D))

    def intercept_curvature(self, F):
        """Return the second derivative in the intercept, of shape (1, 1)."""
        return np.array([[self.curvature(F).sum()]])

    def newton_step(self, gram, lam, F, R, r):
        """Return the Newton step; where no point is curved only the penalty is."""
        W = self.curvature(F)
        return gram.ridge(W, lam)(R, r) if W.any() else (R / lam, 0.0)


def smoothed(gram, y, C, *, tol=1e-6, max_iter=200):
    """Solve the SVM dual for a Gram matrix whose functions are held by few weights.

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
        Newton steps at most, those on a sample not counted.

    Returns
    -------
    result : SolverResult
        Its objective is that of the weights, its dual objective that of the multipliers.
    weights : ndarray
        The function, as the Gram matrix holds it.
    """
    with gram.threads():
        return _over_decreasing_widths(Dual(gram, y, C), tol, max_iter)


class Dual(NamedTuple):
    """The problem: Gram matrix, labels and upper bounds."""

    gram: LowRankGram
    y: np.ndarray
    C: np.ndarray


def _over_decreasing_widths(problem, tol, max_iter):
    """Do as `smoothed`, starting from a sample where the points are many."""
    gram, y, C = problem
    # So wide that the parabolas are no steeper than the penalty: no step can miss them all.
    start, width, gap = None, max(1.0, float(C @ gram.diagonal / gram.size)), 1.0
    if gram.n > 2 * START_SAMPLE:
        few = np.sort(np.random.default_rng(0).choice(gram.n, START_SAMPLE, replace=False))
        if np.ptp(y[few]):
            prices = C[few] * (C.sum() / C[few].sum())
            sample, gap = Dual(gram.part(few), y[few], prices), max(START_GAP, tol)
            _, start, width = _to_gap(sample, start, (width, 1.0), gap, max_iter)
    result, (weights, _), _ = _to_gap(problem, start, (width, gap), tol, max_iter)
    return result, weights


def _to_gap(problem, start, width_and_gap, tol, max_iter):
    """Lower the width until the gap is closed; return result, weights with intercept, and width."""
    (gram, y, C), (width, gap) = problem, width_and_gap
    steps, best, worse = 0, None, 0
    while True:
        smooth, *_ = ridge_path(
            gram,
            SmoothedHinge(y, C, width),
            [1.0],
            tol=INNER_ACCURACY * max(tol, INNER_ACCURACY * gap),
            max_iter=min(max_iter - steps, MAX_NEWTON_STEPS),
            start=start,
        )
        steps += smooth.n_iter
        start = smooth.coef, smooth.intercept
        result = _certified(problem, smooth, width, steps, tol)
        worse = 0 if best is None or result.gap < best[0].gap else worse + 1
        if worse == 0:
            best = result, start, width
        if result.converged or steps >= max_iter or worse == PATIENCE:
            return replace(best[0], n_iter=steps), *best[1:]
        gap = result.relative_gap  # it falls like the width
        width *= max(NARROWER, GAP_TARGET * tol / gap) if gap < FAR else NARROWER**2


def _certified(problem, smooth, width, steps, tol):
    """Return the true machine's result: primal of the weights, dual of the multipliers.

    Its KKT residual is also the distance of the weights from those of the multipliers, relative.
    """
    gram, y, C = problem
    w, b, f = smooth.coef, smooth.intercept, gram.outputs(smooth.coef)
    slopes = y * smooth.negative_gradient
    message = f"Newton's method on hinges rounded over a width of {width:.1e}"
    here = certify(slopes, b, y, C, f, n_iter=steps, tol=tol, message=message)
    alpha = _balanced(slopes, y)
    v, length = gram.adjoint(y * alpha), float(np.linalg.norm(w))
    primal = 0.5 * length**2 + float(C @ hinge(y * (f + b)))
    dual = float(alpha.sum() - 0.5 * v @ v)
    apart = float(np.linalg.norm(w - v)) / (length or 1.0)
    return replace(
        here,
        alpha=alpha,
        objective=primal,
        dual_objective=dual,
        w_squared=length**2,
        kkt_residual=max(here.kkt_residual, apart),
        converged=bool(abs(primal - dual) <= tol * primal),
    )


def _balanced(alpha, y):
    """Return multipliers in balance: those of the class with the larger sum, made smaller."""
    sums = alpha[y > 0].sum(), alpha[y < 0].sum()
    least = min(sums)
    factors = [least / total if total else 1.0 for total in sums]
    return alpha * np.where(y > 0, *factors)
