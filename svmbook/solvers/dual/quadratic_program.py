r"""The dual :eq:`eq-dual` of the soft-margin SVM as a quadratic program, solved by cvxopt.

.. math::

    \min_{\alpha}\ \tfrac12 \alpha^\top Q \alpha - 1^\top\alpha
    \quad\text{subject to}\quad 0 \le \alpha_i \le C_i,\quad y^\top\alpha = 0,
    \qquad Q_{ij} = y_i y_j K_{ij}.

The problem can be passed to cvxopt in four forms; each uses more of the structure
than the previous one:

``"textbook"``
    the matrices ``P, q, G, h, A, b`` of `cvxopt.solvers.qp`, ``G`` dense;
``"sparse"``
    the same with ``G`` sparse;
``"dense"``
    `cvxopt.solvers.coneqp` with the KKT solver of `svmbook.solvers.dual.cvxopt_coneqp`: one
    Cholesky factorisation of :math:`K + D` per iteration, ``G`` never stored;
``"low-rank"``
    the same KKT solver for :math:`K = ZZ^\top` with :math:`Z` of shape (n, r): no n x n array.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import check_problem, check_stopping
from .active_sets.crossover import cross_over
from .cvxopt_coneqp import call_coneqp, cvxopt_options, flat_view, import_cvxopt
from .interior_point import check_form, explain_singular_system, solve_in_form
from .mehrotra import alpha_unit

if TYPE_CHECKING:
    import cvxopt

    from .result import SolverResult

__all__ = ["QuadraticProgram", "solve_dual", "solve_dual_on_gram", "to_cvxopt"]

FORMS = ("textbook", "sparse", "dense", "low-rank")


class QuadraticProgram(NamedTuple):
    """The six matrices of ``cvxopt.solvers.qp``: min 1/2 x'Px + q'x, Gx <= h, Ax = b."""

    P: cvxopt.matrix
    q: cvxopt.matrix
    G: cvxopt.matrix
    h: cvxopt.matrix
    A: cvxopt.matrix
    b: cvxopt.matrix


def to_cvxopt(
    K: ArrayLike, y: ArrayLike, C: ArrayLike, *, sparse: bool = False
) -> QuadraticProgram:
    r"""Write the SVM dual as the quadratic program :eq:`eq-qp` that ``cvxopt.solvers.qp`` takes.

    The rows of ``G`` come in pairs, as in the reference below: row :math:`2i` is
    :math:`\alpha_i \le C_i`, row :math:`2i+1` is :math:`-\alpha_i \le 0`.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Gram matrix.
    y : array-like of shape (n,)
        Labels -1 and +1.
    C : float or array-like of shape (n,)
        Upper bounds, finite.
    sparse : bool, default=False
        Whether ``G`` is a sparse matrix (2n stored entries) instead of a dense one (2n x n).

    Returns
    -------
    QuadraticProgram
        The named tuple ``(P, q, G, h, A, b)`` of cvxopt matrices.

    References
    ----------
    *Exploring Classification*, section "Support vector machine".

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import to_cvxopt
    >>> X = np.array([[1, 2], [2, 2], [0, 0], [-2, 3]])
    >>> print(to_cvxopt(X @ X.T, [1, 1, -1, -1], C=1.0).P)
    [ 5.00e+00  6.00e+00  0.00e+00 -4.00e+00]
    [ 6.00e+00  8.00e+00  0.00e+00 -2.00e+00]
    [ 0.00e+00  0.00e+00  0.00e+00  0.00e+00]
    [-4.00e+00 -2.00e+00  0.00e+00  1.30e+01]
    <BLANKLINE>
    """
    return _quadratic_program(*check_problem(K, y, C), sparse)


def _quadratic_program(K, y, C, sparse):
    cvxopt, _ = import_cvxopt()
    n = len(y)
    rows = range(2 * n)
    G = cvxopt.spmatrix([1.0, -1.0] * n, rows, [i // 2 for i in rows])
    return QuadraticProgram(
        P=cvxopt.matrix(y[:, None] * y * K + 0.0),  # turns -0.0 into 0.0
        q=cvxopt.matrix(-1.0, (n, 1)),
        G=G if sparse else cvxopt.matrix(G),
        h=cvxopt.matrix(np.column_stack([C, np.zeros(n)]).ravel()),
        A=cvxopt.matrix(y, (1, n)),
        b=cvxopt.matrix(0.0),
    )


def solve_dual(
    K: ArrayLike,
    y: ArrayLike,
    C: ArrayLike,
    *,
    form: str = "dense",
    tol: float = 1e-6,
    max_iter: int = 100,
) -> SolverResult:
    r"""Solve the SVM dual by cvxopt and certify the solution.

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
    form : {"textbook", "sparse", "dense", "low-rank"}, default="dense"
        How the problem is passed to cvxopt; the module's docstring describes the forms.
    tol : float, default=1e-6
        Tolerance of the relative duality gap.
    max_iter : int, default=100
        Maximum number of iterations; 8 to 25 are usual.

    Returns
    -------
    SolverResult
        ``converged`` indicates whether the gap, computed from the returned ``alpha``, is
        below ``tol``.

    Raises
    ------
    ValueError
        ``form`` is not one of the four, an array has the wrong shape or invalid values, or cvxopt
        cannot factor the first KKT system.
    ImportError
        cvxopt is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_dual
    >>> X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    >>> y = np.array([1.0, 1, -1, -1])
    >>> result = solve_dual(X @ X.T, y, C=10.0)
    >>> result.alpha.round(4)
    array([0.5306, 0.    , 0.3673, 0.1633])
    >>> result.converged
    True
    """
    check_form(form, FORMS)
    K, y, C = check_problem(K, y, C, require_square=form != "low-rank")
    tol, max_iter = check_stopping(tol, max_iter)
    solve = partial(solve_dual_on_gram, y=y, C=C, form=form, tol=tol, max_iter=max_iter)
    return solve_in_form(K, form, y, solve)


def solve_dual_on_gram(gram, y, C, *, form="dense", tol=1e-6, max_iter=100):
    """Solve the dual as `solve_dual` does, for a `GramMatrix` and validated arrays."""
    unit = alpha_unit(gram, C)
    upper = C / unit
    with gram.limit_blas_threads():
        with explain_singular_system():
            if form in ("textbook", "sparse"):
                _, solvers = import_cvxopt()
                program = _quadratic_program(unit * gram.K, y, upper, form == "sparse")
                solution = solvers.qp(
                    *program, options=cvxopt_options(tol, max_iter, np.linalg.norm(upper))
                )
            else:
                solution = call_coneqp(gram, y, unit, upper, tol, max_iter)
        # If rounding stops cvxopt, its status is "unknown", but the solution is nearly exact.
        n_iter, status = solution["iterations"], solution["status"]
        finished = status == "optimal" or n_iter < max_iter
        message = f"cvxopt: {status if finished else 'iteration limit reached'}"
        report = {"n_iter": n_iter, "message": message, "tol": tol}
        alpha, intercept = unit * flat_view(solution["x"]), solution["y"][0]
        return cross_over(gram, y, C, alpha, intercept, finished=finished, **report)
