r"""LPBoost: the ensemble of largest margin in the one-norm, by column generation.

With a price C the ensemble minimises, over weights :math:`w \ge 0` of all hypotheses,
:eq:`eq-lpboost`,

.. math:: \sum_h w_h + C\sum_i\xi_i \quad\text{subject to}\quad y_iF(x_i) \ge 1 - \xi_i,\ \xi \ge 0,

a linear program with far more columns than can be written down. Its dual, :eq:`eq-lpboost-dual`,
has one variable a point,

.. math:: \max_{0 \le u \le C} \sum_i u_i \quad\text{subject to}\quad
    \sum_i u_iy_ih(x_i) \le 1 \text{ for all } h,

and the base learner finds the constraint that is violated most: the hypothesis of the largest edge.
So solve the program for the columns that are there, ask the learner, add what it finds (any
hypothesis of a large edge will do beside the best), and stop when no edge exceeds one. For the hard
margin the same is done with the margin itself, :math:`\max \rho` for weights that sum to one: this
game always has a value, and where it is not positive no ensemble separates the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from ...progress import log

__all__ = ["LPBoostResult", "lpboost"]

WEIGHT_TOL = 1e-9  # relative to the largest weight: numerically zero for the simplex method
MARGIN_TOL = 1e-9  # a margin this small is numerically zero
SIMPLEX_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class LPBoostResult:
    r"""An ensemble with its certificate.

    Attributes
    ----------
    hypotheses : list
        What the learner returned, an entry a hypothesis of positive weight.
    weights : ndarray
        Their weights.
    prices : ndarray of shape (n,)
        The dual variables u, feasible: no hypothesis of the learner has an edge above one.
    objective, dual_objective : float
        Upper and lower bound on the optimum. For the hard margin both are of
        :math:`\sum_h w_h = 1/\rho`.
    margin : float
        The smallest :math:`y_iF(x_i)/\sum_h w_h`.
    n_iter : int
        Linear programs solved.
    converged : bool
        Whether the gap is within the tolerance.
    message : str
        How it ended.
    """

    hypotheses: list
    weights: np.ndarray
    prices: np.ndarray
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


def lpboost(learner, X, y, C, *, tol=1e-6, max_iter=1000, names=None):
    r"""Find the ensemble by column generation.

    Parameters
    ----------
    learner : object
        ``learner.proposals(g, above)`` returns hypotheses whose edges :math:`\sum_i g_ih(x_i)` are
        above a number, among them the one of the largest edge, and these edges.
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    C : ndarray of shape (n,)
        Prices of the slacks; all infinite for the hard margin.
    tol : float, default=1e-6
        Relative gap at which to stop.
    max_iter : int, default=1000
        Linear programs at most.
    names : ndarray of shape (n,), default=None
        Numbers of the points in an error; 0, 1, 2 and so on by default.

    Returns
    -------
    LPBoostResult

    Raises
    ------
    ValueError
        The hard margin is asked for, and no ensemble separates the classes.

    References
    ----------
    Lin (2005), algorithm 2 and (P7); Demiriz, Bennett and Shawe-Taylor (2002), "Linear programming
    boosting via column generation", Machine Learning 46, 225-254.
    """
    n, hard = len(y), bool(np.isinf(C).any())
    solve, bounds = (
        (_solve_hard_margin, _hard_margin_bound)
        if hard
        else (_solve_soft_margin, _soft_margin_bound)
    )
    u = np.full(n, 1.0 / n) if hard else C  # optimal as long as there is no hypothesis
    objective, dual = np.inf if hard else C.sum(), -np.inf
    hypotheses, columns, weights, prices = [], np.empty((n, 0)), np.empty(0), u
    message, reached, solved, known = "all linear programs used up", 0.0, 0, set()
    while True:
        found, edges = learner.candidates(u * y, reached)
        largest = edges.max(initial=reached)
        if hard and largest <= MARGIN_TOL:
            raise ValueError(_is_inseparable(X, y, np.arange(n) if names is None else names))
        bound, feasible = bounds(u, largest)
        if bound > dual:
            dual, prices = bound, feasible
        closed = bool(np.isfinite(objective) and abs(objective - dual) <= tol * objective)
        if closed:
            message = "no hypothesis is missing"
            break
        if solved == max_iter:
            break
        answers = y[:, None] * found(X)
        new = [k for k, column in enumerate(answers.T) if column.tobytes() not in known]
        if not new:
            message = "the linear program is not exact enough to name a missing hypothesis"
            break
        known.update(answers[:, k].tobytes() for k in new)
        as_list = found.as_list()
        hypotheses += [as_list[k] for k in new]
        columns = np.column_stack([columns, answers[:, new]])
        weights, u, reached = solve(columns, C)
        weights = np.where(weights > WEIGHT_TOL * weights.max(initial=0.0), weights, 0.0)
        margins = columns @ weights
        objective = _objective(weights, margins, C, hard)
        solved += 1
        log.info("LPBoost, program %d: objective %.6g, bound %.6g", solved, objective, dual)
    kept = np.flatnonzero(weights)
    return LPBoostResult(
        hypotheses=[hypotheses[k] for k in kept],
        weights=weights[kept],
        prices=prices,
        objective=float(objective),
        dual_objective=float(dual),
        margin=float(margins.min() / weights.sum()) if len(kept) else 0.0,
        n_iter=solved,
        converged=closed,
        message=message,
    )


def _objective(weights, margins, C, hard):
    """Return the objective of weights: what they prove from above, whatever a solver says."""
    if not hard:
        return weights.sum() + C @ np.maximum(0.0, 1.0 - margins)
    return weights.sum() / margins.min() if margins.min() > 0 else np.inf


def _solve_soft_margin(columns, C):
    """Return weights and prices for some columns, and the edge that a new one needs."""
    n, k = columns.shape
    found = linprog(
        np.concatenate([np.ones(k), C]),
        A_ub=-np.column_stack([columns, np.eye(n)]),
        b_ub=-np.ones(n),
        method="highs-ds",
        options=SIMPLEX_OPTIONS,
    )
    if found.x is None:
        raise ValueError(
            f"prices of slack as large as {C.max():g} leave the linear program without a solution "
            "in double precision; lower C or sample_weight, or take C=inf."
        )
    return found.x[:k], np.clip(-found.ineqlin.marginals, 0.0, C), 1.0


def _soft_margin_bound(u, largest):
    """Return a bound from below: prices scaled until no edge exceeds one."""
    feasible = u / max(1.0, largest)
    return feasible.sum(), feasible


def _solve_hard_margin(columns, _):
    """Do as `_solve_soft_margin` for the game of margins: weights with the margin one."""
    n, k = columns.shape
    found = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=np.column_stack([-columns, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(k), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0, None)] * k, (None, None)],
        method="highs-ds",
        options=SIMPLEX_OPTIONS,
    )
    u = np.maximum(-found.ineqlin.marginals, 0.0)
    margin = -found.fun
    if margin <= MARGIN_TOL:
        return found.x[:k], u / u.sum(), max(margin, 0.0)
    return found.x[:k] / margin, u / u.sum(), margin


def _hard_margin_bound(u, largest):
    """Return a bound from below: weights of points that sum to one, scaled as prices."""
    return 1.0 / largest, u / largest


def _is_inseparable(X, y, names):
    """Say which two points no ensemble tells apart, or that it takes more than two."""
    _, group = np.unique(X, axis=0, return_inverse=True)
    order = np.lexsort([y, group.ravel()])
    twins = np.flatnonzero((np.diff(group.ravel()[order]) == 0) & (np.diff(y[order]) != 0))
    if len(twins):
        i, j = sorted(names[order[twins[0] : twins[0] + 2]].tolist())
        why = f"points {i} and {j} are equal and have different labels"
    else:
        why = "some mixture of points of one class looks to every hypothesis like one of the other"
    return (
        f"no ensemble of these hypotheses separates the classes, as C=inf asks: {why}. "
        "Choose a finite C."
    )
