r"""Logistic regression without a penalty: the limit of the ridge as its weight goes to zero.

The limit need not exist. Where a hyperplane separates the classes, a machine that is twice as sure
of itself is always better, and no machine is best. The same holds if points of both classes lie on
the hyperplane and it separates the rest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from .newton import solve_logistic

__all__ = ["is_separable", "solve_unpenalised"]

SURE = 15.0  # log odds: where no point is surer, no separation hides behind the tolerance
SEPARATED = 1e-7  # of the largest margin allowed: what a linear program's tolerance leaves of zero


def solve_unpenalised(Z, y, *, weights=1.0, classes=None, tol=1e-6, max_iter=200):
    r"""Minimise the log loss of :math:`F = Zw + b` and return its smallest minimiser.

    Directions in which Z does not extend are left out, so that of all minimisers the one
    with the smallest :math:`\|w\|` is found: the limit of `solve_logistic` for
    :math:`\lambda \to 0`.

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

    Returns
    -------
    LogisticResult
        ``coef`` are coefficients :math:`\alpha` of the points, with :math:`w = Z^\top\alpha`.
        ``gap`` is infinite: without a penalty the dual has no interior.

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
    >>> (Z.T @ result.coef).round(4), result.converged
    (array([0.9082]), True)
    """
    centred = Z - Z.mean(axis=0)
    P, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    kept = lengths > max(Z.shape) * np.finfo(float).eps * lengths.max(initial=0.0)
    P, lengths = P[:, kept], lengths[kept]
    if not len(lengths):
        raise ValueError("the kernel is constant on the training points: there is nothing to fit.")
    basis = np.sqrt(len(y)) * P  # every column of length sqrt(n), whatever the units of Z
    options = {"weights": weights, "classes": classes, "tol": tol, "max_iter": max_iter}
    result = solve_logistic(basis, y, 0.0, form="factor", **options)
    F = basis @ result.coef + result.intercept
    unsure = result.converged and np.abs(F).max() < SURE
    if not unsure and is_separable(basis, y, classes=classes):
        raise ValueError(
            "the classes can be separated, at least in part, so without a penalty larger "
            "coefficients are always better and no machine is best; use penalty='l2' with a small "
            "lam, whose limit points along the hard-margin machine."
        )
    # w lies in the span of the rows: Z'alpha = w, and the coefficients sum to zero.
    alpha = (P / lengths**2) @ (np.sqrt(len(y)) * result.coef)
    return replace(
        result, coef=alpha, intercept=result.intercept - Z.mean(axis=0) @ (Z.T @ alpha), gap=np.inf
    )


def is_separable(Z, y, *, classes=None):
    r"""Return whether some :math:`F = Zw + b` errs on no point and is right on at least one.

    Outputs of zero count neither way. A linear program: maximise the sum of the margins, each
    between 0 and 1. Its maximum is zero exactly if no such machine exists. For several classes
    a point has one margin against each wrong class.

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
    >>> is_separable(Z, np.array([-1, -1, 1, 1])), is_separable(Z, np.array([-1, 1, 1, -1]))
    (True, False)
    """
    rows = np.column_stack([Z, np.ones(len(Z))])
    if classes is None:
        margins = np.asarray(y)[:, None] * rows
    else:
        true = np.repeat(np.asarray(y, dtype=int), classes - 1)
        wrong = np.concatenate([np.delete(np.arange(classes), label) for label in y])
        margins = np.zeros((len(true), classes, rows.shape[1]))
        each = np.arange(len(true))
        margins[each, true] = np.repeat(rows, classes - 1, axis=0)
        margins[each, wrong] = -np.repeat(rows, classes - 1, axis=0)
        margins = margins.reshape(len(true), -1)
    n = len(margins)
    limits = csr_array(np.vstack([margins, -margins]))
    solution = linprog(
        -margins.sum(axis=0) / n,
        A_ub=limits,
        b_ub=np.repeat([1.0, 0.0], n),
        bounds=(None, None),
        method="highs",
    )
    return bool(-solution.fun > SEPARATED / n) if solution.success else True
