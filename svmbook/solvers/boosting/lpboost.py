r"""LPBoost: the ensemble with the largest margin in the l1 norm, by column generation.

With regularisation parameter C, LPBoost minimises over weights :math:`w \ge 0` of all hypotheses,
:eq:`eq-lpboost`,

.. math:: \sum_h w_h + C\sum_i\xi_i \quad\text{subject to}\quad y_iF(x_i) \ge 1 - \xi_i,\ \xi \ge 0,

a linear program with too many columns to write down. Its dual, :eq:`eq-lpboost-dual`, has one
variable per point,

.. math:: \max_{0 \le u \le C} \sum_i u_i \quad\text{subject to}\quad
    \sum_i u_iy_ih(x_i) \le 1 \text{ for all } h,

and the base learner finds the most violated constraint, that is, the hypothesis with the largest
edge. Column generation solves the program for some hypotheses, adds the one with the largest edge
(and possibly others with large edges), and stops when no edge exceeds one. For the hard margin, the
linear program maximises the margin :math:`\rho` over weights that sum to one. It always has a
solution; if its margin is not positive, no ensemble separates the classes.
`svmbook.solvers.boosting.restricted_program` solves the program for some hypotheses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...progress import logger
from .restricted_program import RestrictedProgram

__all__ = ["LPBoostResult", "run_lpboost"]

WEIGHT_TOL = 1e-9  # relative to the largest weight: smaller weights are numerically zero
MARGIN_TOL = 1e-9  # a margin this small is numerically zero


@dataclass(frozen=True, eq=False)
class LPBoostResult:
    r"""An ensemble with its certificate.

    Attributes
    ----------
    hypotheses : list
        The hypotheses of positive weight, as the base learner returned them.
    weights : ndarray
        Their weights.
    multipliers : ndarray of shape (n,)
        The dual variables u, feasible: no hypothesis of the learner has an edge above one.
    objective, dual_objective : float
        Upper and lower bound on the optimum; for the hard margin, on
        :math:`\sum_h w_h = 1/\rho`.
    margin : float
        The smallest :math:`y_iF(x_i)/\sum_h w_h`.
    n_iter : int
        Number of linear programs solved.
    converged : bool
        Whether the gap is within the tolerance.
    message : str
        Why the solver stopped.
    """

    hypotheses: list
    weights: np.ndarray
    multipliers: np.ndarray
    objective: float
    dual_objective: float
    margin: float
    n_iter: int
    converged: bool
    message: str

    @property
    def gap(self):
        """Primal minus dual objective."""
        return self.objective - self.dual_objective


def run_lpboost(learner, X, y, C, *, tol=1e-6, max_iter=1000, original_indices=None):
    r"""Solve the linear program of LPBoost by column generation.

    Parameters
    ----------
    learner : object
        ``learner.candidates(g, min_edge)`` returns some hypotheses with outputs -1 and +1, as an
        object like `svmbook.solvers.boosting.stumps.StumpArray`, and the largest edge
        :math:`\sum_i g_ih(x_i)` of all hypotheses. If it exceeds ``min_edge``, a hypothesis that
        attains it must be among them.
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    C : ndarray of shape (n,)
        Regularisation parameter of each point; all infinite for the hard margin.
    tol : float, default=1e-6
        Relative gap at which to stop.
    max_iter : int, default=1000
        Largest number of linear programs.
    original_indices : ndarray of shape (n,), default=None
        Indices of the points in the user's data, for error messages; None numbers them from 0.

    Returns
    -------
    LPBoostResult

    Raises
    ------
    ValueError
        C is infinite, and no ensemble separates the classes.

    References
    ----------
    Lin (2005), algorithm 2 and (P7); Demiriz, Bennett and Shawe-Taylor (2002), "Linear programming
    boosting via column generation", Machine Learning 46, 225-254.
    """
    program = RestrictedProgram(C)
    hard_margin = program.hard_margin
    u = np.full(len(y), 1.0 / len(y)) if hard_margin else C  # optimal without any hypothesis
    objective, min_edge = (np.inf, 0.0) if hard_margin else (C.sum(), 1.0)
    dual_objective, multipliers, hypotheses, weights = -np.inf, u, [], np.empty(0)
    message, n_iter = "max_iter was reached", 0
    while True:
        candidates, largest_edge = learner.candidates(u * y, min_edge)
        largest_edge = max(largest_edge, min_edge)
        if hard_margin and largest_edge <= MARGIN_TOL:
            if original_indices is None:
                original_indices = np.arange(len(y))
            raise ValueError(_inseparable_message(X, y, original_indices))
        # Divided by the largest edge, u is feasible and gives a lower bound; with a soft margin,
        # the largest edge is at least one.
        feasible_u = u / largest_edge
        lower_bound = feasible_u.sum()
        if lower_bound > dual_objective:
            dual_objective, multipliers = lower_bound, feasible_u
        converged = bool(
            np.isfinite(objective) and abs(objective - dual_objective) <= tol * objective
        )
        if converged:
            message = "the duality gap is within the tolerance"
            break
        if n_iter == max_iter:
            break
        new_indices = program.add(y[:, None] * candidates(X))
        if not len(new_indices):
            message = "the linear program was not solved accurately enough to find a new hypothesis"
            break
        candidate_list = candidates.as_list()
        hypotheses += [candidate_list[k] for k in new_indices]
        weights, u, min_edge = program.solve()
        weights = np.where(weights > WEIGHT_TOL * weights.max(initial=0.0), weights, 0.0)
        margins = program.columns @ weights
        objective = _objective(weights, margins, C, hard_margin)
        n_iter += 1
        logger.info(
            "LPBoost, linear program %d: objective %.6g, bound %.6g",
            n_iter,
            objective,
            dual_objective,
        )
    nonzero = np.flatnonzero(weights)
    weight_sum = weights.sum()
    # For the hard margin, the weights sum to one; scale them to the smallest output y F(x) = 1.
    scale = objective / weight_sum if hard_margin and np.isfinite(objective) else 1.0
    return LPBoostResult(
        hypotheses=[hypotheses[k] for k in nonzero],
        weights=scale * weights[nonzero],
        multipliers=multipliers,
        objective=float(objective),
        dual_objective=float(dual_objective),
        margin=float(margins.min() / weight_sum) if len(nonzero) else 0.0,
        n_iter=n_iter,
        converged=converged,
        message=message,
    )


def _objective(weights, margins, C, hard_margin):
    """Return the primal objective of the weights, computed independently of the solver."""
    if not hard_margin:
        return weights.sum() + C @ np.maximum(0.0, 1.0 - margins)
    return weights.sum() / margins.min() if margins.min() > 0 else np.inf


def _inseparable_message(X, y, original_indices):
    """Return an error message; it names two equal points of different classes if there are any."""
    _, group = np.unique(X, axis=0, return_inverse=True)
    order = np.lexsort([y, group.ravel()])
    pairs = np.flatnonzero((np.diff(group.ravel()[order]) == 0) & (np.diff(y[order]) != 0))
    if len(pairs):
        i, j = sorted(original_indices[order[pairs[0] : pairs[0] + 2]].tolist())
        reason = f"points {i} and {j} are equal and have different labels"
    else:
        reason = "for some point weights, each hypothesis has the same mean output on both classes"
    return (
        f"no ensemble of these hypotheses separates the classes, as C=inf requires: {reason}. "
        "Choose a finite C."
    )
