r"""Sequential minimal optimisation (SMO): the dual solved two multipliers at a time.

The equality :math:`y^\top\alpha = 0` does not allow a single multiplier to change, but two can: a
step :math:`t` along :math:`y_i u_i - y_j u_j`, with unit vectors u, preserves the sum, and the best
step along this line is a quotient, :eq:`eq-smo-step`. This implementation is written for
readability; LIBSVM implements the same algorithm in C++ with a cache and shrinking.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...gram import StoredGram
from ...progress import logger
from ...ties import argmax_up_to_rounding
from ..checks import check_problem, check_stopping
from .active_sets.crossover import cross_over
from .result import certify, intercept_interval

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = ["solve_smo", "solve_smo_on_gram"]

CURVATURE_FLOOR = 1e-12  # relative to the mean diagonal: replaces a smaller curvature
# Consecutive checks, one every n iterations, in which neither dual objective nor gap improves.
PATIENCE = 10
# Relative to the largest k(x, x): a curvature below minus this value shows that K is indefinite.
INDEFINITE_TOL = 1e-6


def solve_smo(
    K: ArrayLike, y: ArrayLike, C: ArrayLike, *, tol: float = 1e-6, max_iter: int = 1_000_000
) -> SolverResult:
    r"""Solve the SVM dual by SMO with a second-order choice of the working pair.

    Minimises :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`, with :math:`Q_{ij} = y_i y_j K_{ij}`.
    Starts from zero. The number of iterations (pair updates) grows with :math:`C\,k(x, x)`: forty
    points with the linear kernel may take 600,000 at C = 1e4, for which `solve_active_set` takes a
    few dozen.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric positive semi-definite.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : float or ndarray of shape (n,)
        Upper bounds, positive and finite.
    tol : float, default=1e-6
        Relative duality gap at which to stop; computed once every n iterations.
    max_iter : int, default=1_000_000
        Maximum number of iterations.

    Returns
    -------
    SolverResult
        ``alpha`` has exact zeros and exact bounds, since active-set iterations remove the remaining
        violation. ``converged`` is False if the run ended before the gap was below ``tol``: at
        ``max_iter``, or after 10 n iterations in which rounding errors prevented any increase of
        the dual objective and any decrease of the gap.

    Raises
    ------
    ValueError
        The arrays are invalid, or the curvature of a pair shows that ``K`` is indefinite.

    References
    ----------
    Fan, Chen and Lin (2005), "Working set selection using second order information for
    training support vector machines", JMLR 6, equations (3), (9) and Theorem 3.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_smo
    >>> X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    >>> y = np.array([1.0, 1, -1, -1])
    >>> solve_smo(X @ X.T, y, C=10.0).alpha.round(4)
    array([0.5306, 0.    , 0.3673, 0.1633])
    """
    K, y, C = check_problem(K, y, C)
    tol, max_iter = check_stopping(tol, max_iter)
    return solve_smo_on_gram(StoredGram(K), y, C, tol=tol, max_iter=max_iter)


def solve_smo_on_gram(gram, y, C, *, tol=1e-6, max_iter=1_000_000):
    """Solve the dual as `solve_smo` does, for a `StoredGram` and validated arrays."""
    K, n, diagonal = gram.K, gram.n, gram.diagonal
    curvature_floor = CURVATURE_FLOOR * gram.scale
    # Signed multipliers beta_i = y_i alpha_i, between these bounds.
    lower, upper, beta = np.minimum(0.0, y * C), np.maximum(0.0, y * C), np.zeros(n)
    best_dual, best_gap, n_idle = -np.inf, np.inf, 0
    e = y.copy()  # errors e_i = y_i - f_i, the gradient of the dual with respect to beta

    for n_iter in count():
        # The errors on I_up, where beta can increase, and on I_low, where it can decrease.
        e_up, e_low = np.where(beta < upper, e, -np.inf), np.where(beta > lower, e, np.inf)
        # Choose i with the largest error on I_up. A step makes the errors of its pair equal, so
        # ties are common; their tolerance is relative to the violation.
        i = argmax_up_to_rounding(e_up, scale=abs(e_up.max() - e_low.min()))
        # Choose j, among the points that violate optimality with i, with the largest gain
        # e_ij^2 / 2 a_ij in the dual objective.
        e_ij = np.maximum(e[i] - e_low, 0.0)  # zero outside I_low and for pairs without violation
        curvature = diagonal[i] + diagonal - 2.0 * K[i]
        a_ij = np.maximum(curvature, curvature_floor)
        double_gain = e_ij**2 / a_ij
        j = argmax_up_to_rounding(double_gain)
        if double_gain[j] == 0.0 or n_iter % n == 0 or n_iter == max_iter:
            if curvature.min() < -INDEFINITE_TOL * diagonal.max():
                raise ValueError("K is not positive semi-definite; use another kernel.")
            e = y - K @ beta  # recomputed, since updates accumulate rounding errors
            alpha = np.abs(beta)
            b = 0.5 * sum(intercept_interval(alpha, y, C, y - e))
            result = certify(alpha, b, y, C, y - e, n_iter=n_iter, tol=tol, scale=gram.scale)
            logger.info("SMO, iteration %d: relative gap %.1e", n_iter, result.relative_gap)
            if result.converged:
                report = {"n_iter": n_iter, "message": "SMO: converged"}
                return cross_over(gram, y, C, alpha, b, tol=tol, **report)
            has_improved = result.dual_objective > best_dual or result.gap < best_gap
            n_idle = 0 if has_improved else n_idle + 1
            if double_gain[j] == 0.0:
                return replace(result, message="SMO: no pair improves the dual objective")
            if n_idle == PATIENCE:
                message = f"SMO: no progress beyond rounding errors in {PATIENCE} n iterations"
                return replace(result, message=message)
            if n_iter == max_iter:
                return replace(result, message="SMO: iteration limit reached")
            best_dual = max(best_dual, result.dual_objective)
            best_gap = min(best_gap, result.gap)
        # The Newton step along the line, truncated at the first bound.
        max_increase, max_decrease = upper[i] - beta[i], beta[j] - lower[j]
        t = min(e_ij[j] / a_ij[j], max_increase, max_decrease)
        # A multiplier that reaches its bound is set to it exactly.
        beta[i] = upper[i] if t == max_increase else beta[i] + t
        beta[j] = lower[j] if t == max_decrease else beta[j] - t
        e -= t * (K[i] - K[j])
