r"""Logistic regression without a penalty: the limit of the ridge solution as lam tends to zero.

The limit need not exist. If a hyperplane separates the classes, larger coefficients always lower
the loss, and there is no minimiser. The same holds if points of both classes lie on the hyperplane
and it separates the other points, which is called quasi-complete separation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from ...gram import LowRankGram, StoredGram, pivoted_cholesky
from ..checks import check_logistic, check_stopping
from .likelihoods import make_likelihood
from .newton import ridge_path

if TYPE_CHECKING:
    from .result import LogisticResult

__all__ = [
    "has_separation",
    "minimise_log_loss_on_factor",
    "minimise_log_loss_on_gram",
    "solve_logistic_unpenalised",
    "solve_logistic_unpenalised_gram",
]

FACTOR_TOL = 1e-10  # relative to the largest k(x, x): smaller parts of K are rounding errors
CONSTANT_TOL = 1e-12  # relative to the largest entry of a column: smaller deviations count as zero
SINGULAR_TOL = 1e-12  # relative to the largest singular value: a smaller one counts as zero


def solve_logistic_unpenalised(
    Z: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike = 1.0,
    n_classes: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    rank_tol: float = SINGULAR_TOL,
) -> LogisticResult:
    r"""Minimise the log loss :eq:`eq-log-loss` of :math:`F = Zw + b`, with minimum norm of w.

    The minimiser with the smallest :math:`\|w\|` is the limit of `solve_logistic` for
    :math:`\lambda \to 0`. The columns are centred and scaled first, which changes no output, so
    that the scale of a feature does not affect the accuracy.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Factor of the Gram matrix, :math:`K = ZZ^\top`.
    y : ndarray of shape (n,)
        Labels, as in `solve_logistic`.
    weights : float or ndarray of shape (n,), default=1.0
        Weights of the points, positive.
    n_classes : int, default=None
        As in `solve_logistic`.
    tol : float, default=1e-6
        Relative norm of the gradient at which to stop.
    max_iter : int, default=200
        Largest number of Newton steps.
    rank_tol : float, default=1e-12
        Singular values of the centred and scaled columns below this fraction of the largest are
        treated as zero. It should reflect the relative accuracy of Z.

    Returns
    -------
    LogisticResult
        ``coef`` are the weights w. ``gap`` is infinite: without a penalty, an approximate
        solution gives no dual feasible point.

    Raises
    ------
    ValueError
        The classes are completely or quasi-completely separated, so that there is no minimiser, or
        the shapes of the arrays do not match.

    References
    ----------
    Albert and Anderson (1984), "On the existence of maximum likelihood estimates in logistic
    regression models", Biometrika 71, 1-10.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_logistic_unpenalised
    >>> Z = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> result = solve_logistic_unpenalised(Z, np.array([-1.0, 1.0, -1.0, 1.0]))
    >>> result.coef.round(4), result.converged
    (array([0.9082]), True)
    """
    Z, y, weights = check_logistic(Z, y, weights, require_square=False, n_classes=n_classes)
    tol, max_iter = check_stopping(tol, max_iter)
    return minimise_log_loss_on_factor(
        Z, y, weights, n_classes, rank_tol, tol=tol, max_iter=max_iter
    )


def minimise_log_loss_on_factor(
    Z, y, weights, n_classes, rank_tol=SINGULAR_TOL, *, tol=1e-6, max_iter=200
):
    """Minimise the loss as `solve_logistic_unpenalised` does, for validated arguments."""
    columns, scale, mean = _centre_and_scale(Z)
    if not columns.shape[1]:
        raise ValueError("all points are equal up to rounding, so there is nothing to fit.")
    n, d = columns.shape
    U, singular_values, Vt = np.linalg.svd(columns, full_matrices=False)
    rank = np.sum(singular_values > rank_tol * singular_values[0])
    basis = np.sqrt(n) * U[:, :rank]
    if _has_separation_on_basis(basis, y, n_classes):
        raise ValueError(
            "the classes can be separated, at least in part, so without a penalty larger "
            "coefficients always lower the loss and no minimiser exists; use a ridge penalty "
            "(`solve_logistic` with a small lam, or penalty='l2' in an estimator)."
        )
    likelihood = make_likelihood(y, weights, n_classes)
    (result,) = ridge_path(LowRankGram(basis), likelihood, [0.0], tol=tol, max_iter=max_iter)
    # With the singular values S and the scales D, the outputs U S (Vt D w) + const equal those of
    # the basis if Vt D w = u.
    u = np.sqrt(n) * (result.coef.T / singular_values[:rank]).T
    D = scale[scale > 0]
    w = np.zeros((Z.shape[1], *u.shape[1:]))
    if rank == d:
        w[scale > 0] = ((Vt.T @ u).T / D).T
    else:  # several w give these outputs: take the one of minimum norm
        w[scale > 0] = np.linalg.lstsq(Vt[:rank] * D, u)[0]
    return replace(result, coef=w, intercept=result.intercept - mean @ w, gap=np.inf)


def solve_logistic_unpenalised_gram(
    K: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike = 1.0,
    n_classes: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> LogisticResult:
    r"""Minimise the log loss of :math:`F = K\alpha + b` for a Gram matrix K.

    The method is `solve_logistic_unpenalised` on a factor of K.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric positive semi-definite.
    y, weights, n_classes, tol, max_iter
        As in `solve_logistic_unpenalised`.

    Returns
    -------
    LogisticResult
        ``coef`` are coefficients of the points; the number of non-zero ones is at most the rank of
        K. Two parts of K are treated as rounding error and left out: pivots below 1e-10 of the
        largest k(x, x), and singular values of the factor's centred and scaled columns below 2.2e-4
        of the largest.

    Raises
    ------
    ValueError
        As in `solve_logistic_unpenalised`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_logistic_unpenalised_gram
    >>> Z, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1, -1, 1])
    >>> result = solve_logistic_unpenalised_gram(Z @ Z.T, y)
    >>> (Z.T @ result.coef).round(4)
    array([0.9082])
    """
    K, y, weights = check_logistic(K, y, weights, n_classes=n_classes)
    tol, max_iter = check_stopping(tol, max_iter)
    return minimise_log_loss_on_gram(
        StoredGram(K), y, weights, n_classes, tol=tol, max_iter=max_iter
    )


def minimise_log_loss_on_gram(gram, y, weights, n_classes, *, tol=1e-6, max_iter=200):
    """Minimise the loss as `solve_logistic_unpenalised_gram` does, for a validated `StoredGram`."""
    factor = pivoted_cholesky(gram.K, tol=FACTOR_TOL)
    # The smallest columns of Z have a relative rounding error of eps / FACTOR_TOL or a little more.
    rank_tol = 100 * np.finfo(float).eps / FACTOR_TOL
    result = minimise_log_loss_on_factor(
        factor.Z, y, weights, n_classes, rank_tol, tol=tol, max_iter=max_iter
    )
    alpha = factor.coefficients(result.coef)
    # The outputs as `predict` computes them, which may be less accurate than those of w.
    F = gram.K @ alpha + result.intercept
    J = make_likelihood(y, weights, n_classes).loss(F)
    if abs(J - result.objective) > tol * J:
        message = "rounding error in the outputs: the kernel is too smooth for these points"
        result = replace(result, converged=False, message=message)
    return replace(result, coef=alpha, objective=J)


def has_separation(Z: ArrayLike, y: ArrayLike, *, n_classes: int | None = None) -> bool:
    r"""Return whether the classes are completely or quasi-completely separated.

    This is the case if some :math:`F = Zw + b` has no negative margin and at least one positive
    margin. Then `solve_logistic_unpenalised` has no minimiser. Quasi-complete separation does not
    suffice for the hard margin, which needs positive margins at all points. A linear program
    maximises the sum of the margins, each between 0 and 1. The maximum is zero if and only if no
    such F exists. For several classes a point has one margin against each wrong class. HiGHS solves
    the program to its default precision, so that an overlap smaller than about 1e-7 of the scale of
    a feature (its largest absolute deviation from the mean) is not detected.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1, or class numbers.
    n_classes : int, default=None
        Number of classes; None for labels -1 and +1.

    Returns
    -------
    bool

    References
    ----------
    Konis (2007), *Linear programming algorithms for detecting separated data in binary logistic
    regression models*, DPhil thesis, University of Oxford.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import has_separation
    >>> Z = np.array([[0.0], [1.0], [1.0], [2.0]])
    >>> [has_separation(Z, np.array(y)) for y in ([-1, -1, 1, 1], [-1, 1, 1, -1])]
    [True, False]
    """
    Z, y, _ = check_logistic(Z, y, 1.0, require_square=False, n_classes=n_classes)
    columns, _, _ = _centre_and_scale(Z)
    U, singular_values, _ = np.linalg.svd(columns, full_matrices=False)
    is_nonzero = singular_values > SINGULAR_TOL * singular_values.max(initial=0.0)
    return _has_separation_on_basis(U[:, is_nonzero], y, n_classes)


def _centre_and_scale(Z):
    """Return the centred and scaled non-constant columns, and scale and mean of every column.

    The scale is the largest absolute deviation from the mean, and zero for a constant column.
    """
    mean = Z.mean(axis=0)
    centred_Z = Z - mean
    scale = np.abs(centred_Z).max(axis=0)
    scale[scale <= CONSTANT_TOL * np.abs(Z).max(axis=0)] = 0.0
    return centred_Z[:, scale > 0] / scale[scale > 0], scale, mean


def _has_separation_on_basis(basis, y, n_classes):
    """Maximise the sum of the margins t, 0 <= t <= 1, and return whether the maximum is positive.

    The maximum is 0 or at least 1, because a classifier with a positive margin can be scaled until
    its largest margin is 1.
    """
    design_matrix = np.column_stack([basis, np.ones(len(basis))])
    if n_classes is None:
        margin_matrix = csr_array(y[:, None] * design_matrix)
    else:  # for each true class, the outputs of that class minus those of each other
        contrasts = [
            np.delete(np.eye(n_classes)[c] - np.eye(n_classes), c, 0) for c in range(n_classes)
        ]
        blocks = [kron(contrasts[c], design_matrix[y == c]) for c in range(n_classes)]
        margin_matrix = vstack(blocks, format="csr")
    n_margins, n_unknowns = margin_matrix.shape
    solution = linprog(
        np.repeat([0.0, -1.0], [n_unknowns, n_margins]),
        A_eq=hstack([margin_matrix, -eye_array(n_margins)], format="csr"),
        b_eq=np.zeros(n_margins),
        bounds=[(None, None)] * n_unknowns + [(0.0, 1.0)] * n_margins,
        method="highs",
    )
    if not solution.success:
        raise ValueError(
            "double precision does not suffice to decide whether the classes can be separated "
            f"({solution.message}); use a ridge penalty (`solve_logistic`, or penalty='l2' in an "
            "estimator), with which a minimiser always exists."
        )
    return bool(-solution.fun > 0.5)
