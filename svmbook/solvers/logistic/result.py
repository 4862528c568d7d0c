"""The result of logistic regression, and of other losses minimised by the same solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["LogisticResult"]


@dataclass(frozen=True, eq=False)
class LogisticResult:
    r"""A minimiser of the log loss, or of another loss, plus a penalty, with its certificate.

    Attributes
    ----------
    coef : ndarray of shape (n,), (n, k), (r,) or (r, k)
        Coefficients of the points, or weights of the factor's columns.
    intercept : float or ndarray of shape (k,)
        Intercept; for k classes one per class, with sum zero.
    objective : float
        The penalised objective.
    gap : float
        Duality gap, an upper bound on the distance of the objective from its minimum; infinite
        without a penalty.
    kkt_residual : float
        The violation of the optimality conditions, measured as the solver compares it with ``tol``.
    negative_gradient : ndarray of shape (n,) or (n, k)
        The dual solution: minus the derivative of each point's loss with respect to its outputs,
        :eq:`eq-pull`, which is its weight times (1 for the true class, else 0, minus the
        probability).
    n_iter : int
        Number of Newton steps; for `select_import_points`, the number of points selected.
    converged : bool
        Whether the tolerance was met.
    message : str
        Why the solver stopped; may be empty if it converged.
    full_model_gap : float, optional
        For coefficients restricted to a subset of points: an upper bound on the distance of the
        objective from its minimum over the coefficients of all points.
    """

    coef: np.ndarray
    intercept: float | np.ndarray
    objective: float
    gap: float
    kkt_residual: float
    negative_gradient: np.ndarray
    n_iter: int
    converged: bool
    message: str = ""
    full_model_gap: float | None = None
