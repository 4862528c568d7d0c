r"""Logistic regression without a penalty: the limit of the ridge as its weight goes to zero.

The limit need not exist. Where a hyperplane separates the classes, a machine that is twice as sure
of itself is always better, and no machine is best. The same holds if points of both classes lie on
the hyperplane and it separates the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from ...gram import LowRankGram, StoredGram, pivoted_factor
from ..checks import check_logistic, check_stopping
from .likelihoods import likelihood_of
from .newton import ridge_path

if TYPE_CHECKING:
    from .result import LogisticResult

__all__ = [
    "is_separable",
    "solve_unpenalised",
    "solve_unpenalised_gram",
    "unpenalised",
    "unpenalised_gram",
]

FACTOR_TOL = 1e-10  # relative to the largest k(x, x): smaller parts of K are rounding errors
CONSTANT_TOL = 1e-12  # relative to the length of a column: a smaller spread is a rounding error
SINGULAR_TOL = 1e-12  # relative to the largest singular value, columns scaled: numerically zero


def solve_unpenalised(
    Z: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike = 1.0,
    classes: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    rank_tol: float = SINGULAR_TOL,
) -> LogisticResult:
    r"""Minimise the log loss :eq:`eq-log-loss` of :math:`F = Zw + b`: its smallest minimiser.

    Of all minimisers the one with the smallest :math:`\|w\|` is returned, up to rounding: the
    limit of `solve_logistic` for :math:`\lambda \to 0`. Columns are centred and scaled first, which
    changes no output, so that features of any size count alike.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Factor of the Gram matrix, :math:`K = ZZ^\top`.
    y : ndarray of shape (n,)
        Labels, as in `solve_logistic`.
    weights : float or ndarray of shape (n,), default=1.0
        Weights of the points, positive.
    classes : int, default=None
        As in `solve_logistic`.
    tol : float, default=1e-6
        Relative norm of the gradient at which to stop.
    max_iter : int, default=200
        Newton steps at most.
    rank_tol : float, default=1e-12
        The fraction of the largest singular value, columns centred and scaled, below which one
        counts as zero: how exactly Z is known.

    Returns
    -------
    LogisticResult
        ``coef`` are the weights w. ``gap`` is infinite: without a penalty the dual has no interior.

    Raises
    ------
    ValueError
        The classes are separable, so that there is no minimiser, or the arrays do not fit.

    References
    ----------
    Albert and Anderson (1984), "On the existence of maximum likelihood estimates in logistic
    regression models", Biometrika 71, 1-10.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_unpenalised
    >>> Z = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> result = solve_unpenalised(Z, np.array([-1.0, 1.0, -1.0, 1.0]))
    >>> result.coef.round(4), result.converged
    (array([0.9082]), True)
    """
    Z, y, weights = check_logistic(Z, y, weights, square=False, classes=classes)
    tol, max_iter = check_stopping(tol, max_iter)
    return unpenalised(Z, y, weights, classes, rank_tol, tol=tol, max_iter=max_iter)


def unpenalised(Z, y, weights, classes, rank_tol=SINGULAR_TOL, *, tol=1e-6, max_iter=200):
    """Do as `solve_unpenalised`, for arrays that were checked."""
    columns, spread, mean = _standardised(Z)
    if not columns.shape[1]:
        raise ValueError("the points are all alike to the machine: there is nothing to fit.")
    n, d = columns.shape
    U, singular_values, Vt = np.linalg.svd(columns, full_matrices=False)
    rank = np.sum(singular_values > rank_tol * singular_values[0])
    basis = np.sqrt(n) * U[:, :rank]
    if _separable(basis, y, classes):
        raise ValueError(
            "the classes can be separated, at least in part, so without a penalty larger "
            "coefficients are always better and no machine is best; use penalty='l2' with a small "
            "lam, whose limit points along the hard-margin machine."
        )
    likelihood = likelihood_of(y, weights, classes)
    (result,) = ridge_path(LowRankGram(basis), likelihood, [0.0], tol=tol, max_iter=max_iter)
    # Outputs U S (Vt D w) + const, D the spreads, are those of the basis if Vt D w = u.
    u = np.sqrt(n) * (result.coef.T / singular_values[:rank]).T
    D = spread[spread > 0]
    w = np.zeros((Z.shape[1], *u.shape[1:]))
    if rank == d:
        w[spread > 0] = ((Vt.T @ u).T / D).T
    else:  # several w give these outputs: the shortest
        w[spread > 0] = np.linalg.lstsq(Vt[:rank] * D, u)[0]
    return replace(result, coef=w, intercept=result.intercept - mean @ w, gap=np.inf)


def solve_unpenalised_gram(
    K: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike = 1.0,
    classes: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> LogisticResult:
    r"""Minimise the log loss of :math:`F = K\alpha + b` by `solve_unpenalised` on a factor of K.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric positive semi-definite.
    y, weights, classes, tol, max_iter
        As in `solve_unpenalised`.

    Returns
    -------
    LogisticResult
        ``coef`` are coefficients of the points, zero for all but as many as the rank. Parts of K
        below 1e-10 of the largest k(x, x), and directions of their factor, its columns centred and
        scaled, below 2.2e-4 of the largest singular value, count as rounding and are left out.

    Raises
    ------
    ValueError
        As `solve_unpenalised`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_unpenalised_gram
    >>> Z, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1, -1, 1])
    >>> result = solve_unpenalised_gram(Z @ Z.T, y)
    >>> (Z.T @ result.coef).round(4)
    array([0.9082])
    """
    K, y, weights = check_logistic(K, y, weights, classes=classes)
    tol, max_iter = check_stopping(tol, max_iter)
    return unpenalised_gram(StoredGram(K), y, weights, classes, tol=tol, max_iter=max_iter)


def unpenalised_gram(gram, y, weights, classes, *, tol=1e-6, max_iter=200):
    """Do as `solve_unpenalised_gram`, for a `StoredGram` and arrays that were checked."""
    low = pivoted_factor(gram.K, noise=FACTOR_TOL)
    # Rounding moves the smallest columns of Z by eps / FACTOR_TOL of their size, or a little more.
    rank_tol = 100 * np.finfo(float).eps / FACTOR_TOL
    result = unpenalised(low.Z, y, weights, classes, rank_tol, tol=tol, max_iter=max_iter)
    alpha = low.coefficients(result.coef)
    # Outputs summed as a prediction sums them, which may be less exact than those of w.
    F = gram.K @ alpha + result.intercept
    J = likelihood_of(y, weights, classes).loss(F)
    if abs(J - result.objective) > tol * J:
        message = "rounding limits the coefficients: the kernel is too smooth for these points"
        result = replace(result, converged=False, message=message)
    return replace(result, coef=alpha, objective=J)


def is_separable(Z: ArrayLike, y: ArrayLike, *, classes: int | None = None) -> bool:
    r"""Return whether some :math:`F = Zw + b` errs on no point and is right on at least one.

    Outputs of zero count neither way. A linear program: maximise the sum of the margins, each
    between 0 and 1. Its maximum is zero exactly if no such classifier exists. For several classes
    a point has one margin against each wrong class. The program is solved to the precision of
    HiGHS: an overlap below about 1e-7 of the spread of a feature counts as none.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1, or numbers of classes.
    classes : int, default=None
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
    >>> from svmbook.solvers import is_separable
    >>> Z = np.array([[0.0], [1.0], [1.0], [2.0]])
    >>> [is_separable(Z, np.array(y)) for y in ([-1, -1, 1, 1], [-1, 1, 1, -1])]
    [True, False]
    """
    Z, y, _ = check_logistic(Z, y, 1.0, square=False, classes=classes)
    columns, _, _ = _standardised(Z)
    U, singular_values, _ = np.linalg.svd(columns, full_matrices=False)
    large = singular_values > SINGULAR_TOL * singular_values.max(initial=0.0)
    return _separable(U[:, large], y, classes)


def _standardised(Z):
    """Return the columns of Z that are not constant, centred and scaled, their spreads, and means.

    The spread of a constant column is set to zero.
    """
    mean = Z.mean(axis=0)
    centred = Z - mean
    spread = np.abs(centred).max(axis=0)
    spread[spread <= CONSTANT_TOL * np.abs(Z).max(axis=0)] = 0.0
    return centred[:, spread > 0] / spread[spread > 0], spread, mean


def _separable(columns, y, classes):
    """Solve the linear program: margins are t, 0 <= t <= 1, and their sum is to be large.

    Its maximum is 0 or at least 1, because a machine with a positive margin can be scaled until its
    largest margin is 1.
    """
    rows = np.column_stack([columns, np.ones(len(columns))])
    if classes is None:
        margins = csr_array(y[:, None] * rows)
    else:  # for each true class, the outputs of that class minus those of each other
        others = [np.delete(np.eye(classes)[c] - np.eye(classes), c, 0) for c in range(classes)]
        margins = vstack([kron(others[c], rows[y == c]) for c in range(classes)], format="csr")
    n, r = margins.shape
    solution = linprog(
        np.repeat([0.0, -1.0], [r, n]),
        A_eq=hstack([margins, -eye_array(n)], format="csr"),
        b_eq=np.zeros(n),
        bounds=[(None, None)] * r + [(0.0, 1.0)] * n,
        method="highs",
    )
    if not solution.success:
        raise ValueError(
            "whether the classes can be separated is beyond double precision here "
            f"({solution.message}); use a ridge, penalty='l2', whose machine always exists."
        )
    return bool(-solution.fun > 0.5)
