r"""Purification: fewer free points with the same outputs, by moves in the null space of a face.

If the rank of :math:`K_{FF}` is low, many multipliers of the free points F give the same outputs.
With :math:`K_{FF} \approx ZZ^\top` the multipliers may change by any :math:`\delta` with
:math:`A\delta = 0`, where the columns of A are :math:`(z_i, 1)`. Such a change adds
:math:`e_F^\top\delta` to the objective :eq:`eq-dual`, nothing if the face is solved. As in the push
phase of a crossover for linear programs, each free point outside a basis of these columns moves in
the direction in which the objective increases, or else towards its nearer bound, and the basis
compensates for it, until that point or one of the basis reaches a bound. At the end at most rank(A)
points are free.
"""

import numpy as np
from scipy.linalg import qr

from ....gram.factors import pivoted_cholesky
from .state import next_bounds

__all__ = ["low_rank_factor", "purify"]

MIN_PURIFIED_POINTS = 100  # monotone iterations on fewer free points are fast
MIN_POINTS_PER_RANK = 4.0  # with fewer free points per rank, decomposition is faster
RANK_TOL = 1e-10  # of K_FF, relative to its largest diagonal entry
BASIS_TOL = 1e-9  # of the columns of A, relative to the first pivot
PIVOT_TOL = 1e-9  # of entries of a direction that can reach a bound
REINVERSION_PERIOD = 300  # pushes after which the inverse of the basis is computed anew


def low_rank_factor(state, F):
    """Return a factor of :math:`K_{FF}` of low rank; None if the rank is not low or F is small."""
    if len(F) < MIN_PURIFIED_POINTS:
        return None
    gram, max_rank = state.gram.in_double_precision(), len(F) / MIN_POINTS_PER_RANK
    for points in (F[::2], F):  # half of the points rule out most matrices at small cost
        factor = pivoted_cholesky(gram.block(points, points), tol=RANK_TOL, max_rank=max_rank)
        if factor is None:
            return None
    return factor


def purify(state):
    """Move free points to bounds, if their number is a multiple of the rank of their Gram matrix.

    At most one more point than the rank stays free. Return whether points were moved; fewer than
    MIN_PURIFIED_POINTS, or than MIN_POINTS_PER_RANK times the rank, stay free.
    """
    F = np.flatnonzero(state.free)
    factor = low_rank_factor(state, F)
    if factor is None:
        return False
    A = np.vstack([factor.Z.T, np.ones(len(F))])
    _, R, order = qr(A, mode="economic", pivoting=True)
    pivots = np.abs(np.diagonal(R))
    rank = int((pivots > BASIS_TOL * pivots[0]).sum())
    A = np.linalg.qr(A[:, order[:rank]])[0].T @ A  # orthonormal rows of the same null space
    box = state.beta[F], state.lower[F], state.upper[F]
    beta = _push_to_bounds(A, order[:rank], order[rank:], *box, state.e[F], state.rounding_error[F])
    state.set_multipliers(F, beta)
    state.update_free()
    return True


def _push_to_bounds(A, basis, others, beta, lower, upper, e, rounding_error):
    """Move the multipliers ``others`` to bounds, or exchange them for one of the basis."""
    beta, basis = beta.copy(), basis.copy()
    inverse = np.linalg.inv(A[:, basis])
    for n_pushes, j in enumerate(others, start=1):
        column = inverse @ A[:, j]
        slope = e[j] - e[basis] @ column  # of the objective
        distance_up, distance_down = upper[j] - beta[j], beta[j] - lower[j]
        is_up = slope > 0 if abs(slope) > rounding_error[j] else distance_up <= distance_down
        sign, length = (1.0, distance_up) if is_up else (-1.0, distance_down)
        direction = -sign * column  # of the basis, which keeps A beta constant
        pivots = np.where(np.abs(direction) > PIVOT_TOL, direction, 0.0)
        bound, lengths = next_bounds(beta[basis], pivots, lower[basis], upper[basis])
        i = int(lengths.argmin())
        is_exchange = lengths[i] < length
        length = max(lengths[i], 0.0) if is_exchange else length
        beta[basis] = np.clip(beta[basis] + length * direction, lower[basis], upper[basis])
        if is_exchange:  # point i of the basis reaches its bound first, and j replaces it
            beta[basis[i]] = bound[i]
            beta[j] += sign * length
            row = inverse[i] / column[i]
            inverse -= np.outer(column, row)
            inverse[i], basis[i] = row, j
        else:
            beta[j] = upper[j] if sign > 0 else lower[j]
        if n_pushes % REINVERSION_PERIOD == 0:
            inverse = np.linalg.inv(A[:, basis])
    return beta
