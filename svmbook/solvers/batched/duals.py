r"""Thousands of small duals at once, each solved by a monotone active-set method.

The duals :eq:`eq-dual` have at most a few dozen points each, so that the overhead of a function
call exceeds the arithmetic. Here every statement works on all unfinished problems. One array has
all their Gram matrices, padded by points with C = 0, whose multipliers stay zero.

With :math:`\beta = y\circ\alpha` and :math:`e = y - K\beta`, the *face* of a problem is its set of
free multipliers; the others are at their bounds. Each iteration solves the optimality conditions on
all faces, the linear equations :eq:`eq-face`, and moves towards each solution as far as the bounds
allow. A multiplier that reaches its bound is no longer free. On a solved face, the point with the
largest violation is freed, or the most violating pair if no point was free. Up to rounding, the
dual objective never decreases, and there are finitely many faces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...ties import TIE_TOL
from ..checks import check_stopping

__all__ = ["DualBatchResult", "best_intercepts", "solve_dual_batch", "solve_validated_batch"]

DIAGONAL_SHIFT = 1e-12  # relative to the mean k(x, x): keeps faces with repeated points nonsingular
# Relative to the step length: bounds at lengths that differ by less are reached together.
LENGTH_TIE_TOL = 1e-14
ERROR_ROUNDING = 10 * np.finfo(float).eps  # rounding error of e, relative to the sum of its terms
BALANCE_TOL = 1e-12  # relative to the sum of alpha: a smaller |y'alpha| is numerically zero
SLOPE_TOL = 1e-12  # relative to the terms of a slope: a smaller slope is numerically zero


@dataclass(frozen=True, eq=False)
class DualBatchResult:
    r"""Solutions of many SVM duals, each with its certificate.

    Attributes
    ----------
    alpha : ndarray of shape (n_problems, n_points)
        Multipliers, feasible up to rounding; zero where C is zero.
    intercept : ndarray of shape (n_problems,)
        Intercepts; the middle of the interval if more than one is optimal.
    objective, dual_objective : ndarray of shape (n_problems,)
        Upper and lower bound on each minimum.
    kkt_residual : ndarray of shape (n_problems,)
        By how much the lower end of the interval of intercepts exceeds its upper end; zero at the
        optimum.
    n_iter : ndarray of shape (n_problems,)
        Number of linear systems solved.
    converged : ndarray of shape (n_problems,)
        Whether ``kkt_residual`` is at most the tolerance or its rounding error, and
        :math:`y^\top\alpha = 0` up to rounding.
    """

    alpha: np.ndarray
    intercept: np.ndarray
    objective: np.ndarray
    dual_objective: np.ndarray
    kkt_residual: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray

    @property
    def gap(self):
        """Primal minus dual objective of each problem."""
        return self.objective - self.dual_objective


def solve_dual_batch(
    K: ArrayLike, y: ArrayLike, C: ArrayLike, *, tol: float = 1e-11, max_iter: int = 1000
) -> DualBatchResult:
    r"""Solve many small SVM duals at once.

    For each problem: minimises :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`, :math:`Q_{ij} = y_iy_jK_{ij}`.

    Parameters
    ----------
    K : array-like of shape (n_problems, n_points, n_points)
        Gram matrices, symmetric, and positive semi-definite, which is not checked. A problem with
        fewer points than the largest is padded by arbitrary points of either label.
    y : array-like of shape (n_problems, n_points)
        Labels -1 and +1; both present in each problem among the points with positive C.
    C : float or array-like of shape (n_problems, n_points)
        Upper bounds; zero for padding points.
    tol : float, default=1e-11
        Violation of the optimality conditions at which to stop, in units of the margin.
    max_iter : int, default=1000
        Largest number of linear systems per problem; usually one per point is enough.

    Returns
    -------
    DualBatchResult

    Raises
    ------
    ValueError
        The shapes of the arrays do not match; a value is not finite; a matrix is not symmetric; a
        label is not -1 or +1; C is negative; a problem has one class only.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_dual_batch
    >>> four_points = [[1.0, 2], [2, 2], [0, 0], [-2, 3]]
    >>> two_padded_points = [[1.0, 0], [9, 9], [0, 0], [9, 9]]
    >>> X = np.array([four_points, two_padded_points])
    >>> y = np.array([[1, 1, -1, -1], [1, 1, -1, -1]])
    >>> C = np.array([[10, 10, 10, 10], [10, 0, 10, 0]])
    >>> batch = solve_dual_batch(X @ X.transpose(0, 2, 1), y, C)
    >>> (49 * batch.alpha[0]).round(8), batch.alpha[1]
    (array([26.,  0., 18.,  8.]), array([2., 0., 2., 0.]))
    >>> bool((batch.gap < 1e-9).all())
    True
    """
    K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
    if K.ndim != 3 or K.shape != (*y.shape, y.shape[-1]):
        raise ValueError(
            "K and y must have shapes (n_problems, n_points, n_points) and (n_problems, n_points); "
            f"found {K.shape} and {y.shape}."
        )
    try:
        C = np.array(np.broadcast_to(np.asarray(C, dtype=float), y.shape))
    except ValueError:
        raise ValueError(
            f"C must be a number or have the shape of y, {y.shape}; found {np.shape(C)}."
        ) from None
    tol, max_iter = check_stopping(tol, max_iter)
    if not (np.isfinite(K).all() and np.isfinite(C).all() and (C >= 0).all()):
        raise ValueError(
            "K and C must be finite, even for padding points, and C not negative; found "
            f"{(~np.isfinite(K)).sum()} values in K that are not finite, and C from {C.min():g} to "
            f"{C.max():g}."
        )
    if not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(f"y must contain the labels -1 and +1; found {np.unique(y)[:5]}.")
    largest_entry = np.abs(K).max(axis=(1, 2), keepdims=True)
    if (np.abs(K - K.transpose(0, 2, 1)) > 1e-8 * largest_entry).any():
        raise ValueError("each matrix of K must be symmetric; symmetrise it by (K + K.T) / 2.")
    for sign in (-1.0, 1.0):
        one_class_problems = np.flatnonzero(~((y == sign) & (C > 0)).any(axis=1))
        if len(one_class_problems):
            raise ValueError(
                f"problem {one_class_problems[0]} has no point of label {sign:+.0f} with C > 0."
            )
    return solve_validated_batch(K, y, C, tol=tol, max_iter=max_iter)


def solve_validated_batch(K, y, C, *, tol=1e-11, max_iter=1000):
    """Solve many duals as `solve_dual_batch` does, for validated arrays."""
    beta, n_iter = np.zeros(y.shape), np.full(len(y), max_iter)
    # Scale K to about 1, the size of the entries of y; powers of two cause no rounding error.
    scale = _scale(K, C)
    unit = 2.0 ** np.rint(np.log2(scale))[:, None]
    unfinished = _UnfinishedProblems(K / unit[:, :, None], y, C * unit, scale / unit[:, 0], tol)
    for n_done in range(max_iter):
        is_finished = unfinished.check_optimality()
        rows = unfinished.problem_indices[is_finished]
        beta[rows], n_iter[rows] = unfinished.beta[is_finished], n_done
        unfinished.drop(is_finished)
        if not len(unfinished.problem_indices):
            break
        unfinished.free_most_violating()
        unfinished.take_step()
    beta[unfinished.problem_indices] = unfinished.beta
    beta /= unit
    return _certified_batch((K, y, C), beta, _tolerance(beta, scale, tol), n_iter)


class _UnfinishedProblems:
    """The unfinished problems, each with its multipliers and its current face."""

    def __init__(self, K, y, C, scale, tol):
        self.problem_indices = np.arange(len(y))
        self.K, self.y = K, y
        self.lower, self.upper = _bounds(y, C)
        self.beta, self.e = np.zeros(y.shape), np.array(y)
        self.free = np.zeros(y.shape, dtype=bool)
        self.face_solved = np.ones(len(y), dtype=bool)  # no free point, so no equations
        self.b = np.zeros(len(y))  # mean error of the free points
        self.scale, self.tol = scale, tol

    def drop(self, is_finished):
        """Remove the finished problems."""
        if is_finished.any():
            for name in vars(self).keys() - {"tol"}:
                setattr(self, name, getattr(self, name)[~is_finished])

    def check_optimality(self):
        """Return which problems are finished; store the most violating pair of the others."""
        lower_limits, upper_limits = _intercept_limits(self.beta, self.lower, self.upper, self.e)
        self.lower_end, self.upper_end = lower_limits.max(axis=1), upper_limits.min(axis=1)
        violation = self.lower_end - self.upper_end
        tie_tol = TIE_TOL * np.abs(violation)  # ties are broken in favour of the first point
        self.increasing_point = (lower_limits >= (self.lower_end - tie_tol)[:, None]).argmax(axis=1)
        self.decreasing_point = (upper_limits <= (self.upper_end + tie_tol)[:, None]).argmax(axis=1)
        return self.face_solved & (violation <= _tolerance(self.beta, self.scale, self.tol))

    def free_most_violating(self):
        """Free the most violating point of each solved face, or a pair if no point is free."""
        rows = np.flatnonzero(self.face_solved)
        has_no_free_point = ~self.free[rows].any(axis=1)
        lower_violation = self.lower_end[rows] - self.b[rows]
        upper_violation = self.b[rows] - self.upper_end[rows]
        rows_with_increase = rows[has_no_free_point | (lower_violation >= upper_violation)]
        rows_with_decrease = rows[has_no_free_point | (lower_violation < upper_violation)]
        self.free[rows_with_increase, self.increasing_point[rows_with_increase]] = True
        self.free[rows_with_decrease, self.decreasing_point[rows_with_decrease]] = True

    def take_step(self):
        """Solve the equations of each face, and step towards the solution within the bounds."""
        step = self._solve_equations()
        bound = np.where(step > 0, self.upper, self.lower)
        with np.errstate(divide="ignore", invalid="ignore"):
            length_to_bound = (bound - self.beta) / step
        length_to_bound = np.where(step == 0, np.inf, length_to_bound)
        step_length = np.minimum(1.0, length_to_bound.min(axis=1, keepdims=True))
        reaches_bound = length_to_bound <= step_length * (1 + LENGTH_TIE_TOL)
        self.beta = np.where(reaches_bound, bound, self.beta + step_length * step)
        self.free &= ~reaches_bound
        self.e = self.y - _product(self.K, self.beta)
        n_free = self.free.sum(axis=1)
        self.b = (self.e * self.free).sum(axis=1) / np.maximum(n_free, 1)
        residual = np.where(self.free, np.abs(self.e - self.b[:, None]), 0.0).max(axis=1)
        tolerance = _tolerance(self.beta, self.scale, self.tol)
        is_full_step = step_length[:, 0] == 1.0
        self.face_solved = (n_free == 0) | (is_full_step & (residual <= 0.5 * tolerance))

    def _solve_equations(self):
        """Return the steps of :eq:`eq-face`, zero for points that are not free.

        All systems have the size of the largest face, with the free points first. A smaller face is
        padded by the equations 1 * step = 0.
        """
        n, m = self.y.shape
        n_free = self.free.sum(axis=1, keepdims=True)
        size = n_free.max()
        indices = np.argsort(~self.free, axis=1, kind="stable")[:, :size]
        in_face = np.arange(size) < n_free
        system, rhs = np.zeros((n, size + 1, size + 1)), np.zeros((n, size + 1, 1))
        rows = np.arange(n)[:, None]
        block = self.K[rows[:, :, None], indices[:, :, None], indices[:, None, :]]
        system[:, :size, :size] = block * (in_face[:, :, None] & in_face[:, None, :])
        diag = np.arange(size)
        system[:, diag, diag] += np.where(in_face, DIAGONAL_SHIFT * self.scale[:, None], 1.0)
        system[:, :size, size] = system[:, size, :size] = in_face
        rhs[:, :size, 0] = self.e[rows, indices] * in_face
        solution = np.linalg.solve(system, rhs)[:, :size, 0] * in_face
        # On a nearly singular face the last equation, that the steps sum to zero, has the largest
        # error; correct it.
        solution -= in_face * (solution.sum(axis=1, keepdims=True) / np.maximum(n_free, 1))
        step = np.zeros((n, m))
        step[rows, indices] = solution
        return step


def _bounds(y, C):
    """Return the lower and upper bounds of beta."""
    return np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)


def _scale(K, C):
    """Return the mean k(x, x) of each problem, or 1 if all its points are zero."""
    scale = (np.einsum("nii->ni", K) * (C > 0)).sum(axis=1) / (C > 0).sum(axis=1)
    return np.where(scale > 0, scale, 1.0)


def _product(K, beta):
    return np.matmul(K, beta[:, :, None])[:, :, 0]


def _intercept_limits(beta, lower, upper, e):
    """Return lower limits of b, where beta may increase, and upper limits, where it may decrease.

    The largest lower limit and the smallest upper limit are the ends of the interval of optimal
    intercepts. If the lower end exceeds the upper one, the optimality conditions are violated.
    """
    return np.where(beta < upper, e, -np.inf), np.where(beta > lower, e, np.inf)


def best_intercepts(e, y, C):
    r"""Return the intercepts that minimise each primal objective for given weights w.

    With the errors :math:`e_i = y_i - w^\top x_i` the slack is :math:`\max(0, y_i(e_i - b))`, and
    the slope of :math:`\sum_i C_i\max(0, y_i(e_i - b))` is
    :math:`\sum_{e_i < b} C_i - \sum_{y_i = 1} C_i`. So the best b is a weighted quantile of the
    errors; its level is the share of the positive points in the sum of all C. If the slope is zero
    between two errors, all b between them are optimal, and the middle is returned. The multipliers
    are not used: one kept off its bound by rounding error would wrongly determine b.

    Parameters
    ----------
    e, y, C : ndarray of shape (n_problems, n_points)
        Errors, labels -1 and +1, and upper bounds of the multipliers, zero for padding points.

    Returns
    -------
    ndarray of shape (n_problems,)

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers.batched.duals import best_intercepts
    >>> y = np.array([[1.0, -1.0, -1.0]])
    >>> best_intercepts(y - [[0.5, 0.25, 0.0]], y, np.array([[1.0, 1.0, 1.0]]))
    array([-1.125])
    """
    order = np.argsort(e, axis=1)
    sorted_e = np.take_along_axis(e, order, axis=1)
    sorted_C = np.take_along_axis(C, order, axis=1)
    is_positive = np.take_along_axis(y, order, axis=1) > 0
    # The slope right of each error, as a difference of two sums: in one sum, small terms would be
    # lost against large ones.
    C_below = np.cumsum(np.where(is_positive, 0.0, sorted_C), axis=1)
    C_above = np.cumsum(np.where(is_positive, sorted_C, 0.0)[:, ::-1], axis=1)[:, ::-1]
    C_above = np.column_stack([C_above[:, 1:], np.zeros(len(e))])
    slope, tol = C_below - C_above, SLOPE_TOL * (C_below + C_above)
    rows = np.arange(len(e))
    lower_end = sorted_e[rows, (slope >= -tol).argmax(axis=1)]
    upper_end = sorted_e[rows, (slope > tol).argmax(axis=1)]
    return 0.5 * (lower_end + upper_end)


def _tolerance(beta, scale, tol):
    """Return the largest accepted violation: the tolerance, or the rounding error if larger."""
    return np.maximum(tol, ERROR_ROUNDING * (1.0 + scale * np.abs(beta).sum(axis=1)))


def _certified_batch(problems, beta, tolerance, n_iter):
    """Return the solutions, with certificates computed from the multipliers alone."""
    K, y, C = problems
    f = _product(K, beta)
    lower_limits, upper_limits = _intercept_limits(beta, *_bounds(y, C), y - f)
    violation = lower_limits.max(axis=1) - upper_limits.min(axis=1)
    b = best_intercepts(y - f, y, C)
    w_squared = (beta * f).sum(axis=1)
    slack = np.maximum(0.0, 1.0 - y * (f + b[:, None]))
    optimal = violation <= tolerance
    balanced = np.abs(beta.sum(axis=1)) <= BALANCE_TOL * np.abs(beta).sum(axis=1)
    return DualBatchResult(
        alpha=np.abs(beta),
        intercept=b,
        objective=0.5 * w_squared + (C * slack).sum(axis=1),  # :eq:`eq-primal`
        dual_objective=np.abs(beta).sum(axis=1) - 0.5 * w_squared,
        kkt_residual=np.maximum(violation, 0.0),
        n_iter=n_iter,
        converged=optimal & balanced,
    )
