r"""Linear SVMs with the l1 norm on many small subsets, several in each linear program.

The problem is :eq:`eq-primal` with the sum of absolute weights in place of half the sum of squares.
The ensemble members share no variables, so one linear program with a block-diagonal matrix, one
block per member, solves several in one call. Each member's objective and lower bound follow from
its part of the solution.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from .members import Hyperplanes

__all__ = ["fit_l1_members"]

MAX_MATRIX_ENTRIES = 50_000  # approximate limit for the matrix of one linear program


def fit_l1_members(X, positive, negative, C, positive_weights):
    r"""Train l1-norm SVMs, whose weight vectors are sparse, on many small subsets.

    Each member minimises :math:`\|w\|_1 + \sum_i C_i\max(0, 1 - y_i(w^\top x_i + b))` over its
    points. With :math:`w = u - v` this is a linear program in :math:`u, v, \xi \ge 0` and b. By
    duality, :math:`\sum_i\alpha_i` is a lower bound on the minimum for all multipliers with
    :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0` and
    :math:`|\sum_i y_i\alpha_ix_{ij}| \le 1` for each feature j.

    Parameters
    ----------
    X, positive, negative, C, positive_weights
        As in `fit_linear_members`.

    Returns
    -------
    Hyperplanes
    """
    # Positive points have positive entries, negative points the entry -1.
    points = sparse.csr_array(positive).astype(int) - sparse.csr_array(negative)
    n_points = np.diff(points.indptr)
    program_indices = np.cumsum(n_points * (2 * X.shape[1] + 2)) // MAX_MATRIX_ENTRIES
    solutions = [
        _solve_program(X, points[rows], C, positive_weights[rows])
        for rows in (program_indices == index for index in np.unique(program_indices))
    ]
    return Hyperplanes(*map(np.concatenate, zip(*solutions, strict=True)))


def _solve_program(X, points, C, positive_weights):
    """Solve one linear program for several members."""
    member_indices, point_indices = points.nonzero()
    y = np.sign(points.data).astype(float)
    C_i = C * np.where(y > 0, positive_weights[member_indices] * points.data, 1.0)
    # n members, d features and m constraints, one per member and point
    n, d, m = points.shape[0], X.shape[1], len(point_indices)
    # With a point of the subset as the origin, rounding errors are proportional to the differences
    # between points, not to their distance from zero.
    origin = X[points.argmax(axis=1)]
    signed_points = y[:, None] * (X[point_indices] - origin[member_indices])
    rows = np.repeat(np.arange(m), d)
    columns = (member_indices[:, None] * d + np.arange(d)).ravel()
    feature_columns = sparse.csr_array((signed_points.ravel(), (rows, columns)), shape=(m, n * d))
    intercept_columns = sparse.csr_array((y, (np.arange(m), member_indices)), shape=(m, n))
    A = sparse.hstack(
        [feature_columns, -feature_columns, intercept_columns, sparse.eye_array(m)], format="csr"
    )
    cost_unit = min(1.0, C)  # scale of the objective: HiGHS treats costs below 1e-7 as zero
    cost = np.concatenate([np.ones(2 * n * d), np.zeros(n), C_i]) / cost_unit
    bounds = np.zeros((len(cost), 2))
    bounds[:, 1] = np.inf
    bounds[2 * n * d : 2 * n * d + n, 0] = -np.inf
    result = linprog(cost, A_ub=-A, b_ub=-np.ones(m), bounds=bounds, method="highs")
    if result.x is None:
        raise ValueError(
            f"HiGHS did not solve the linear program of the members ({result.message}); scale the "
            "features, or lower C."
        )
    w = (result.x[: n * d] - result.x[n * d : 2 * n * d]).reshape(n, d)
    b = result.x[2 * n * d : 2 * n * d + n]
    slack = np.maximum(
        0.0, 1.0 - (signed_points * w[member_indices]).sum(axis=1) - y * b[member_indices]
    )
    objective = np.abs(w).sum(axis=1) + np.bincount(member_indices, C_i * slack, n)
    alpha = np.clip(-cost_unit * result.ineqlin.marginals, 0.0, C_i)
    # Dividing alpha by this factor makes it satisfy the constraint on each feature.
    scaling_factor = np.abs(feature_columns.T @ alpha).reshape(n, d).max(axis=1, initial=1.0)
    gap = objective - np.bincount(member_indices, alpha, n) / scaling_factor
    return Hyperplanes(w, b - (w * origin).sum(axis=1), gap / objective)
