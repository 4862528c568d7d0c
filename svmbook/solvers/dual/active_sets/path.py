"""The dual :eq:`eq-dual` solved for several values of C, with warm starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ....threads import one_blas_thread
from ...checks import check_bounds, check_problem, check_stopping
from .iterations import run_iterations
from .solver import as_gram, solve_from_scratch

if TYPE_CHECKING:
    from ..result import SolverResult

__all__ = ["svm_path", "svm_path_on_gram"]


def svm_path(
    K: Callable | ArrayLike,
    y: ArrayLike,
    Cs: Sequence[float],
    *,
    weights: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = 100_000,
) -> list[SolverResult]:
    r"""Solve the SVM dual for several values of C, each from the solution for the previous one.

    For each C, minimises :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C v_i`, :math:`y^\top\alpha = 0`. Between neighbouring values of C
    only a few points become free or reach a bound, so that few iterations are needed. Once no
    multiplier is at its upper bound, the solution is the same for every larger C.

    Parameters
    ----------
    K : ndarray of shape (n, n), or callable
        As in `solve_active_set`.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    Cs : sequence of float
        Values of C, positive and finite, in any order; solved from small to large.
    weights : ndarray of shape (n,), default=None
        Weights :math:`v_i` of the points, positive; all 1 if None.
    tol : float, default=1e-6
        As in `solve_active_set`.
    max_iter : int, default=100_000
        Maximum number of iterations for each C.

    Returns
    -------
    list of SolverResult
        One result per C, in the order of ``Cs``.

    Raises
    ------
    ValueError
        As in `solve_active_set`; or ``Cs`` is empty.

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
        C_values = np.asarray(list(Cs), dtype=float)
    except (TypeError, ValueError):
        C_values = np.array([])
    if C_values.ndim != 1 or not len(C_values):
        raise ValueError(f"Cs must be a list of values of C; found {Cs!r}.")
    K, y, _ = check_problem(K, y, 1.0, allow_callable=True)
    gram = as_gram(K, len(y))
    weights = check_bounds(1.0 if weights is None else weights, len(y), "weights")
    check_bounds(C_values, len(C_values), "Cs")
    with np.errstate(over="ignore"):
        check_bounds(C_values.max() * weights, len(y), "Cs times weights")
    tol, max_iter = check_stopping(tol, max_iter)
    return svm_path_on_gram(gram, y, C_values, weights, tol=tol, max_iter=max_iter)


def svm_path_on_gram(gram, y, C_values, weights, *, tol=1e-6, max_iter=100_000):
    """Compute the path as `svm_path` does, for a `GramMatrix` and validated arrays."""
    with one_blas_thread():
        states, state = {}, None
        for C_value in np.unique(C_values):
            C = C_value * weights
            # With no free point there is no useful warm start.
            if state is None or not state.free.any():
                state = solve_from_scratch(gram, y, C, max_iter)
            elif state.at_upper_bound.any() or not state.solved:
                state = run_iterations(state.with_upper_bounds(C), max_iter)
            else:
                state = state.with_upper_bounds(C)
                state.message = "solution for a smaller C, with no multiplier at its upper bound"
            states[C_value] = state
    return [states[C_value].to_result(tol) for C_value in C_values]
