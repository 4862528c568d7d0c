"""From another solver's solution to the exact one, which solves :eq:`eq-face`."""

import numpy as np

from .active_set import run_rounds
from .faces import IndefiniteError
from .state import DualState

__all__ = ["cross_over"]

# Limits of the rounds that finish: nearly all guesses are right, so few rounds are needed.
CROSSING_ROUNDS = 100  # for large problems
CROSSING_WORK = 100_000  # rounds times points, for small ones, whose rounds are cheap


def cross_over(gram, y, C, alpha, intercept, *, tol, finished=True, **report):
    r"""Give another solver's solution its exact zeros and bounds, and certify what comes out.

    Where the multiplier of a bound (what the margin lacks, or has beyond 1) outweighs the distance
    to it, the bound is taken for active; rounds from this guess end at the exact solution, and the
    better of the two is returned. What was stopped before its end (not ``finished``) is made
    feasible and certified as it is. All of ``C`` may be infinite; ``report`` holds ``n_iter`` and
    ``message``.
    """
    box = C if np.isfinite(C).all() else np.full(len(y), 2.0 * alpha.max())
    given = DualState(gram, y, box, y * np.clip(alpha, 0.0, box), np.ones(len(y), dtype=bool))
    if not finished:
        return _feasible(given, intercept, C, tol, report)
    slack = y * (given.e - intercept)
    reach = np.minimum(box, alpha.max())
    at_zero = (alpha <= 0.0) | (alpha < -slack * reach)
    at_bound = ~at_zero & ((alpha >= box) | (box - alpha < slack * reach))
    free = ~(at_zero | at_bound)
    beta = y * np.where(at_zero, 0.0, np.where(at_bound, box, alpha))
    state = DualState(gram, y, box, beta, free)
    state.b = intercept
    rounds = max(CROSSING_ROUNDS, CROSSING_WORK // len(y))
    try:
        exact = run_rounds(state, rounds, nearly_right=True).certified(tol, C=C, **report)
    except IndefiniteError:  # keep the other solver's solution
        return _feasible(given, intercept, C, tol, report)
    if exact.converged:
        return exact
    other = _feasible(given, intercept, C, tol, report)
    return exact if abs(exact.gap) < abs(other.gap) else other


def _feasible(state, intercept, C, tol, report):
    """Certify another solver's solution after no more than making it feasible."""
    state.project_to_box(ascend=False)
    state.b = intercept
    return state.certified(tol, C=C, **report)
