r"""The dual by an interior-point method: soft margin :eq:`eq-dual`, and hard margin.

A few dozen Newton steps, each with one factorisation of :math:`K + D`, whatever C is. Where
:math:`K = ZZ^\top` with Z of shape (n, r), a factorisation takes :math:`nr^2` operations and no
n x n array is formed. An interior point never touches the boundary: `cross_over` gives the solution
its exact zeros and bounds.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...gram import StoredGram, centred_factor
from ..checks import check_problem, check_stopping
from .crossover import cross_over
from .mehrotra import BoxProgram, minimise_on_box

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = [
    "check_form",
    "first_system_solvable",
    "hard_margin",
    "interior_point",
    "moved_back",
    "on_form",
    "solve_hard_margin",
    "solve_interior_point",
    "unit_of_alpha",
]

FORMS = ("dense", "low-rank")


def solve_interior_point(
    K: ArrayLike,
    y: ArrayLike,
    C: ArrayLike,
    *,
    form: str = "dense",
    tol: float = 1e-6,
    max_iter: int = 100,
) -> SolverResult:
    r"""Solve the SVM dual by Mehrotra's interior-point method and certify the solution.

    Minimises :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`, with :math:`Q_{ij} = y_i y_j K_{ij}`.

    Parameters
    ----------
    K : ndarray of shape (n, n), or (n, r) for ``form="low-rank"``
        Gram matrix, symmetric positive semi-definite; or the factor :math:`Z` of
        :math:`K = ZZ^\top`.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : float or ndarray of shape (n,)
        Upper bounds, positive and finite.
    form : {"dense", "low-rank"}, default="dense"
        What ``K`` holds.
    tol : float, default=1e-6
        Relative duality gap asked for.
    max_iter : int, default=100
        Iterations at most; 8 to 25 are usual.

    Returns
    -------
    SolverResult
        ``converged`` tells whether the gap, computed from the returned ``alpha``, is below ``tol``.

    Raises
    ------
    ValueError
        ``form`` is not one of the two, the arrays do not fit, or the first system cannot be
        factored.

    References
    ----------
    Mehrotra (1992), "On the implementation of a primal-dual interior point method", SIAM Journal
    on Optimization 2, 575-601; Fine and Scheinberg (2001), "Efficient SVM training using low-rank
    kernel representations", JMLR 2, 243-264.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_interior_point
    >>> X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    >>> y = np.array([1.0, 1, -1, -1])
    >>> result = solve_interior_point(X, y, C=10.0, form="low-rank")
    >>> result.alpha.round(4)
    array([0.5306, 0.    , 0.3673, 0.1633])
    >>> result.converged
    True
    """
    check_form(form, FORMS)
    K, y, C = check_problem(K, y, C, square=form == "dense")
    tol, max_iter = check_stopping(tol, max_iter)
    solve = partial(interior_point, y=y, C=C, tol=tol, max_iter=max_iter)
    return on_form(K, form, y, solve)


def solve_hard_margin(
    K: ArrayLike, y: ArrayLike, *, form: str = "dense", tol: float = 1e-6, max_iter: int = 100
) -> SolverResult:
    r"""Solve the SVM dual without upper bounds, by way of the nearest points of two hulls.

    With separable data the maximum margin, :eq:`eq-hard-primal`, is half the distance between the
    convex hulls of the classes. The nearest points :math:`\sum_{y_i=1} u_i\phi(x_i)` and
    :math:`\sum_{y_i=-1} u_i\phi(x_i)` solve

    .. math::

        \min_{u \ge 0}\ \tfrac12 u^\top Q u \quad\text{subject to}\quad
        \sum_{y_i=1} u_i = \sum_{y_i=-1} u_i = 1,

    a problem that always has a solution, while the dual without bounds has none when the
    data are not separable. With :math:`\delta^2 = u^\top Q u > 0` the multipliers are
    :math:`\alpha = 2u/\delta^2`.

    Parameters
    ----------
    K : ndarray of shape (n, n), or (n, r) for ``form="low-rank"``
        Gram matrix, or its factor.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    form : {"dense", "low-rank"}, default="dense"
        What ``K`` holds.
    tol : float, default=1e-6
        Relative duality gap asked for.
    max_iter : int, default=100
        Iterations at most.

    Returns
    -------
    SolverResult
        ``objective`` is :math:`\tfrac12\|w\|^2` for the scaled feasible ``w``.

    Raises
    ------
    ValueError
        The hulls meet: no hyperplane separates the classes in this feature space, or only by
        a margin below about 1e-6 of the data's size. Or the iterations ran out before that was
        known.

    References
    ----------
    Bennett and Bredensteiner (2000), "Duality and geometry in SVM classifiers", ICML, 57-64.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_hard_margin
    >>> X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    >>> (49 * solve_hard_margin(X @ X.T, [1, 1, -1, -1]).alpha).round(4)
    array([26.,  0., 18.,  8.])
    """
    check_form(form, FORMS)
    K, y, _ = check_problem(K, y, 1.0, square=form == "dense")
    tol, max_iter = check_stopping(tol, max_iter)
    return on_form(K, form, y, partial(hard_margin, y=y, tol=tol, max_iter=max_iter))


def interior_point(gram, y, C, *, tol=1e-6, max_iter=100):
    """Do as `solve_interior_point`, for a `GramMatrix` and arrays that were checked."""
    unit = unit_of_alpha(gram, C)
    q = np.full(len(y), -1.0)
    program = BoxProgram(gram, y, unit, q, C / unit, y[None, :], np.zeros(1))
    with gram.threads():
        with first_system_solvable():
            found = minimise_on_box(program, tol=tol, max_iter=max_iter)
        report = _report(found, tol, max_iter)
        return cross_over(gram, y, C, unit * found.u, found.v[0], **report)


def hard_margin(gram, y, *, tol=1e-6, max_iter=100):
    """Do as `solve_hard_margin`, for a `GramMatrix` and labels that were checked."""
    A = np.stack([y > 0, y < 0]).astype(float)
    program = BoxProgram(gram, y, 1.0 / gram.scale, np.zeros(len(y)), None, A, np.ones(2))
    with gram.threads():
        with first_system_solvable():
            found = minimise_on_box(program, tol=tol, max_iter=max_iter)
        u = found.u / ((A @ found.u) @ A)  # each class sums to one
        f = gram.times(y * u)
        delta_squared = (y * u) @ f
        positive, negative = f[y > 0].min(), f[y < 0].max()
        if positive <= negative and found.n_iter >= max_iter:
            raise ValueError(
                f"the hard margin stopped after {found.n_iter} iterations, before it was "
                "clear whether a hyperplane separates the classes. Raise max_iter, or choose a "
                "finite C."
            )
        if positive <= negative:
            raise ValueError(
                "the hard margin (C=inf) needs classes that a hyperplane separates; here their "
                "convex hulls meet, or lie closer than a millionth of the data's size, which "
                "rounding hides. Choose a finite C or a richer kernel."
            )
        alpha = 2.0 * u / delta_squared
        intercept = -(positive + negative) / delta_squared
        C = np.full(len(y), np.inf)
        return cross_over(gram, y, C, alpha, intercept, **_report(found, tol, max_iter))


def unit_of_alpha(gram, C):
    """Return the unit in which alpha is of order one: the box, or 1/K where that is smaller."""
    return C.max() if gram.scale * C.max() <= 1.0 else 1.0 / gram.scale


def moved_back(result, gram, y, mean):
    """Return a solution for rows that `centred_factor` moved as one for the rows as given."""
    with gram.threads():
        shift = float(mean @ gram.adjoint(y * result.alpha))
    return replace(result, intercept=result.intercept - shift)


@contextmanager
def first_system_solvable():
    """Say in our words that the first system has no factorisation.

    cvxopt says ``Rank(A) < p``, or names a root of a negative number.
    """
    try:
        yield
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, ValueError) and not re.search("Rank|domain", str(error)):
            raise
        raise ValueError(
            "the first KKT system of the dual could not be factored; the Gram matrix is not "
            "positive semi-definite, or its entries times C are too large for double precision. "
            "Scale the features, lower C or choose another kernel."
        ) from error


def on_form(K, form, y, solve):
    """Return ``solve(gram)`` for the Gram matrix that ``K`` stands for in this form."""
    if form != "low-rank":
        return solve(StoredGram(K))
    gram, mean = centred_factor(K)
    return moved_back(solve(gram), gram, y, mean)


def _report(found, tol, max_iter):
    """Return what `cross_over` is told: the tolerance, and how the iterations ended."""
    finished = found.accurate or found.n_iter < max_iter
    how = "converged" if found.accurate else "stopped by rounding errors"
    message = f"interior point: {how if finished else 'all iterations used up'}"
    return {"tol": tol, "finished": finished, "n_iter": found.n_iter, "message": message}


def check_form(form, forms):
    """Refuse a form that is none of those."""
    if form not in forms:
        raise ValueError(f"form is {form!r}; it must be one of {', '.join(forms)}.")
