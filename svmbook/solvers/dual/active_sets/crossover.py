"""Crossover: from another solver's approximate solution to the exact one, :eq:`eq-face`."""

import numpy as np

from .faces import IndefiniteFaceError
from .iterations import run_iterations
from .starts import predict_state
from .state import DualState

__all__ = ["cross_over"]

# The sets of most points are predicted correctly, so that few iterations are needed. Since
# iterations on few points are cheap, the iteration limit is MAX_ITER_TIMES_POINTS divided by the
# number of points, but at least MIN_ITER_LIMIT.
MIN_ITER_LIMIT = 100
MAX_ITER_TIMES_POINTS = 100_000


def cross_over(gram, y, C, alpha, intercept, *, tol, finished=True, **report):
    r"""Compute exact zeros and bounds from an approximate solution, and certify the result.

    Active-set iterations from the sets that `predict_state` predicts end at the exact solution. If
    they do not converge, the solution with the smaller gap is returned. If the other solver was
    stopped early (not ``finished``), its solution is made feasible and certified.

    ``C`` may be infinite for all points; ``report`` holds ``n_iter`` and ``message``.
    """
    upper = C if np.isfinite(C).all() else np.full(len(y), 2.0 * alpha.max())
    clipped_beta = y * np.clip(alpha, 0.0, upper)
    approximate_state = DualState(gram, y, upper, clipped_beta, np.ones(len(y), dtype=bool))
    if not finished:
        return _make_feasible_and_certify(approximate_state, intercept, C, tol, report)
    f = y - approximate_state.e
    state = predict_state(gram, y, upper, np.abs(clipped_beta), intercept, f)
    max_iter = max(MIN_ITER_LIMIT, MAX_ITER_TIMES_POINTS // len(y))
    try:
        active_set_result = run_iterations(state, max_iter, max_idle=1).to_result(
            tol, C=C, **report
        )
    except IndefiniteFaceError:  # keep the other solver's solution
        return _make_feasible_and_certify(approximate_state, intercept, C, tol, report)
    if active_set_result.converged:
        return active_set_result
    approximate_result = _make_feasible_and_certify(approximate_state, intercept, C, tol, report)
    return (
        active_set_result
        if abs(active_set_result.gap) < abs(approximate_result.gap)
        else approximate_result
    )


def _make_feasible_and_certify(state, intercept, C, tol, report):
    """Make another solver's solution feasible and certify it."""
    state.make_feasible()
    state.b = intercept
    return state.to_result(tol, C=C, **report)
