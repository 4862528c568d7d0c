"""A quadratic function plus an l1 penalty: the subproblem of a proximal Newton step."""

import numpy as np
from scipy.linalg import lapack

__all__ = ["kkt_violations", "minimise_l1_quadratic"]

MAX_ITERATIONS = 200  # an iteration is one sweep and the Newton directions after it
PATIENCE = 5  # consecutive iterations that do not halve the KKT violation
JITTER = 1e-12  # relative to the largest curvature; negligible in a regular system


def kkt_violations(alpha, slopes, lam):
    """Return by how much each coefficient violates its optimality condition, :eq:`eq-l1-kkt`."""
    violations_at_zero = np.maximum(np.abs(slopes) - lam, 0.0)
    return np.where(alpha == 0.0, violations_at_zero, np.abs(slopes + lam * np.sign(alpha)))


def minimise_l1_quadratic(Q, c, start, lam, violation_tol):
    r"""Minimise :math:`c^\top(x-a) + \tfrac12(x-a)^\top Q(x-a) + \lambda\|x\|_1` from x = a.

    Here a is ``start``. The iterations end once no KKT violation exceeds ``violation_tol``. Each
    iteration is one sweep of coordinate descent, which identifies the zero coefficients,
    followed by Newton directions for the others. Neither ever raises the objective. Coefficients
    that would change their sign along a direction become zero, and the next direction is computed
    without them (an orthant-wise Newton step).
    """
    x, g = start.copy(), c.copy()
    has_curvature, diagonal = np.diagonal(Q) > 0.0, np.diagonal(Q).tolist()
    lowest_violation, n_idle = np.inf, 0
    for _ in range(MAX_ITERATIONS):
        for j in np.flatnonzero(has_curvature & (kkt_violations(x, g, lam) > 0.0)).tolist():
            q, x_old = diagonal[j], x.item(j)
            z, threshold = x_old - g.item(j) / q, lam / q
            # Soft thresholding, :eq:`eq-soft`.
            x_new = z - threshold if z > threshold else z + threshold if z < -threshold else 0.0
            if x_new != x_old:
                x[j] = x_new
                g += (x_new - x_old) * Q[j]
        while True:
            S = np.flatnonzero(x)
            if not len(S):
                break
            # A larger diagonal, so that a singular matrix still gives a descent direction.
            Q_S = Q[S[:, None], S]
            Q_S.ravel()[:: len(S) + 1] += JITTER * np.diagonal(Q_S).max(initial=0.0)
            _, direction, info = lapack.dposv(Q_S, -g[S] - lam * np.sign(x[S]))
            if info:
                break
            step, at_zero = _projected_step(Q_S, g[S], x[S], direction, lam)
            x[S] += step
            g = c + Q @ (x - start)
            if not at_zero.any():
                break
        violation = kkt_violations(x, g, lam).max(initial=0.0)
        n_idle = 0 if violation < 0.5 * lowest_violation else n_idle + 1
        lowest_violation = min(lowest_violation, violation)
        if violation <= violation_tol or n_idle == PATIENCE:
            break
    return x


def _projected_step(Q, g, x, direction, lam):
    """Return a step along the direction, and which coefficients it sets to zero.

    The step length is halved until the objective decreases. No halving is needed below the length
    at which the first coefficient becomes zero, since the objective is quadratic up to there.
    """
    with np.errstate(divide="ignore"):
        length_to_zero = -x / direction  # step length at which a coefficient becomes zero
    length_to_zero[length_to_zero <= 0.0] = np.inf
    t, shortest_length = 1.0, min(1.0, length_to_zero.min())
    while True:
        t = max(t, shortest_length)
        at_zero = length_to_zero <= t
        step = np.where(at_zero, -x, t * direction)
        change = g @ step + 0.5 * step @ Q @ step + lam * (np.abs(x + step) - np.abs(x)).sum()
        if t == shortest_length or change < 0.0:
            return step, at_zero
        t *= 0.5
