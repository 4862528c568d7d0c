r"""The smallest number of training errors of a hyperplane, exactly, by mixed integer programming.

One variable z_i in {0, 1} a point says whether it may be wrong:

.. math::

    \min_{w, b, z}\ \sum_i z_i \quad\text{subject to}\quad
    y_i(w^\top x_i + b) \ge \epsilon - M_i z_i, \qquad |w_j| \le 1,\ |b| \le d,

with features brought to [-1, 1]. No output is larger than :math:`\sum_j|x_{ij}| + d`, so with
:math:`M_i = \epsilon + \sum_j|x_{ij}| + d` a point with z_i = 1 is free, and a box of w leaves out
no direction. The number of errors of a line has no slope; branch and bound asks one half of the
cases after the other and leaves out those that cannot win.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp

from ..arguments import check_positive
from .checks import check_problem

__all__ = ["FewestErrors", "solve_fewest_errors"]


class FewestErrors(NamedTuple):
    """A hyperplane and its training errors, with a bound for all that keep their distance.

    Attributes
    ----------
    errors : int
        Points that the hyperplane has on the wrong side.
    bound : int
        No hyperplane that keeps its distance from the points it has right makes fewer errors. (One
        that comes nearer to some may; then ``errors`` can be below it.)
    w : ndarray of shape (d,)
        Normal.
    intercept : float
        Intercept.
    """

    errors: int
    bound: int
    w: np.ndarray
    intercept: float

    @property
    def converged(self):
        """Whether the hyperplane is as good as the bound."""
        return self.errors <= self.bound


def solve_fewest_errors(
    X: ArrayLike, y: ArrayLike, *, distance: float = 1e-4, seconds: float = 600.0
) -> FewestErrors:
    """Find a hyperplane with as few training errors as any.

    The time grows exponentially with the points that cannot be right: sixty points in the plane
    take seconds, a hundred may take hours.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    y : array-like of shape (n,)
        Labels -1 and +1, both present.
    distance : float, default=1e-4
        Least output of a point that counts as right, where features are brought to [-1, 1] and no
        weight is larger than 1; from 1e-5, below which the program cannot tell integers apart, to
        0.1. Where an outlier stretches the range of a feature, the other points lie closer than
        that: bring it nearer first.
    seconds : float, default=600.0
        Time to give up after; the bound then says how much was left open.

    Returns
    -------
    FewestErrors
        The hyperplane and the bound.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit, or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_fewest_errors
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> found = solve_fewest_errors(X, [-1, 1, -1, 1, 1])
    >>> found.errors, found.bound
    (1, 1)
    """
    X, y, _ = check_problem(X, y, 1.0, square=False, name="X")
    eps, seconds = check_positive("distance", distance), check_positive("seconds", seconds)
    if not 1e-5 <= eps <= 0.1:
        raise ValueError(f"distance must lie between 1e-5 and 0.1; found {distance!r}.")
    n, d = X.shape
    lowest, highest = X.min(axis=0), X.max(axis=0)
    centre = 0.5 * lowest + 0.5 * highest
    half = np.where(highest > lowest, 0.5 * highest - 0.5 * lowest, 1.0)
    Z = (X - centre) / half
    M = eps + np.abs(Z).sum(axis=1) + d
    rows = np.column_stack([y[:, None] * Z, y, np.diag(M)])
    box = np.concatenate([np.ones(d), [d], np.ones(n)])
    found = milp(
        np.concatenate([np.zeros(d + 1), np.ones(n)]),
        constraints=LinearConstraint(rows, eps, np.inf),
        bounds=Bounds(np.concatenate([-box[: d + 1], np.zeros(n)]), box),
        integrality=np.concatenate([np.zeros(d + 1), np.ones(n)]),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if found.x is None:  # no feasible point in time: predict the larger class
        w, b = np.zeros(d), float(np.sign(y.sum()) or 1.0)
    else:
        w, b = found.x[:d] / half, float(found.x[d])
    b = b - w @ centre
    errors = int((y * (X @ w + b) <= 0.0).sum())
    bound = max(0.0, found.mip_dual_bound or 0.0)  # None or minus infinity before the first bound
    return FewestErrors(errors, int(np.ceil(bound - 1e-6)), w, b)
