"""The last step of an inexact solver: once the active bounds are known, a linear system."""

from __future__ import annotations

import numpy as np

from .result import intercept_interval

__all__ = ["polish"]

RIDGE = 1e-10  # of the mean diagonal of K, in the linear system
EXACT = 1e-13  # residual, relative to the outputs, at which the system counts as solved


def polish(gram, alpha, intercept, y, C, max_rounds=8):
    r"""Solve for the free multipliers, the others staying at their bounds.

    On the free set F the KKT conditions are equations, :math:`y_i(f_i + b) = 1`. The
    correction :math:`(\delta, \Delta b)` solves

    .. math::

        (Q_{FF} + \varepsilon I)\,\delta + y_F\,\Delta b = 1 - y_F \circ (f_F + b),
        \qquad y_F^\top\delta = 0.

    The small ridge keeps a singular :math:`Q_{FF}` solvable (duplicated points, few features);
    repeating the step removes its effect. A step that would leave the box ends at its wall, and
    the points that stand there are no longer free in the next round.

    Parameters
    ----------
    gram : DenseGram, LowRankGram or KernelGram
        The signed Gram matrix.
    alpha : ndarray of shape (n,)
        Feasible multipliers; those exactly at 0 or at C stay there.
    intercept : float
        A first guess of the intercept.
    y, C : ndarray of shape (n,)
        Labels -1 and +1, and upper bounds.
    max_rounds : int, default=8
        Linear systems at most.

    Returns
    -------
    alpha : ndarray of shape (n,)
        Feasible multipliers.
    intercept : float
        The intercept; the middle of the interval of optimal ones where no multiplier is free.
    f : ndarray of shape (n,)
        Outputs without intercept.
    shift : float
        What ``gram.outputs`` says is to be taken from the intercept.
    """
    alpha = alpha.copy()
    f, shift = gram.outputs(alpha)
    free = np.array([], dtype=int)
    ridge = RIDGE * (gram.scale or 1.0)  # every k(x, x) is zero when all features are
    for _ in range(max_rounds):
        still_free = np.flatnonzero((alpha > 0) & (alpha < C))
        if len(still_free) == 0:
            return alpha, 0.5 * sum(intercept_interval(alpha, y, C, f)), f, shift
        if len(still_free) != len(free):
            free, y_F, C_F = still_free, y[still_free], C[still_free]
            try:
                solve = gram.restrict(free).factor(np.full(len(free), ridge))
            except ArithmeticError:  # indefinite beyond the ridge: what we have is what there is
                break
            Hy = solve(y_F)
        residual = 1.0 - y_F * (f[free] + intercept)
        if np.abs(residual).max() <= EXACT * (1.0 + np.abs(f).max()):
            break
        Hr = solve(residual)
        intercept_step = (y_F @ Hr) / (y_F @ Hy)
        delta = Hr - intercept_step * Hy
        delta -= y_F * (y_F @ delta) / len(free)  # the ridge lets the difference lose y'delta = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            wall = np.where(delta > 0, C_F, 0.0)
            lengths = np.where(delta == 0, np.inf, (wall - alpha[free]) / delta)
        length = min(1.0, lengths.min())
        alpha[free] = np.where(lengths <= length, wall, alpha[free] + length * delta)
        intercept += length * intercept_step
        f, shift = gram.outputs(alpha)
    return alpha, intercept, f, shift
