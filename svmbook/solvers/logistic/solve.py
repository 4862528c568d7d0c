"""Kernel logistic regression with a ridge penalty, for one or several penalties."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import check_positive
from ...gram import LowRankGram, StoredGram
from ..checks import check_logistic, check_stopping
from .likelihoods import make_likelihood
from .newton import ridge_path
from .result import LogisticResult

__all__ = ["solve_logistic", "solve_logistic_path"]


def solve_logistic(
    K: ArrayLike,
    y: ArrayLike,
    lam: float,
    *,
    weights: ArrayLike = 1.0,
    form: str = "gram",
    n_classes: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: tuple | None = None,
) -> LogisticResult:
    r"""Minimise the ridge-penalised log loss of a kernel machine by damped Newton steps.

    For two classes the objective is :eq:`eq-klr-alpha` with weights,

    .. math:: J(\alpha, b) = \sum_i s_i \log(1 + e^{-y_i(K\alpha + b)_i})
        + \tfrac\lambda2\,\alpha^\top K\alpha,

    for k classes :math:`\sum_i s_i(\log\sum_c e^{F_{ic}} - F_{i,y_i}) + \tfrac\lambda2\,
    \mathrm{tr}\,A^\top KA` with :math:`F = KA + 1b^\top`. Intercepts are not penalised.

    Parameters
    ----------
    K : ndarray of shape (n, n) or (n, r)
        Gram matrix, symmetric positive semi-definite, or, for ``form="factor"``, a matrix Z with
        :math:`K = ZZ^\top`. In that case w replaces :math:`\alpha`, and :math:`\|w\|^2` replaces
        :math:`\alpha^\top K\alpha`.
    y : ndarray of shape (n,)
        Labels -1 and +1, or class numbers from 0 to ``n_classes - 1``.
    lam : float
        The weight :math:`\lambda` of the ridge penalty, positive. Zero is allowed for a factor with
        independent columns; a minimiser then exists only if no hyperplane separates the classes.
    weights : float or ndarray of shape (n,), default=1.0
        Weights :math:`s_i`, positive.
    form : {"gram", "factor"}, default="gram"
        Whether K is a Gram matrix, with n unknowns, or a factor, with r unknowns.
    n_classes : int, default=None
        Number k of classes for the softmax; None for two classes with labels -1 and +1.
    tol : float, default=1e-6
        Stop when two quantities are both at most ``tol``: the norm of the gradient, relative to the
        sum of the norms of its terms, and the duality gap, relative to the objective.
    max_iter : int, default=200
        Maximum number of Newton steps.
    start : tuple (coef, intercept), default=None
        Warm start; None starts at zero coefficients and the best intercept.

    Returns
    -------
    LogisticResult
        ``kkt_residual`` is the relative norm of the gradient. ``gap`` is
        :math:`\|\nabla\|^2/(2\lambda)`: the negative gradient :math:`G` of the loss at the solution
        is dual feasible once it sums to zero, and the dual objective is lower by this amount.

    Raises
    ------
    ValueError, TypeError
        The shapes of the arrays do not match, or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_logistic
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> result = solve_logistic(X @ X.T, np.array([-1.0, 1.0, 1.0]), lam=1.0)
    >>> result.coef.round(4), result.converged
    (array([-0.5115,  0.3214,  0.1901]), True)
    """
    options = {"weights": weights, "form": form, "n_classes": n_classes}
    options |= {"tol": tol, "max_iter": max_iter, "start": start}
    return solve_logistic_path(K, y, [lam], **options)[0]


def solve_logistic_path(
    K: ArrayLike,
    y: ArrayLike,
    lams: Iterable[float],
    *,
    weights: ArrayLike = 1.0,
    form: str = "gram",
    n_classes: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: tuple | None = None,
) -> list[LogisticResult]:
    r"""Return the solutions of `solve_logistic` for several :math:`\lambda`, with warm starts.

    The Gram matrix is checked and factored once for all values.

    Parameters
    ----------
    K, y, weights, form, n_classes, tol, max_iter
        As in `solve_logistic`.
    lams : iterable of float
        Values of :math:`\lambda`; decreasing values take the least time.
    start : tuple (coef, intercept), default=None
        Warm start of the first solution.

    Returns
    -------
    list of LogisticResult
        One per value, in the given order.

    Raises
    ------
    ValueError, TypeError
        As in `solve_logistic`.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_logistic_path
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-1.0, 1.0, 1.0])
    >>> path = solve_logistic_path(X @ X.T, y, [10.0, 1.0])
    >>> [round(result.objective, 3) for result in path]
    [1.862, 1.561]
    """
    if form not in ("gram", "factor"):
        raise ValueError(f"form is {form!r}; choose 'gram' or 'factor'.")
    allow_zero = form == "factor"
    lams = [0.0 if allow_zero and lam == 0 else check_positive("lam", lam) for lam in lams]
    K, y, weights = check_logistic(
        K, y, weights, require_square=form == "gram", n_classes=n_classes
    )
    tol, max_iter = check_stopping(tol, max_iter)
    likelihood = make_likelihood(y, weights, n_classes)
    if start is not None:
        start = _check_start(start, K.shape[1], np.shape(likelihood.zero_intercept))
    gram = StoredGram(K) if form == "gram" else LowRankGram(K)
    return ridge_path(gram, likelihood, lams, tol=tol, max_iter=max_iter, start=start)


def _check_start(start, n_unknowns, intercept_shape):
    """Return the coefficients and intercepts of a warm start; those of several classes centred."""
    try:
        A, b = (np.array(part, dtype=float) for part in start)
    except (TypeError, ValueError) as error:
        raise ValueError(f"start must be a pair (coef, intercept); found {start!r}.") from error
    coef_shape = (n_unknowns, *intercept_shape)
    is_finite = np.isfinite([*A.flat, *b.flat]).all()
    if A.shape != coef_shape or b.shape != intercept_shape or not is_finite:
        raise ValueError(
            f"start must have finite coefficients of shape {coef_shape} and an intercept of "
            f"shape {intercept_shape}; found shapes {A.shape} and {b.shape}."
        )
    if not intercept_shape:
        return A, float(b)
    return A - A.mean(axis=1, keepdims=True), b - b.mean()
