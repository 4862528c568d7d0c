"""What the rounds of weighted least squares return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["IRWLSResult"]


@dataclass(frozen=True, eq=False)
class IRWLSResult:
    r"""A stationary point of the objective together with its certificate.

    For a cost that is not convex it is a local minimum at best: no gap says how far the smallest
    value is away.

    Attributes
    ----------
    w : ndarray of shape (r,)
        Weights, :math:`w = \sum_i \alpha_i y_i z_i` up to rounding.
    intercept : float
        The intercept b.
    alpha : ndarray of shape (n,)
        Multipliers: the price times the slope of each point's cost. At the margin 1 they lie
        between zero and the slope of the kink.
    objective : float
        J, with the cost as it is.
    objectives : ndarray of shape (n_iter,)
        J with the rounded cost, before each round.
    widths : ndarray of shape (n_iter,)
        The widths of rounding that belong to them.
    kkt_residual : float
        What is left of :math:`w - \sum_i \alpha_i y_i z_i` with the slopes of the rounded cost for
        multipliers, as a fraction of the sum of the lengths of its terms; or of
        :math:`\sum_i \alpha_i y_i`, if that is larger. It is measured before the last step.
    n_iter : int
        Rounds, each one linear system. The last is a full step, after which w is the sum of its
        points; it is left out where it would raise J.
    converged : bool
        Whether ``kkt_residual`` is at most the tolerance, at the smallest width; or as small as the
        rounding of the outputs lets one know; or the next round promises to lower J by less than
        its rounding.
    message : str
        How the solver ended, in words.
    """

    w: np.ndarray
    intercept: float
    alpha: np.ndarray
    objective: float
    objectives: np.ndarray
    widths: np.ndarray
    kkt_residual: float
    n_iter: int
    converged: bool
    message: str = ""

    gap = None
