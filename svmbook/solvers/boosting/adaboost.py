r"""AdaBoost: each hypothesis is trained on points that are reweighted after the previous one.

Freund and Schapire's algorithm minimises :math:`\sum_i u_i e^{-y_iF(x_i)}` by coordinate descent
over the weights of the hypotheses, with an exact line search in each round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...ties import TIE_TOL
from ...weights import normalise_weights

__all__ = ["AdaBoostResult", "run_adaboost"]


class AdaBoostResult(NamedTuple):
    """The hypotheses of the base learner, their weights, and why boosting stopped."""

    hypotheses: list
    weights: np.ndarray
    message: str


def run_adaboost(learner, X, y, n_rounds, u):
    r"""Boost a base learner.

    In each round the best hypothesis h for the point weights u, with error :math:`\epsilon`, gets
    the weight :math:`w = \tfrac12\log((1 - \epsilon)/\epsilon)`, :eq:`eq-adaboost-weight`, which
    minimises :math:`\sum_i u_i e^{-wy_ih(x_i)}`. (In Lin (2005) w is twice as large, which
    gives the same classifier.) Then the point weights are multiplied by :math:`e^{-wy_ih(x_i)}` and
    normalised to sum to one: those of correctly classified points are divided by
    :math:`2(1 - \epsilon)`, those of misclassified points by :math:`2\epsilon`.

    Parameters
    ----------
    learner : object
        ``learner.best(g)`` returns the hypothesis with the largest edge :math:`\sum_i g_ih(x_i)`,
        and this edge; see `svmbook.solvers.boosting.stumps.MidpointStumps`.
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    n_rounds : int
        Maximum number of rounds.
    u : ndarray of shape (n,)
        Initial point weights, positive.

    Returns
    -------
    AdaBoostResult
        It may have fewer hypotheses than ``n_rounds``. A hypothesis without errors is the whole
        ensemble, and boosting stops if no hypothesis is better than chance.

    References
    ----------
    Lin (2005), algorithm 1.
    """
    g, hypotheses, weights = y * normalise_weights(u), [], []
    for _ in range(n_rounds):
        hypothesis, edge = learner.best(g)
        if edge <= TIE_TOL:  # zero up to rounding, since the weights sum to one
            return AdaBoostResult(hypotheses, np.array(weights), "no hypothesis beats chance")
        is_correct = hypothesis(X)[:, 0] * y > 0
        error = np.abs(g[~is_correct]).sum()  # (1 - edge) / 2 would lose the digits of small errors
        if is_correct.all():
            return AdaBoostResult([hypothesis], np.ones(1), "one hypothesis makes no error")
        hypotheses.append(hypothesis)
        weights.append(0.5 * np.log((1.0 - error) / error))
        g /= np.where(is_correct, 2.0 * (1.0 - error), 2.0 * error)
        g /= np.abs(g).sum()  # corrects rounding error
    return AdaBoostResult(hypotheses, np.array(weights), "n_rounds was reached")
