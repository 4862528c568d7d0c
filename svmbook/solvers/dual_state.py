r"""Where an active-set method stands: multipliers, errors, and which points are free."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from .result import certify, intercept_interval

__all__ = ["DualState"]

ROUNDING = 8 * np.finfo(float).eps  # of the outputs
ENOUGH = 1e-11  # times max(1, k(x, x) C): a residual that may be left where it falls no more
FAR = 1e6  # times C: as far as a gradient step carries before it is projected


class DualState:
    r"""Signed multipliers :math:`\beta = y\circ\alpha` with errors :math:`e = y - K\beta`.

    The dual in these letters: maximise :math:`y^\top\beta - \tfrac12\beta^\top K\beta` over
    :math:`\ell \le \beta \le u`, :math:`1^\top\beta = 0`. Its gradient is :math:`e`, and a point is
    optimal if for some :math:`b` every free point has :math:`e_i = b`, every point at its upper wall
    :math:`e_i \ge b` and every point at its lower wall :math:`e_i \le b`.

    Parameters
    ----------
    rows : StoredRows or ComputedRows
        The Gram matrix.
    y, C : ndarray of shape (n,)
        Labels -1 and +1, and upper bounds of the multipliers.
    beta : ndarray of shape (n,)
        Signed multipliers; those not free stand at a wall.
    free : ndarray of bool of shape (n,)
        The free points.
    """

    def __init__(self, rows, y, C, beta, free):
        self.rows, self.y, self.C, self.n = rows, y, C, len(y)
        self.lower, self.upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
        self.beta, self.free = beta, free
        self.b, self.n_iter, self.message = 0.0, 0, ""
        self.enough = ENOUGH * max(1.0, rows.scale * C.min())
        self.e = y.copy()
        self.drift()

    @property
    def bounded(self):
        """The points whose multiplier is at its upper bound."""
        return np.abs(self.beta) >= self.C

    @property
    def noise(self):
        """What rounding may change in an error."""
        return ROUNDING * (1.0 + self.rows.scale * np.abs(self.beta).sum())

    def drift(self):
        """Compute the errors afresh; return by how much their updates were wrong."""
        support = np.flatnonzero(self.beta)
        updated, self.e = self.e, self.y - self.rows.times(support, self.beta[support])
        return np.abs(updated - self.e).max()

    def move(self, points, beta):
        """Change some multipliers, and all errors with them."""
        if len(points):
            self.e -= self.rows.times(points, beta - self.beta[points])
            self.beta[points] = beta

    def residual(self, points):
        """Return the largest violation of the equations of some free points."""
        return np.abs(self.e[points] - self.b).max()

    def exact(self, residual):
        """Tell whether a residual is rounding, also with errors computed afresh."""
        return residual <= self.noise and self.drift() <= self.noise

    def wrong_at_bounds(self):
        """Tell which points at a wall have an error that draws them into the box."""
        drawn = np.where(self.beta >= self.upper, self.b - self.e, self.e - self.b)
        return ~self.free & (drawn > 2.0 * self.noise)

    def find_free(self):
        """Let the multipliers say which points are free."""
        self.free = (self.beta > self.lower) & (self.beta < self.upper)

    def worst(self):
        """Return the points to free: one, a pair where none is free, none at the optimum."""
        may_rise, may_fall = self.beta < self.upper, self.beta > self.lower
        i = np.argmax(np.where(may_rise, self.e, -np.inf))
        j = np.argmin(np.where(may_fall, self.e, np.inf))
        if not self.free.any():
            self.b = 0.5 * (self.e[i] + self.e[j])
        rise, fall = self.e[i] - self.b, self.b - self.e[j]
        if max(rise, fall) <= max(2.0 * self.noise, self._left_by_the_face()):
            return np.array([], dtype=int)
        if not self.free.any():
            return np.array([i, j])
        return np.array([i if rise >= fall else j])

    def _left_by_the_face(self):
        return self.residual(self.free)+2*self.noise if self.free.any() else 0.0

    def advance(self, points, step):
        """Go along a step until the first wall; who meets it stands exactly there."""
        beta = self.beta[points]
        wall = np.where(step > 0, self.upper[points], self.lower[points])
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(step == 0, np.inf, (wall - beta) / step)
        length = min(1.0, lengths.min())
        after = np.where(lengths <= length, wall, beta + length * step)
        self.move(points, np.clip(after, self.lower[points], self.upper[points]))

    def enter_the_box(self):
        r"""Make the multipliers feasible: a step along the errors, projected.

        The nearest point of the box with :math:`1^\top\beta = 0` is :math:`z` minus a constant,
        clipped. The step along the errors orders the points, so that few of them end inside.
        """
        reach = min(1.0 / self.rows.scale, FAR * self.C.max())
        z = np.clip(self.beta, self.lower, self.upper) + reach * self.e
        inside = lambda t: np.clip(z - t, self.lower, self.upper)  # noqa: E731
        ends = (z - self.upper).min(), (z - self.lower).max()
        t = brentq(lambda t: inside(t).sum(), *ends, xtol=np.finfo(float).tiny, disp=False)
        self.beta = inside(t)
        self._balance()
        self.find_free()
        self.drift()

    def _balance(self):
        """Let the points inside the box carry what rounding left of the sum."""
        for _ in range(3):
            self.find_free()
            F = np.flatnonzero(self.free)
            if len(F):
                share = self.beta.sum() / len(F)
                self.beta[F] = np.clip(self.beta[F] - share, self.lower[F], self.upper[F])

    def in_larger_box(self, C):
        """Return this state with other upper bounds: who stood at one stands at the new one."""
        beta = np.where(self.bounded, self.y * C, self.beta)
        return DualState(self.rows, self.y, C, beta, self.free.copy())

    def certified(self, tol):
        """Return the solution as a `SolverResult`."""
        alpha = np.abs(self.beta)
        f = self.y - self.e
        if not self.free.any():
            self.b = 0.5 * sum(intercept_interval(alpha, self.y, self.C, f))
        report = {"n_iter": self.n_iter, "tol": tol, "message": self.message}
        return certify(alpha, self.b, self.y, self.C, f, scale=self.rows.scale, **report)
