r"""The exact solution of an SVM with many points from those near the margin boundary.

Let the outputs of an approximate solution divide the points into three groups. Those well outside
the margin probably have :math:`\alpha_i = 0`; they are left out. Those well inside, or
misclassified, probably have :math:`\alpha_i = C_i`; those of each class are merged into their mean
:math:`\bar z = \sum_i C_i z_i/\bar C` with the upper bound :math:`\bar C = \sum_i C_i`. Only the
points near the margin boundary are kept. The result is an SVM with few points. Its multipliers,
with :math:`\alpha_i = C_i\bar\alpha/\bar C` for merged points, are feasible for all points and have
the same dual objective, which is therefore a lower bound for the SVM of all points. If the groups
are correct, both SVMs have the same solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..gram import centred_gram
from ..rows import Terms, map_rows, split_rows, sum_rows
from .dual.interior_point import solve_interior_point_on_gram, undo_centring

__all__ = ["count_kept_points", "solve_reduced_problem"]

KEPT_WIDTHS = 2.0  # points are kept up to this many widths of the smoothed hinge from the margin 1
BOUND_TOL = 1e-12  # relative to C_i: a multiplier this close to 0 or C_i is at its bound
OUTSIDE, KEPT, INSIDE = 1, 0, -1


def count_kept_points(slack, C, width):
    """Return the number of points that the reduced problem keeps, given 1 - y_i F_i."""
    return np.count_nonzero(_is_kept(slack, width) & (C > 0))


def solve_reduced_problem(problem, solution, width, tol):
    """Solve the SVM of the kept and the merged points.

    Parameters
    ----------
    problem : tuple (gram, y, C)
        Gram matrix of low rank, labels and upper bounds of all points.
    solution : tuple (w, b)
        Weights and intercept of an approximate solution.
    width : float
        Width of its smoothed hinge.
    tol : float
        Relative duality gap of the reduced problem.

    Returns
    -------
    weights : ndarray of shape (r,)
        Weights of the solution.
    intercept : float
    alpha : ndarray of shape (n,) or Blocks
        Feasible multipliers of all points.
    """
    (gram, y, C), (w, b) = problem, solution
    grouping = {"w": w, "b": b, "width": width}
    kept = sum_rows(partial(ReducedPoints.of_points, **grouping), y, C, gram.rows)
    has_merged = kept.merged_C > 0
    means = kept.merged_rows[has_merged] / kept.merged_C[has_merged, None]
    reduced_Z = np.vstack([*kept.rows, means])
    reduced_y = np.concatenate([*kept.y, np.array([-1.0, 1.0])[has_merged]])
    reduced_C = np.concatenate([*kept.C, kept.merged_C[has_merged]])
    centred, mean = centred_gram(reduced_Z)
    result = solve_interior_point_on_gram(centred, reduced_y, reduced_C, tol=tol)
    result = undo_centring(result, centred, reduced_y, mean)
    share_of_C = result.alpha / reduced_C
    is_at_bound = np.minimum(share_of_C, 1.0 - share_of_C) <= BOUND_TOL
    share_of_C = np.where(is_at_bound, np.rint(share_of_C), share_of_C)
    n_kept = len(reduced_y) - has_merged.sum()
    merged_shares = np.zeros(2)
    merged_shares[has_merged] = share_of_C[n_kept:]
    block_sizes = [len(labels) for labels in kept.y]
    kept_alpha = split_rows((share_of_C * reduced_C)[:n_kept], block_sizes, y)
    lift = partial(_lift_multipliers, merged_shares=merged_shares, **grouping)
    alpha = map_rows(lift, y, C, gram.rows, kept_alpha, keep=False)
    return reduced_Z.T @ (reduced_y * share_of_C * reduced_C), result.intercept, alpha


@dataclass(frozen=True, eq=False)
class ReducedPoints(Terms):
    """The kept points of each block, and sums over the merged points of the classes -1 and +1."""

    rows: list
    y: list
    C: list
    merged_rows: np.ndarray  # of shape (2, r): sums of C_i z_i
    merged_C: np.ndarray  # of shape (2,)

    @classmethod
    def of_points(cls, y, C, gram, w, b, width):
        """Return the reduced points of one block."""
        group = _groups(1.0 - y * (gram.outputs(w) + b), width)
        kept = np.flatnonzero((group == KEPT) & (C > 0))
        is_merged = (group == INSIDE)[:, None] & (y[:, None] == [-1.0, 1.0])
        merged_C = np.where(is_merged, C[:, None], 0.0)
        Z = gram.submatrix(kept).Z
        return cls([Z], [y[kept]], [C[kept]], gram.adjoint(merged_C).T, merged_C.sum(axis=0))


def _is_kept(slack, width):
    return np.abs(slack) <= KEPT_WIDTHS * width


def _groups(slack, width):
    return np.where(_is_kept(slack, width), KEPT, np.where(slack > 0.0, INSIDE, OUTSIDE))


# Applied to each block of points.
def _lift_multipliers(y, C, gram, kept_alpha, w, b, width, merged_shares):
    group = _groups(1.0 - y * (gram.outputs(w) + b), width)
    alpha = np.where(group == INSIDE, C * merged_shares[(y > 0).astype(int)], 0.0)
    alpha[(group == KEPT) & (C > 0)] = kept_alpha
    return alpha
