r"""Mehrotra's interior-point method for a quadratic program on a box.

The problem is

    minimise 1/2 scale u'Qu + q'u  subject to  0 <= u (<= upper),  Au = b,

with :math:`Q = YKY`, :math:`Y = \mathrm{diag}(y)`, and K one of the forms of `svmbook.gram`. Let
:math:`z \ge 0` be the multipliers of :math:`u \ge 0`, :math:`s \ge 0` those of
:math:`u \le \mathrm{upper}`, :math:`t = \mathrm{upper} - u`, and v the multipliers of the
equations. Newton's method follows the central path to :math:`\mu = 0`, the solutions of the
perturbed optimality conditions

.. math::

    \mathrm{scale}\,Qu + q + A^\top v - z + s = 0,\quad Au = b,\quad
    u \circ z = \mu 1,\quad t \circ s = \mu 1 .
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...gram import GramMatrix
from ...progress import logger

__all__ = [
    "BoxProgram",
    "BoxSolution",
    "alpha_unit",
    "dual_program",
    "equalise_class_sums",
    "hessian_solver",
    "minimise_on_box",
]

BOUNDARY_FRACTION = 0.99  # of the longest step that keeps u, t, z and s nonnegative
RESIDUAL_TOL = 1e-9  # of the linear conditions, relative to their terms
GAP_FACTOR = 1e-3  # times tol: a smaller gap distinguishes zero multipliers from small ones
TINY = np.finfo(float).tiny  # avoids division by zero in the relative gap
PATIENCE = 15  # iterations without a better point, after which the method stops


class BoxProgram(NamedTuple):
    """min 1/2 scale u'Qu + q'u subject to 0 <= u (<= upper) and Au = b, with Q = YKY."""

    gram: GramMatrix
    y: np.ndarray  # labels -1 and +1
    scale: float
    q: np.ndarray
    upper: np.ndarray | None  # if given, A must be the single row y, and b zero
    A: np.ndarray  # one equation per row
    b: np.ndarray


class BoxSolution(NamedTuple):
    """The result of `minimise_on_box`."""

    u: np.ndarray  # the best point, inside the box
    v: np.ndarray  # multipliers of the equations
    n_iter: int
    accurate: bool  # whether gap and residuals are within their tolerances


class _Iterate:
    """Positive vectors u, t, z, s, multipliers v, and the residuals of the linear conditions."""

    def __init__(self, program):
        self.gram, self.y, self.scale, self.q, upper, self.A, self.b = program
        A, b, q, y = self.A, self.b, self.q, self.y
        self.has_upper_bounds = upper is not None
        # Without upper bounds start at equal weights in each row of A, which satisfy Au = b.
        self.u = (
            equalise_class_sums(0.5 * upper, y)
            if self.has_upper_bounds
            else b @ (A / A.sum(axis=1)[:, None])
        )
        self.z = np.ones_like(q)
        # Without upper bounds t stays at 1 and s at 0, which contributes to no equation.
        self.t = upper - self.u if self.has_upper_bounds else np.ones_like(q)
        self.s = np.ones_like(q) if self.has_upper_bounds else np.zeros_like(q)
        self.v = np.zeros(len(b))
        self.update_residuals_and_gap()

    def update_residuals_and_gap(self):
        """Compute the residuals of the linear conditions and the gap, absolute and relative.

        The gap u'z + t's is the duality gap if all residuals are zero.
        """
        Qu = self.scale * self.y * self.gram.dot(self.y * self.u)
        self.r_dual = Qu + self.q + self.A.T @ self.v - self.z + self.s
        self.r_primal = self.A @ self.u - self.b
        self.gap = self.u @ self.z + self.t @ self.s
        objective = 0.5 * self.u @ Qu + self.q @ self.u
        self.relative_gap = self.gap / max(abs(objective), abs(objective - self.gap), TINY)
        dual_scale = max(1.0, np.abs(self.q).max(), np.abs(Qu).max())
        primal_scale = max(1.0, np.abs(self.u).max())
        self.relative_residual = max(
            np.abs(self.r_dual).max() / dual_scale, np.abs(self.r_primal).max() / primal_scale
        )

    def advance(self):
        """Carry out one iteration of Mehrotra's method."""
        u, t, z, s = self.u, self.t, self.z, self.s
        solve = self._factor_newton_system()
        mu = self.gap / (u.size * (1 + self.has_upper_bounds))

        # Predictor: Newton's step for products u z and t s of zero.
        du, dt, _, dz, ds = solve(-u * z, -t * s)
        step_length = min(1.0, self._longest_step(du, dt, dz, ds))
        predicted_gap = (u + step_length * du) @ (z + step_length * dz) + (t + step_length * dt) @ (
            s + step_length * ds
        )
        target_mu = mu * (predicted_gap / self.gap) ** 3

        # Corrector: Newton's step for products of the target, minus the second-order terms of the
        # predictor.
        du, dt, dv, dz, ds = solve(
            target_mu - u * z - du * dz, self.has_upper_bounds * (target_mu - dt * ds) - t * s
        )
        step_length = min(1.0, BOUNDARY_FRACTION * self._longest_step(du, dt, dz, ds))
        self.u, self.t, self.v = (
            u + step_length * du,
            t + step_length * dt,
            self.v + step_length * dv,
        )
        self.z, self.s = z + step_length * dz, s + step_length * ds
        self.update_residuals_and_gap()

    def _factor_newton_system(self):
        r"""Factor the Newton system and return its solver.

        The linearised products are :math:`u \circ dz + z \circ du = p` and
        :math:`t \circ ds + s \circ dt = r`, with :math:`dt = -du`. Eliminating dz and ds adds
        :math:`D = z/u + s/t` to the diagonal of Q:

        .. math::

            (\mathrm{scale}\,Q + D)\,du + A^\top dv = p/u - r/t - r_{dual},
            \qquad A\,du = -r_{primal},

        :eq:`eq-reduced`; dv solves a system with one row per equation, :eq:`eq-schur`.
        """
        u, t, z, s, A = self.u, self.t, self.z, self.s, self.A
        solve_H = hessian_solver(self.gram, self.y, self.scale, z / u + s / t)
        H_inv_A = np.stack([solve_H(a) for a in A])
        S = A @ H_inv_A.T

        def solve(p, r):
            H_inv_r = solve_H(p / u - r / t - self.r_dual)
            try:
                dv = np.linalg.solve(S, A @ H_inv_r + self.r_primal)
            except np.linalg.LinAlgError as error:
                raise ArithmeticError("the Schur complement is singular") from error
            du = H_inv_r - dv @ H_inv_A
            dt = -du * self.has_upper_bounds
            return du, dt, dv, (p - z * du) / u, (r - s * dt) / t

        return solve

    def _longest_step(self, du, dt, dz, ds):
        """Return the longest step that keeps u, t, z and s nonnegative."""
        values = np.concatenate([self.u, self.t, self.z, self.s])
        changes = np.concatenate([du, dt, dz, ds])
        decreasing = changes < 0.0
        return (-values[decreasing] / changes[decreasing]).min(initial=np.inf)


def minimise_on_box(program, *, tol, max_iter):
    r"""Solve a quadratic program on a box by Mehrotra's method.

    Parameters
    ----------
    program : BoxProgram
        The problem; its Gram matrix is a `StoredGram` or a `LowRankGram`.
    tol : float
        Tolerance of the relative duality gap; the method continues to a thousandth of it.
    max_iter : int
        Maximum number of iterations.

    Returns
    -------
    BoxSolution
        The iterate whose gap and residuals are smallest relative to their tolerances.

    Raises
    ------
    ArithmeticError
        The first system cannot be factored, or the objective overflows.

    References
    ----------
    Mehrotra (1992), as in `solve_interior_point`; Nocedal and Wright (2006), *Numerical
    Optimization*, algorithm 16.4.
    """
    iterate = _Iterate(program)
    best_error, best_point, n_idle, n_iter = np.inf, None, 0, 0
    while True:
        error = max(
            iterate.relative_gap / (GAP_FACTOR * tol), iterate.relative_residual / RESIDUAL_TOL
        )
        n_idle = 0 if error < best_error else n_idle + 1
        if error < best_error:
            best_error, best_point = error, (iterate.u, iterate.v)
        if best_error <= 1.0 or n_idle >= PATIENCE or n_iter >= max_iter:
            break
        try:
            iterate.advance()
        except ArithmeticError:  # near the solution rounding makes the system singular
            if n_iter == 0:
                raise
            break
        n_iter += 1
        logger.info("interior point, iteration %d: relative gap %.1e", n_iter, iterate.relative_gap)
    if best_point is None:
        raise ArithmeticError("the objective overflows")
    return BoxSolution(*best_point, n_iter=n_iter, accurate=best_error <= 1.0)


def hessian_solver(gram, y, scale, D):
    r"""Factor :math:`\mathrm{scale}\,YKY + D` and return its solver.

    Since :math:`Y^2 = I`, only :math:`K + D/\mathrm{scale}` is factored.
    """
    solve_K = gram.factor(D / scale)
    return lambda r: y * solve_K(y * r) / scale


def equalise_class_sums(u, y):
    """Scale the class with the larger sum down, so that y'u = 0."""
    positive_sum, negative_sum = u[y > 0].sum(), u[y < 0].sum()
    smaller_sum = min(positive_sum, negative_sum)
    return u * np.where(y > 0, smaller_sum / positive_sum, smaller_sum / negative_sum)


def alpha_unit(gram, C):
    """Return the unit in which alpha is of order one: the largest C, or 1 / k(x, x) if smaller."""
    return C.max() if gram.scale * C.max() <= 1.0 else 1.0 / gram.scale


def dual_program(gram, y, C):
    """Return the dual of the SVM as a `BoxProgram` for u = alpha / unit, and the unit."""
    unit = alpha_unit(gram, C)
    return BoxProgram(gram, y, unit, np.full(len(y), -1.0), C / unit, y[None, :], np.zeros(1)), unit
