"""Primal-dual iterations: :eq:`eq-face` is solved on the free points; all sets are corrected."""

import numpy as np

from .faces import FIRST_SHIFT, FaceSolver, Refinement
from .purification import low_rank_factor

__all__ = ["PATIENCE", "damped_shift", "run_primal_dual"]

# An iteration lowers the shift if its number of corrections is below SHIFT_DECREASE_RATIO times the
# previous number, or if it is below FEW_CORRECTIONS_RATIO times the number of free points and fewer
# than FEW_CORRECTIONS_PATIENCE iterations have passed without a new minimum.
SHIFT_DECREASE_RATIO = 0.9
FEW_CORRECTIONS_RATIO = 0.1
FEW_CORRECTIONS_PATIENCE = 5
# Smallest and largest first shift if the initial sets may lack points near the margin boundaries.
MIN_DAMPED_SHIFT, MAX_DAMPED_SHIFT = 1e-2, 1e-1
# Largest solved face for which one more factorisation, without damping, saves time: refinement
# needs several steps with a damped factor, and each computes kernel values of all points.
MAX_UNDAMPED_POINTS = 400
# The method ends if a step overshoots: if the number of corrections exceeds MIN_OVERSHOOT, and its
# minimum OVERSHOOT_RATIO times.
MIN_OVERSHOOT, OVERSHOOT_RATIO = 100, 10
# Iterations without a new minimum of the number of corrections before the method ends: with free
# points of low rank, whose multipliers are not unique, and with others.
LOW_RANK_PATIENCE = 5
PATIENCE = 15


def damped_shift(gram, C):
    """Return a first shift with which an error of 1 changes a multiplier by about C, within limits.

    The limits are MIN_DAMPED_SHIFT and MAX_DAMPED_SHIFT.
    """
    return np.clip(1.0 / (gram.scale * C.mean()), MIN_DAMPED_SHIFT, MAX_DAMPED_SHIFT)


def run_primal_dual(state, max_iter, *, first_shift=FIRST_SHIFT, max_idle=PATIENCE, refine=True):
    """Solve the system of the face and correct all sets at once, until no point moves.

    Return whether the problem is solved. The iterations also end if the number of corrections has
    no new minimum in more than ``max_idle`` consecutive iterations, or in LOW_RANK_PATIENCE if the
    free points have low rank, since `purify` then leaves fewer of them, or if it rises far above
    its minimum. The shift follows the rule of Levenberg and Marquardt: it is lowered if there are
    few corrections or clearly fewer than before, and otherwise raised, which damps the next step.
    Without ``refine``, the solution of the last face is neither refined nor computed in double
    precision.
    """
    face_solver, refinement = FaceSolver(state.gram, first_shift), Refinement()
    fewest_corrections = previous_corrections = state.n + 1
    n_idle = 0
    while n_idle <= max_idle and state.may_continue(max_iter) and _has_free_points(state):
        state.start_iteration()
        F = np.flatnonzero(state.free)
        step, state.b = face_solver.step(F, state.e[F], state.imbalance)
        state.set_multipliers(F, state.beta[F] + step)
        is_violating = state.find_violating_at_bounds()
        outside = F[(state.beta[F] < state.lower[F]) | (state.beta[F] > state.upper[F])]
        n_corrections = len(outside) + is_violating.sum()
        if n_corrections == 0:
            if not refine:
                return True
            if _use_double_precision(state, face_solver):
                refinement.reset()
                continue
            if len(F) <= MAX_UNDAMPED_POINTS:
                face_solver.end_damping()
            if refinement.should_continue(state, F):
                continue
            if refinement.confirm_solved_or_refactor(state, face_solver, F):
                if state.recheck_solved(F):
                    return True
                refinement.reset()
                n_idle += 1
            continue
        refinement.reset()
        if len(outside):
            clipped_beta = np.clip(state.beta[outside], state.lower[outside], state.upper[outside])
            state.set_multipliers(outside, clipped_beta)
            state.free[outside] = False
        state.free |= is_violating
        if n_corrections > max(MIN_OVERSHOOT, OVERSHOOT_RATIO * fewest_corrections):
            return False
        n_idle = 0 if n_corrections < fewest_corrections else n_idle + 1
        fewest_corrections = min(fewest_corrections, n_corrections)
        decreased_clearly = n_corrections < SHIFT_DECREASE_RATIO * previous_corrections
        has_few_corrections = (
            n_corrections < FEW_CORRECTIONS_RATIO * len(F) and n_idle < FEW_CORRECTIONS_PATIENCE
        )
        if decreased_clearly or has_few_corrections:
            face_solver.lower_shift()
        else:
            face_solver.raise_shift()
        previous_corrections = n_corrections
        if n_idle == LOW_RANK_PATIENCE and low_rank_factor(state, F) is not None:
            return False
        if n_idle > max_idle and refine and _use_double_precision(state, face_solver):
            n_idle = 0  # perhaps the errors of single precision were too large
    return False


def _has_free_points(state):
    """Free the points that violate at the best intercept if none is free; return if any is free."""
    if not state.free.any():
        state.b = state.optimal_intercept()
        state.free = state.find_violating_at_bounds()
    return state.free.any()


def _use_double_precision(state, face_solver):
    """Compute in double precision from now on; return whether the last step was in single."""
    was_single = state.use_double_precision()
    return face_solver.use_double_precision(state.gram) or was_single
