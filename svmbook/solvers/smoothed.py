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

import numpy as np

from ..losses import hinge
from .dual.result import certify
from .logistic.newton import ridge_path

__all__ = ["SmoothedHinge", "smoothed"]

NARROWER = 0.25  # the next width, of one
SAMPLE = 20_000  # points from which a large problem is started
ROUGHLY = 1e-3  # gap of that start
FINER = 0.3  # of the gap: how exactly a smooth problem is solved
NARROWEST = 1e-12  # in units of the margin


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
        """Return the Newton step; where nothing is curved, that of an upper bound."""
        W = self.curvature(F)
        return gram.ridge(W if W.any() else self.C / self.width, lam)(R, r)


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
        return _from_wide_to_narrow(gram, y, C, tol, max_iter)


def _from_wide_to_narrow(gram, y, C, tol, max_iter):
    """Do as `smoothed`, starting from a sample where the points are many."""
    start, width = None, 1.0
    if gram.n > 2 * SAMPLE:
        few = np.sort(np.random.default_rng(0).choice(gram.n, SAMPLE, replace=False))
        if np.ptp(y[few]):
            prices = C[few] * (C.sum() / C[few].sum())
            part = gram.part(few)
            _, start, width = _narrow(part, y[few], prices, None, width, ROUGHLY, max_iter)
    result, (weights, _), _ = _narrow(gram, y, C, start, width, tol, max_iter)
    return result, weights


def _narrow(gram, y, C, start, width, tol, max_iter):
    """Lower the width until the gap is closed; return result, weights with intercept, and width."""
    gap, steps = ROUGHLY / FINER, 0
    while True:
        smooth, *_ = ridge_path(
            gram,
            SmoothedHinge(y, C, width),
            [1.0],
            tol=FINER * max(tol, FINER * gap),
            max_iter=max_iter - steps,
            start=start,
        )
        steps += smooth.n_iter
        start = smooth.coef, smooth.intercept
        result = _certified(gram, y, C, smooth, width, steps, tol)
        if result.converged or steps >= max_iter or width < NARROWEST:
            return result, start, width
        gap, width = result.relative_gap, NARROWER * width


def _certified(gram, y, C, smooth, width, steps, tol):
    """Return the true machine's result: primal of the weights, dual of the multipliers."""
    w, b, signed = smooth.coef, smooth.intercept, smooth.negative_gradient
    alpha, v, f = y * signed, gram.adjoint(signed), gram.outputs(w)
    w_squared = float(w @ w)
    message = f"Newton's method on hinges rounded over a width of {width:.1e}"
    result = certify(alpha, b, y, C, f, n_iter=steps, tol=tol, message=message)
    primal = 0.5 * w_squared + float(C @ hinge(y * (f + b)))
    dual = float(alpha.sum() - 0.5 * v @ v)
    closed = primal - dual <= tol * primal
    return replace(
        result, objective=primal, dual_objective=dual, w_squared=w_squared, converged=bool(closed)
    )
