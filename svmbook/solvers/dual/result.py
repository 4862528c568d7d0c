"""What every solver returns: a solution that carries its own proof.

A status word ("optimal") is a claim. A duality gap is evidence: for any feasible
dual point the dual objective bounds the optimum from below, for any ``(w, b)`` the
primal objective bounds it from above, and the optimum lies between the two. The
functions here compute both numbers from the solution alone, so that a certificate
does not depend on the solver that found it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["SolverResult", "certify", "intercept_interval", "no_worse_than_zero"]

BALANCE_TOL = 1e-10  # relative to the sum of alpha: numerically zero for the signed sum


@dataclass(frozen=True, eq=False)
class SolverResult:
    r"""Solution of an SVM dual together with its certificate.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        Multipliers, feasible: :math:`0 \le \alpha_i \le C_i` and
        :math:`y^\top\alpha = 0` up to rounding.
    intercept : float
        The intercept :math:`b` of :math:`f(x) + b`.
    objective, dual_objective : float
        The primal and the dual one: upper and lower bound on the optimum, computed from ``alpha``
        and ``intercept``.
    w_squared : float
        :math:`\|w\|^2`.
    kkt_residual : float
        Largest violation of the optimality conditions, in units of the margin: by how much
        :math:`m_i = y_i(f_i + b)` lies below 1 where :math:`\alpha_i < C_i`, or above 1 where
        :math:`\alpha_i > 0`.
    n_iter : int
        Iterations of the solver.
    converged : bool
        Whether ``relative_gap`` is at most the tolerance asked for and proves something:
        :math:`y^\top\alpha = 0` holds up to rounding, :math:`\|w\|^2` is not negative, and rounding
        leaves the objective as certain as the tolerance.
    message : str
        How the solver ended, in words.
    """

    alpha: np.ndarray
    intercept: float
    objective: float
    dual_objective: float
    w_squared: float
    kkt_residual: float
    n_iter: int
    converged: bool
    message: str = ""

    @property
    def gap(self):
        """Primal minus dual objective; zero at the optimum, never negative but for rounding."""
        return self.objective - self.dual_objective

    @property
    def relative_gap(self):
        """The gap as a fraction of the primal objective (which is positive)."""
        return self.gap / self.objective if np.isfinite(self.gap) else np.inf


def intercept_interval(
    alpha: ArrayLike, y: ArrayLike, C: ArrayLike, f: ArrayLike
) -> tuple[float, float]:
    r"""Return the interval of intercepts that are optimal for ``alpha``.

    A point of :math:`I_{up}` (its :math:`y_i\alpha_i` may still grow) demands
    :math:`b \ge y_i - f_i`, a point of :math:`I_{low}` demands :math:`b \le y_i - f_i`.
    At an optimum with a free vector the two ends coincide; with none, every ``b`` between
    them is optimal. Away from the optimum the ends cross, and how far they cross is
    the largest violation of the KKT conditions.

    Parameters
    ----------
    alpha, y, C, f : ndarray of shape (n,)
        Multipliers, labels -1 and +1, upper bounds, and outputs without intercept.

    Returns
    -------
    low, high : float
        The ends; ``low - high`` is the KKT violation when positive.
    """
    e = y - f
    may_rise = np.where(y > 0, alpha < C, alpha > 0)
    may_fall = np.where(y > 0, alpha > 0, alpha < C)
    return e[may_rise].max(initial=-np.inf), e[may_fall].min(initial=np.inf)


def certify(
    alpha: ArrayLike,
    intercept: float,
    y: ArrayLike,
    C: ArrayLike,
    f: ArrayLike,
    *,
    n_iter: int,
    tol: float,
    scale: float = 0.0,
    message: str = "",
) -> SolverResult:
    r"""Compute primal objective, dual objective and gap, and pack them with the solution.

    The objectives of :eq:`eq-dual` and :eq:`eq-primal`. With :math:`f = K(y \circ \alpha)` and
    :math:`\|w\|^2 = (y\circ\alpha)^\top f`,

    .. math::

        D &= 1^\top\alpha - \tfrac12\|w\|^2, \\
        P &= \tfrac12\|w\|^2 + \sum_i C_i \max(0, 1 - y_i(f_i + b)).

    For the hard margin (``C`` infinite) a point with a positive slack is not feasible, so
    ``(w, b)`` is first divided by the smallest functional margin :math:`m`, which makes it
    feasible: :math:`P = \|w\|^2 / (2 m^2)`.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        Feasible multipliers.
    intercept : float
        Intercept.
    y, C, f : ndarray of shape (n,)
        Labels -1 and +1, upper bounds (possibly all infinite), outputs without intercept.
    n_iter : int
        Iterations used.
    tol : float
        ``converged`` is set when the relative gap is at most this and ``alpha`` is feasible.
    scale : float, default=0.0
        A typical :math:`k(x, x)`. Rounding leaves the outputs uncertain by about
        :math:`\varepsilon\,k(x, x)\,\|\alpha\|`, :math:`\varepsilon` = 2e-16, and the primal
        objective by :math:`\|C\|` times as much. Where that is more than ``tol`` of it, the gap
        proves nothing and ``converged`` is False.
    message : str, optional
        How the solver ended.

    Returns
    -------
    SolverResult

    Examples
    --------
    >>> from svmbook.solvers import certify
    >>> guess = certify([0.1, 0.1], 0, [1, -1], 1, [0.2, -0.2], n_iter=0, tol=0.1)
    >>> round(guess.dual_objective, 3), round(guess.objective, 3)
    (0.18, 1.62)
    """
    alpha, y, f = (np.asarray(values, dtype=float) for values in (alpha, y, f))
    C = np.broadcast_to(np.asarray(C, dtype=float), alpha.shape)
    w_squared = (y * alpha) @ f
    margins = y * (f + intercept)
    dual = alpha.sum() - 0.5 * w_squared
    if np.isinf(C).any():
        smallest = margins.min()
        primal = 0.5 * w_squared / smallest**2 if smallest > 0 else np.inf
    else:
        primal = 0.5 * w_squared + C @ np.maximum(0.0, 1.0 - margins)
    short = np.where(alpha < C, 1.0 - margins, 0.0)
    beyond = np.where(alpha > 0, margins - 1.0, 0.0)
    balanced = abs(y @ alpha) <= BALANCE_TOL * alpha.sum()
    rounding = np.finfo(float).eps * scale * np.linalg.norm(alpha)  # of an output
    convex = w_squared >= -(BALANCE_TOL + 10 * rounding) * alpha.sum()
    if abs(w_squared) <= 10 * rounding * alpha.sum():  # the terms cancel: w = 0 but for rounding
        w_squared = 0.0
    soft = np.isfinite(C).all() and primal > 0
    uncertain = rounding * np.linalg.norm(C) / primal if soft else 0.0
    if uncertain > tol:
        message = f"{message}; rounding leaves the objective uncertain by {uncertain:.0e} of it"
    proved = balanced and convex and uncertain <= tol and np.isfinite(primal)
    return SolverResult(
        alpha=alpha,
        intercept=float(intercept),
        objective=float(primal),
        dual_objective=float(dual),
        n_iter=int(n_iter),
        w_squared=float(w_squared),
        kkt_residual=float(max(short.max(), beyond.max())),  # one of them is not negative
        converged=bool(proved and abs(primal - dual) <= tol * primal),
        message=message,
    )


def no_worse_than_zero(result, y, C):
    r"""Return a result, or the one for :math:`w = 0` where that has a smaller objective.

    With w = 0 all outputs are b. The best b has the sign of the class whose points cost more, and
    the objective is twice the smaller of the two sums of :math:`C_i`. A solver that rounding has
    stopped may end above that.

    Parameters
    ----------
    result : SolverResult
        A solver's result.
    y, C : ndarray of shape (n,)
        Labels -1 and +1, and upper bounds.

    Returns
    -------
    SolverResult
        ``result`` itself where it is certified, or better, or C is infinite.
    """
    if result.converged or np.isinf(C).any():
        return result
    balance = y @ C
    if result.objective <= C.sum() - abs(balance):
        return result
    message = f"{result.message}; w = 0 has a smaller objective and is returned"
    zeros, options = np.zeros(len(y)), {"n_iter": result.n_iter, "tol": 0.0, "message": message}
    return certify(zeros, np.sign(balance), y, C, zeros, **options)
