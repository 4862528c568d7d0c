r"""Newton's method for a loss of the outputs plus a ridge penalty.

Newton's method minimises a quadratic model of the objective in each step. For the logistic loss
each step is a weighted ridge regression, :eq:`eq-irls`, so the method is also called iteratively
reweighted least squares. Far from the minimum a step may be too long; a line search shortens it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from ...gram import GramMatrix, StoredGram, pivoted_cholesky
from ...progress import is_interrupted, logger
from ...rows import Blocks, Terms, map_rows, sum_rows
from .likelihoods import Multinomial, TwoClassLoss, best_intercept
from .result import LogisticResult

__all__ = ["NewtonState", "RidgeProblem", "expansion_coefficients", "ridge_path", "run_newton"]

SLOPE_RATIO = 0.1  # slope at which the line search stops, relative to the initial slope
OBJECTIVE_ROUNDING = 1e-14  # relative to the objective: a smaller change is a rounding error
MAX_TRIALS = 60  # step lengths tried in one line search
# Largest ratio of rank to number of points for which a factor of K is cheaper than K.
MAX_RANK_RATIO = 0.5
PATIENCE = 3  # consecutive steps that lower neither the objective nor the gradient


def ridge_path(gram, loss_function, lams, *, tol=1e-6, max_iter=200, start=None):
    """Compute the path as `solve_logistic_path` does, for a `GramMatrix` and a loss function.

    The loss function of points in blocks is given as `Blocks`; ``start`` is then required.
    """
    results, factor = [], None
    if isinstance(gram, StoredGram):
        # Conjugate gradients need a definite inner product. K may be singular, so use a factor.
        multiclass = np.ndim(loss_function.zero_intercept) > 0
        max_rank = None if multiclass else MAX_RANK_RATIO * gram.n
        factor = pivoted_cholesky(gram.K, max_rank=max_rank)
    for lam in lams:
        problem = RidgeProblem(loss_function, gram, lam)
        if factor is None:
            result = _solve(problem, start, tol, max_iter)
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

    loss_function: TwoClassLoss | Multinomial | Blocks
    gram: GramMatrix
    lam: float

    def objective(self, loss, A, f):
        """Return the objective of coefficients A with a loss and the outputs f."""
        return loss + 0.5 * self.lam * self.gram.inner(A, A, f)

    def negative_gradient(self, A, f, b):
        """Return minus the gradient in A and in b, and the sizes of the terms in these sums."""
        gradient = partial(LossGradient.of_points, b=b)
        total = sum_rows(gradient, self.loss_function, f, self.gram.rows)
        return total.function - self.lam * A, total.sum, (total.function_size, total.size)


@dataclass(frozen=True, eq=False)
class LossGradient(Terms):
    """Minus the gradient of the loss: the adjoint and the sum of minus its derivatives G.

    The size of a term is the sum of the absolute entries of G at the point. For the gradient in the
    coefficients it is multiplied by the norm of the point in feature space.
    """

    function: np.ndarray
    sum: float | np.ndarray
    function_size: float
    size: float

    @classmethod
    def of_points(cls, loss_function, f, gram, b):
        """Return the sums over points with outputs f + b."""
        G = loss_function.negative_gradient(f + b)
        sizes = np.abs(G).reshape(len(G), -1).sum(axis=1)
        return cls(gram.adjoint(G), G.sum(axis=0), float(sizes @ gram.norms), float(sizes.sum()))


def _run_newton_on_factor(problem, factor, start, tol, max_iter):
    """Minimise over the weights of a factor, and return coefficients of the points."""
    if start is not None:
        start = factor.adjoint(start[0]), start[1]
    result = _solve(problem._replace(gram=factor), start, 0.5 * tol, max_iter)
    alpha = expansion_coefficients(factor, result, problem.lam)
    return _certified_result(problem, (alpha, result.intercept), tol, result.n_iter, result.message)


def _solve(problem, start, tol, max_iter):
    """Minimise over the coefficients in the representation of ``gram``."""
    if start is None:
        b = problem.loss_function.zero_intercept
        start = np.zeros((problem.gram.n_unknowns, *np.shape(b))), b
    A, b = start
    state = NewtonState(A, b, problem.gram.outputs(A))
    A, b, _, n_iter, message = run_newton(problem, state, tol, max_iter)
    return _certified_result(problem, (A, b), tol, n_iter, message)


class NewtonState(NamedTuple):
    """Where Newton's method starts or stops; the outputs are those without intercept."""

    coef: np.ndarray
    intercept: float | np.ndarray
    outputs: np.ndarray | Blocks
    n_iter: int = 0
    message: str = ""  # why it stopped, unless the tolerance was met


def run_newton(problem, start, tol, max_iter):
    """Minimise from a `NewtonState`; return the last one. Each step has the optimal intercept."""
    loss_function, gram, lam = problem
    A, b, f = start[:3]
    lowest_residual, n_idle, previous_J, message = np.inf, 0, np.inf, ""
    for n_iter in count():
        b, terms = best_intercept(loss_function, f, b)
        R, r, sizes = problem.negative_gradient(A, f, b)
        J = problem.objective(terms.loss, A, f)
        residual, gap = _certificate(problem, R, r, sizes)
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
            dA, db = _newton_step(problem, f, b, terms.is_linear, (R, r))
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            message = str(error)
            break
        df = gram.outputs(dA)
        t = _line_search(problem, (A, b, f), (dA, db, df), (R, r), J)
        A, b, f = A + t * dA, b + t * db, map_rows(partial(_add_multiple, t=t), f, df)
    return NewtonState(A, b, f, n_iter, message)


def _newton_step(problem, f, b, is_linear, negative_gradient):
    """Return the Newton step of coefficients and intercept.

    For two classes it is one weighted ridge regression. If every margin is so large that the loss
    is linear in double precision, the step would be unbounded; a bound replaces the curvature.
    """
    loss_function, gram, lam = problem
    if np.ndim(b):
        return loss_function.newton_step(gram, lam, f + b, *negative_gradient)
    if is_linear:
        W = map_rows(_curvature_bound, loss_function)
    else:
        W = map_rows(partial(_curvature, b=b), loss_function, f)
    return gram.factor_ridge(W, lam)(*negative_gradient)


def _certified_result(problem, solution, tol, n_iter, message):
    """Return the result with a recomputed certificate, and whether it meets the tolerance.

    ``solution`` holds the coefficients and the intercepts.

    The rounding error of an output is about the precision times the sizes of the terms in its sum.
    The change of the objective that it can cause must not exceed the tolerance.
    """
    (loss_function, gram, _), (A, b) = problem, solution
    f = gram.outputs(A)
    b, terms = best_intercept(loss_function, f, b)
    b = b if np.ndim(b) == 0 else b - b.mean()
    residual, gap = _certificate(problem, *problem.negative_gradient(A, f, b))
    J = problem.objective(terms.loss, A, f)
    output_error = np.finfo(float).eps * gram.largest_norm * gram.terms_norm(A)
    objective_error = output_error * terms.gradient_size
    gap_is_small = np.isinf(gap) or gap <= tol * J
    converged = bool(residual <= tol and gap_is_small and objective_error <= tol * J)
    if not converged and not message:
        message = "rounding error in the outputs exceeds the tolerance"
    G = map_rows(partial(_negative_gradient, b=b), loss_function, f)
    return LogisticResult(A, b, J, gap, residual, G, n_iter, converged, message)


def _certificate(problem, R, r, sizes):
    r"""Return the relative norm of the gradient and the gap :math:`\|R\|^2/(2\lambda)`."""
    lam, (function_size, size) = problem.lam, sizes
    # Only rounding can make this negative; the absolute value keeps the size of the error.
    squared_norm = abs(problem.gram.squared_norm(R))
    residual = max(np.sqrt(squared_norm) / (function_size or 1.0), np.abs(r).max() / (size or 1.0))
    return float(residual), float(0.5 * squared_norm / lam) if lam else np.inf


def _line_search(problem, point, step, negative_gradient, J):
    r"""Return a step length t that does not raise the objective J; 0 if none is found.

    A safeguarded Newton method in t, which stops once the slope is at most a tenth of its initial
    size. The ridge penalty is quadratic in t, so a trial needs n exponentials and no product with
    K.
    """
    loss_function, gram, lam = problem
    (A, b, f), (dA, db, df), (R, r) = point, step, negative_gradient
    squared_norm, squared_step_norm = gram.inner(A, A, f), gram.inner(dA, dA, df)
    inner_product = gram.inner(A, dA, df)
    descent = gram.inner(R, dA, df) + np.sum(r * db)  # minus the slope at t = 0
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(MAX_TRIALS):
        line = {"b": b, "db": db, "t": t}
        loss_terms = sum_rows(partial(LossOnLine.of_points, **line), loss_function, f, df)
        slope = lam * (inner_product + t * squared_step_norm) + loss_terms.slope
        if abs(slope) <= SLOPE_RATIO * descent:
            J_new = loss_terms.loss + lam * (0.5 * squared_norm + t * inner_product)
            J_new += 0.5 * lam * t * t * squared_step_norm
            if J_new <= J * (1.0 + OBJECTIVE_ROUNDING):
                return t
        low, high = (low, t) if slope > 0 else (t, high)
        curvature = sum_rows(partial(_curvature_on_line, **line), loss_function, f, df)
        t -= slope / (curvature + lam * squared_step_norm)
        if not low < t < high:
            t = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return 0.0


@dataclass(frozen=True, eq=False)
class LossOnLine(Terms):
    """The loss and its slope at F + t dF, a function of t."""

    loss: float
    slope: float

    @classmethod
    def of_points(cls, loss_function, f, df, b, db, t):
        """Return the sums over points with F = f + b and dF = df + db."""
        F, dF = f + b + t * (df + db), df + db
        return cls(loss_function.loss(F), -np.sum(loss_function.negative_gradient(F) * dF))


# These functions are applied to each block of points.
def _curvature_on_line(loss_function, f, df, b, db, t):
    return loss_function.curvature_along(f + b + t * (df + db), df + db)


def _negative_gradient(loss_function, f, b):
    return loss_function.negative_gradient(f + b)


def _curvature(loss_function, f, b):
    return loss_function.curvature(f + b)


def _curvature_bound(loss_function):
    return loss_function.curvature_bound()


def _add_multiple(f, df, t):
    return f + t * df
