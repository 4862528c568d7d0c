r"""Adaptive boosting: hypotheses one after the other, each on points reweighted by the last.

Freund and Schapire's algorithm walks downhill on :math:`\sum_i u_i e^{-y_iF(x_i)}`, one hypothesis
a step, each step as long as it pays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...ties import TIE_TOL
from ...weights import shares

__all__ = ["BoostingResult", "adaboost"]


class BoostingResult(NamedTuple):
    """Hypotheses as the learner returned them, what each weighs, and how the rounds ended."""

    hypotheses: list
    weights: np.ndarray
    message: str


def adaboost(learner, X, y, rounds, u):
    r"""Boost a base learner.

    In each round the best hypothesis h for weights u, of error :math:`\epsilon`, gets the weight
    :math:`w = \tfrac12\log((1 - \epsilon)/\epsilon)`, :eq:`eq-adaboost-weight`, which minimises
    :math:`\sum_i u_i e^{-wy_ih(x_i)}`. (The source's w is twice that, and its ensemble the same.)
    Then the points' weights are multiplied by :math:`e^{-wy_ih(x_i)}` and brought to the sum one:
    the right ones are divided by :math:`2(1 - \epsilon)`, the wrong ones by :math:`2\epsilon`.

    Parameters
    ----------
    learner : object
        ``learner.best(g)`` returns the hypothesis of the largest edge :math:`\sum_i g_ih(x_i)`, and
        that edge; see `svmbook.solvers.boosting.stumps.MiddleStumps`.
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    rounds : int
        Hypotheses at most.
    u : ndarray of shape (n,)
        Weights to start from, positive.

    Returns
    -------
    BoostingResult
        It may be shorter than ``rounds``: where a hypothesis makes no error it is the whole
        ensemble, and where none beats chance there is no next one.

    References
    ----------
    Lin (2005), algorithm 1.
    """
    g, hypotheses, weights = y * shares(u), [], []
    for _ in range(rounds):
        found, edge = learner.best(g)
        if edge <= TIE_TOL:  # zero but for rounding, as the weights sum to one
            return BoostingResult(hypotheses, np.array(weights), "no hypothesis beats chance")
        hypotheses.append(found)
        agrees = found(X)[:, 0] * y > 0
        error = np.abs(g[~agrees]).sum()  # not from the edge: one minus it loses small errors
        if agrees.all():
            weights.append(1.0)  # only the first can be: otherwise it would have been best before
            return BoostingResult(hypotheses, np.array(weights), "one hypothesis makes no error")
        weights.append(0.5 * np.log((1.0 - error) / error))
        g /= np.where(agrees, 2.0 * (1.0 - error), 2.0 * error)
        g /= np.abs(g).sum()  # rounding error
    return BoostingResult(hypotheses, np.array(weights), "all rounds done")
