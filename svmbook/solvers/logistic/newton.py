r"""Newton's method for a loss of the outputs plus a ridge penalty.

Newton's method minimises a quadratic model of the objective in each step. For the logistic loss
each step is a weighted ridge regression, :eq:`eq-irls`, so the method is also called iteratively
reweighted least squares. Far from the minimum a step may be too long; a line search shortens it.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np

from ...gram import GramMatrix, StoredGram, pivoted_cholesky
from ...progress import is_interrupted, logger
from .likelihoods import Multinomial, TwoClassLoss, best_intercept
from .result import LogisticResult

__all__ = ["expansion_coefficients", "ridge_path"]

SLOPE_RATIO = 0.1  # slope at which the line search stops, relative to the initial slope
OBJECTIVE_ROUNDING = 1e-14  # relative to the objective: a smaller change is a rounding error
MAX_TRIALS = 60  # step lengths tried in one line search
# Largest ratio of rank to number of points for which a factor of K is cheaper than K.
MAX_RANK_RATIO = 0.5
PATIENCE = 3  # consecutive steps that lower neither the objective nor the gradient


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
        if n_iter == max_iter or n_idle == PATIENCE or is_interrupted():
            message = "no further progress is possible because of rounding error"
            if n_idle < PATIENCE:
                message = "max_iter was reached" if n_iter == max_iter else "it was interrupted"
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
    squared_norm = abs(gram.squared_norm(R))
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
