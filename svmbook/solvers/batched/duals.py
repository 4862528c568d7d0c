r"""Thousands of tiny duals at once, each solved by monotone active sets.

The duals :eq:`eq-dual` have at most some dozens of points each, so that a call costs more than the
arithmetic in it. Here every statement serves all problems that are not finished: one array holds
their Gram matrices, filled up with points of price zero, whose multipliers cannot move.

With :math:`\beta = y\circ\alpha` and :math:`e = y - K\beta`, a problem stands on a *face*: some
multipliers are free, the others at their bounds. A round solves the conditions of all faces, which
are the linear equations :eq:`eq-face`, and goes as far towards each solution as the box allows; a
multiplier that meets its bound leaves the free ones. Where the face is solved, the point whose
error is wrong most is freed, or the pair where none was free. But for rounding the objective never
falls, and there are finitely many faces: so each problem ends, or admits that it did not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...ties import TIE_TOL
from ..checks import check_stopping

__all__ = ["DualBatch", "best_intercepts", "duals", "solve_dual_batch"]

SHIFT = 1e-12  # relative to the mean k(x, x): makes faces regular where points repeat
SAME_STEP = 1e-14  # relative to a step: multipliers that reach their bounds this close together
ERROR_ROUNDING = 10 * np.finfo(float).eps  # times the sum of terms of an error: its rounding error
BALANCE_TOL = 1e-12  # relative to the sum of alpha: numerically zero for the signed sum
SLOPE_TOL = 1e-12  # relative to the terms of a slope: numerically zero


@dataclass(frozen=True, eq=False)
class DualBatch:
    r"""Solutions of many SVM duals, each with its certificate.

    Attributes
    ----------
    alpha : ndarray of shape (n_problems, n_points)
        Multipliers, feasible but for rounding; zero where the price is zero.
    intercept : ndarray of shape (n_problems,)
        Intercepts; the middle of the interval where more than one is optimal.
    objective, dual_objective : ndarray of shape (n_problems,)
        Upper and lower bound on each minimum.
    kkt_residual : ndarray of shape (n_problems,)
        By how much the ends of the interval of intercepts cross; zero at the optimum.
    n_iter : ndarray of shape (n_problems,)
        Linear systems solved.
    converged : ndarray of shape (n_problems,)
        Whether ``kkt_residual`` is at most the tolerance, or what rounding hides, and the
        multipliers balance.
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
) -> DualBatch:
    r"""Solve many small SVM duals at once.

    For each problem: minimises :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`, :math:`Q_{ij} = y_iy_jK_{ij}`.

    Parameters
    ----------
    K : array-like of shape (n_problems, n_points, n_points)
        Gram matrices, symmetric, and positive semi-definite, which is not checked. A problem with
        fewer points than the largest is filled up with any points, of either label.
    y : array-like of shape (n_problems, n_points)
        Labels -1 and +1; both present in each problem among the points with a price.
    C : float or array-like of shape (n_problems, n_points)
        Upper bounds; zero for a point that only fills up.
    tol : float, default=1e-11
        Violation of the optimality conditions at which to stop, in units of the margin.
    max_iter : int, default=1000
        Linear systems at most for each problem; about as many as it has points are usual.

    Returns
    -------
    DualBatch

    Raises
    ------
    ValueError
        The arrays do not fit, or are not finite; a matrix is not symmetric; labels other than -1
        and +1; a negative price; a problem with one class only.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_dual_batch
    >>> four, two = [[1.0, 2], [2, 2], [0, 0], [-2, 3]], [[1.0, 0], [0, 0]]
    >>> X = np.array([four, [two[0], [9, 9], two[1], [9, 9]]])
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
            "K and C must be finite, also where they only fill up, and C not negative; found "
            f"{np.isnan(K).sum() + np.isinf(K).sum()} such values in K, and prices from "
            f"{C.min():g} to {C.max():g}."
        )
    if not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(f"y must hold the labels -1 and +1; found {np.unique(y)[:5]}.")
    unit = np.abs(K).max(axis=(1, 2), keepdims=True)
    if (np.abs(K - K.transpose(0, 2, 1)) > 1e-8 * unit).any():
        raise ValueError("each matrix of K must be symmetric; pass (K + K.T) / 2 if it should be.")
    for sign in (-1.0, 1.0):
        without = np.flatnonzero(~((y == sign) & (C > 0)).any(axis=1))
        if len(without):
            raise ValueError(
                f"problem {without[0]} has no point of label {sign:+.0f} with a price."
            )
    return duals(K, y, C, tol=tol, max_iter=max_iter)


def duals(K, y, C, *, tol=1e-11, max_iter=1000):
    """Do as `solve_dual_batch`, for arrays that were checked."""
    beta, n_iter = np.zeros(y.shape), np.full(len(y), max_iter)
    # Scale K to about 1, the size of the constraint; a power of two is exact.
    scale = _scale(K, C)
    unit = 2.0 ** np.rint(np.log2(scale))[:, None]
    faces = _Faces(K / unit[:, :, None], y, C * unit, scale / unit[:, 0], tol)
    for done in range(max_iter):
        ended = faces.find_most_violating()
        beta[faces.problem[ended]], n_iter[faces.problem[ended]] = faces.beta[ended], done
        faces.drop(ended)
        if not len(faces.problem):
            break
        faces.free_most_violating()
        faces.step()
    beta[faces.problem] = faces.beta
    return _certified(K, y, C, beta / unit, n_iter, scale, tol)


class _Faces:
    """The problems that are not finished, and the face on which each of them stands."""

    def __init__(self, K, y, C, scale, tol):
        self.problem = np.arange(len(y))
        self.K, self.y = K, y
        self.low, self.high = _box(y, C)
        self.beta, self.e = np.zeros(y.shape), np.array(y)
        self.free = np.zeros(y.shape, dtype=bool)
        self.solved = np.ones(len(y), dtype=bool)  # with no point free there is nothing to solve
        self.b = np.zeros(len(y))  # mean error of the free points
        self.scale, self.tol = scale, tol

    def drop(self, ended):
        """Go on without some of the problems."""
        if ended.any():
            for name in vars(self).keys() - {"tol"}:
                setattr(self, name, getattr(self, name)[~ended])

    def find_most_violating(self):
        """Return which problems are solved; keep the pair of points by which the others are not."""
        rise, fall = _limits(self.beta, self.low, self.high, self.e)
        self.highest, self.lowest = rise.max(axis=1), fall.min(axis=1)
        crossed = self.highest - self.lowest
        alike = TIE_TOL * np.abs(crossed)  # ties go to the first point
        self.rises = (rise >= (self.highest - alike)[:, None]).argmax(axis=1)
        self.falls = (fall <= (self.lowest + alike)[:, None]).argmax(axis=1)
        return self.solved & (crossed <= _tolerance(self.beta, self.scale, self.tol))

    def free_most_violating(self):
        """Free the point whose error is wrong most where the face is solved, or a first pair."""
        rows = np.flatnonzero(self.solved)
        none = ~self.free[rows].any(axis=1)
        above, below = self.highest[rows] - self.b[rows], self.b[rows] - self.lowest[rows]
        rising = rows[none | (above >= below)]
        falling = rows[none | (above < below)]
        self.free[rising, self.rises[rising]] = True
        self.free[falling, self.falls[falling]] = True

    def step(self):
        """Solve each face's equations, and go towards the solution as far as the box allows."""
        step = self._solution()
        up = step > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(up, self.high - self.beta, self.low - self.beta) / step
        room = np.where(step == 0, np.inf, room)
        share = np.minimum(1.0, room.min(axis=1, keepdims=True))
        meets = room <= share * (1 + SAME_STEP)
        at_bound = np.where(up, self.high, self.low)
        self.beta = np.where(meets, at_bound, self.beta + share * step)
        self.free &= ~meets
        self.e = self.y - _product(self.K, self.beta)
        number = self.free.sum(axis=1)
        self.b = (self.e * self.free).sum(axis=1) / np.maximum(number, 1)
        left = np.where(self.free, np.abs(self.e - self.b[:, None]), 0.0).max(axis=1)
        enough = _tolerance(self.beta, self.scale, self.tol)
        whole = (share[:, 0] == 1.0) & (left <= 0.5 * enough)
        self.solved = whole | (number == 0)

    def _solution(self):
        """Return the steps of :eq:`eq-face`, zero for points that are not free.

        The systems hold as many points as the largest face, the free ones first; those that pad a
        smaller face have equations 1 * step = 0.
        """
        n, m = self.y.shape
        number = self.free.sum(axis=1, keepdims=True)
        size = number.max()
        points = np.argsort(~self.free, axis=1, kind="stable")[:, :size]
        free = np.arange(size) < number
        system, right = np.zeros((n, size + 1, size + 1)), np.zeros((n, size + 1, 1))
        rows = np.arange(n)[:, None]
        within = self.K[rows[:, :, None], points[:, :, None], points[:, None, :]]
        system[:, :size, :size] = within * (free[:, :, None] & free[:, None, :])
        diagonal = np.arange(size)
        system[:, diagonal, diagonal] += np.where(free, SHIFT * self.scale[:, None], 1.0)
        system[:, :size, size] = system[:, size, :size] = free
        right[:, :size, 0] = self.e[rows, points] * free
        found = np.linalg.solve(system, right)[:, :size, 0] * free
        # On a nearly singular face the last equation, that steps sum to zero, is the least exact.
        found -= free * (found.sum(axis=1, keepdims=True) / np.maximum(number, 1))
        step = np.zeros((n, m))
        step[rows, points] = found
        return step


def _box(y, C):
    """Return the bounds of beta."""
    return np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)


def _scale(K, C):
    """Return the mean k(x, x) of each problem, or one where all points are zero."""
    scale = (np.einsum("nii->ni", K) * (C > 0)).sum(axis=1) / (C > 0).sum(axis=1)
    return np.where(scale > 0, scale, 1.0)


def _product(K, beta):
    return np.matmul(K, beta[:, :, None])[:, :, 0]


def _limits(beta, low, high, e):
    """Return what each point demands of b: at least so much if it may rise, at most if it may fall.

    The largest of the first and the smallest of the second are the ends of the interval of
    intercepts; they cross where the conditions are violated.
    """
    return np.where(beta < high, e, -np.inf), np.where(beta > low, e, np.inf)


def best_intercepts(e, y, C):
    r"""Return the intercepts that minimise each primal objective for given weights w.

    In :math:`e_i = y_i - w^\top x_i` the slack is :math:`\max(0, y_i(e_i - b))`, and the slope of
    :math:`\sum_i C_i\max(0, y_i(e_i - b))` is
    :math:`\sum_{e_i < b} C_i - \sum_{y_i = 1} C_i`. So the best b is a weighted quantile of the
    errors, at the level of the positives' share. Where the slope is zero between two errors, all b
    between them are optimal, and the middle is taken. The multipliers have no say: one that
    rounding keeps from its bound would pretend that b is known.

    Parameters
    ----------
    e, y, C : ndarray of shape (n_problems, n_points)
        Errors, labels -1 and +1, and upper bounds of the multipliers; zero for a point that only
        fills up.

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
    positive = np.take_along_axis(y, order, axis=1) > 0
    # The slope right of each error. Two sums, because in one the larger C would absorb the smaller.
    below = np.cumsum(np.where(positive, 0.0, sorted_C), axis=1)
    above = np.cumsum(np.where(positive, sorted_C, 0.0)[:, ::-1], axis=1)[:, ::-1]
    above = np.column_stack([above[:, 1:], np.zeros(len(e))])
    slope, tol = below - above, SLOPE_TOL * (below + above)
    rows = np.arange(len(e))
    low = sorted_e[rows, (slope >= -tol).argmax(axis=1)]
    high = sorted_e[rows, (slope > tol).argmax(axis=1)]
    return 0.5 * (low + high)


def _tolerance(beta, scale, tol):
    """Return the violation that counts as none: the tolerance, or what rounding hides."""
    return np.maximum(tol, ERROR_ROUNDING * (1.0 + scale * np.abs(beta).sum(axis=1)))


def _certified(K, y, C, beta, n_iter, scale, tol):
    """Return the solutions with both objectives, from the multipliers alone."""
    f = _product(K, beta)
    rise, fall = _limits(beta, *_box(y, C), y - f)
    crossed = rise.max(axis=1) - fall.min(axis=1)
    b = best_intercepts(y - f, y, C)
    w_squared = (beta * f).sum(axis=1)
    slack = np.maximum(0.0, 1.0 - y * (f + b[:, None]))
    solved = crossed <= _tolerance(beta, scale, tol)
    balanced = np.abs(beta.sum(axis=1)) <= BALANCE_TOL * np.abs(beta).sum(axis=1)
    return DualBatch(
        alpha=np.abs(beta),
        intercept=b,
        objective=0.5 * w_squared + (C * slack).sum(axis=1),  # (eq. primal)
        dual_objective=np.abs(beta).sum(axis=1) - 0.5 * w_squared,
        kkt_residual=np.maximum(crossed, 0.0),
        n_iter=n_iter,
        converged=solved & balanced,
    )
