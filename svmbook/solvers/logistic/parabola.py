"""A parabola plus an absolute-value penalty, :eq:`eq-l1`: a step of the proximal Newton method."""

import numpy as np
from scipy.linalg import lapack

__all__ = ["minimise_parabola", "violation_of"]

MAX_PARABOLA_ROUNDS = 200  # rounds of one sweep and one Newton direction per parabola
PARABOLA_PATIENCE = 20  # rounds in a row that do not halve the violation of a parabola
JITTER = 1e-12  # relative to the largest curvature; too small to matter in a regular system


def violation_of(alpha, slope, lam):
    """Return by how much each coefficient violates its optimality condition, :eq:`eq-l1-kkt`."""
    at_zero = np.maximum(np.abs(slope) - lam, 0.0)
    return np.where(alpha == 0.0, at_zero, np.abs(slope + lam * np.sign(alpha)))


def minimise_parabola(Q, c, start, lam, enough):
    r"""Minimise :math:`c^\top(x-a) + \tfrac12(x-a)^\top Q(x-a) + \lambda\|x\|_1`, a the start.

    Each round is one sweep of coordinate descent, which finds out which coefficients are zero, and
    one Newton direction among the others, which finds their values. Both only ever descend. The
    direction is followed to the first coefficient that reaches zero; that one stays there, and the
    next direction is computed without it.
    """
    x, g = start.copy(), c.copy()
    curved, diagonal = np.diagonal(Q) > 0.0, np.diagonal(Q).tolist()
    lowest, idle = np.inf, 0
    for _ in range(MAX_PARABOLA_ROUNDS):
        for j in np.flatnonzero(curved & (violation_of(x, g, lam) > 0.0)).tolist():
            q, old = diagonal[j], x.item(j)
            z, kink = old - g.item(j) / q, lam / q
            new = z - kink if z > kink else z + kink if z < -kink else 0.0  # :eq:`eq-soft`
            if new != old:
                x[j] = new
                g += (new - old) * Q[j]
        while True:
            S = np.flatnonzero(x)
            if not len(S):
                break
            system = _jittered(Q[S[:, None], S])
            _, direction, info = lapack.dposv(system, g[S] + lam * np.sign(x[S]))
            if info:
                break
            with np.errstate(divide="ignore"):
                reach = x[S] / direction  # where along minus the direction it becomes zero
            reach[reach <= 0.0] = np.inf
            first = int(np.argmin(reach))
            t = min(1.0, reach[first])
            x[S] -= t * direction
            if t < 1.0:
                x[S[first]] = 0.0
            g = c + Q @ (x - start)
            if t == 1.0:
                break
        violation = violation_of(x, g, lam).max(initial=0.0)
        idle = 0 if violation < 0.5 * lowest else idle + 1
        lowest = min(lowest, violation)
        if violation <= enough or idle == PARABOLA_PATIENCE:
            break
    return x


def _jittered(Q):
    """Return Q with a diagonal that makes a singular Newton system a descent direction."""
    Q.ravel()[:: len(Q) + 1] += JITTER * np.diagonal(Q).max(initial=0.0)
    return Q
