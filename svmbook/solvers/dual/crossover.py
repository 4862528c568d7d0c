"""Crossover: from another solver's approximate solution to the exact one, :eq:`eq-face`."""

import numpy as np

from .active_set import run_iterations
from .faces import IndefiniteError
from .state import DualState

__all__ = ["cross_over"]

# Limits of the iterations: most sets are predicted correctly, so that few are needed.
LARGE_MAX_ITER = 100  # for large problems
SMALL_MAX_WORK = 100_000  # iterations times points, for small ones, whose iterations are cheap


def cross_over(gram, y, C, alpha, intercept, *, tol, finished=True, **report):
    r"""Compute exact zeros and bounds from an approximate solution, and certify the result.

    A bound is predicted to be active if its multiplier (by how much the margin is below or above 1)
    outweighs the distance of alpha to it. Active-set iterations from this prediction end at the
    exact solution. If they do not converge, the solution with the smaller gap is returned. If the
    other solver was stopped early (not ``finished``), its solution is made feasible and certified.
    All of ``C`` may be infinite; ``report`` holds ``n_iter`` and ``message``.
    """
    box = C if np.isfinite(C).all() else np.full(len(y), 2.0 * alpha.max())
    given = DualState(gram, y, box, y * np.clip(alpha, 0.0, box), np.ones(len(y), dtype=bool))
    if not finished:
        return _feasible(given, intercept, C, tol, report)
    slack = y * (given.e - intercept)
    unit = np.minimum(box, alpha.max())
    at_zero = (alpha <= 0.0) | (alpha < -slack * unit)
    at_bound = ~at_zero & ((alpha >= box) | (box - alpha < slack * unit))
    free = ~(at_zero | at_bound)
    beta = y * np.where(at_zero, 0.0, np.where(at_bound, box, alpha))
    state = DualState(gram, y, box, beta, free)
    state.b = intercept
    max_iter = max(LARGE_MAX_ITER, SMALL_MAX_WORK // len(y))
    try:
        exact = run_iterations(state, max_iter, near_solution=True).certified(tol, C=C, **report)
    except IndefiniteError:  # keep the other solver's solution
        return _feasible(given, intercept, C, tol, report)
    if exact.converged:
        return exact
    other = _feasible(given, intercept, C, tol, report)
    return exact if abs(exact.gap) < abs(other.gap) else other


def _feasible(state, intercept, C, tol, report):
    """Make another solver's solution feasible and certify it."""
    state.project_to_box(ascend=False)
    state.b = intercept
    return state.certified(tol, C=C, **report)
