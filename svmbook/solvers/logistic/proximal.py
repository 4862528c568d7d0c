r"""Kernel logistic regression with an l1 penalty, by a proximal Newton method.

The penalty :math:`\lambda\|\alpha\|_1` is not differentiable where a coefficient is zero, and at
the minimum most coefficients are exactly zero. A method for smooth functions does not find exact
zeros. The proximal Newton method replaces the loss by its quadratic model, as Newton's method does,
and keeps the penalty. The sum of model and penalty is minimised over a *working set* of
coefficients by coordinate descent, which alone converges slowly, and by Newton steps for the
coefficients that are not zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import check_positive
from ...gram import StoredGram
from ...losses import logistic_conjugate, logistic_slope
from ...progress import logger
from ..checks import check_logistic, check_stopping
from .l1_quadratic import kkt_violations, minimise_l1_quadratic
from .likelihoods import Binomial, best_intercept
from .result import LogisticResult

__all__ = [
    "l1_path",
    "lam_max",
    "lam_max_on_gram",
    "solve_logistic_l1",
    "solve_logistic_l1_path",
]

# Smallest limit on the number of coefficients that a step may add to the working set.
MIN_ADDITION_LIMIT = 10
MODEL_TOL = 0.01  # relative to the KKT violation before a step: accuracy of the quadratic model
SUFFICIENT_DECREASE = 1e-4  # share of the predicted decrease that a step must reach
MAX_HALVINGS = 40  # halvings of one step
ZERO_TOL = 1e-14  # relative to the largest coefficient: numerically zero
OBJECTIVE_ROUNDING = 1e-14  # relative to the objective: a smaller change is a rounding error
PATIENCE = 3  # consecutive steps that lower neither the objective nor the violation


def lam_max(K: ArrayLike, y: ArrayLike, *, weights: ArrayLike = 1.0) -> float:
    r"""Return the smallest :math:`\lambda` for which every coefficient is zero.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    weights : float or ndarray of shape (n,), default=1.0
        Weights of the points, positive.

    Returns
    -------
    float
        The largest slope of the loss in any coefficient, with only the intercept fitted.

    Raises
    ------
    ValueError
        The shapes of the arrays do not match.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import lam_max
    >>> lam_max(np.eye(2), np.array([-1.0, 1.0]))
    0.5
    """
    K, y, weights = check_logistic(K, y, weights)
    return lam_max_on_gram(StoredGram(K), Binomial(y, weights))


def lam_max_on_gram(gram, likelihood):
    """Compute the number that `lam_max` returns, for a `GramMatrix` and a likelihood."""
    _, G = best_intercept(likelihood, np.zeros(gram.n), 0.0)
    return float(np.abs(gram.dot(G)).max())


def solve_logistic_l1(
    K: ArrayLike,
    y: ArrayLike,
    lam: float,
    *,
    weights: ArrayLike = 1.0,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> LogisticResult:
    r"""Minimise the log loss of a kernel expansion plus an l1 penalty, :eq:`eq-l1`.

    .. math:: J(\alpha, b) = \sum_i s_i \log(1 + e^{-y_i(K\alpha + b)_i}) + \lambda\|\alpha\|_1

    The intercept is not penalised.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    lam : float
        The weight :math:`\lambda`, positive.
    weights : float or ndarray of shape (n,), default=1.0
        Weights :math:`s_i`, positive.
    tol : float, default=1e-6
        Stop when the largest violation of the optimality conditions, as a fraction of
        :math:`\lambda`, is at most this.
    max_iter : int, default=200
        Largest number of proximal Newton steps.

    Returns
    -------
    LogisticResult
        ``coef`` has exact zeros. With the slopes :math:`\nabla_j` of the loss, ``kkt_residual`` is
        the largest of :math:`|\nabla_j + \lambda\,\mathrm{sign}\,\alpha_j|` where
        :math:`\alpha_j \ne 0` and :math:`|\nabla_j| - \lambda` where :math:`\alpha_j = 0`, divided
        by :math:`\lambda`. ``gap`` is the objective minus the dual objective
        :math:`\sum_i s_i H(p_i)` with :math:`H(p) = -p\log p - (1-p)\log(1-p)`. The dual
        constraints are :math:`\|K(s\circ y\circ p)\|_\infty \le \lambda` and
        :math:`\sum_i s_iy_ip_i = 0`. The :math:`p_i` are the predicted probabilities of the wrong
        labels, scaled down until they are feasible.

    Raises
    ------
    ValueError, TypeError
        The shapes of the arrays do not match, or a number is out of range.

    References
    ----------
    Lee, Sun and Saunders (2014), "Proximal Newton-type methods for minimizing composite
    functions", SIAM J. Optimization 24, 1420-1443, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_logistic_l1
    >>> X, y = np.array([[-2.0], [-1], [0.5], [2]]), np.array([-1.0, 1, -1, 1])
    >>> result = solve_logistic_l1(X @ X.T, y, lam=2.0)
    >>> result.coef.round(4), result.converged
    (array([-0.0546,  0.    ,  0.    ,  0.    ]), True)
    """
    return solve_logistic_l1_path(K, y, [lam], weights=weights, tol=tol, max_iter=max_iter)[0]


def solve_logistic_l1_path(
    K: ArrayLike,
    y: ArrayLike,
    lams: Iterable[float],
    *,
    weights: ArrayLike = 1.0,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> list[LogisticResult]:
    r"""Return the solutions of `solve_logistic_l1` for several :math:`\lambda`, with warm starts.

    Parameters
    ----------
    K, y, weights, tol
        As in `solve_logistic_l1`.
    lams : iterable of float
        Values of :math:`\lambda`, positive; decreasing values take the least time.
    max_iter : int, default=200
        Largest number of proximal Newton steps per value.

    Returns
    -------
    list of LogisticResult
        One per value, in the given order.

    Raises
    ------
    ValueError, TypeError
        As in `solve_logistic_l1`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_logistic_l1_path
    >>> X, y = np.array([[-3.0], [-1], [0.5], [2]]), np.array([-1.0, 1, -1, 1])
    >>> path = solve_logistic_l1_path(X @ X.T, y, [8.0, 4.0, 2.0])
    >>> [int(np.count_nonzero(result.coef)) for result in path]
    [0, 1, 1]
    """
    tol, max_iter = check_stopping(tol, max_iter)
    lams = [check_positive("lam", lam) for lam in lams]
    K, y, weights = check_logistic(K, y, weights)
    return l1_path(StoredGram(K), Binomial(y, weights), lams, tol=tol, max_iter=max_iter)


def l1_path(gram, likelihood, lams, *, tol=1e-6, max_iter=200):
    """Compute the path as `solve_logistic_l1_path` does, for a `StoredGram` and a likelihood."""
    kernel_means = gram.K.mean(axis=0)
    # Centred kernel functions, one per row, so that a working set is contiguous in memory. Centring
    # changes only b.
    centred_functions = gram.K - kernel_means[:, None]
    alpha, f, b = np.zeros(gram.n), np.zeros(gram.n), 0.0
    results = []
    for lam in lams:
        problem = likelihood, centred_functions, lam
        (alpha, b, f), n_iter, message = _run_proximal_newton(problem, (alpha, b, f), tol, max_iter)
        result = _certified_result(problem, gram, alpha, b, tol)
        intercept = result.intercept - float(kernel_means @ result.coef)
        message = "" if result.converged else message or result.message
        results.append(replace(result, intercept=intercept, n_iter=n_iter, message=message))
    return results


def _run_proximal_newton(problem, start, tol, max_iter):
    """Return (coefficients, intercept, outputs without intercept), steps, and a message."""
    (likelihood, centred_functions, lam), (alpha, b, f) = problem, start
    lowest_residual, n_idle, previous_J = np.inf, 0, np.inf
    for n_iter in count():
        b, G = best_intercept(likelihood, f, b)
        slopes = -(centred_functions @ G)
        J = likelihood.loss(f + b) + lam * np.abs(alpha).sum()
        violations = kkt_violations(alpha, slopes, lam)
        residual = violations.max() / lam
        logger.info("proximal Newton, step %d: objective %.6g, violation %.1e", n_iter, J, residual)
        if residual <= tol:
            return (alpha, b, f), n_iter, ""
        n_idle = (
            0
            if residual < lowest_residual or previous_J - J > OBJECTIVE_ROUNDING * J
            else n_idle + 1
        )
        lowest_residual, previous_J = min(lowest_residual, residual), J
        if n_iter == max_iter:
            return (alpha, b, f), n_iter, "max_iter was reached"
        if n_idle == PATIENCE:
            message = "no further progress is possible because of rounding error"
            return (alpha, b, f), n_iter, message
        # The quadratic model on the working set A. For a step d of the coefficients, the best step
        # of the intercept makes the weighted mean of the change in outputs zero:
        # db = -weighted_means'd.
        A = _working_set(alpha, violations)
        W = likelihood.curvature(f + b)
        weighted_means = centred_functions[A] @ W / W.sum()
        centred_A = centred_functions[A] - weighted_means[:, None]
        weighted_A = centred_A * np.sqrt(W)
        violation_tol = MODEL_TOL * violations.max()
        alpha_new = minimise_l1_quadratic(
            weighted_A @ weighted_A.T, slopes[A], alpha[A], lam, violation_tol
        )
        d = alpha_new - alpha[A]
        centred_change, mean_change = d @ centred_A, weighted_means @ d
        t = _line_search(likelihood, lam, (alpha[A], f + b, J), (d, centred_change), slopes[A] @ d)
        alpha[A] = alpha_new if t == 1.0 else alpha[A] + t * d
        b, f = b - t * mean_change, f + t * (centred_change + mean_change)


def _certified_result(problem, gram, alpha, b, tol):
    """Return the result with residual and gap recomputed, free of errors from the updates.

    The solution is not certified if the rounding error of the outputs may change the objective or a
    slope by more than the tolerance.
    """
    likelihood, centred_functions, lam = problem
    alpha = np.where(np.abs(alpha) > ZERO_TOL * np.abs(alpha).max(), alpha, 0.0)
    S = np.flatnonzero(alpha)
    f = alpha[S] @ centred_functions[S]
    b, G = best_intercept(likelihood, f, b)
    J = likelihood.loss(f + b) + lam * np.abs(alpha).sum()
    slopes = -(centred_functions @ G)
    residual = kkt_violations(alpha, slopes, lam).max() / lam
    gap = max(J - _dual_objective(likelihood, f + b, np.abs(slopes).max(), lam), 0.0)
    output_error = np.finfo(float).eps * gram.norms.max() * (gram.norms @ np.abs(alpha))
    slope_error = (
        output_error * (np.abs(centred_functions) @ likelihood.curvature(f + b)).max() / lam
    )
    is_accurate = max(slope_error, output_error * np.abs(G).sum() / J) <= tol
    message = "" if is_accurate else "rounding error in the outputs exceeds the tolerance"
    converged = bool(residual <= tol and is_accurate)
    return LogisticResult(alpha, b, float(J), float(gap), float(residual), G, 0, converged, message)


def _working_set(alpha, violations):
    """Return the nonzero coefficients, and the zero ones that most violate their condition."""
    nonzero = np.flatnonzero(alpha)
    addition_limit = max(MIN_ADDITION_LIMIT, len(nonzero))
    added = np.flatnonzero((alpha == 0.0) & (violations > 0.0))
    if len(added) > addition_limit:
        added = added[np.argpartition(-violations[added], addition_limit)[:addition_limit]]
    return np.sort(np.concatenate([nonzero, added]))


def _line_search(likelihood, lam, point, step, slope):
    """Return the step length: 1, halved until the decrease is sufficient; 0 if it never is."""
    (alpha, F, J), (d, dF) = point, step
    predicted_change = slope + lam * (np.abs(alpha + d).sum() - np.abs(alpha).sum())
    t = 1.0
    for _ in range(MAX_HALVINGS):
        J_new = likelihood.loss(F + t * dF) + lam * np.abs(alpha + t * d).sum()
        if J_new <= J + SUFFICIENT_DECREASE * t * predicted_change + OBJECTIVE_ROUNDING * J:
            return t
        t *= 0.5
    return 0.0


def _dual_objective(likelihood, F, largest_slope, lam):
    """Return the dual objective at the predicted error probabilities, scaled to be feasible."""
    p = -logistic_slope(likelihood.y * F) * min(1.0, lam / (largest_slope or lam))
    return -float(likelihood.weights @ logistic_conjugate(p))
