"""The iterations of the active-set method, from predicted sets to the solution of :eq:`eq-dual`.

Three methods are tried in turn, each slower and surer than the one before: primal-dual iterations,
decomposition (or purification, for a face of low rank), and monotone iterations.
"""

from ....progress import is_interrupted
from .decomposition import improve_by_decomposition
from .faces import FIRST_SHIFT
from .monotone import run_monotone
from .primal_dual import PATIENCE, run_primal_dual
from .purification import purify

__all__ = ["run_iterations"]


def run_iterations(state, max_iter, *, first_shift=FIRST_SHIFT, max_idle=PATIENCE):
    """Run primal-dual iterations from a state.

    If they do not solve it, monotone iterations start again from the initial or the last
    multipliers, whichever are better. If the free points have low rank, most of them are moved to
    bounds before; otherwise decomposition improves the multipliers before.
    """
    initial_beta, initial_e = state.beta.copy(), state.e.copy()
    state.solved = run_primal_dual(state, max_iter, first_shift=first_shift, max_idle=max_idle)
    n_primal_dual = state.n_iter
    if not state.solved:
        state.gram = state.gram.in_double_precision()
        _choose_better_multipliers(state, initial_beta, initial_e)
        if state.may_continue(max_iter) and not purify(state):
            improve_by_decomposition(state, until_solved=True)
        state.solved = run_monotone(state, max_iter)
        if not state.solved:
            state.scale_optimally()
            state.b = state.optimal_intercept()
    state.snap_to_bounds()
    n_monotone = state.n_iter - n_primal_dual
    state.message = f"{n_primal_dual} primal-dual and {n_monotone} monotone iterations"
    if not state.solved:
        state.message += "; interrupted" if is_interrupted() else "; iteration limit reached"
    return state


def _choose_better_multipliers(state, initial_beta, initial_e):
    """Make the last and the initial multipliers feasible; keep those with the higher objective."""
    last_beta, last_e = state.beta, state.e
    state.beta, state.e = initial_beta, initial_e
    state.make_feasible()
    initial_beta, initial_e, initial_objective = state.beta, state.e, state.dual_objective
    state.beta, state.e = last_beta, last_e
    state.make_feasible()
    if not state.dual_objective > initial_objective:
        state.beta, state.e = initial_beta, initial_e
        state.update_free()
