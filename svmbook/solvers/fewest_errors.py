r"""The smallest number of training errors of any hyperplane, by mixed integer programming.

A binary variable z_i for each point is 1 if the point may be misclassified:

.. math::

    \min_{w, b, z}\ \sum_i z_i \quad\text{subject to}\quad
    y_i(w^\top x_i + b) \ge \epsilon - M_i z_i, \qquad |w_j| \le 1,\ |b| \le d,

with d features scaled to [-1, 1] and :math:`\epsilon` = ``min_output``. No output exceeds
:math:`\sum_j|x_{ij}| + d` in absolute value. So with :math:`M_i = \epsilon + \sum_j|x_{ij}| + d`
the constraint of a point with z_i = 1 is redundant. The bounds on w exclude no direction, since w
and b can be scaled together. The number of errors is piecewise constant and has no useful gradient.
Branch and bound splits on one z_i at a time, and discards the branches whose lower bound is not
below the best solution found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp

from ..arguments import check_positive
from .checks import check_problem

__all__ = ["FewestErrorsResult", "solve_fewest_errors"]


class FewestErrorsResult(NamedTuple):
    """A hyperplane, its number of training errors, and a lower bound on that number.

    Attributes
    ----------
    n_errors : int
        Number of training points that the hyperplane misclassifies.
    lower_bound : int
        Lower bound on the number of errors of every hyperplane whose outputs at its correctly
        classified points are at least ``min_output`` in absolute value. A hyperplane with smaller
        outputs may make fewer errors, so ``n_errors`` can be below ``lower_bound``.
    w : ndarray of shape (d,)
        Normal vector.
    intercept : float
        Intercept.
    """

    n_errors: int
    lower_bound: int
    w: np.ndarray
    intercept: float

    @property
    def converged(self):
        """Whether the number of errors attains the lower bound."""
        return self.n_errors <= self.lower_bound


def solve_fewest_errors(
    X: ArrayLike, y: ArrayLike, *, min_output: float = 1e-4, time_limit: float = 600.0
) -> FewestErrorsResult:
    """Find a hyperplane with the smallest number of training errors.

    The time grows exponentially with this number: sixty points in the plane take seconds, a hundred
    may take far longer.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    y : array-like of shape (n,)
        Labels -1 and +1, both present.
    min_output : float, default=1e-4
        Smallest absolute output at a correctly classified point, with features scaled to [-1, 1]
        and weights of at most 1 in absolute value. It must lie between 1e-5 and 0.1: a value below
        1e-5 is too close to the tolerances of the mixed integer solver. An outlier that stretches
        the range of a feature moves all other points close together, and their outputs too, so clip
        outliers first.
    time_limit : float, default=600.0
        Time limit in seconds. At the limit, ``lower_bound`` is the best lower bound found so far.

    Returns
    -------
    FewestErrorsResult
        The hyperplane, its errors and the lower bound.

    Raises
    ------
    ValueError, TypeError
        The shapes of the arrays do not match, or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_fewest_errors
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> result = solve_fewest_errors(X, [-1, 1, -1, 1, 1])
    >>> result.n_errors, result.lower_bound
    (1, 1)
    """
    X, y, _ = check_problem(X, y, 1.0, require_square=False, name="X")
    min_output = check_positive("min_output", min_output)
    time_limit = check_positive("time_limit", time_limit)
    if not 1e-5 <= min_output <= 0.1:
        raise ValueError(f"min_output must lie between 1e-5 and 0.1; found {min_output!r}.")
    n, d = X.shape
    minima, maxima = X.min(axis=0), X.max(axis=0)
    centre = 0.5 * minima + 0.5 * maxima
    half_range = np.where(maxima > minima, 0.5 * maxima - 0.5 * minima, 1.0)
    scaled_X = (X - centre) / half_range
    M = min_output + np.abs(scaled_X).sum(axis=1) + d
    constraint_matrix = np.column_stack([y[:, None] * scaled_X, y, np.diag(M)])
    upper_bounds = np.concatenate([np.ones(d), [d], np.ones(n)])
    solution = milp(
        np.concatenate([np.zeros(d + 1), np.ones(n)]),
        constraints=LinearConstraint(constraint_matrix, min_output, np.inf),
        bounds=Bounds(np.concatenate([-upper_bounds[: d + 1], np.zeros(n)]), upper_bounds),
        integrality=np.concatenate([np.zeros(d + 1), np.ones(n)]),
        options={"time_limit": time_limit, "mip_rel_gap": 0.0},
    )
    if solution.x is None:  # no feasible point within the time limit: predict the majority class
        w, b = np.zeros(d), float(np.sign(y.sum()) or 1.0)
    else:
        w, b = solution.x[:d] / half_range, float(solution.x[d])
    b = b - w @ centre
    n_errors = int((y * (X @ w + b) <= 0.0).sum())
    lower_bound = max(0.0, solution.mip_dual_bound or 0.0)  # None or -inf before the first bound
    return FewestErrorsResult(n_errors, int(np.ceil(lower_bound - 1e-6)), w, b)
