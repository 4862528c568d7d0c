r"""Decomposition: :eq:`eq-dual` solved for a part of the multipliers, and again for another part.

Far from the solution, a primal-dual iteration on all points frees too many of them at once. Here
only a *working set* may change: the free points, and about as many of the points that violate their
optimality conditions most. The problem of the working set is solved by primal-dual iterations, in
which all other multipliers are fixed. No step lowers the dual objective.
"""

import numpy as np

from ....progress import is_interrupted, logger
from .primal_dual import damped_shift, run_primal_dual

__all__ = ["improve_by_decomposition"]

# The number of points that join the free points in a working set: as many as are free, within
# these limits.
MIN_ADDED_POINTS, MAX_ADDED_POINTS = 500, 3000
MAX_STEPS = 100
MIN_INCREASE = 1e-12  # relative increase of the dual objective; a smaller one is rounding error
MAX_PRIMAL_DUAL_ITER = 60  # for one working set


def improve_by_decomposition(state, *, until_solved=False):
    """Solve the problems of working sets until few points violate their optimality conditions.

    The first working set contains the free points only, unless there are none. With
    ``until_solved``, the steps continue until no point violates; otherwise until at most as many
    violate as are free, and these become free.
    """
    working_set = np.flatnonzero(state.free)
    if not len(working_set):
        working_set = _largest_violations(state, MIN_ADDED_POINTS)
    for _ in range(MAX_STEPS):
        if not len(working_set) or is_interrupted():
            break
        has_bounded_points = not state.free[working_set].all()
        previous_objective = state.dual_objective
        _solve_working_set(state, working_set)
        state.b = state.optimal_intercept()
        n_free, n_violating = state.free.sum(), state.find_violating_at_bounds().sum()
        logger.info(
            "decomposition: %d points in the working set, dual objective %.6g, %d violating points",
            len(working_set),
            state.dual_objective,
            n_violating,
        )
        min_increase = MIN_INCREASE * abs(previous_objective)
        has_improved = state.dual_objective > previous_objective + min_increase
        if n_violating <= (0 if until_solved else n_free):
            break
        if has_bounded_points and not has_improved:
            break
        n_added = int(np.clip(n_free, MIN_ADDED_POINTS, MAX_ADDED_POINTS))
        added = _largest_violations(state, n_added)
        working_set = np.union1d(np.flatnonzero(state.free), added)
    if not until_solved:
        state.free |= state.find_violating_at_bounds()


def _largest_violations(state, n_points):
    """Return bounded points with large violations, as many to increase as to decrease.

    Since the multipliers sum to a constant, points that should all increase could not move.
    """
    can_increase = np.flatnonzero(~state.free & state.can_increase)
    can_decrease = np.flatnonzero(~state.free & state.can_decrease)
    increasing = can_increase[np.argsort(-state.e[can_increase], kind="stable")[: n_points // 2]]
    decreasing = can_decrease[np.argsort(state.e[can_decrease], kind="stable")[: n_points // 2]]
    return np.concatenate([increasing, decreasing])


def _solve_working_set(state, working_set):
    """Maximise the dual objective over the multipliers of the working set.

    If the objective, a parabola along the step to the last iterate, would decrease, the step is
    shortened.
    """
    part = state.restrict(working_set)
    part.b = state.b
    previous_beta, previous_e = part.beta.copy(), part.e.copy()
    first_shift = damped_shift(part.gram, part.C)
    if not run_primal_dual(part, MAX_PRIMAL_DUAL_ITER, first_shift=first_shift, refine=False):
        part.make_feasible()
    step = part.beta - previous_beta
    slope, curvature = step @ (previous_e - state.b), step @ (previous_e - part.e)
    length = slope / curvature if 0 < slope < curvature else float(slope > 0)
    if length < 1.0:
        part.beta = np.clip(previous_beta + length * step, part.lower, part.upper)
    changed = np.flatnonzero(part.beta != previous_beta)
    state.set_multipliers(working_set[changed], part.beta[changed])
    state.update_free()
