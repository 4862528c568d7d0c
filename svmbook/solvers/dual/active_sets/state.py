"""The state of an active-set method: multipliers, errors, and the set of free points."""

import numpy as np
from scipy.optimize import brentq

from ....progress import is_interrupted, logger
from ....ties import argmax_up_to_rounding
from ..result import certify, intercept_interval

__all__ = ["DualState", "next_bounds"]

OUTPUT_ROUNDING = 8 * np.finfo(float).eps  # relative to the outputs
SINGLE_PRECISION_ROUNDING = 4 * np.finfo(np.float32).eps  # relative to the norm of the multipliers
# Times max(1, k(x, x) min(C)): a residual this small is accepted if it no longer decreases.
STALLED_RESIDUAL = 1e-13
# Relative to C, or to the largest multiplier: a smaller distance to a bound is rounding error.
BOUND_TOL = 1e-12
SNAP_TOL = 1e-9  # relative to the dual objective
STEP_LENGTHS = (1.0, 0.25, 0.06, 0.015, 0.004)  # of projected steps, tried in turn
MAX_STEP_SIZE = 1e6  # times the largest C: largest factor of the gradient in a gradient step


class DualState:
    r"""Signed multipliers :math:`\beta = y\circ\alpha` with errors :math:`e = y - K\beta`.

    In these variables the dual :eq:`eq-dual` is to maximise
    :math:`y^\top\beta - \tfrac12\beta^\top K\beta` over :math:`\ell \le \beta \le u`,
    :math:`1^\top\beta = 0`. Its gradient is :math:`e`, and
    :math:`\beta` is optimal if for some :math:`b` every free point has :math:`e_i = b`, every point
    at its upper bound :math:`e_i \ge b` and every point at its lower bound :math:`e_i \le b`.

    If only the multipliers of a subset of the points vary, the others change the targets y and the
    sum of the multipliers; see `restrict`.

    Parameters
    ----------
    gram : GramMatrix
        The Gram matrix.
    y, C : ndarray of shape (n,)
        Labels -1 and +1, and upper bounds of the multipliers.
    beta : ndarray of shape (n,)
        Signed multipliers; those of points that are not free are at a bound.
    free : ndarray of bool of shape (n,)
        The free points.
    targets : ndarray of shape (n,), default=None
        What replaces y in the error and in the objective; y by default.
    beta_sum : float, default=0.0
        What :math:`1^\top\beta` must be.
    e : ndarray of shape (n,), default=None
        The errors, if they are known.
    """

    def __init__(self, gram, y, C, beta, free, *, targets=None, beta_sum=0.0, e=None):
        self.gram, self.y, self.C, self.n = gram, y, C, len(y)
        self.lower, self.upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
        self.beta, self.free = beta, free
        self.targets, self.beta_sum = y if targets is None else targets, beta_sum
        self.b, self.n_iter, self.solved, self.message = 0.0, 0, False, ""
        self.total_change = 0.0  # of the multipliers since the errors were computed
        self.stall_tol = STALLED_RESIDUAL * max(1.0, gram.scale * C.min())
        if e is None:
            self.recompute_errors()
        else:
            self.e = e

    def start_iteration(self):
        """Increase the number of iterations and log it."""
        self.n_iter += 1
        n_free = self.free.sum()
        logger.info("active sets on %d points, iteration %d: %d free", self.n, self.n_iter, n_free)

    def may_continue(self, max_iter):
        """Return whether one more iteration is allowed: no limit is reached, nobody interrupted."""
        return self.n_iter < max_iter and not is_interrupted()

    @property
    def is_single_precision(self):
        """Whether the errors are computed in single precision."""
        return self.gram.dtype == np.float32

    @property
    def at_upper_bound(self):
        """The points whose multiplier alpha is at its upper bound C, as a mask."""
        return np.abs(self.beta) >= self.C

    @property
    def can_increase(self):
        """The points whose signed multiplier is below its upper bound, as a mask."""
        return self.beta < self.upper

    @property
    def can_decrease(self):
        """The points whose signed multiplier is above its lower bound, as a mask."""
        return self.beta > self.lower

    @property
    def rounding_error(self):
        r"""Bound on the rounding error of each e_i, from :math:`|K_{ij}|\le\sqrt{K_{ii}K_{jj}}`.

        In single precision it is an estimate for independent rounding errors, which is smaller.
        """
        norms, scaled_norms = self.gram.norms, self.gram.entry_rounding * self.gram.norms
        if self.is_single_precision:
            return SINGLE_PRECISION_ROUNDING * scaled_norms * np.linalg.norm(norms * self.beta)
        return OUTPUT_ROUNDING * (1.0 + scaled_norms * (norms @ np.abs(self.beta)))

    @property
    def dual_objective(self):
        """The objective of the dual, a lower bound on the optimum if beta is feasible."""
        return 0.5 * self.beta @ (self.targets + self.e)

    @property
    def imbalance(self):
        """The sum of the multipliers minus what it must be."""
        return self.beta.sum() - self.beta_sum

    def restrict(self, points):
        """Return the state of the problem in which only the multipliers of ``points`` vary.

        All its points are free.
        """
        gram, y, C = self.gram.submatrix(points), self.y[points], self.C[points]
        beta, e, free = self.beta[points], self.e[points], np.ones(len(points), dtype=bool)
        fixed = {"targets": e + gram.dot(beta), "beta_sum": beta.sum()}
        return DualState(gram, y, C, beta, free, **fixed, e=e)

    def use_double_precision(self):
        """Compute in double precision from now on; return whether it was single before."""
        was_single = self.is_single_precision
        if was_single:
            self.gram = self.gram.in_double_precision()
            self.recompute_errors()
        return was_single

    def recompute_errors(self):
        """Compute the errors from the multipliers, since updates accumulate rounding errors."""
        support = np.flatnonzero(self.beta)
        self.e = self.targets - self.gram.dot_columns(support, self.beta[support])
        self.total_change = 0.0

    def set_multipliers(self, indices, beta, decrease=None):
        """Set these multipliers to ``beta``; update all errors, by ``decrease`` if it is known."""
        if len(indices):
            change = beta - self.beta[indices]
            self.e -= self.gram.dot_columns(indices, change) if decrease is None else decrease
            self.beta[indices] = beta
            self.total_change += np.abs(change).sum()

    def residual(self, F):
        """Return the largest violation of the equations of the free points F."""
        return np.abs(self.e[F] - self.b).max()

    def at_rounding_error(self, F):
        """Return whether the residuals of the free points F are at most rounding errors."""
        return (np.abs(self.e[F] - self.b) <= self.rounding_error[F]).all()

    def recheck_solved(self, F):
        """Return whether the face is still solved after its errors are recomputed.

        After small changes, the rounding errors of the updates are below those of the errors.
        """
        if self.total_change <= np.abs(self.beta).sum():
            return True
        previous_residual = self.residual(F) if len(F) else 0.0
        self.recompute_errors()
        return (
            not len(F) or self.at_rounding_error(F) or self.residual(F) <= 2.0 * previous_residual
        )

    def find_violating_at_bounds(self):
        """Return the mask of points at a bound that violate their optimality condition."""
        violation = np.where(self.can_increase, self.e - self.b, self.b - self.e)
        return ~self.free & (violation > self.rounding_error)

    def optimal_intercept(self):
        r"""Return the intercept that minimises the sum of the hinge losses for the current outputs.

        With it, :math:`\sum_{i: y_i(e_i - b) > 0} C_iy_i = 0`. Since the multipliers sum to zero
        too, those of the violating points must increase by about as much as they must decrease.
        """
        order = np.argsort(self.e, kind="stable")
        position = np.searchsorted(np.cumsum(self.C[order]), self.C[self.y > 0].sum())
        return self.e[order[min(position, self.n - 1)]]

    def choose_entering_points(self):
        """Return the points to free: one, or a pair if none is free; none at the optimum.

        If no point is free, the intercept is set to the mean error of the pair. Of points with
        equal violations, such as duplicates, the first is returned.
        """
        rounding_error = self.rounding_error
        e_up = np.where(self.can_increase, self.e - rounding_error, -np.inf)
        e_low = np.where(self.can_decrease, self.e + rounding_error, np.inf)
        violation = abs(e_up.max() - e_low.min())
        i, j = argmax_up_to_rounding(e_up, violation), argmax_up_to_rounding(-e_low, violation)
        has_free_point = self.free.any()
        if not has_free_point:
            self.b = 0.5 * (self.e[i] + self.e[j])
        excess_i = self.e[i] - rounding_error[i] - self.b
        excess_j = self.b - self.e[j] - rounding_error[j]
        largest_residual = self.residual(self.free) if has_free_point else 0.0
        if max(excess_i, excess_j) <= largest_residual:
            return np.array([], dtype=int)
        return np.array([i if excess_i >= excess_j else j]) if has_free_point else np.array([i, j])

    def take_projected_step(self, F, step):
        """Take a step on F projected onto the feasible set; return whether it reached a bound.

        Until the dual objective increases along the whole projected step, the step is shortened. A
        step that would become shorter is truncated at the first bound instead.
        """
        beta, lower, upper = self.beta[F], self.lower[F], self.upper[F]
        bound, length_to_bound = next_bounds(beta, step, lower, upper)
        truncated_length = min(1.0, length_to_bound.min())
        for length in STEP_LENGTHS:
            if length <= truncated_length:
                break
            new_beta = _project(beta + length * step, lower, upper, beta.sum())
            change = new_beta - beta
            decrease = self.gram.dot_columns(F, change)
            if change @ (self.e[F] - self.b) > change @ decrease[F]:
                self.set_multipliers(F, new_beta, decrease)
                self.update_free()
                return not self.free[F].all()
        is_at_bound = length_to_bound <= truncated_length
        new_beta = np.where(is_at_bound, bound, beta + truncated_length * step)
        self.set_multipliers(F, np.clip(new_beta, lower, upper))
        self.update_free()
        return not self.free[F].all()

    def scale_optimally(self):
        """Multiply the multipliers by the number in [0, 1] that maximises the dual objective."""
        f = self.y - self.e
        w_squared = self.beta @ f
        factor = np.clip(self.y @ self.beta / w_squared, 0.0, 1.0) if w_squared > 0 else 1.0
        self.beta, self.e = factor * self.beta, self.y - factor * f
        self.update_free()

    def update_free(self):
        """Set the free points to those strictly between their bounds."""
        self.free = self.can_increase & self.can_decrease

    def make_feasible(self):
        r"""Project the multipliers onto the feasible set.

        The nearest point of the box with the required sum is :math:`z` minus a constant,
        clipped to the box. If the points inside the box can absorb the imbalance, those at bounds
        stay there. Otherwise a gradient step makes the entries of z differ first, so that few
        points end strictly inside the box.
        """
        z = np.clip(self.beta, self.lower, self.upper)
        movable = (z > self.lower) & (z < self.upper)
        lower, upper = np.where(movable, self.lower, z), np.where(movable, self.upper, z)
        total = np.clip(self.beta_sum, lower.sum(), upper.sum())
        if abs(total - self.beta_sum) > BOUND_TOL * np.abs(z).sum():
            z += min(1.0 / self.gram.scale, MAX_STEP_SIZE * self.C.max()) * self.e
            lower, upper, total = self.lower, self.upper, self.beta_sum
        self.beta = _project(z, lower, upper, total)
        self.update_free()
        self.recompute_errors()

    def snap_to_bounds(self):
        """Move multipliers to a bound from which they differ by rounding errors only.

        If such a point were free, it would determine the intercept. If C is huge, a multiplier that
        is tiny relative to C may still matter: the multipliers stay if moving them could raise the
        objective by more than a fraction SNAP_TOL.
        """
        alpha = np.abs(self.beta)
        at_zero = alpha <= BOUND_TOL * np.minimum(alpha.max(), self.C)
        snapped = np.flatnonzero(
            (at_zero & (alpha > 0)) | (alpha < self.C) & (alpha >= (1 - BOUND_TOL) * self.C)
        )
        previous_e, previous_beta = self.e.copy(), self.beta.copy()
        self.set_multipliers(snapped, np.where(at_zero, 0.0, self.y * self.C)[snapped])
        if self.C @ np.abs(self.e - previous_e) > SNAP_TOL * abs(self.dual_objective):
            self.e, self.beta = previous_e, previous_beta
        self.update_free()

    def with_upper_bounds(self, C):
        """Return a copy with upper bounds C; multipliers at their old upper bounds are set to C."""
        beta = np.where(self.at_upper_bound, self.y * C, self.beta)
        state = DualState(self.gram, self.y, C, beta, self.free.copy())
        state.b, state.solved = self.b, self.solved
        return state

    def to_result(self, tol, **report):
        """Return the solution as a `SolverResult`.

        If no point is free, every intercept of an interval is optimal; its midpoint is returned.
        """
        alpha, f = np.abs(self.beta), self.y - self.e
        if not self.free.any():
            self.b = 0.5 * sum(intercept_interval(alpha, self.y, self.C, f))
        report = {"C": self.C, "n_iter": self.n_iter, "message": self.message} | report
        return certify(alpha, self.b, self.y, f=f, tol=tol, scale=self.gram.scale, **report)


def next_bounds(beta, direction, lower, upper):
    """Return the bound that each entry approaches along a direction, and the length to it."""
    bound = np.where(direction > 0, upper, lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        return bound, np.where(direction == 0, np.inf, (bound - beta) / direction)


def _project(z, lower, upper, total):
    """Return the nearest point to z in the box that has this sum: z - t, clipped to the box."""
    largest = max(np.abs(vector).max() for vector in (z, lower, upper))
    rounding = OUTPUT_ROUNDING * largest  # without it, z - t may miss the bounds at both ends
    t = brentq(
        lambda t: np.clip(z - t, lower, upper).sum() - total,
        (z - upper).min() - rounding,
        (z - lower).max() + rounding,
        xtol=np.finfo(float).tiny,
        disp=False,
    )
    projection = np.clip(z - t, lower, upper)
    for _ in range(3):  # points inside the box absorb the rounding error of the sum
        inside = (projection > lower) & (projection < upper)
        if inside.any():
            projection[inside] -= (projection.sum() - total) / inside.sum()
            projection = np.clip(projection, lower, upper)
    return projection
