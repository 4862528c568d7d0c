r"""The dual solved by an interior-point method: soft margin :eq:`eq-dual` and hard margin.

For any C the method takes at most a few dozen Newton steps, each with one factorisation of K + D.
If :math:`K = ZZ^\top` with Z of shape (n, r), a factorisation takes :math:`nr^2` operations and no
n x n array is formed. The iterates stay inside the box, so `cross_over` then computes the exact
zeros and bounds of the solution.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...gram import StoredGram, centred_gram
from ..checks import check_problem, check_stopping
from .active_sets.crossover import cross_over
from .mehrotra import BoxProgram, dual_program, minimise_on_box

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = [
    "check_form",
    "explain_singular_system",
    "solve_hard_margin",
    "solve_hard_margin_on_gram",
    "solve_in_form",
    "solve_interior_point",
    "solve_interior_point_on_gram",
    "undo_centring",
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
        Whether ``K`` is the Gram matrix or its factor.
    tol : float, default=1e-6
        Tolerance of the relative duality gap.
    max_iter : int, default=100
        Maximum number of iterations; 8 to 25 are usual.

    Returns
    -------
    SolverResult
        ``converged`` indicates whether the gap, computed from the returned ``alpha``, is below
        ``tol``.

    Raises
    ------
    ValueError
        ``form`` is not one of the two, an array has the wrong shape or invalid values, or the first
        system cannot be factored.

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
    K, y, C = check_problem(K, y, C, require_square=form == "dense")
    tol, max_iter = check_stopping(tol, max_iter)
    solve = partial(solve_interior_point_on_gram, y=y, C=C, tol=tol, max_iter=max_iter)
    return solve_in_form(K, form, y, solve)


def solve_hard_margin(
    K: ArrayLike, y: ArrayLike, *, form: str = "dense", tol: float = 1e-6, max_iter: int = 100
) -> SolverResult:
    r"""Solve the SVM dual without upper bounds, via the nearest points of two convex hulls.

    For separable data the maximum margin, :eq:`eq-hard-primal`, is half the distance between the
    convex hulls of the classes. The nearest points :math:`\sum_{y_i=1} u_i\phi(x_i)` and
    :math:`\sum_{y_i=-1} u_i\phi(x_i)` solve

    .. math::

        \min_{u \ge 0}\ \tfrac12 u^\top Q u \quad\text{subject to}\quad
        \sum_{y_i=1} u_i = \sum_{y_i=-1} u_i = 1,

    which always has a solution, whereas the dual without bounds has none if the data are not
    separable. With :math:`\delta^2 = u^\top Q u > 0` the multipliers are
    :math:`\alpha = 2u/\delta^2`.

    Parameters
    ----------
    K : ndarray of shape (n, n), or (n, r) for ``form="low-rank"``
        Gram matrix, or its factor.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    form : {"dense", "low-rank"}, default="dense"
        Whether ``K`` is the Gram matrix or its factor.
    tol : float, default=1e-6
        Tolerance of the relative duality gap.
    max_iter : int, default=100
        Maximum number of iterations.

    Returns
    -------
    SolverResult
        ``objective`` is :math:`\tfrac12\|w\|^2` for ``w`` scaled to be feasible.

    Raises
    ------
    ValueError
        The hulls intersect: no hyperplane separates the classes in this feature space, or only
        with a margin below about 1e-6 of the extent of the data. Or the iteration limit was reached
        before it was clear whether a hyperplane separates them.

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
    K, y, _ = check_problem(K, y, 1.0, require_square=form == "dense")
    tol, max_iter = check_stopping(tol, max_iter)
    return solve_in_form(
        K, form, y, partial(solve_hard_margin_on_gram, y=y, tol=tol, max_iter=max_iter)
    )


def solve_interior_point_on_gram(gram, y, C, *, tol=1e-6, max_iter=100):
    """Solve the dual as `solve_interior_point` does, for a `GramMatrix` and validated arrays."""
    program, unit = dual_program(gram, y, C)
    with gram.limit_blas_threads():
        with explain_singular_system():
            solution = minimise_on_box(program, tol=tol, max_iter=max_iter)
        options = _crossover_options(solution, tol, max_iter)
        return cross_over(gram, y, C, unit * solution.u, solution.v[0], **options)


def solve_hard_margin_on_gram(gram, y, *, tol=1e-6, max_iter=100):
    """Solve the dual as `solve_hard_margin` does, for a `GramMatrix` and validated labels."""
    A = np.stack([y > 0, y < 0]).astype(float)
    program = BoxProgram(gram, y, 1.0 / gram.scale, np.zeros(len(y)), None, A, np.ones(2))
    with gram.limit_blas_threads():
        with explain_singular_system():
            solution = minimise_on_box(program, tol=tol, max_iter=max_iter)
        u = solution.u / ((A @ solution.u) @ A)  # the weights of each class sum to one
        f = gram.dot(y * u)
        delta_squared = (y * u) @ f
        lowest_output_of_positives, highest_output_of_negatives = f[y > 0].min(), f[y < 0].max()
        if (
            lowest_output_of_positives <= highest_output_of_negatives
            and solution.n_iter >= max_iter
        ):
            raise ValueError(
                f"the hard-margin solver stopped after {solution.n_iter} iterations, before it was "
                "clear whether a hyperplane separates the classes. Raise max_iter, or choose a "
                "finite C."
            )
        if lowest_output_of_positives <= highest_output_of_negatives:
            raise ValueError(
                "the hard margin (C=inf) needs classes that a hyperplane separates; here their "
                "convex hulls meet, or are closer than a millionth of the data's size, which "
                "double precision cannot resolve. Choose a finite C or a richer kernel."
            )
        alpha = 2.0 * u / delta_squared
        intercept = -(lowest_output_of_positives + highest_output_of_negatives) / delta_squared
        C = np.full(len(y), np.inf)
        return cross_over(
            gram, y, C, alpha, intercept, **_crossover_options(solution, tol, max_iter)
        )


def undo_centring(result, gram, y, mean):
    """Return the result with the intercept for the rows before their centring by `centred_gram`."""
    with gram.limit_blas_threads():
        shift = float(mean @ gram.adjoint(y * result.alpha))
    return replace(result, intercept=result.intercept - shift)


@contextmanager
def explain_singular_system():
    """Replace the error message if the first system cannot be factored.

    The message of cvxopt is ``Rank(A) < p`` or a domain error of the square root.
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


def solve_in_form(K, form, y, solve):
    """Return ``solve(gram)`` for the Gram matrix of the given form; low-rank rows are centred."""
    if form != "low-rank":
        return solve(StoredGram(K))
    gram, mean = centred_gram(K)
    return undo_centring(solve(gram), gram, y, mean)


def _crossover_options(solution, tol, max_iter):
    """Return the keyword arguments of `cross_over`: the tolerance, and how the iterations ended."""
    finished = solution.accurate or solution.n_iter < max_iter
    outcome = "converged" if solution.accurate else "stopped by rounding errors"
    message = f"interior point: {outcome if finished else 'iteration limit reached'}"
    return {"tol": tol, "finished": finished, "n_iter": solution.n_iter, "message": message}


def check_form(form, forms):
    """Raise ValueError unless ``form`` is one of ``forms``."""
    if form not in forms:
        raise ValueError(f"form is {form!r}; it must be one of {', '.join(forms)}.")
