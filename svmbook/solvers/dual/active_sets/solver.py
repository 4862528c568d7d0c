r"""The dual solved exactly by a primal-dual active-set method.

Write :math:`\beta = y\circ\alpha` and :math:`e = y - K\beta`. Split the points into L
(:math:`\alpha = 0`), U (:math:`\alpha = C`) and F (free). On F the optimality conditions are linear
equations, :eq:`eq-face`. A *primal-dual* iteration solves them, moves free points outside the box
to L or U, and frees the points of L and U that violate their optimality condition, all at once. The
method ends when no point moves; it is a semismooth Newton method for the optimality conditions. If
no point remains free, the intercept that minimises the hinge losses shows which points violate. If
the iterations make no progress, decomposition and then *monotone* iterations start again. Both stay
in the box and never lower the dual objective. If the free points have low rank, purification
replaces decomposition.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ....gram import ComputedGram, StoredGram
from ....progress import logger
from ....threads import one_blas_thread
from ...checks import check_problem, check_stopping
from .decomposition import improve_by_decomposition
from .faces import FIRST_SHIFT
from .iterations import run_iterations
from .primal_dual import damped_shift
from .starts import initial_state, state_from_sample, stratified_sample

if TYPE_CHECKING:
    from ..result import SolverResult

__all__ = [
    "as_gram",
    "solve_active_set",
    "solve_active_set_on_gram",
    "solve_from_scratch",
]

# Largest number of violating points per free point without decomposition and damping.
MAX_VIOLATING_RATIO = 0.5
MAX_ROUNDING_ERROR = 0.02  # of an output in single precision, in units of the margin
N_TIMED_COLUMNS = 256  # columns of K whose computation is timed for the estimate in the log


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
    that of an interior-point method if the rank is low, or the solution for a sample of the points.
    If the latter is far from optimal for all points, decomposition improves it. Primal-dual
    iterations follow, until no point moves. Each factors :math:`K_{FF}`, or updates the factor of
    an earlier face that differs by few points. Large faces are factored in single precision until
    the sets no longer change, then in double precision. If the iterations make no progress,
    decomposition and then monotone iterations start again from the best feasible multipliers; if
    the free points have low rank, purification replaces decomposition. They never lower the dual
    objective, and monotone iterations leave a solved face only for a face with a higher dual
    objective. Since there are finitely many faces, the method terminates.

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
        Maximum number of primal-dual and monotone iterations; fewer than 50 are usual. Those on a
        sample or on a working set of decomposition do not count.

    Returns
    -------
    SolverResult
        ``alpha`` has exact zeros and exact bounds. At the iteration limit it is feasible, and its
        dual objective is at least 0.

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
        if logger.isEnabledFor(logging.INFO) and not isinstance(gram, StoredGram):
            _log_cost(gram)
        return solve_from_scratch(gram, y, C, max_iter).to_result(tol)


def _log_cost(gram):
    """Log an estimate of time and memory before the first iteration."""
    columns = np.arange(min(gram.n, N_TIMED_COLUMNS))
    start = perf_counter()
    gram.dot_columns(columns, np.ones(len(columns)))
    seconds = (perf_counter() - start) * gram.n / len(columns)
    logger.info(
        "active sets: all %.1e kernel values take about %.1g s, and the fit about as long if few "
        "points are free; memory is about 8 bytes times the square of the number of free points",
        float(gram.n) ** 2,
        seconds,
    )


def as_gram(K, n):
    """Return an array as a stored Gram matrix, a function of blocks as a computed one."""
    return ComputedGram(K, n) if callable(K) else StoredGram(K)


def solve_from_scratch(gram, y, C, max_iter):
    """Return the final state of the iterations from predicted initial sets.

    If no other method predicts them, the solution for a sample of the points does.
    """
    gram, first_shift = gram.in_single_precision(), FIRST_SHIFT
    state = initial_state(gram, y, C)
    if state is None:
        sample = stratified_sample(y)
        share = C[sample].sum() / C.sum()
        sample_state = solve_from_scratch(
            gram.submatrix(sample), y[sample], C[sample] / share, max_iter
        )
        state = state_from_sample(gram, y, C, sample, share, sample_state)
        del sample_state  # and its cache
        _leave_inaccurate_precision(state)
        if state.find_violating_at_bounds().sum() > MAX_VIOLATING_RATIO * state.free.sum():
            first_shift = damped_shift(gram, C)
            improve_by_decomposition(state)
    _leave_inaccurate_precision(state)
    return run_iterations(state, max_iter, first_shift=first_shift)


def _leave_inaccurate_precision(state):
    """Compute in double precision if errors of single precision would decide about violations."""
    if state.is_single_precision and np.median(state.rounding_error) > MAX_ROUNDING_ERROR:
        state.use_double_precision()
