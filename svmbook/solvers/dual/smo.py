r"""Sequential minimal optimisation: the dual solved two multipliers at a time.

The equality :math:`y^\top\alpha = 0` forbids moving one multiplier alone. Two can move: a step
:math:`t` along :math:`y_i e_i - y_j e_j` keeps the sum, and along a line the best step is a
quotient, :eq:`eq-smo-step`. Written for reading; LIBSVM is the same algorithm with a cache,
shrinking and C++.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...gram import StoredGram
from ...progress import log
from ...ties import first_largest
from ..checks import check_problem, check_stopping
from .crossover import cross_over
from .result import certify, intercept_interval

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = ["smo", "solve_smo"]

CURVATURE_FLOOR = 1e-12  # relative to the mean diagonal: stands for a curvature of zero
PATIENCE = 10  # checks in a row, n pairs apart, that improve neither objective nor gap
INDEFINITE_TOL = 1e-6  # relative to the largest k(x, x): more negative is no rounding error


def solve_smo(
    K: ArrayLike, y: ArrayLike, C: ArrayLike, *, tol: float = 1e-6, max_iter: int = 1_000_000
) -> SolverResult:
    r"""Solve the SVM dual by SMO with a second-order choice of the working pair.

    Minimises :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`, with :math:`Q_{ij} = y_i y_j K_{ij}`.
    Starts from zero. The pairs that it needs grow with :math:`C\,k(x, x)`: forty points on the
    linear kernel may take 600,000 at C = 1e4, where `solve_active_set` takes a few dozen rounds.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric positive semi-definite.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : float or ndarray of shape (n,)
        Upper bounds, positive and finite.
    tol : float, default=1e-6
        Relative duality gap at which to stop; looked at once every n pairs.
    max_iter : int, default=1_000_000
        Pairs at most.

    Returns
    -------
    SolverResult
        ``alpha`` has exact zeros and exact bounds; rounds of active sets remove what is left of the
        violation. ``converged`` is False where ``max_iter`` or the precision of the arithmetic
        ended the run first: 10 n pairs in which the dual objective did not rise and the gap did
        not fall.

    Raises
    ------
    ValueError
        The arrays do not fit, or a pair shows that ``K`` is not positive semi-definite.

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
    return smo(StoredGram(K), y, C, tol=tol, max_iter=max_iter)


def smo(gram, y, C, *, tol=1e-6, max_iter=1_000_000):
    """Do as `solve_smo`, for a `StoredGram` and arrays that were checked."""
    K, n, diagonal = gram.K, gram.n, gram.diagonal
    floor = CURVATURE_FLOOR * gram.scale
    # Signed multipliers beta_i = y_i alpha_i, between these bounds.
    lower, upper, beta = np.minimum(0.0, y * C), np.maximum(0.0, y * C), np.zeros(n)
    risen_to, fallen_to, idle = -np.inf, np.inf, 0  # best dual objective and gap so far
    e = y.copy()  # e_i = y_i - f_i, and y_i e_i is minus the gradient of the objective

    for n_iter in count():
        # The errors in I_up, of those that may rise, and in I_low, of those that may fall.
        up, low = np.where(beta < upper, e, -np.inf), np.where(beta > lower, e, np.inf)
        # The pair of first order: i promises the steepest ascent ... (A step makes the errors of
        # its pair equal, so ties are common; differences are compared with the violation.)
        i = first_largest(up, size=abs(up.max() - low.min()))
        # ... and j, among the points it disagrees with, the largest gain e_ij^2 / 2 a_ij.
        e_ij = np.maximum(e[i] - low, 0.0)  # zero outside I_low, and where the two agree
        curvature = diagonal[i] + diagonal - 2.0 * K[i]
        a_ij = np.maximum(curvature, floor)
        gain = e_ij**2 / a_ij
        j = first_largest(gain)
        if gain[j] == 0.0 or n_iter % n == 0 or n_iter == max_iter:
            if curvature.min() < -INDEFINITE_TOL * diagonal.max():
                raise ValueError("K is not positive semi-definite; use another kernel.")
            # Computed anew: the certificate must not contain the drift of the updates.
            e = y - K @ beta
            alpha = np.abs(beta)
            low, high = intercept_interval(alpha, y, C, y - e)
            b = 0.5 * (low + high)
            result = certify(alpha, b, y, C, y - e, n_iter=n_iter, tol=tol, scale=gram.scale)
            log.info("SMO, %d pairs: relative gap %.1e", n_iter, result.relative_gap)
            if result.converged:
                report = {"n_iter": n_iter, "message": "SMO"}
                return cross_over(gram, y, C, alpha, b, tol=tol, **report)
            progress = result.dual_objective > risen_to or result.gap < fallen_to
            idle = 0 if progress else idle + 1
            if gain[j] == 0.0:
                return replace(result, message="no pair is left that gains more than rounding")
            if idle == PATIENCE:
                return replace(result, message=f"{PATIENCE} n pairs gained no more than rounding")
            if n_iter == max_iter:
                return replace(result, message="all pairs used up")
            risen_to = max(risen_to, result.dual_objective)
            fallen_to = min(fallen_to, result.gap)
        # Newton's step along the line, cut where one of the two meets its bound.
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        t = min(e_ij[j] / a_ij[j], room_i, room_j)
        # A multiplier that meets its bound takes the bound's exact value.
        beta[i] = upper[i] if t == room_i else beta[i] + t
        beta[j] = lower[j] if t == room_j else beta[j] - t
        e -= t * (K[i] - K[j])
