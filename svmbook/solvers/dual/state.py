r"""Where an active-set method stands: multipliers, errors, and which points are free."""

import numpy as np
from scipy.optimize import brentq

from ...progress import log
from ...ties import first_largest
from .result import certify, intercept_interval

__all__ = ["DualState"]

OUTPUT_ROUNDING = 8 * np.finfo(float).eps  # relative to the outputs
# Times max(1, k(x, x) C), C the smallest: enough where it falls no further.
STALLED_RESIDUAL = 1e-13
BOUND_TOL = 1e-12  # relative to C, or to the largest multiplier: counts as at the bound
MAX_GRADIENT_STEP = 1e6  # times C: longest gradient step before it is projected


class DualState:
    r"""Signed multipliers :math:`\beta = y\circ\alpha` with errors :math:`e = y - K\beta`.

    The dual :eq:`eq-dual` in these letters: maximise
    :math:`y^\top\beta - \tfrac12\beta^\top K\beta` over :math:`\ell \le \beta \le u`,
    :math:`1^\top\beta = 0`. Its gradient is :math:`e`, and
    :math:`\beta` is optimal if for some :math:`b` every free point has :math:`e_i = b`, every point
    at its upper bound :math:`e_i \ge b` and every point at its lower bound :math:`e_i \le b`.

    Parameters
    ----------
    gram : GramMatrix
        The Gram matrix.
    y, C : ndarray of shape (n,)
        Labels -1 and +1, and upper bounds of the multipliers.
    beta : ndarray of shape (n,)
        Signed multipliers; those not free stand at a bound.
    free : ndarray of bool of shape (n,)
        The free points.
    """

    def __init__(self, gram, y, C, beta, free):
        self.gram, self.y, self.C, self.n = gram, y, C, len(y)
        self.lower, self.upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
        self.beta, self.free = beta, free
        self.b, self.n_iter, self.settled, self.message = 0.0, 0, False, ""
        self.enough = STALLED_RESIDUAL * max(1.0, gram.scale * C.min())
        self.recompute()

    def start_round(self):
        """Count a round, and say so where somebody listens."""
        self.n_iter += 1
        log.info("active sets, round %d: %d free points", self.n_iter, self.free.sum())

    @property
    def bounded(self):
        """The points whose multiplier is at its upper bound."""
        return np.abs(self.beta) >= self.C

    @property
    def rounding_error(self):
        r"""What rounding may change in each error, as :math:`|K_{ij}|\le\sqrt{K_{ii}K_{jj}}`."""
        lengths = self.gram.lengths
        return OUTPUT_ROUNDING * (1.0 + lengths * (lengths @ np.abs(self.beta)))

    @property
    def objective(self):
        """The dual objective."""
        return 0.5 * self.beta @ (self.y + self.e)

    def recompute(self):
        """Compute the errors afresh: rounding adds up while they are updated."""
        support = np.flatnonzero(self.beta)
        self.e = self.y - self.gram.columns(support, self.beta[support])

    def move(self, points, beta):
        """Change some multipliers, and all errors with them."""
        if len(points):
            self.e -= self.gram.columns(points, beta - self.beta[points])
            self.beta[points] = beta

    def residual(self, points):
        """Return the largest violation of the equations of some free points."""
        return np.abs(self.e[points] - self.b).max()

    def is_optimal_recomputed(self, F):
        """Compute the errors afresh and tell whether a face that was solved still is."""
        before = self.residual(F) if len(F) else 0.0
        self.recompute()
        return not len(F) or self.at_rounding_error(F) or self.residual(F) <= 2.0 * before

    def at_rounding_error(self, points):
        """Tell whether rounding explains what is left of the equations of some free points."""
        return (np.abs(self.e[points] - self.b) <= self.rounding_error[points]).all()

    def violations_at_bounds(self):
        """Tell which points at a bound have an error that draws them into the box."""
        drawn = np.where(self.beta >= self.upper, self.b - self.e, self.e - self.b)
        return ~self.free & (drawn > self.rounding_error)

    def most_violating(self):
        """Return the points to free: one, a pair where none is free, none at the optimum.

        Of points that are equally wrong, which duplicates always are, the first.
        """
        may_rise, may_fall = self.beta < self.upper, self.beta > self.lower
        rounding_error = self.rounding_error
        up = np.where(may_rise, self.e - rounding_error, -np.inf)
        low = np.where(may_fall, self.e + rounding_error, np.inf)
        violation = abs(up.max() - low.min())
        i, j = first_largest(up, violation), first_largest(-low, violation)
        some_free = self.free.any()
        if not some_free:
            self.b = 0.5 * (self.e[i] + self.e[j])
        rise, fall = self.e[i] - rounding_error[i] - self.b, self.b - self.e[j] - rounding_error[j]
        unsolved = self.residual(self.free) if some_free else 0.0
        if max(rise, fall) <= unsolved:
            return np.array([], dtype=int)
        return np.array([i if rise >= fall else j]) if some_free else np.array([i, j])

    def advance(self, points, step):
        """Go along a step until the first bound; return whether somebody met it."""
        beta = self.beta[points]
        bound = np.where(step > 0, self.upper[points], self.lower[points])
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(step == 0, np.inf, (bound - beta) / step)
        length = min(1.0, lengths.min())
        after = np.where(lengths <= length, bound, beta + length * step)
        self.move(points, np.clip(after, self.lower[points], self.upper[points]))
        self.find_free()
        return not self.free[points].all()

    def scale_into_box(self):
        """Go towards zero, which is feasible, as far as the objective rises."""
        f = self.y - self.e
        w_squared = self.beta @ f
        length = np.clip(self.y @ self.beta / w_squared, 0.0, 1.0) if w_squared > 0 else 1.0
        self.beta, self.e = length * self.beta, self.y - length * f
        self.find_free()

    def find_free(self):
        """Let the multipliers say which points are free."""
        self.free = (self.beta > self.lower) & (self.beta < self.upper)

    def project_to_box(self, *, ascend=True):
        r"""Make the multipliers feasible: project them, after a step along the errors or none.

        The nearest point of the box with :math:`1^\top\beta = 0` is :math:`z` minus a constant,
        clipped. The step along the errors orders the points, so that few of them end inside.
        """
        # A copy: brentq keeps a reference to the function for a while.
        lower, upper = self.lower, self.upper
        z = np.clip(self.beta, lower, upper)
        if ascend:
            z += min(1.0 / self.gram.scale, MAX_GRADIENT_STEP * self.C.max()) * self.e

        # If the interior points can absorb the imbalance, those at bounds stay there.
        moved = (z > lower) & (z < upper)
        least, most = (np.where(moved, end, z).sum() for end in (lower, upper))
        if ascend or not least <= 0.0 <= most:
            moved[:] = True

        def projected(t):
            return np.where(moved, np.clip(z - t, lower, upper), z)

        ends = (z - upper).min(), (z - lower).max()
        t = brentq(lambda t: projected(t).sum(), *ends, xtol=np.finfo(float).tiny, disp=False)
        self.beta = projected(t)
        for _ in range(3):  # interior points absorb the rounding error of the sum
            self.find_free()
            F = np.flatnonzero(self.free)
            if len(F):
                share = self.beta.sum() / len(F)
                self.beta[F] = np.clip(self.beta[F] - share, lower[F], upper[F])
        self.find_free()
        self.recompute()

    def snap_to_bounds(self):
        """Put multipliers at the bound from which only rounding keeps them.

        One that counted as free would fix the intercept, of which it knows nothing.
        """
        alpha = np.abs(self.beta)
        at_zero = alpha <= BOUND_TOL * min(alpha.max(), self.C.max())
        near = np.flatnonzero(
            (at_zero & (alpha > 0)) | (alpha < self.C) & (alpha >= (1 - BOUND_TOL) * self.C)
        )
        self.move(near, np.where(at_zero, 0.0, self.y * self.C)[near])
        self.find_free()

    def with_larger_box(self, C):
        """Return this state with other upper bounds: who stood at one stands at the new one."""
        beta = np.where(self.bounded, self.y * C, self.beta)
        state = DualState(self.gram, self.y, C, beta, self.free.copy())
        state.b, state.settled = self.b, self.settled
        return state

    def certified(self, tol, **report):
        """Return the solution as a `SolverResult`.

        Where no point is free, every intercept of an interval is optimal, and the middle is taken.
        """
        alpha, f = np.abs(self.beta), self.y - self.e
        if not self.free.any():
            self.b = 0.5 * sum(intercept_interval(alpha, self.y, self.C, f))
        report = {"C": self.C, "n_iter": self.n_iter, "message": self.message} | report
        return certify(alpha, self.b, self.y, f=f, tol=tol, scale=self.gram.scale, **report)
