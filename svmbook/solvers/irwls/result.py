"""The result of iteratively reweighted least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["IRWLSResult"]


@dataclass(frozen=True, eq=False)
class IRWLSResult:
    r"""A stationary point of the objective together with its certificate.

    For a cost that is not convex it is a local minimum at best, and there is no duality gap that
    bounds its distance from the global minimum.

    Attributes
    ----------
    w : ndarray of shape (r,)
        Weights, :math:`w = \sum_i \alpha_i y_i z_i` up to rounding.
    intercept : float
        The intercept b.
    alpha : ndarray of shape (n,)
        Multipliers: C_i times minus the derivative of the cost in the margin. At a kink at the
        margin 1 they lie between zero and the slope below the kink.
    objective : float
        J with the original cost.
    smoothed_objectives : ndarray of shape (n_iter,)
        J with the smoothed cost, before each iteration.
    smoothing_widths : ndarray of shape (n_iter,)
        The smoothing widths of these costs.
    kkt_residual : float
        The larger of two norms, each relative to the sum of the norms of its terms:
        :math:`w - \sum_i \alpha_i y_i z_i` and :math:`\sum_i \alpha_i y_i`, where the multipliers
        are slopes of the smoothed cost. It is computed before the last step.
    n_iter : int
        Number of iterations, each of which solves one linear system. The last is a full step, after
        which :math:`w = \sum_i \alpha_i y_i z_i` holds; it is omitted if it would raise J.
    converged : bool
        True in three cases: ``kkt_residual`` is at most the tolerance at the smallest width; it is
        at most the error that rounding of the outputs causes in it; the next iteration is predicted
        to lower J by at most the rounding error of J.
    message : str
        Why the solver stopped.
    """

    w: np.ndarray
    intercept: float
    alpha: np.ndarray
    objective: float
    smoothed_objectives: np.ndarray
    smoothing_widths: np.ndarray
    kkt_residual: float
    n_iter: int
    converged: bool
    message: str = ""

    gap = None
