"""A quadratic plus an absolute-value penalty, :eq:`eq-l1`: a step of proximal Newton."""

import numpy as np
from scipy.linalg import lapack

__all__ = ["minimise_parabola", "violation_of"]

MAX_ITERATIONS = 200  # an iteration is one sweep and the Newton directions after it
PATIENCE = 20  # consecutive iterations that do not halve the KKT violation
JITTER = 1e-12  # relative to the largest curvature; negligible in a regular system


def violation_of(alpha, slope, lam):
    """Return by how much each coefficient violates its optimality condition, :eq:`eq-l1-kkt`."""
    at_zero = np.maximum(np.abs(slope) - lam, 0.0)
    return np.where(alpha == 0.0, at_zero, np.abs(slope + lam * np.sign(alpha)))


def minimise_parabola(Q, c, start, lam, max_violation):
    r"""Minimise :math:`c^\top(x-a) + \tfrac12(x-a)^\top Q(x-a) + \lambda\|x\|_1`, a the start.

    Each iteration is one sweep of coordinate descent, which identifies the zero coefficients,
    followed by Newton directions for the others. Neither ever raises the objective. If a
    coefficient reaches zero along a direction, the step ends there, and the next direction is
    computed without this coefficient.
    """
    x, g = start.copy(), c.copy()
    curved, diagonal = np.diagonal(Q) > 0.0, np.diagonal(Q).tolist()
    lowest, idle = np.inf, 0
    for _ in range(MAX_ITERATIONS):
        for j in np.flatnonzero(curved & (violation_of(x, g, lam) > 0.0)).tolist():
            q, old = diagonal[j], x.item(j)
            z, threshold = old - g.item(j) / q, lam / q
            # Soft thresholding, :eq:`eq-soft`.
            new = z - threshold if z > threshold else z + threshold if z < -threshold else 0.0
            if new != old:
                x[j] = new
                g += (new - old) * Q[j]
        while True:
            S = np.flatnonzero(x)
            if not len(S):
                break
            # A larger diagonal, so that a singular system still gives a descent direction.
            system = Q[S[:, None], S]
            system.ravel()[:: len(S) + 1] += JITTER * np.diagonal(system).max(initial=0.0)
            _, direction, info = lapack.dposv(system, g[S] + lam * np.sign(x[S]))
            if info:
                break
            with np.errstate(divide="ignore"):
                zero_at = x[S] / direction  # step length at which a coefficient becomes zero
            zero_at[zero_at <= 0.0] = np.inf
            first = int(np.argmin(zero_at))
            t = min(1.0, zero_at[first])
            x[S] -= t * direction
            if t < 1.0:
                x[S[first]] = 0.0
            g = c + Q @ (x - start)
            if t == 1.0:
                break
        violation = violation_of(x, g, lam).max(initial=0.0)
        idle = 0 if violation < 0.5 * lowest else idle + 1
        lowest = min(lowest, violation)
        if violation <= max_violation or idle == PATIENCE:
            break
    return x
