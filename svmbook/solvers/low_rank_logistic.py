r"""Logistic regression with many points and few weights, by one pass over the points per step.

Newton's method minimises, for the outputs :math:`F = Zw + b1`,

.. math:: \sum_i s_i\log(1 + e^{-y_iF_i}) + \tfrac\lambda2\,\|w\|^2 .

Each step is a weighted ridge regression, :eq:`eq-irls`. The slopes
:math:`\alpha_i = s_i/(1 + e^{y_iF_i})` are multipliers for the dual, whose values
:math:`-\ell_i^*(-\alpha_i)` are :math:`s_i` times the entropy of the predicted probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..gram.low_rank import RidgeTerms
from ..losses import logistic, logistic_slope
from ..progress import is_interrupted, logger
from ..rows import Maximum, Terms, is_in_blocks, map_rows, sum_rows
from .logistic.likelihoods import Binomial
from .logistic.result import LogisticResult
from .one_pass import ClassTerms, Iterate, line_search, ridge_of_points, times_label_by_class
from .start_sample import draw_start_sample

__all__ = ["solve_low_rank_logistic"]


def solve_low_rank_logistic(gram, y, weights, lam, *, tol=1e-6, max_iter=200):
    """Minimise the ridge-penalised log loss for a Gram matrix of low rank.

    Parameters
    ----------
    gram : LowRankGram
        Gram matrix of the points.
    y : ndarray of shape (n,), or Blocks
        Labels -1 and +1, both present.
    weights : ndarray of shape (n,), or Blocks
        Weights of the losses, positive.
    lam : float
        The regularisation parameter, positive.
    tol : float, default=1e-6
        Stop when two quantities are both at most ``tol``: the norm of the gradient, relative to the
        sum of the norms of its terms, and the duality gap, relative to the objective.
    max_iter : int, default=200
        Largest number of Newton steps, not counting those on a sample.

    Returns
    -------
    LogisticResult
        ``coef`` are the weights of the factor's columns.
    """
    problem, solution = (gram, y, weights), (np.zeros(gram.n_unknowns), 0.0)
    problems = [draw_start_sample(*problem), problem]
    for problem in filter(None, problems):
        with problem[0].limit_blas_threads():
            result = _solve(problem, solution, lam, tol, max_iter)
        solution = result.coef, result.intercept
    return result


def _solve(problem, solution, lam, tol, max_iter):
    """Minimise from weights and intercept."""
    gram, y, weights = problem

    def evaluate(w, b):
        at = {"w": w, "b": b, "is_block": is_in_blocks(gram.rows)}
        return sum_rows(partial(LogisticTerms.of_points, **at), y, weights, gram.rows)

    iterate, message = Iterate(evaluate, solution, lam), ""
    for n_iter in range(max_iter + 1):
        residual = _relative_gradient(iterate)
        J = iterate.objective
        logger.info("Newton, step %d: objective %.6g, gradient %.1e", n_iter, J, residual)
        if residual <= tol and iterate.relative_gap <= tol:
            break
        if n_iter == max_iter or is_interrupted():
            message = "max_iter was reached" if n_iter == max_iter else "it was interrupted"
            break
        next_iterate = line_search(iterate, *iterate.newton_step())
        if next_iterate is None:
            message = "no further progress is possible because of rounding error"
            break
        iterate = next_iterate
    (w, b), terms = iterate.solution, iterate.terms
    # The rounding error of an output is about the precision times the sizes of the terms in its
    # sum. The change of the objective that it can cause must not exceed the tolerance.
    output_error = np.finfo(float).eps * terms.largest_norm * np.linalg.norm(w)
    is_accurate = output_error * terms.classes.class_sums.sum() <= tol * J
    if not (is_accurate or message):
        message = "rounding error in the outputs exceeds the tolerance"
    G = map_rows(partial(_negative_gradient, w=w, b=b), y, weights, gram.rows, keep=False)
    gap = iterate.gap
    return LogisticResult(w, float(b), J, gap, residual, G, n_iter, not message, message)


@dataclass(frozen=True, eq=False)
class LogisticTerms(Terms):
    """Sums over the points for one Newton step.

    Attributes
    ----------
    classes : ClassTerms
        Of the log loss.
    ridge : RidgeTerms, or callable
        With the curvature of the loss as weights; see `one_pass.Iterate`.
    function_size : float
        Sum of the multipliers times the norms of the points in feature space.
    largest_norm : Maximum
        The largest of these norms.
    """

    classes: ClassTerms
    ridge: RidgeTerms | Callable
    function_size: float
    largest_norm: Maximum

    @property
    def newton_loss(self):
        """The loss that Newton's method minimises."""
        return self.classes.loss

    @classmethod
    def of_points(cls, y, weights, gram, w, b, is_block=False):
        """Return the terms of points in memory for weights w and intercept b."""
        F, likelihood = gram.outputs(w) + b, Binomial(y, weights)
        m = y * F
        q, p = -logistic_slope(m), -logistic_slope(-m)  # probabilities of the wrong and true label
        alpha, entropy = weights * q, q * logistic(-m) + p * logistic(m)
        class_y_alpha = times_label_by_class(y, alpha)
        class_y_entropy = times_label_by_class(y, weights * entropy)
        return cls(
            ClassTerms(
                likelihood.loss(F),
                np.abs(class_y_alpha.sum(axis=0)),
                np.abs(class_y_entropy.sum(axis=0)),
                gram.adjoint(class_y_alpha),
            ),
            ridge_of_points(gram, likelihood.curvature(F), is_block),
            float(alpha @ gram.norms),
            Maximum(gram.norms.max(initial=0.0)),
        )


def _relative_gradient(iterate):
    """Return the norm of the gradient, relative to the sum of the norms of its terms."""
    (R, r), terms = iterate.negative_gradient, iterate.terms
    size = terms.classes.class_sums.sum()
    return float(max(np.linalg.norm(R) / (terms.function_size or 1.0), abs(r) / (size or 1.0)))


# Applied to each block of points.
def _negative_gradient(y, weights, gram, w, b):
    return Binomial(y, weights).negative_gradient(gram.outputs(w) + b)
