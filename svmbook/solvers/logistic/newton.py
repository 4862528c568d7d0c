r"""Kernel logistic regression with a ridge penalty, by Newton's method.

Newton's method minimises a quadratic model of the objective in each step. For the logistic loss
each step is a weighted ridge regression, :eq:`eq-irls`, so the method is also called iteratively
reweighted least squares. Far from the minimum a step may be too long; a line search shortens it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import check_positive
from ...gram import GramMatrix, LowRankGram, StoredGram, pivoted_cholesky
from ...progress import logger
from ..checks import check_logistic, check_stopping
from .likelihoods import Multinomial, TwoClassLoss, best_intercept, make_likelihood
from .result import LogisticResult

__all__ = ["expansion_coefficients", "ridge_path", "solve_logistic", "solve_logistic_path"]

SLOPE_RATIO = 0.1  # slope at which the line search stops, relative to the initial slope
OBJECTIVE_ROUNDING = 1e-14  # relative to the objective: a smaller change is a rounding error
MAX_TRIALS = 60  # step lengths tried in one line search
# Largest ratio of rank to number of points for which a factor of K is cheaper than K.
MAX_RANK_RATIO = 0.5
PATIENCE = 3  # consecutive steps that lower neither the objective nor the gradient


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


def ridge_path(gram, loss_function, lams, *, tol=1e-6, max_iter=200, start=None):
    """Compute the path as `solve_logistic_path` does, for a `GramMatrix` and a loss function."""
    results, factor = [], None
    if isinstance(gram, StoredGram):
        # Conjugate gradients need a definite inner product. K may be singular, so use a factor.
        multiclass = np.ndim(loss_function.zero_intercept) > 0
        max_rank = None if multiclass else MAX_RANK_RATIO * gram.n
        factor = pivoted_cholesky(gram.K, max_rank=max_rank)
    for lam in lams:
        problem = RidgeProblem(loss_function, gram, lam)
        if factor is None:
            result = _run_newton(problem, start, tol, max_iter)
        else:
            result = _run_newton_on_factor(problem, factor, start, tol, max_iter)
        results.append(result)
        start = result.coef, result.intercept
    return results


def expansion_coefficients(gram, result, lam):
    r"""Return the coefficients alpha of the kernel expansion for a solution w.

    w is in the coordinates of the factor Z. At a minimum :math:`\lambda w = Z^\top G`, so
    :math:`\alpha = G/\lambda` has the weights :math:`Z^\top\alpha = w`, as in :eq:`eq-newton`. A
    correction removes the difference that remains because the tolerance is finite.
    """
    if lam == 0:
        return gram.coefficients(result.coef)
    alpha = result.negative_gradient / lam
    return alpha + gram.coefficients(result.coef - gram.adjoint(alpha))


class RidgeProblem(NamedTuple):
    """A loss of the outputs plus lam / 2 times the squared norm of the function."""

    loss_function: TwoClassLoss | Multinomial
    gram: GramMatrix
    lam: float

    def objective(self, A, f, b):
        """Return the objective of coefficients A with outputs f, and intercept b."""
        return self.loss_function.loss(f + b) + 0.5 * self.lam * self.gram.inner(A, A, f)


def _run_newton_on_factor(problem, factor, start, tol, max_iter):
    """Minimise over the weights of a factor, and return coefficients of the points."""
    if start is not None:
        start = factor.adjoint(start[0]), start[1]
    result = _run_newton(problem._replace(gram=factor), start, 0.5 * tol, max_iter)
    alpha = expansion_coefficients(factor, result, problem.lam)
    return _certified_result(problem, (alpha, result.intercept), tol, result.n_iter, result.message)


def _run_newton(problem, start, tol, max_iter):
    """Minimise over the coefficients in the representation of ``gram``.

    Each step starts from the optimal intercept.
    """
    loss_function, gram, lam = problem
    zero = np.zeros((gram.n_unknowns, *np.shape(loss_function.zero_intercept)))
    A, b = (zero, loss_function.zero_intercept) if start is None else start
    f = gram.outputs(A)
    lowest_residual, n_idle, previous_J, message = np.inf, 0, np.inf, ""
    for n_iter in count():
        b, G = best_intercept(loss_function, f, b)
        R, r = gram.adjoint(G) - lam * A, G.sum(axis=0)  # minus the gradient in A and in b
        J = problem.objective(A, f, b)
        residual, gap = _certificate(problem, G, R, r)
        logger.info("Newton, step %d: objective %.6g, gradient %.1e", n_iter, J, residual)
        if residual <= tol and (lam == 0 or gap <= tol * J):
            break
        n_idle = (
            0
            if residual < lowest_residual or previous_J - J > OBJECTIVE_ROUNDING * J
            else n_idle + 1
        )
        lowest_residual, previous_J = min(lowest_residual, residual), J
        if n_iter == max_iter or n_idle == PATIENCE:
            message = (
                "max_iter was reached"
                if n_iter == max_iter
                else "no further progress is possible because of rounding error"
            )
            break
        try:
            dA, db = loss_function.newton_step(gram, lam, f + b, R, r)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            message = str(error)
            break
        df = gram.outputs(dA)
        t = _line_search(problem, (A, b, f), (dA, db, df), (R, r), J)
        A, b, f = A + t * dA, b + t * db, f + t * df
    return _certified_result(problem, (A, b), tol, n_iter, message)


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


def _certified_result(problem, solution, tol, n_iter, message):
    """Return the result with a recomputed certificate, and whether it meets the tolerance.

    ``solution`` holds the coefficients and the intercepts.

    The rounding error of an output is about the precision times the sizes of the terms in its sum.
    The change of the objective that it can cause must not exceed the tolerance.
    """
    (loss_function, gram, lam), (A, b) = problem, solution
    f = gram.outputs(A)
    b, G = best_intercept(loss_function, f, b)
    b = b if np.ndim(b) == 0 else b - b.mean()
    residual, gap = _certificate(problem, G, gram.adjoint(G) - lam * A, G.sum(axis=0))
    J = problem.objective(A, f, b)
    output_error = np.finfo(float).eps * gram.norms.max() * gram.terms_norm(A)
    objective_error = output_error * np.abs(G).sum()
    gap_is_small = np.isinf(gap) or gap <= tol * J
    converged = bool(residual <= tol and gap_is_small and objective_error <= tol * J)
    if not converged and not message:
        message = "rounding error in the outputs exceeds the tolerance"
    return LogisticResult(A, b, J, gap, residual, G, n_iter, converged, message)


def _certificate(problem, G, R, r):
    r"""Return the relative norm of the gradient and the gap :math:`\|R\|^2/(2\lambda)`.

    The gradient is a sum over points. The size of a term is the sum of the absolute entries of G at
    the point; for the gradient in the coefficients it is multiplied by the norm of the point in
    feature space.
    """
    gram, lam = problem.gram, problem.lam
    # Only rounding can make this negative; the absolute value keeps the size of the error.
    squared_norm = abs(gram.inner(R, R, gram.outputs(R)))
    gradient_sizes = np.abs(G).reshape(len(G), -1).sum(axis=1)
    total_size = gradient_sizes @ gram.norms
    residual = max(
        np.sqrt(squared_norm) / (total_size or 1.0), np.abs(r).max() / (gradient_sizes.sum() or 1.0)
    )
    return float(residual), float(0.5 * squared_norm / lam) if lam else np.inf


def _line_search(problem, point, step, negative_gradient, J):
    r"""Return a step length t that does not raise the objective J; 0 if none is found.

    A safeguarded Newton method in t, which stops once the slope is at most a tenth of its initial
    size. The ridge penalty is quadratic in t, so a trial needs n exponentials and no product with
    K.
    """
    loss_function, gram, lam = problem
    (A, b, f), (dA, db, df), (R, r) = point, step, negative_gradient
    F, dF = f + b, df + db
    squared_norm, squared_step_norm = gram.inner(A, A, f), gram.inner(dA, dA, df)
    inner_product = gram.inner(A, dA, df)
    descent = gram.inner(R, dA, df) + np.sum(r * db)  # minus the slope at t = 0
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(MAX_TRIALS):
        slope = lam * (inner_product + t * squared_step_norm) - np.sum(
            loss_function.negative_gradient(F + t * dF) * dF
        )
        if abs(slope) <= SLOPE_RATIO * descent:
            J_new = loss_function.loss(F + t * dF) + lam * (0.5 * squared_norm + t * inner_product)
            J_new += 0.5 * lam * t * t * squared_step_norm
            if J_new <= J * (1.0 + OBJECTIVE_ROUNDING):
                return t
        low, high = (low, t) if slope > 0 else (t, high)
        t -= slope / (loss_function.curvature_along(F + t * dF, dF) + lam * squared_step_norm)
        if not low < t < high:
            t = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return 0.0
