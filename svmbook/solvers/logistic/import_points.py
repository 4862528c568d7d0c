r"""The import vector machine: kernel logistic regression on a few points chosen greedily.

Nearly all coefficients of kernel logistic regression are different from zero, but a few kernel
functions often approximate the solution well. Points are added one at a time, each time the one
whose kernel function has the largest predicted decrease of the objective.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.utils import check_scalar

from ...arguments import check_positive
from ...gram import LowRankGram, StoredGram
from ...progress import logger
from ...ties import argmax_up_to_rounding
from ..checks import check_logistic
from .likelihoods import Binomial, best_intercept
from .newton import ridge_path
from .result import LogisticResult

__all__ = ["select_import_points", "select_import_points_on_gram"]

DEPENDENCE_TOL = 1e-5  # relative to k(x, x): smaller parts lose their digits in single precision
BLOCK_ENTRIES = 100_000  # array entries that fit into the processor's cache, 800 kB
DECREASE_TIE_TOL = 1e-6  # relative to the largest decrease: smaller differences are ties


def select_import_points(
    K: ArrayLike,
    y: ArrayLike,
    lam: float,
    *,
    weights: ArrayLike = 1.0,
    min_decrease: float = 1e-3,
    max_points: int | None = None,
    tol: float = 1e-6,
) -> LogisticResult:
    r"""Fit kernel logistic regression on a growing set S of points.

    Minimises, for :math:`f = \sum_{j \in S} \alpha_j k(x_j, \cdot)`, the objective of
    :eq:`eq-klr-alpha`,

    .. math:: \sum_i s_i \log(1 + e^{-y_i(f(x_i) + b)}) + \tfrac\lambda2\,\|f\|^2 ,

    and adds to S, one at a time, the point with the largest predicted decrease. Let :math:`z_l` be
    the part of :math:`k(x_l, \cdot)` that is orthogonal to the functions of S, scaled to length 1,
    and G and W the negative gradient and the curvatures of the loss at the current minimiser. The
    decrease predicted by the quadratic model is :math:`(z_l^\top G)^2 / 2h_l`, where :math:`h_l` is
    the curvature along :math:`z_l` with all other coefficients minimised over.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric positive semi-definite.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    lam : float
        The weight :math:`\lambda` of the ridge penalty, positive.
    weights : float or ndarray of shape (n,), default=1.0
        Weights :math:`s_i`, positive.
    min_decrease : float, default=1e-3
        Stop when a new point lowers the objective by less than this fraction of its new value.
    max_points : int, default=None
        Largest number of points; None stops by ``min_decrease`` alone.
    tol : float, default=1e-6
        Tolerance of each minimisation on S, as in `solve_logistic`.

    Returns
    -------
    LogisticResult
        ``coef`` is zero outside S. ``gap`` and ``kkt_residual`` are those of the minimisation on S.
        ``full_model_gap`` bounds how far the objective is above that of kernel logistic regression
        on all points; ``n_iter`` is the number of points in S.

    Raises
    ------
    ValueError, TypeError
        The shapes of the arrays do not match, or a number is out of range.

    Notes
    -----
    Zhu and Hastie take one Newton step for each candidate and compare the objectives. Here the
    decrease that the quadratic model predicts for this step is computed for all candidates at once.
    Each added point costs :math:`O(n^2 |S|)`. Ties are broken in favour of the first candidate.

    References
    ----------
    Zhu and Hastie (2005), "Kernel logistic regression and the import vector machine", J.
    Computational and Graphical Statistics 14, 185-205, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.kernels import gaussian
    >>> from svmbook.solvers import select_import_points
    >>> X = np.linspace(-2, 2, 41)[:, None]
    >>> K, y = gaussian(X, gamma=0.1), np.sign(X[:, 0] - 0.1)
    >>> result = select_import_points(K, y, lam=1.0)
    >>> int(np.count_nonzero(result.coef)), result.converged
    (5, True)
    """
    lam, tol = check_positive("lam", lam), check_positive("tol", tol)
    min_decrease = check_positive("min_decrease", min_decrease)
    K, y, weights = check_logistic(K, y, weights)
    if max_points is not None:
        check_scalar(max_points, "max_points", Integral, min_val=1)
    options = {"min_decrease": min_decrease, "max_points": max_points, "tol": tol}
    return select_import_points_on_gram(StoredGram(K), Binomial(y, weights), lam, **options)


def select_import_points_on_gram(
    gram, likelihood, lam, *, min_decrease=1e-3, max_points=None, tol=1e-6
):
    """Select points as `select_import_points` does, for a `StoredGram` and a likelihood."""
    K, n = gram.K, gram.n
    Z, w, S = np.empty((n, 0)), np.empty(0), []  # orthonormal functions of S, and their weights
    remainder = np.array(K, dtype=float)  # K - ZZ': Gram matrix of the parts orthogonal to S
    b, _ = best_intercept(likelihood, np.zeros(n), 0.0)
    J, gap, residual, converged, message = likelihood.loss(np.zeros(n) + b), 0.0, 0.0, True, ""
    while len(S) < (max_points or n):
        is_candidate = np.diagonal(remainder) > DEPENDENCE_TOL * np.diagonal(K)
        F = Z @ w + b
        derivatives = likelihood.negative_gradient(F), likelihood.curvature(F)
        try:
            decreases = _predicted_decreases(derivatives, lam, Z, remainder, is_candidate)
        except np.linalg.LinAlgError:
            converged, message = False, "rounding error prevents the choice of further points"
            break
        if not np.isfinite(decreases).all():
            converged, message = False, "the squares of K overflow; scale the features"
            break
        best_point = argmax_up_to_rounding(decreases, tol=DECREASE_TIE_TOL)
        if not decreases[best_point] > 0.0:
            message = "no further kernel function lowers the objective"
            break
        z = remainder[:, best_point] / np.sqrt(remainder[best_point, best_point])
        S, Z = [*S, best_point], np.column_stack([Z, z])
        _subtract_outer_product(remainder, z)
        start = np.append(w, 0.0), b
        (result,) = ridge_path(LowRankGram(Z), likelihood, [lam], tol=tol, start=start)
        previous_J, J = J, result.objective
        logger.info("import points, %d of %d: objective %.6g", len(S), n, J)
        w, b, gap, residual = result.coef, result.intercept, result.gap, result.kkt_residual
        converged, message = result.converged, result.message
        if previous_J - J < min_decrease * J:
            break
    else:
        message = f"max_points={max_points} was reached" if max_points else message
    alpha = np.zeros(n)
    if S:
        alpha[S] = solve_triangular(Z[S].T, w)  # Z[S] is the Cholesky factor of K_SS
    G = likelihood.negative_gradient(Z @ w + b)
    R = G - lam * alpha  # minus the gradient with respect to all kernel functions
    # Only rounding can make this negative; the absolute value keeps the size of the error.
    full_model_gap = float(0.5 * abs(R @ (K @ R)) / lam)
    return LogisticResult(alpha, b, J, gap, residual, G, len(S), converged, message, full_model_gap)


def _subtract_outer_product(remainder, z):
    """Subtract zz' in place, in blocks of rows that fit into the cache."""
    rows_per_block = max(1, BLOCK_ENTRIES // len(z))
    for start in range(0, len(z), rows_per_block):
        remainder[start : start + rows_per_block] -= np.multiply.outer(
            z[start : start + rows_per_block], z
        )


def _predicted_decreases(derivatives, lam, Z, remainder, is_candidate):
    """Return the predicted decrease of the objective for each candidate, and 0 for other points.

    ``derivatives`` are minus the gradient of the loss and its curvature, at each point.
    """
    G, W = derivatives
    squared_lengths = np.where(is_candidate, np.diagonal(remainder), 1.0)
    # Curvature along each z_l, minimised over the intercept ...
    h = np.einsum("ij,ij,i->j", remainder, remainder, W) - (W @ remainder) ** 2 / W.sum()
    if Z.shape[1]:  # ... and over the weights of Z.
        centred_Z = Z - W @ Z / W.sum()
        M = centred_Z.T @ (W[:, None] * centred_Z) + lam * np.eye(Z.shape[1])
        products = (W[:, None] * centred_Z).T @ remainder
        V = solve_triangular(np.linalg.cholesky(M), products, lower=True)
        h = h - (V * V).sum(axis=0)
    h = h / squared_lengths + lam
    return np.where(is_candidate, (remainder @ G) ** 2 / (2.0 * squared_lengths * h), 0.0)
