r"""The dual solved exactly by a primal-dual active-set method.

Write :math:`\beta = y\circ\alpha` and :math:`e = y - K\beta`. Split the points into L
(:math:`\alpha = 0`), U (:math:`\alpha = C`) and F (free). On F the optimality conditions are linear
equations, :eq:`eq-face`. A *primal-dual* round solves them, sends free points that leave the box
to L or U, frees points of L and U whose error has the wrong sign, all at once, and ends where
nothing moves: the primal-dual active set method, which is Newton's method on the optimality
conditions. It may cycle, or leave no point free; then *monotone* rounds take over, which stay in
the box, never lower the dual objective, and free one point at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...gram import ComputedGram, StoredGram
from ...threads import one_blas_thread
from ..checks import check_problem, check_stopping
from .faces import Face
from .state import DualState

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = [
    "active_set",
    "blas_threads",
    "gram_of",
    "initial_state",
    "run_rounds",
    "solve_active_set",
]

SHIFT_DECREASE_RATIO = 0.9  # lower the shift if corrections fall below this share of before
FEW_CORRECTIONS = 0.1  # per free point: so few corrections lower the shift as well, ...
FEW_PATIENCE = 5  # ... unless so many rounds in a row have set no new minimum
EXTRA_FREE = 0.5  # per free point of the quarter: points near the margin that start free
ONE_THREAD_POINTS = 5000  # points up to which a second thread costs more than it gains
DIRECT_POINTS = 100  # points up to which no smaller problem is solved first
PATIENCE = 25  # primal-dual rounds without a new minimum before monotone rounds take over
RESIDUAL_RATIO = 0.1  # a step that leaves more of the residual than this falls too slowly
MAX_STALLS = 1000  # steps on one face that hardly lower its residual


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

    The first guess comes from a quarter of the points, solved the same way at four times C. Then
    follow primal-dual rounds (one Cholesky factorisation of :math:`K_{FF}` each) until nothing
    moves, or until no point is free or they no longer get anywhere; then monotone ones. These never
    lower the dual objective, a face that was solved is left for a better one, and there are
    finitely many: the method ends.

    Parameters
    ----------
    K : ndarray of shape (n, n), or callable
        Gram matrix, symmetric positive semi-definite; or ``K(rows, columns)`` that returns its
        block for two integer arrays, so that it need not fit in memory: rows of free points are
        kept, up to 2 GB.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : float or ndarray of shape (n,)
        Upper bounds, positive and finite.
    tol : float, default=1e-6
        Relative duality gap that sets ``converged``; the rounds themselves go on to rounding.
    max_iter : int, default=100_000
        Rounds at most, of both kinds together, on all points (those on the quarters have as
        many of their own); 10 to 40 are usual, as many as points where ``K`` is of low rank.

    Returns
    -------
    SolverResult
        ``alpha`` has exact zeros and exact bounds. Where ``max_iter`` ended the run, the last
        point, made feasible, no worse than zero; ``converged`` tells whether it is good enough.

    Raises
    ------
    ValueError
        The arrays do not fit, or a pivot of :math:`K_{FF}` shows that ``K`` is not positive
        semi-definite.

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
    K, y, C = check_problem(K, y, C, blocks=True)
    tol, max_iter = check_stopping(tol, max_iter)
    return active_set(gram_of(K, len(y)), y, C, tol=tol, max_iter=max_iter)


def active_set(gram, y, C, *, tol=1e-6, max_iter=100_000):
    """Do as `solve_active_set`, for a `GramMatrix` and arrays that were checked."""
    with blas_threads(len(y)):
        return run_rounds(initial_state(gram, y, C, max_iter), max_iter).certified(tol)


def blas_threads(n):
    """Return the context in which BLAS works best: one thread where the blocks are small."""
    return one_blas_thread() if n <= ONE_THREAD_POINTS else nullcontext()


def gram_of(K, n):
    """Return the form of a Gram matrix: stored, or computed where K is a function."""
    return ComputedGram(K, n) if callable(K) else StoredGram(K)


def initial_state(gram, y, C, max_iter):
    """Return a state to start from: what a quarter of the points says of all of them.

    A quarter of the points at four times C is a sample of the same problem. Where its
    machine leaves a slack, the multiplier is guessed to be at its bound; where it finds a margin
    above one, at zero; free are its own free points and some more of the nearest to its margin.
    """
    n = len(y)
    if n <= DIRECT_POINTS:
        return DualState(gram, y, C, np.zeros(n), np.ones(n, dtype=bool))
    quarter = np.sort(np.concatenate([np.flatnonzero(y == label)[::4] for label in (-1.0, 1.0)]))
    part, share = gram.part(quarter), C[quarter].sum() / C.sum()
    small = run_rounds(initial_state(part, y[quarter], C[quarter] / share, max_iter), max_iter)
    support = np.flatnonzero(small.beta)
    slack = 1.0 - y * (gram.columns(quarter[support], small.beta[support]) + small.b)
    near = np.abs(slack)
    near[quarter] = np.inf
    near = np.argsort(near)[: int(EXTRA_FREE * small.free.sum())]
    beta, free = np.where(slack > 0.0, y * C, 0.0), np.zeros(n, dtype=bool)
    beta[quarter] = np.where(small.bounded, (y * C)[quarter], share * small.beta)
    free[quarter] = small.free
    beta[near], free[near] = 0.0, True
    return DualState(gram, y, C, beta, free)


def run_rounds(state, max_iter, *, nearly_right=False):
    """Run primal-dual rounds from a guess and, where they do not settle, monotone ones.

    Where primal-dual rounds stray from a guess that is nearly right, monotone ones begin at it.
    """
    face, guess = Face(state.gram), state.beta.copy()
    state.settled = _primal_dual(state, face, max_iter, 1 if nearly_right else PATIENCE)
    primal_dual = state.n_iter
    if not state.settled:
        if nearly_right:
            state.beta = guess
        state.project_to_box(ascend=not nearly_right)
        state.settled = _monotone(state, face, max_iter)
        if not state.settled:
            state.scale_into_box()
    state.snap_to_bounds()
    state.message = f"{primal_dual} primal-dual and {state.n_iter - primal_dual} monotone rounds"
    if not state.settled:
        state.message += "; all rounds used up"
    return state


class _Refinement:
    """Steps on one face, each solving for what the one before has left."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Turn to another face."""
        self.last = self.fresh = np.inf
        self.stalls = 0

    def is_falling(self, state, F):
        """Tell whether the last step lowered the residual by much, and not yet to rounding."""
        last, self.last = self.last, state.residual(F)
        return self.last < RESIDUAL_RATIO * last and not state.at_rounding_error(F)

    def is_solved(self, state, face, F):
        """Tell whether the face is solved as far as rounding allows.

        Where it is not, the next step starts from errors computed afresh, or has a smaller shift.
        """
        if state.at_rounding_error(F):
            return True
        state.recompute()
        before, self.fresh = self.fresh, state.residual(F)
        self.last = np.inf
        if state.at_rounding_error(F):
            return True
        if self.fresh < RESIDUAL_RATIO * before or face.reduce_shift():
            return False
        self.stalls += self.fresh >= 0.9 * before
        return self.fresh <= state.enough or self.stalls > MAX_STALLS


def _primal_dual(state, face, max_iter, idle_rounds):
    """Solve the system of the face and mend all guesses at once, until nothing moves.

    More than ``idle_rounds`` in a row without fewer guesses to mend than ever end it as well. A
    round that has clearly fewer than the one before, or few, lowers the shift: its steps are
    trusted more. Another raises it, and damps the next step: the rule of Levenberg and Marquardt.
    """
    fewest = before = state.n + 1
    idle, refinement = 0, _Refinement()
    while idle <= idle_rounds and state.n_iter < max_iter and state.free.any():
        state.start_round()
        F = np.flatnonzero(state.free)
        step, state.b = face.step(F, state.e[F], state.beta.sum())
        state.move(F, state.beta[F] + step)
        wrong = state.violations_at_bounds()
        left = F[(state.beta[F] < state.lower[F]) | (state.beta[F] > state.upper[F])]
        moves = len(left) + wrong.sum()
        if moves == 0:
            if len(F) <= DIRECT_POINTS:
                face.end_damping()
            if not refinement.is_falling(state, F) and refinement.is_solved(state, face, F):
                if state.is_optimal_recomputed(F):
                    return True
                refinement.reset()
                idle += 1
            continue
        refinement.reset()
        if len(left):
            state.move(left, np.clip(state.beta[left], state.lower[left], state.upper[left]))
            state.free[left] = False
        state.free |= wrong
        idle = 0 if moves < fewest else idle + 1
        fewest = min(fewest, moves)
        clearly_fewer = moves < SHIFT_DECREASE_RATIO * before
        nearly_done = moves < FEW_CORRECTIONS * len(F) and idle < FEW_PATIENCE
        if clearly_fewer or nearly_done:
            face.lower_shift()
        else:
            face.raise_shift()
        before = moves
    return False


def _monotone(state, face, max_iter):
    """Stay in the box, solve face after face, and free one point at a time.

    Free points that reach a bound stay there. Where the face is solved, the point (where none is
    free, the pair) whose error is wrong most is freed; along its edge the objective rises, since
    the shifted matrix is positive definite.
    """
    face.reset_shift()
    highest, idle, refinement = -np.inf, 0, _Refinement()
    while state.n_iter < max_iter:
        state.start_round()
        F = np.flatnonzero(state.free)
        if len(F):
            state.b = state.e[F].mean()  # not the step's own value, which rounding makes inexact
            if refinement.is_falling(state, F):
                step, _ = face.step(F, state.e[F], state.beta.sum())
                if state.advance(F, step):
                    refinement.reset()
                continue
            if not refinement.is_solved(state, face, F):
                continue
        entering = state.most_violating()
        idle = 0 if state.objective > highest else idle + 1
        highest = max(highest, state.objective)
        if not len(entering) or idle > PATIENCE:  # optimal up to rounding
            if state.is_optimal_recomputed(F) or idle > PATIENCE:
                return True
            refinement.reset()
            continue
        # The face is solved: its remaining errors are rounding errors and count as zero.
        e = np.zeros(state.n)
        e[entering] = state.e[entering] - state.b
        state.free[entering] = True
        points = np.flatnonzero(state.free)
        state.advance(points, face.step(points, e[points], state.beta.sum())[0])
        refinement.reset()
    return False
