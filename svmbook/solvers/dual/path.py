"""The dual :eq:`eq-dual` for a list of C: each solution is the first guess of the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_bounds, check_problem, check_stopping
from .active_set import blas_threads, gram_of, initial_state, run_rounds

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = ["path_over_C", "svm_path"]


def svm_path(
    K: Callable | ArrayLike,
    y: ArrayLike,
    Cs: Sequence[float],
    *,
    weights: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 100_000,
) -> list[SolverResult]:
    r"""Solve the SVM dual for a list of C, each from the solution of the one before.

    For each C of the list: minimise :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C v_i`, :math:`y^\top\alpha = 0`. From one C to the next few points
    change sides, so that few rounds are needed; and once no multiplier meets its bound, every
    larger C has the same solution.

    Parameters
    ----------
    K : ndarray of shape (n, n), or callable
        As in `solve_active_set`.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    Cs : sequence of float
        Values of C, positive and finite, in any order; solved from small to large.
    weights : ndarray of shape (n,), default=None
        Weights :math:`v_i` of the points, positive; one each if None.
    tol : float, default=1e-6
        As in `solve_active_set`.
    max_iter : int, default=100_000
        Rounds at most for each C.

    Returns
    -------
    list of SolverResult
        One for each C, in the order of ``Cs``.

    Raises
    ------
    ValueError
        As `solve_active_set`; or ``Cs`` is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import svm_path
    >>> X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    >>> path = svm_path(X @ X.T, [1, 1, -1, -1], Cs=[0.1, 0.4, 10.0])
    >>> [int((solution.alpha > 0).sum()) for solution in path]
    [4, 3, 3]
    """
    try:
        values = np.asarray(list(Cs), dtype=float)
    except (TypeError, ValueError):
        values = np.array([])
    if values.ndim != 1 or not len(values):
        raise ValueError(f"Cs must be a list of values of C; found {Cs!r}.")
    K, y, _ = check_problem(K, y, 1.0, blocks=True)
    gram = gram_of(K, len(y))
    weights = check_bounds(1.0 if weights is None else weights, len(y), "weights")
    check_bounds(values, len(values), "Cs")
    with np.errstate(over="ignore"):
        check_bounds(values.max() * weights, len(y), "Cs times weights")
    tol, max_iter = check_stopping(tol, max_iter)
    return path_over_C(gram, y, values, weights, tol=tol, max_iter=max_iter)


def path_over_C(gram, y, values, weights, *, tol=1e-6, max_iter=100_000):
    """Do as `svm_path`, for a `GramMatrix` and arrays that were checked."""
    with blas_threads(len(y)):
        states, state = {}, None
        for value in np.unique(values):
            C = value * weights
            if state is None or not state.free.any():  # without a free point no useful start
                state = run_rounds(initial_state(gram, y, C, max_iter), max_iter)
            elif state.bounded.any() or not state.settled:
                state = run_rounds(state.with_larger_box(C), max_iter)
            else:  # no multiplier meets its bound: the larger box changes nothing
                state = state.with_larger_box(C)
                state.message = "no multiplier met its bound at a smaller C"
            states[value] = state
    return [states[value].certified(tol) for value in values]
