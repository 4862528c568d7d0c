r"""Kernel logistic regression with a ridge, by Newton's method.

Near its minimum a smooth function is a parabola, and Newton's method jumps to the bottom of the
parabola. For the logistic loss each jump is a weighted ridge regression, :eq:`eq-irls`, so the
method is also called iteratively reweighted least squares. Far from the minimum a jump may be too
long; a line search shortens it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import check_positive
from ...gram import GramMatrix, LowRankGram, StoredGram, pivoted_factor
from ...progress import log
from ..checks import check_logistic, check_stopping
from .likelihoods import Binomial, Softmax, best_intercept, likelihood_of
from .result import LogisticResult

__all__ = ["expand", "ridge_path", "solve_logistic", "solve_logistic_path"]

SLOPE_RATIO = 0.1  # slope at which the line search ends, relative to its start
VISIBLE_CHANGE = 1e-14  # relative to the objective: a smaller change is a rounding error
MAX_TRIALS = 60  # lengths that one line search tries
LOW_RANK_SHARE = 0.5  # rank per point up to which a factor of K is the cheaper form
PATIENCE = 3  # steps in a row that lower neither the objective nor the gradient


def solve_logistic(
    K: ArrayLike,
    y: ArrayLike,
    lam: float,
    *,
    weights: ArrayLike = 1.0,
    form: str = "gram",
    classes: int | None = None,
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
        Gram matrix, symmetric positive semi-definite, or for ``form="factor"`` a Z with
        :math:`K = ZZ^\top`; then w takes the place of :math:`\alpha` and
        :math:`\|w\|^2` that of :math:`\alpha^\top K\alpha`.
    y : ndarray of shape (n,)
        Labels -1 and +1, or numbers of classes, 0 to ``classes - 1``.
    lam : float
        The weight :math:`\lambda` of the ridge, positive. Zero is allowed for a factor of
        independent columns; then a minimiser exists only where no hyperplane separates the
        classes.
    weights : float or ndarray of shape (n,), default=1.0
        Weights :math:`s_i`, positive.
    form : {"gram", "factor"}, default="gram"
        Whether n or r unknowns are solved for.
    classes : int, default=None
        Number k of classes for the softmax; None for two classes with labels -1 and +1.
    tol : float, default=1e-6
        The norm of the gradient at which to stop, as a fraction of the sum of the norms of its
        terms, and the duality gap at which to stop, as a fraction of the objective.
    max_iter : int, default=200
        Newton steps at most.
    start : tuple (coef, intercept), default=None
        Where to start; by default at zero coefficients and the best intercept.

    Returns
    -------
    LogisticResult
        ``kkt_residual`` is the relative norm of the gradient. ``gap`` is
        :math:`\|\nabla\|^2/(2\lambda)`: the negative gradient :math:`G` at the solution is
        feasible for the dual as soon as it sums to zero, and the dual objective is that much lower.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit, or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_logistic
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> result = solve_logistic(X @ X.T, np.array([-1.0, 1.0, 1.0]), lam=1.0)
    >>> result.coef.round(4), result.converged
    (array([-0.5115,  0.3214,  0.1901]), True)
    """
    options = {"weights": weights, "form": form, "classes": classes}
    options |= {"tol": tol, "max_iter": max_iter, "start": start}
    return solve_logistic_path(K, y, [lam], **options)[0]


def solve_logistic_path(
    K: ArrayLike,
    y: ArrayLike,
    lams: Iterable[float],
    *,
    weights: ArrayLike = 1.0,
    form: str = "gram",
    classes: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: tuple | None = None,
) -> list[LogisticResult]:
    r"""Return the solutions of `solve_logistic` along :math:`\lambda`, each from the one before.

    The matrix is checked, and a low rank of it found, once for all.

    Parameters
    ----------
    K, y, weights, form, classes, tol, max_iter
        As in `solve_logistic`.
    lams : iterable of float
        Values of :math:`\lambda`; falling ones are the fastest.
    start : tuple (coef, intercept), default=None
        Where the first one starts.

    Returns
    -------
    list of LogisticResult
        One for each value, in the order given.

    Raises
    ------
    ValueError, TypeError
        As `solve_logistic`.

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
    zero = form == "factor"  # allowed
    lams = [0.0 if zero and lam == 0 else check_positive("lam", lam) for lam in lams]
    K, y, weights = check_logistic(K, y, weights, square=form == "gram", classes=classes)
    tol, max_iter = check_stopping(tol, max_iter)
    likelihood = likelihood_of(y, weights, classes)
    if start is not None:
        start = _check_start(start, K.shape[1], np.shape(likelihood.no_intercept))
    gram = StoredGram(K) if form == "gram" else LowRankGram(K)
    return ridge_path(gram, likelihood, lams, tol=tol, max_iter=max_iter, start=start)


def ridge_path(gram, likelihood, lams, *, tol=1e-6, max_iter=200, start=None):
    """Do as `solve_logistic_path`, for a `GramMatrix`, a likelihood and checked numbers."""
    results, low = [], None
    if isinstance(gram, StoredGram):
        # Conjugate gradients use the inner product of K, which a singular K lacks: they need Z.
        several = np.ndim(likelihood.no_intercept) > 0
        low = pivoted_factor(gram.K, largest_rank=None if several else LOW_RANK_SHARE * gram.n)
    for lam in lams:
        if low is None:
            result = _newton(Ridge(likelihood, gram, lam), start, tol, max_iter)
        else:
            result = _by_factor(Ridge(likelihood, gram, lam), low, start, tol, max_iter)
        results.append(result)
        start = result.coef, result.intercept
    return results


def expand(gram, result, lam):
    r"""Return coefficients of the points for a machine that is held by weights.

    At a minimum :math:`\lambda w = Z^\top G`, so :math:`\alpha = G/\lambda` has the weights
    :math:`Z^\top\alpha = w`, as in :eq:`eq-newton`; what the tolerance leaves of the difference is
    made up for.
    """
    if lam == 0:
        return gram.coefficients(result.coef)
    alpha = result.negative_gradient / lam
    return alpha + gram.coefficients(result.coef - gram.adjoint(alpha))


class Ridge(NamedTuple):
    """The problem: a loss of the outputs plus lam / 2 times the squared norm of the function."""

    likelihood: Binomial | Softmax
    gram: GramMatrix
    lam: float

    def objective(self, A, f, b):
        """Return the objective of a function with outputs f and an intercept."""
        ridge = 0.5 * self.lam * self.gram.inner(A, A, f)
        return self.likelihood.loss(f + b) + ridge


def _by_factor(problem, low, start, tol, max_iter):
    """Minimise in the weights of a factor, and answer in coefficients of the points."""
    if start is not None:
        start = low.adjoint(start[0]), start[1]
    result = _newton(problem._replace(gram=low), start, 0.5 * tol, max_iter)
    alpha = expand(low, result, problem.lam)
    end = _finish(problem, alpha, result.intercept)
    return _certified(*end, tol, result.n_iter, result.message)


def _newton(problem, start, tol, max_iter):
    """Minimise in the unknowns of a Gram matrix; the intercept is the best before each step."""
    likelihood, gram, lam = problem
    zero = np.zeros((gram.size, *np.shape(likelihood.no_intercept)))
    A, b = (zero, likelihood.no_intercept) if start is None else start
    f = gram.outputs(A)
    lowest, idle, before, message = np.inf, 0, np.inf, ""
    for n_iter in count():
        b, G = best_intercept(likelihood, f, b)
        R, r = gram.adjoint(G) - lam * A, G.sum(axis=0)  # minus the gradient, and its part in b
        J = problem.objective(A, f, b)
        residual, gap = _certificate(problem, G, R, r)
        log.info("Newton, step %d: objective %.6g, gradient %.1e", n_iter, J, residual)
        if residual <= tol and (lam == 0 or gap <= tol * J):
            break
        idle = 0 if residual < lowest or before - J > VISIBLE_CHANGE * J else idle + 1
        lowest, before = min(lowest, residual), J
        if n_iter == max_iter or idle == PATIENCE:
            message = "all steps used up" if n_iter == max_iter else "rounding hides the descent"
            break
        try:
            dA, db = likelihood.newton_step(gram, lam, f + b, R, r)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            message = str(error)
            break
        df = gram.outputs(dA)
        t = _line_search(problem, (A, b, f), (dA, db, df), (R, r), J)
        A, b, f = A + t * dA, b + t * db, f + t * df
    return _certified(*_finish(problem, A, b), tol, n_iter, message)


def _check_start(start, size, shape):
    """Return coefficients and intercept to start from; for several classes they sum to zero."""
    try:
        A, b = (np.array(part, dtype=float) for part in start)
    except (TypeError, ValueError) as error:
        raise ValueError(f"start must be a pair (coef, intercept); found {start!r}.") from error
    if A.shape != (size, *shape) or b.shape != shape or not np.isfinite([*A.flat, *b.flat]).all():
        raise ValueError(
            f"start must hold finite coefficients of shape {(size, *shape)} and an intercept of "
            f"shape {shape}; found shapes {A.shape} and {b.shape}."
        )
    if not shape:
        return A, float(b)
    return A - A.mean(axis=1, keepdims=True), b - b.mean()


def _certified(result, uncertain, tol, n_iter, message):
    """Say whether a result meets the tolerance, and is not lost in the rounding of its outputs."""
    small_gap = np.isinf(result.gap) or result.gap <= tol * result.objective
    converged = bool(
        result.kkt_residual <= tol and small_gap and uncertain <= tol * result.objective
    )
    if not converged and not message:
        message = "rounding limits the coefficients"
    return replace(result, n_iter=n_iter, converged=converged, message=message)


def _finish(problem, A, b):
    """Return a result, its certificate computed afresh, and what rounding leaves uncertain of it.

    Rounding moves the outputs by about the precision times the sizes of the terms that they sum.
    """
    likelihood, gram, lam = problem
    f = gram.outputs(A)
    b, G = best_intercept(likelihood, f, b)
    b = b if np.ndim(b) == 0 else b - b.mean()
    residual, gap = _certificate(problem, G, gram.adjoint(G) - lam * A, G.sum(axis=0))
    J = problem.objective(A, f, b)
    rounding = np.finfo(float).eps * gram.lengths.max() * gram.size_of_terms(A)  # of an output
    return LogisticResult(A, b, J, gap, residual, G, 0, False), rounding * np.abs(G).sum()


def _certificate(problem, G, R, r):
    r"""Return the relative norm of the gradient and the gap :math:`\|R\|^2/(2\lambda)`.

    Each term of the gradient is a point's part of G times the point's length, in the space or,
    for the intercept, 1.
    """
    gram, lam = problem.gram, problem.lam
    # Negative only by rounding; the absolute value keeps its size visible.
    squared = abs(gram.inner(R, R, gram.outputs(R)))
    parts = np.abs(G).reshape(len(G), -1).sum(axis=1)
    terms = parts @ gram.lengths
    residual = max(np.sqrt(squared) / (terms or 1.0), np.abs(r).max() / (parts.sum() or 1.0))
    return float(residual), float(0.5 * squared / lam) if lam else np.inf


def _line_search(problem, here, step, down, J):
    r"""Return a length t along a step; 0 where rounding lets no length be told from it.

    By Newton's method in t between brackets, until nine tenths of the slope are gone. The ridge
    is a parabola along the step, so a trial costs n exponentials and no product.
    """
    likelihood, gram, lam = problem
    (A, b, f), (dA, db, df), (R, r) = here, step, down
    F, dF = f + b, df + db
    ridge, linear, square = (gram.inner(A, A, f), gram.inner(A, dA, df), gram.inner(dA, dA, df))
    steepest = gram.inner(R, dA, df) + np.sum(r * db)  # minus the slope at t = 0
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(MAX_TRIALS):
        slope = lam * (linear + t * square) - np.sum(likelihood.negative_gradient(F + t * dF) * dF)
        if abs(slope) <= SLOPE_RATIO * steepest:
            J_new = likelihood.loss(F + t * dF) + lam * (0.5 * ridge + t * linear)
            J_new += 0.5 * lam * t * t * square
            if J_new <= J * (1.0 + VISIBLE_CHANGE):
                return t
        low, high = (low, t) if slope > 0 else (t, high)
        t -= slope / (likelihood.curvature_along(F + t * dF, dF) + lam * square)
        if not low < t < high:
            t = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return 0.0
