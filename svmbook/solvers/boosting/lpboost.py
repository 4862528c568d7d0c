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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from ...progress import logger

__all__ = ["LPBoostResult", "run_lpboost"]

WEIGHT_TOL = 1e-9  # relative to the largest weight: smaller weights are numerically zero
MARGIN_TOL = 1e-9  # a margin this small is numerically zero
SIMPLEX_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


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
        ``learner.candidates(g, min_edge)`` returns hypotheses whose edges :math:`\sum_i g_ih(x_i)`
        exceed ``min_edge``, including the one with the largest edge, as an object like
        `svmbook.solvers.boosting.stumps.StumpArray`, and these edges.
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
    n, hard_margin = len(y), bool(np.isinf(C).any())
    solve = _solve_hard_margin if hard_margin else _solve_soft_margin
    u = np.full(n, 1.0 / n) if hard_margin else C  # optimal without any hypothesis
    objective, dual_objective = np.inf if hard_margin else C.sum(), -np.inf
    hypotheses, columns, weights, multipliers = [], np.empty((n, 0)), np.empty(0), u
    message, min_edge, n_iter, seen_columns = "max_iter was reached", 0.0, 0, set()
    while True:
        candidates, edges = learner.candidates(u * y, min_edge)
        largest_edge = edges.max(initial=min_edge)
        if hard_margin and largest_edge <= MARGIN_TOL:
            if original_indices is None:
                original_indices = np.arange(n)
            raise ValueError(_inseparable_message(X, y, original_indices))
        # Scaled so that no edge exceeds one, u is feasible and gives a lower bound.
        feasible_u = u / (largest_edge if hard_margin else max(1.0, largest_edge))
        lower_bound = 1.0 / largest_edge if hard_margin else feasible_u.sum()
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
        candidate_columns = y[:, None] * candidates(X)
        new_indices = [
            k
            for k, column in enumerate(candidate_columns.T)
            if column.tobytes() not in seen_columns
        ]
        if not new_indices:
            message = "the linear program was not solved accurately enough to find a new hypothesis"
            break
        seen_columns.update(candidate_columns[:, k].tobytes() for k in new_indices)
        candidate_list = candidates.as_list()
        hypotheses += [candidate_list[k] for k in new_indices]
        columns = np.column_stack([columns, candidate_columns[:, new_indices]])
        weights, u, min_edge = solve(columns, C)
        weights = np.where(weights > WEIGHT_TOL * weights.max(initial=0.0), weights, 0.0)
        margins = columns @ weights
        objective = _objective(weights, margins, C, hard_margin)
        n_iter += 1
        logger.info(
            "LPBoost, linear program %d: objective %.6g, bound %.6g",
            n_iter,
            objective,
            dual_objective,
        )
    nonzero = np.flatnonzero(weights)
    return LPBoostResult(
        hypotheses=[hypotheses[k] for k in nonzero],
        weights=weights[nonzero],
        multipliers=multipliers,
        objective=float(objective),
        dual_objective=float(dual_objective),
        margin=float(margins.min() / weights.sum()) if len(nonzero) else 0.0,
        n_iter=n_iter,
        converged=converged,
        message=message,
    )


def _objective(weights, margins, C, hard_margin):
    """Return the primal objective of the weights, computed independently of the solver."""
    if not hard_margin:
        return weights.sum() + C @ np.maximum(0.0, 1.0 - margins)
    return weights.sum() / margins.min() if margins.min() > 0 else np.inf


def _solve_soft_margin(columns, C):
    """Return weights, dual variables, and the edge that a new hypothesis must exceed."""
    n, k = columns.shape
    solution = linprog(
        np.concatenate([np.ones(k), C]),
        A_ub=-np.column_stack([columns, np.eye(n)]),
        b_ub=-np.ones(n),
        method="highs-ds",
        options=SIMPLEX_OPTIONS,
    )
    if solution.x is None:
        raise ValueError(
            f"with C times sample_weight as large as {C.max():g} the linear program has no "
            "solution in double precision; lower C or sample_weight, or use C=inf."
        )
    return solution.x[:k], np.clip(-solution.ineqlin.marginals, 0.0, C), 1.0


def _solve_hard_margin(columns, _):
    """Solve for the hard margin, like `_solve_soft_margin`; scale a positive margin to one."""
    n, k = columns.shape
    solution = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=np.column_stack([-columns, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(k), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0, None)] * k, (None, None)],
        method="highs-ds",
        options=SIMPLEX_OPTIONS,
    )
    u = np.maximum(-solution.ineqlin.marginals, 0.0)
    margin = -solution.fun
    if margin <= MARGIN_TOL:
        return solution.x[:k], u / u.sum(), max(margin, 0.0)
    return solution.x[:k] / margin, u / u.sum(), margin


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
