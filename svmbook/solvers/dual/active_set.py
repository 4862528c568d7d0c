r"""The dual solved exactly by a primal-dual active-set method.

Write :math:`\beta = y\circ\alpha` and :math:`e = y - K\beta`. Split the points into L
(:math:`\alpha = 0`), U (:math:`\alpha = C`) and F (free). On F the optimality conditions are linear
equations, :eq:`eq-face`. A *primal-dual* iteration solves them, moves free points outside the box
to L or U, and frees the points of L and U that violate their optimality condition, all at once. The
method ends when no point moves; it is a semismooth Newton method for the optimality conditions. If
it cycles, or if no point remains free, *monotone* iterations start again from the initial sets.
These stay in the box, never lower the dual objective, and free one point at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...gram import ComputedGram, StoredGram
from ...threads import one_blas_thread
from ..checks import check_problem, check_stopping
from .faces import FIRST_SHIFT, FaceSolver
from .starts import initial_state

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = [
    "as_gram",
    "run_iterations",
    "solve_active_set",
    "solve_active_set_on_gram",
    "solve_from_scratch",
]

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


def solve_active_set(
    K: Callable | ArrayLike,
    y: ArrayLike,
    C: ArrayLike,
    *,
    tol: float = 1e-6,
    max_iter: int = 100_000,
) -> SolverResult:
    r"""Solve the SVM dual exactly by an active-set Newton method.

    Minimises :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`, with :math:`Q_{ij} = y_i y_j K_{ij}`.

    The initial sets are predicted from an approximate solution: LIBSVM's with a loose tolerance, or
    that of an interior-point method if the rank is low. Primal-dual iterations follow, with one
    Cholesky factorisation of :math:`K_{FF}` each, until no point moves. Large faces are factored
    in single precision until the sets no longer change, then in double precision. If the
    iterations make no progress or no point is free, monotone iterations start again from the
    initial sets. These never lower the dual objective, and leave a solved face only for a face with
    a higher dual objective. Since there are finitely many faces, the method terminates.

    Parameters
    ----------
    K : ndarray of shape (n, n), or callable
        Gram matrix, symmetric positive semi-definite. A callable ``K(rows, columns)`` returns the
        block for two integer arrays, so that K need not fit in memory; up to 2 GB of rows of free
        points are cached.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : float or ndarray of shape (n,)
        Upper bounds, positive and finite.
    tol : float, default=1e-6
        Relative duality gap for ``converged``; the iterations always continue to rounding error.
    max_iter : int, default=100_000
        Maximum number of iterations of both kinds; fewer than 50 are usual.

    Returns
    -------
    SolverResult
        ``alpha`` has exact zeros and exact bounds. At the iteration limit the last iterate is made
        feasible and scaled so that its dual objective is at least 0.

    Raises
    ------
    ValueError
        An array has the wrong shape or invalid values, or a pivot of :math:`K_{FF}` shows that
        ``K`` is not positive semi-definite.

    References
    ----------
    Hintermueller, Ito and Kunisch (2002), "The primal-dual active set strategy as a semismooth
    Newton method", SIAM Journal on Optimization 13, 865-888; Scheinberg (2006), "An efficient
    implementation of an active set method for SVMs", JMLR 7, 2237-2257.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_active_set
    >>> X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    >>> y = np.array([1.0, 1, -1, -1])
    >>> result = solve_active_set(X @ X.T, y, C=10.0)
    >>> (49 * result.alpha).round(10)
    array([26.,  0., 18.,  8.])
    >>> result.kkt_residual < 1e-14
    True
    """
    K, y, C = check_problem(K, y, C, allow_callable=True)
    tol, max_iter = check_stopping(tol, max_iter)
    return solve_active_set_on_gram(as_gram(K, len(y)), y, C, tol=tol, max_iter=max_iter)


def solve_active_set_on_gram(gram, y, C, *, tol=1e-6, max_iter=100_000):
    """Solve the dual as `solve_active_set` does, for a `GramMatrix` and validated arrays."""
    with one_blas_thread():  # with two threads, products of small blocks take longer
        return solve_from_scratch(gram, y, C, max_iter).to_result(tol)


def as_gram(K, n):
    """Return an array as a stored Gram matrix, a function of blocks as a computed one."""
    return ComputedGram(K, n) if callable(K) else StoredGram(K)


def solve_from_scratch(gram, y, C, max_iter):
    """Return the final state of the iterations from predicted initial sets."""
    state, considers_all_points = initial_state(gram, y, C)
    if considers_all_points:
        return run_iterations(state, max_iter)
    # With this shift, an error of 1 changes a multiplier by about C at most.
    first_shift = np.clip(1.0 / (gram.scale * C.mean()), MIN_DAMPED_SHIFT, MAX_DAMPED_SHIFT)
    return run_iterations(state, max_iter, first_shift=first_shift)


def run_iterations(state, max_iter, *, first_shift=FIRST_SHIFT, max_idle=PATIENCE):
    """Run primal-dual iterations from a state and, if they do not solve it, monotone ones."""
    initial_beta = state.beta.copy()
    face_solver = FaceSolver(state.gram, first_shift)
    state.solved = _run_primal_dual(state, face_solver, max_iter, max_idle)
    n_primal_dual = state.n_iter
    if not state.solved:
        state.beta = initial_beta
        state.make_feasible()
        state.solved = _run_monotone(
            state, FaceSolver(state.gram, use_single_precision=False), max_iter
        )
        if not state.solved:
            state.scale_optimally()
    state.snap_to_bounds()
    n_monotone = state.n_iter - n_primal_dual
    state.message = f"{n_primal_dual} primal-dual and {n_monotone} monotone iterations"
    if not state.solved:
        state.message += "; iteration limit reached"
    return state


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


def _run_primal_dual(state, face_solver, max_iter, max_idle):
    """Solve the system of the face and correct all sets at once, until no point moves.

    The iterations also end if the number of corrections has no new minimum in more than
    ``max_idle`` consecutive iterations. The shift follows the rule of Levenberg and Marquardt: it
    is lowered if there are few corrections or clearly fewer than before, and otherwise raised,
    which damps the next step.
    """
    fewest_corrections = previous_corrections = state.n + 1
    n_idle, refinement = 0, _Refinement()
    while n_idle <= max_idle and state.n_iter < max_iter and state.free.any():
        state.start_iteration()
        F = np.flatnonzero(state.free)
        step, state.b = face_solver.step(F, state.e[F], state.beta.sum())
        state.set_multipliers(F, state.beta[F] + step)
        is_violating = state.find_violating_at_bounds()
        outside = F[(state.beta[F] < state.lower[F]) | (state.beta[F] > state.upper[F])]
        n_corrections = len(outside) + is_violating.sum()
        if n_corrections == 0:
            if face_solver.use_double_precision():
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
    return False


def _run_monotone(state, face_solver, max_iter):
    """Stay in the box, solve one face after another, and free one point at a time.

    Free points that reach a bound stay there. When the face is solved, the point with the largest
    violation is freed, or a pair if no point is free. The dual objective increases along the next
    step, since the shifted matrix is positive definite.
    """
    highest_dual_objective, n_idle, refinement = -np.inf, 0, _Refinement()
    while state.n_iter < max_iter:
        state.start_iteration()
        F = np.flatnonzero(state.free)
        if len(F):
            state.b = state.e[F].mean()  # more accurate than the intercept of the step
            if refinement.should_continue(state, F):
                step, _ = face_solver.step(F, state.e[F], state.beta.sum())
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
        state.take_truncated_step(F, face_solver.step(F, e[F], state.beta.sum())[0])
        refinement.reset()
    return False
