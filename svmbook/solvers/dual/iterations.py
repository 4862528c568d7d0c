"""The iterations of the active-set method: primal-dual ones, and monotone ones if they fail.

Both solve :eq:`eq-face` on the free points and then correct the sets.
"""

import numpy as np

from ...progress import is_interrupted
from .faces import FIRST_SHIFT, FaceSolver

__all__ = ["PATIENCE", "damped_shift", "run_iterations", "run_primal_dual"]

# An iteration lowers the shift if its number of corrections is below SHIFT_DECREASE_RATIO times the
# previous number, or if it is below FEW_CORRECTIONS_RATIO times the number of free points and fewer
# than FEW_CORRECTIONS_PATIENCE iterations have passed without a new minimum.
SHIFT_DECREASE_RATIO = 0.9
FEW_CORRECTIONS_RATIO = 0.1
FEW_CORRECTIONS_PATIENCE = 5
# Smallest and largest first shift if the initial sets may lack points near the margin boundaries.
MIN_DAMPED_SHIFT, MAX_DAMPED_SHIFT = 1e-2, 1e-1
# Largest face for which one more factorisation, without damping, saves time.
MAX_UNDAMPED_POINTS = 100
# Primal-dual iterations without a new minimum before monotone ones take over, and monotone
# iterations without an increase of the dual objective before the method ends.
PATIENCE = 25
# A refinement step must reduce the residual of the face below this fraction of its previous value.
RESIDUAL_RATIO = 0.1
STALL_RATIO = 0.9  # a step that leaves at least this fraction of the residual is a stall
MAX_STALLS = 1000  # largest number of stalls on one face


def damped_shift(gram, C):
    """Return a first shift with which an error of 1 changes a multiplier by about C at most."""
    return np.clip(1.0 / (gram.scale * C.mean()), MIN_DAMPED_SHIFT, MAX_DAMPED_SHIFT)


def run_iterations(state, max_iter, *, first_shift=FIRST_SHIFT, max_idle=PATIENCE):
    """Run primal-dual iterations from a state and, if they do not solve it, monotone ones."""
    initial_beta = state.beta.copy()
    state.solved = run_primal_dual(state, max_iter, first_shift=first_shift, max_idle=max_idle)
    n_primal_dual = state.n_iter
    if not state.solved:
        state.gram = state.gram.in_double_precision()
        state.beta = initial_beta
        state.make_feasible()
        state.solved = _run_monotone(
            state, FaceSolver(state.gram, use_single_precision=False), max_iter
        )
        if not state.solved:
            state.scale_optimally()
            state.b = state.optimal_intercept()
    state.snap_to_bounds()
    n_monotone = state.n_iter - n_primal_dual
    state.message = f"{n_primal_dual} primal-dual and {n_monotone} monotone iterations"
    if not state.solved:
        state.message += "; interrupted" if is_interrupted() else "; iteration limit reached"
    return state


def _may_continue(state, max_iter):
    return state.n_iter < max_iter and not is_interrupted()


class _Refinement:
    """Iterative refinement on one face: each step solves for the residual of the previous one."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Forget the residuals of the previous face."""
        self.last_residual = self.recomputed_residual = np.inf
        self.n_stalls = 0

    def should_continue(self, state, F):
        """Store the residual; return whether it fell clearly, but not to the rounding error."""
        previous_residual, self.last_residual = self.last_residual, state.residual(F)
        return (
            self.last_residual < RESIDUAL_RATIO * previous_residual
            and not state.at_rounding_error(F)
        )

    def confirm_solved_or_refactor(self, state, face_solver, F):
        """Recompute the errors; return whether the face is solved or refinement has stalled.

        Otherwise the next step starts from the recomputed errors, or the face is factored again
        with a smaller shift.
        """
        if state.at_rounding_error(F):
            return True
        state.recompute_errors()
        previous_residual, self.recomputed_residual = self.recomputed_residual, state.residual(F)
        self.last_residual = np.inf
        if state.at_rounding_error(F):
            return True
        if self.recomputed_residual < RESIDUAL_RATIO * previous_residual:
            return False
        if face_solver.refactor_with_smaller_shift():
            return False
        self.n_stalls += self.recomputed_residual >= STALL_RATIO * previous_residual
        return self.recomputed_residual <= state.stall_tol or self.n_stalls > MAX_STALLS


def run_primal_dual(state, max_iter, *, first_shift=FIRST_SHIFT, max_idle=PATIENCE, refine=True):
    """Solve the system of the face and correct all sets at once, until no point moves.

    Return whether the problem is solved. The iterations also end if the number of corrections has
    no new minimum in more than ``max_idle`` consecutive iterations. The shift follows the rule of
    Levenberg and Marquardt: it is lowered if there are few corrections or clearly fewer than
    before, and otherwise raised, which damps the next step. Without ``refine``, the solution of the
    last face is neither refined nor computed in double precision.
    """
    face_solver, refinement = FaceSolver(state.gram, first_shift), _Refinement()
    fewest_corrections = previous_corrections = state.n + 1
    n_idle = 0
    while n_idle <= max_idle and _may_continue(state, max_iter) and state.free.any():
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
        if n_idle > max_idle and refine and _use_double_precision(state, face_solver):
            n_idle = 0  # perhaps the errors of single precision were too large
    return False


def _use_double_precision(state, face_solver):
    """Compute in double precision from now on; return whether the last step was in single."""
    was_single = state.use_double_precision()
    return face_solver.use_double_precision(state.gram) or was_single


def _run_monotone(state, face_solver, max_iter):
    """Stay in the box, solve one face after another, and free one point at a time.

    Free points that reach a bound stay there. When the face is solved, the point with the largest
    violation is freed, or a pair if no point is free. The dual objective increases along the next
    step, since the shifted matrix is positive definite.
    """
    highest_dual_objective, n_idle, refinement = -np.inf, 0, _Refinement()
    while _may_continue(state, max_iter):
        state.start_iteration()
        F = np.flatnonzero(state.free)
        if len(F):
            state.b = state.e[F].mean()  # more accurate than the intercept of the step
            if refinement.should_continue(state, F):
                step, _ = face_solver.step(F, state.e[F], state.imbalance)
                if state.take_truncated_step(F, step):
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
        state.take_truncated_step(F, face_solver.step(F, e[F], state.imbalance)[0])
        refinement.reset()
    return False
