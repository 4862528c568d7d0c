"""Monotone iterations: one face after another is solved, and the dual objective never decreases.

Each step solves :eq:`eq-face` on the free points. One point is freed at a time.
"""

import numpy as np

from .faces import FaceSolver, Refinement

__all__ = ["run_monotone"]

PATIENCE = 25  # iterations without an increase of the dual objective before the method ends


def run_monotone(state, max_iter):
    """Stay in the box, solve one face after another, and free one point at a time.

    Free points that reach a bound stay there. When the face is solved, the point with the largest
    violation is freed, or a pair if no point is free. The dual objective increases along the next
    step, since the shifted matrix is positive definite.
    """
    face_solver = FaceSolver(state.gram, use_single_precision=False)
    highest_dual_objective, n_idle, refinement = -np.inf, 0, Refinement()
    while state.may_continue(max_iter):
        state.start_iteration()
        F = np.flatnonzero(state.free)
        if len(F):
            state.b = state.e[F].mean()  # more accurate than the intercept of the step
            if refinement.should_continue(state, F):
                step, _ = face_solver.step(F, state.e[F], state.imbalance)
                if state.take_projected_step(F, step):
                    refinement.reset()
                continue
            if not refinement.confirm_solved_or_refactor(state, face_solver, F):
                continue
        entering = state.choose_entering_points()
        n_idle = 0 if state.dual_objective > highest_dual_objective else n_idle + 1
        highest_dual_objective = max(highest_dual_objective, state.dual_objective)
        if not len(entering) or n_idle > PATIENCE:  # optimal up to rounding
            if state.recheck_solved(F) or n_idle > PATIENCE:
                return True
            refinement.reset()
            continue
        # The face is solved: its remaining errors are rounding errors, and are set to zero.
        e = np.zeros(state.n)
        e[entering] = state.e[entering] - state.b
        state.free[entering] = True
        F = np.flatnonzero(state.free)
        state.take_projected_step(F, face_solver.step(F, e[F], state.imbalance)[0])
        refinement.reset()
    return False
