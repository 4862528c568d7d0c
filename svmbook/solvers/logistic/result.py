"""What the solvers of penalised log likelihoods return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["LogisticResult"]


@dataclass(frozen=True, eq=False)
class LogisticResult:
    r"""A minimiser of a penalised log likelihood together with its certificate.

    Attributes
    ----------
    coef : ndarray of shape (n,), (n, k), (r,) or (r, k)
        Coefficients of the points, or weights of the factor's columns.
    intercept : float or ndarray of shape (k,)
        Intercept, one a class for k classes; these sum to zero.
    objective : float
        The penalised objective.
    gap : float
        How far the objective can be above its minimum, at most; infinite without a penalty.
    kkt_residual : float
        The violation of the optimality conditions that was compared with the tolerance.
    negative_gradient : ndarray of shape (n,) or (n, k)
        Minus the derivative of each point's loss in its outputs: weight times ((1 if the label is
        this one, else 0) minus probability), :eq:`eq-pull`. The dual solution.
    n_iter : int
        Newton steps.
    converged : bool
        Whether the tolerance was met.
    message : str
        How the solver ended, in words.
    full_gap : float, optional
        Where coefficients are restricted to some of the points: how far the objective can be above
        its minimum over all points, at most.
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
    full_gap: float | None = None
