r"""Mehrotra's interior-point method for a quadratic program on a box.

The problem is

    minimise 1/2 scale u'Qu + q'u  subject to  0 <= u (<= upper),  Au = b,

with :math:`Q = YKY` and :math:`Y = \mathrm{diag}(y)`, K one of the forms of `svmbook.gram`. Let
:math:`z \ge 0` be the multipliers of :math:`u \ge 0`, :math:`s \ge 0` those of
:math:`u \le \mathrm{upper}`, :math:`t = \mathrm{upper} - u`, and v the multipliers of the
equations. The optimality conditions, with products of :math:`\mu` instead of zero, are

.. math::

    \mathrm{scale}\,Qu + q + A^\top v - z + s = 0,\quad Au = b,\quad
    u \circ z = \mu 1,\quad t \circ s = \mu 1,

and Newton's method follows their solutions while :math:`\mu` falls to zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...gram import GramMatrix
from ...progress import log

__all__ = ["BoxProgram", "Minimum", "balanced", "hessian_solver", "minimise_on_box"]

TO_THE_BOUNDARY = 0.99  # of the longest step that leaves all bounded numbers positive
FEASIBLE = 1e-9  # residual of the linear conditions that is wanted, relative to their terms
MORE_DIGITS = 1e-3  # times tol: telling zero multipliers from small ones needs a smaller gap
TINY = np.finfo(float).tiny  # stands for an objective of zero, which has no relative gap
PATIENCE = 15  # so many steps in a row that bring no better point: rounding prevents more


class BoxProgram(NamedTuple):
    """min 1/2 scale u'Qu + q'u subject to 0 <= u (<= upper) and Au = b, with Q = YKY."""

    gram: GramMatrix
    y: np.ndarray  # labels -1 and +1
    scale: float
    q: np.ndarray
    upper: np.ndarray | None  # with upper bounds, A is the row y and b is zero
    A: np.ndarray  # one equation per row
    b: np.ndarray


class Minimum(NamedTuple):
    """What `minimise_on_box` found."""

    u: np.ndarray  # the best point, inside the box
    v: np.ndarray  # multipliers of the equations
    n_iter: int
    accurate: bool  # whether gap and residuals are as small as wanted


class _Iterate:
    """Positive numbers u, t, z, s, multipliers v, and the residuals of the linear conditions."""

    def __init__(self, program):
        self.gram, self.y, self.scale, self.q, upper, self.A, self.b = program
        A, b, q, y = self.A, self.b, self.q, self.y
        self.bounded = upper is not None
        self.u = balanced(0.5 * upper, y) if self.bounded else _weights_of_each_row(A, b)
        self.z = np.ones_like(q)
        # Without upper bounds t stays at 1 and s at 0: neither adds to any equation.
        self.t = upper - self.u if self.bounded else np.ones_like(q)
        self.s = np.ones_like(q) if self.bounded else np.zeros_like(q)
        self.v = np.zeros(len(b))
        self.measure()

    def measure(self):
        """Compute the residuals, and how far they and the gap are above what is wanted."""
        Qu = self.scale * self.y * self.gram.times(self.y * self.u)
        self.r_dual = Qu + self.q + self.A.T @ self.v - self.z + self.s
        self.r_primal = self.A @ self.u - self.b
        self.gap = self.u @ self.z + self.t @ self.s
        objective = 0.5 * self.u @ Qu + self.q @ self.u
        self.relative_gap = self.gap / max(abs(objective), abs(objective - self.gap), TINY)
        of_dual = max(1.0, np.abs(self.q).max(), np.abs(Qu).max())
        of_primal = max(1.0, np.abs(self.u).max())
        self.residual = max(
            np.abs(self.r_dual).max() / of_dual, np.abs(self.r_primal).max() / of_primal
        )

    def advance(self):
        """Take one step of Mehrotra's method."""
        u, t, z, s = self.u, self.t, self.z, self.s
        solve = self._newton_system()
        mu = self.gap / (u.size * (1 + self.bounded))

        # Predictor: towards products of zero.
        du, dt, _, dz, ds = solve(-u * z, -t * s)
        step = min(1.0, self._longest(du, dt, dz, ds))
        after = (u + step * du) @ (z + step * dz) + (t + step * dt) @ (s + step * ds)
        target = mu * (after / self.gap) ** 3

        # Corrector: towards products of the target, less what the predictor neglects.
        du, dt, dv, dz, ds = solve(
            target - u * z - du * dz, self.bounded * (target - dt * ds) - t * s
        )
        step = min(1.0, TO_THE_BOUNDARY * self._longest(du, dt, dz, ds))
        self.u, self.t, self.v = u + step * du, t + step * dt, self.v + step * dv
        self.z, self.s = z + step * dz, s + step * ds
        self.measure()

    def _newton_system(self):
        r"""Factor the Newton system and return its solver.

        Given how much the products are to change, :math:`u \circ dz + z \circ du = p` and
        :math:`t \circ ds + s \circ dt = r`, with :math:`dt = -du`, the last two unknowns follow
        from du, and :math:`D = z/u + s/t` joins the diagonal of Q:

        .. math::

            (\mathrm{scale}\,Q + D)\,du + A^\top dv = p/u - r/t - r_{dual},
            \qquad A\,du = -r_{primal},

        :eq:`eq-reduced`; dv solves a system with one row per equation, :eq:`eq-schur`.
        """
        u, t, z, s, A = self.u, self.t, self.z, self.s, self.A
        solve_H = hessian_solver(self.gram, self.y, self.scale, z / u + s / t)
        HA = np.stack([solve_H(a) for a in A])
        S = A @ HA.T

        def solve(p, r):
            Hr = solve_H(p / u - r / t - self.r_dual)
            try:
                dv = np.linalg.solve(S, A @ Hr + self.r_primal)
            except np.linalg.LinAlgError as error:
                raise ArithmeticError("the Schur complement is singular") from error
            du = Hr - dv @ HA
            dt = -du * self.bounded
            return du, dt, dv, (p - z * du) / u, (r - s * dt) / t

        return solve

    def _longest(self, du, dt, dz, ds):
        """Return the longest step that leaves all of u, t, z and s at zero or above."""
        values = np.concatenate([self.u, self.t, self.z, self.s])
        changes = np.concatenate([du, dt, dz, ds])
        falling = changes < 0.0
        return (-values[falling] / changes[falling]).min(initial=np.inf)


def minimise_on_box(program, *, tol, max_iter):
    r"""Solve a quadratic program on a box by Mehrotra's method.

    Parameters
    ----------
    program : BoxProgram
        The problem; its Gram matrix is a `StoredGram` or a `LowRankGram`.
    tol : float
        Relative duality gap that is wanted. The method goes on to a thousandth of it.
    max_iter : int
        Iterations at most.

    Returns
    -------
    Minimum
        The iterate that was nearest to gap and residuals as wanted.

    Raises
    ------
    ArithmeticError
        The first system cannot be factored.

    References
    ----------
    Mehrotra (1992), "On the implementation of a primal-dual interior point method", SIAM Journal
    on Optimization 2, 575-601; Nocedal and Wright (2006), *Numerical Optimization*, algorithm 16.4.
    """
    iterate = _Iterate(program)
    least, best, idle, n_iter = np.inf, None, 0, 0
    while True:
        excess = max(iterate.relative_gap / (MORE_DIGITS * tol), iterate.residual / FEASIBLE)
        idle = 0 if excess < least else idle + 1
        if excess < least:
            least, best = excess, (iterate.u, iterate.v)
        if least <= 1.0 or idle >= PATIENCE or n_iter >= max_iter:
            break
        try:
            iterate.advance()
        except ArithmeticError:  # near the solution rounding makes the system singular
            if n_iter == 0:
                raise
            break
        n_iter += 1
        log.info("interior point, step %d: relative gap %.1e", n_iter, iterate.relative_gap)
    return Minimum(*best, n_iter=n_iter, accurate=least <= 1.0)


def hessian_solver(gram, y, scale, D):
    r"""Factor :math:`\mathrm{scale}\,YKY + D` and return its solver.

    Since :math:`Y^2 = I`, the matrix that is factored is :math:`K + D/\mathrm{scale}`.
    """
    solve_K = gram.factor(D / scale)
    return lambda r: y * solve_K(y * r) / scale


def balanced(u, y):
    """Return u with the class of the larger sum scaled down: y'u = 0."""
    positive, negative = u[y > 0].sum(), u[y < 0].sum()
    smaller = min(positive, negative)
    return u * np.where(y > 0, smaller / positive, smaller / negative)


def _weights_of_each_row(A, b):
    """Return equal weights for the points of each row that sum to its right-hand side."""
    return b @ (A / A.sum(axis=1, keepdims=True))
