r"""Iterated weighted least squares for machines whose cost is a function of the slack.

Minimises over w and b, with the slack :math:`\xi_i = \max(0, 1 - y_i(w^\top z_i + b))`,

.. math:: J = \tfrac12\|w\|^2 + \sum_i C_i\,\theta(\xi_i),

which for the hinge, :math:`\theta(\xi) = \xi`, is :eq:`eq-hinge-penalty`. Each round puts a
parabola in the place of each cost: the one in the error :math:`e_i = y_i - w^\top z_i - b`, whose
square is :math:`\xi_i^2` where there is slack, that has the cost's slope. What is left is weighted
least squares with the weights

.. math:: a_i = C_i\,\theta'(\xi_i)/\xi_i, \qquad a_i = 0 \text{ without slack,}

and one linear system. Where :math:`\theta'(\xi)/\xi` never grows with :math:`\xi` the parabola lies
above the cost, as long as no point without slack gets some, and a full step cannot raise J. Where
it grows, the cost is bent more than that parabola, and its own curvature is taken for the weight. A
step that would not lower J all the same is halved until it does; one that may be doubled is.

As :math:`\xi_i \to 0` the weight of a cost with a kink at the margin grows without bound. So the
cost is rounded: on slacks below a width :math:`\epsilon` it is replaced by a parabola that touches
it there. For the hinge, and for the unbiased cost with s up to 2, that raises it, and the less the
smaller the width. The width shrinks whenever the rounds have nearly come to rest, so for these J
with the rounded cost never rises; for others it may rise where the width shrinks, and nowhere else.

The source is Navia-Vazquez et al. (2004), "Advantages of unbiased support vector classifiers for
data mining applications", J. VLSI Signal Processing 37; numbers of equations are theirs. Its
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

from ...progress import log
from ..checks import check_problem, check_stopping
from .costs import Cost
from .result import IRWLSResult

__all__ = ["irwls", "irwls_path", "least_squares_step", "solve_irwls"]

# Widths over which the kink is rounded off, one after the other.
KINK_WIDTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
MIN_STEP = 2.0**-40  # the shortest step of a line search
SUFFICIENT_DECREASE = 1e-4  # share of the predicted decrease of J that a step must reach
START_TOL = 1e-2  # relative gradient of a problem that only gives a start


def solve_irwls(
    Z: ArrayLike,
    y: ArrayLike,
    C: ArrayLike,
    cost: Cost,
    *,
    start: tuple | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    printed_weights: bool = False,
) -> IRWLSResult:
    r"""Minimise the objective of a linear machine by iterated weighted least squares.

    Over w and b, with :math:`\xi_i = \max(0, 1 - y_i(w^\top z_i + b))`,

    .. math:: J = \tfrac12\|w\|^2 + \sum_i C_i\,\theta(\xi_i).

    Where the cost :math:`\theta` is not convex the result is a stationary point, as a rule a local
    minimum: start from several places.

    Parameters
    ----------
    Z : array-like of shape (n, r)
        Points, or features of them; a factor of a Gram matrix makes a kernel machine.
    y : array-like of shape (n,)
        Labels -1 and +1, both present.
    C : float or array-like of shape (n,)
        Prices of the costs, positive and finite.
    cost : Cost
        `svmbook.solvers.HINGE`, or the result of `svmbook.solvers.unbiased_cost` or
        `svmbook.solvers.sigmoidal_cost`.
    start : tuple of (ndarray of shape (r,), float), default=None
        Weights and intercept to start from; zeros.
    tol : float, default=1e-4
        Relative size of the gradient. At 1e-4 the objective is as a rule within 1e-6 of its value
        at the end, as a fraction.
    max_iter : int, default=1000
        Rounds at most; 10 to 100 are usual.
    printed_weights : bool, default=False
        Whether to double the weights, as the source prints them in (15) and (22). The rounds then
        solve the problem for 2C.

    Returns
    -------
    IRWLSResult
        Its ``objective`` is the one for C.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit, or a number is out of range.

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
    Z, y, C = check_problem(Z, y, C, square=False, name="Z")
    if not isinstance(cost, Cost):
        raise TypeError(f"cost must be HINGE, unbiased_cost(...) or such; found {cost!r}.")
    tol, max_iter = check_stopping(tol, max_iter)
    if start is not None:
        w = check_array(start[0], dtype=np.float64, ensure_2d=False, input_name="start")
        if w.shape != Z.shape[1:]:
            raise ValueError(f"start must hold {Z.shape[1]} weights; found shape {w.shape}.")
        b = float(check_scalar(start[1], "the intercept of start", Real))
        if not np.isfinite(b):
            raise ValueError(f"the intercept of start must be finite; found {b}.")
        start = w, b
    origin = Z.mean(axis=0)  # far from the origin, norms would hide an error of the gradient
    if start is not None:
        start = start[0], start[1] + start[0] @ origin
    options = {"start": start, "tol": tol, "max_iter": max_iter}
    result = irwls(Z - origin, y, C, cost, printed_weights=printed_weights, **options)
    return replace(result, intercept=float(result.intercept - result.w @ origin))


def irwls(Z, y, C, cost, *, start=None, tol, max_iter=1000, printed_weights=False):
    """Do it for arrays that have been checked."""
    C = np.broadcast_to(C, len(y))
    rounds = _IRWLSState(Z, y, 2.0 * C if printed_weights else C, cost, start)
    for width in KINK_WIDTHS:
        rounds.set_width(width)
        while rounds.residual > (tol if width == KINK_WIDTHS[-1] else max(tol, START_TOL)):
            step = rounds.next_step()
            if rounds.predicts_no_decrease:
                break
            if len(rounds.objectives) >= max_iter:
                return rounds.result(C, tol, "max_iter rounds were not enough")
            if not rounds.take(step):
                break
    return rounds.result(C, tol, "no step goes down")


class _IRWLSState:
    """The rounds on one problem: w, b and the outputs f where they stand, and the way there."""

    def __init__(self, Z, y, price, cost, start):
        self.Z, self.y, self.price, self.cost = Z, y, price, cost
        self.w, self.b = (np.zeros(Z.shape[1]), 0.0) if start is None else start
        self.f, self.lengths = Z @ self.w + self.b, np.sqrt(np.einsum("ij,ij->i", Z, Z))
        self.objectives, self.widths = [], []

    def set_width(self, width):
        """Round the cost to this width."""
        self.width, self.predicted_decrease = width, np.inf
        self._evaluate()
        if not self.objectives:
            self._record()

    def _evaluate(self):
        """Compute costs, pulls p_i, weights a_i, and by how much the gradient misses zero."""
        m = self.y * self.f
        self.costs = _smoothed_cost(self.cost, m, self.width)
        self.p, self.a = _weights(self.cost, self.price, m, self.width)
        pull = self.y * self.p
        self.residual, self.noise = _residual(self.Z, pull, self.a, self.w, self.f, self.lengths)

    def _record(self):
        self.objectives.append(0.5 * (self.w @ self.w) + self.price @ self.costs)
        self.widths.append(self.width)

    def next_step(self):
        """Return the step to the minimum of the parabolas, which promises a fall of J."""
        pull = self.y * self.p
        dw, db = least_squares_step(self.Z, pull, self.a, self.w)
        df = self.Z @ dw + db
        self.predicted_decrease = 0.5 * (pull @ df - self.w @ dw)
        return dw, db, df

    @property
    def predicts_no_decrease(self):
        """Whether the parabolas would fall by no more than the rounding of J."""
        return self.predicted_decrease <= np.finfo(float).eps * self.objectives[-1]

    def change(self, step, t):
        """Return by how much a step of length t changes J: no digits of J are lost."""
        dw, _, df = step
        costs = _smoothed_cost(self.cost, self.y * (self.f + t * df), self.width)
        return t * (dw @ self.w) + 0.5 * t * t * (dw @ dw) + self.price @ (costs - self.costs)

    def take(self, step):
        """Go along a step as far as J falls; return whether that is any length."""
        (dw, db, df), t = step, _step_length(partial(self.change, step), self.predicted_decrease)
        self.w, self.b, self.f = self.w + t * dw, self.b + t * db, self.f + t * df
        self._evaluate()
        self._record()
        rounds, J = len(self.objectives), self.objectives[-1]
        log.info("least squares, round %d: objective %.6g, width %.0e", rounds, J, self.width)
        return t > 0.0

    def result(self, C, tol, otherwise):
        """Return the place reached, after a last full step: then w is the sum of its points."""
        w, b, alpha = self.w, self.b, self.p
        step = least_squares_step(self.Z, self.y * self.p, self.a, w)
        step = *step, self.Z @ step[0] + step[1]
        if self.change(step, 1.0) <= np.sqrt(np.finfo(float).eps) * self.objectives[-1]:
            w, b, alpha = w + step[0], b + step[1], self.p - self.y * self.a * step[2]
        hidden = self.residual <= self.noise or self.predicts_no_decrease
        seen, stationary = bool(hidden and np.isfinite(self.residual)), self.residual <= tol
        how = "as far as rounding lets one see" if seen else otherwise
        return IRWLSResult(
            w=w,
            intercept=float(b),
            alpha=alpha,
            objective=float(0.5 * (w @ w) + C @ self.cost.value(self.y * (self.Z @ w + b))),
            objectives=np.array(self.objectives),
            widths=np.array(self.widths),
            kkt_residual=float(self.residual),
            n_iter=len(self.objectives),
            converged=bool(stationary or seen),
            message="stationary" if stationary else how,
        )


def irwls_path(Z, y, C, costs, *, tol, **options):
    """Minimise for one cost after the other, each from the solution before; return all results.

    Those before the last are starts, and solved roughly.
    """
    results = []
    for cost in costs:
        enough = tol if cost is costs[-1] else max(tol, START_TOL)
        results.append(irwls(Z, y, C, cost, tol=enough, **options))
        options["start"] = results[-1].w, results[-1].intercept
    return results


def _weights(cost, C, m, width):
    """Return the pulls p_i = C_i theta'(xi_i), (21), and the weights a_i, (22), with rounding."""
    near = np.maximum(1.0 - m, width)
    slope = -C * cost.slope(1.0 - near) / near
    a = np.where(m < 1.0, slope, 0.0)
    use_curvature = (m < 1.0 - width) & (C * cost.curvature(m) > a)
    return a * (1.0 - m), np.where(use_curvature, C * cost.curvature(m), a)


def _smoothed_cost(cost, m, width):
    """Return the rounded cost of each margin."""
    xi = np.maximum(0.0, 1.0 - m)
    curvature = -cost.slope(np.array(1.0 - width)) / width
    parabola = 0.5 * curvature * np.minimum(xi**2 - width**2, 0.0)
    return cost.value(np.minimum(m, 1.0 - width)) + parabola


def least_squares_step(Z, pull, a, w):
    """Solve the bordered system (20) for the changes of w and b.

    ``pull`` are the weighted errors a_i e_i as they are. The system's last line says that b makes
    them sum to zero, so with weighted means taken from Z and e there is no b left. (Changes keep
    their digits where weights differ by powers of ten; w itself would not.)
    """
    present = np.flatnonzero(a)
    if not len(present):  # no point has a slack: only the penalty acts on w
        return -w, 0.0
    Z, pull, a = Z[present], pull[present], a[present]
    z_mean, e_mean = (a @ Z) / a.sum(), pull.sum() / a.sum()
    centred = Z - z_mean
    A = centred * np.sqrt(a)[:, None]
    H = A.T @ A
    H.flat[:: len(H) + 1] += 1.0
    try:
        dw = cho_solve(cho_factor(H, check_finite=False), centred.T @ pull - w)
    except LinAlgError:  # weights so large that the penalty is lost in rounding
        whole = np.vstack([A, np.eye(len(w))])
        dw = lstsq(whole, np.concatenate([pull / np.sqrt(a), -w]))[0]
    return dw, e_mean - z_mean @ dw


def _residual(Z, pull, a, w, f, lengths):
    """Return by how much (17) and (18) are missed, and how well rounding lets one know that.

    Relative to the sizes of the terms. An output has an error of one rounding, and the weights
    multiply it.
    """
    noise = a * np.finfo(float).eps * np.maximum(1.0, np.abs(f))
    sizes = np.array([np.linalg.norm(w) + np.abs(pull) @ lengths, np.abs(pull).sum()])
    sizes = np.maximum(sizes, np.finfo(float).tiny)
    missed = np.array([np.linalg.norm(w - Z.T @ pull), abs(pull.sum())])
    unknown = np.array([noise @ lengths, noise.sum()])
    return (missed / sizes).max(), (unknown / sizes).max()


def _step_length(change, predicted_decrease):
    """Return a length at which J falls by a part of what was promised, one if that will do.

    A step that leaves J as it is will not do: the next one may lead back.
    """
    t, down = 1.0, change(1.0)
    while down > -SUFFICIENT_DECREASE * t * predicted_decrease:
        t *= 0.5
        if t < MIN_STEP:
            return 0.0
        down = change(t)
    while t >= 1.0 and (further := change(2.0 * t)) < down:
        t, down = 2.0 * t, further
    return t
