r"""The interior point: cvxopt's ``coneqp`` with a KKT solver made for boxes.

The problem is

    minimise 1/2 scale u'Qu + q'u  subject to  0 <= u (<= upper),  Au = b,

and :math:`Q = YKY` with :math:`Y = \mathrm{diag}(y)`, K one of the forms of `svmbook.gram`.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np

__all__ = [
    "coneqp",
    "cvxopt_installed",
    "cvxopt_parts",
    "first_system_solvable",
    "kkt_solver",
    "options",
    "view",
]


def cvxopt_installed():
    """Return whether the interior-point solvers can be used."""
    return find_spec("cvxopt") is not None


def cvxopt_parts():
    """Return cvxopt and its solvers, which only the interior-point solvers need."""
    try:
        import cvxopt
        from cvxopt import solvers
    except ImportError as error:
        raise ImportError(
            "the interior-point solvers (and the hard margin, C=inf) need cvxopt, which is not "
            "installed. Run pip install 'svmbook[cvxopt]', or choose a finite C and "
            "solver='active-set', 'smo' or 'libsvm'."
        ) from error
    return cvxopt, solvers


def view(x):
    """Return a cvxopt column as a flat NumPy view: same memory, no copy."""
    return np.asarray(x).ravel(order="K")


def kkt_solver(gram, y, scale, A, bounded):
    r"""Return the function that cvxopt calls once an iteration to solve its KKT system.

    Given a positive diagonal scaling :math:`W`, cvxopt asks for the solution of
    :eq:`eq-kkt-system`,

    .. math::

        \begin{bmatrix} P & A^\top & G^\top\\ A & 0 & 0\\ G & 0 & -W^2\end{bmatrix}
        \begin{bmatrix} u_x\\ u_y\\ u_z\end{bmatrix}
        = \begin{bmatrix} b_x\\ b_y\\ b_z\end{bmatrix}

    in place: on return x, y, z hold :math:`u_x, u_y, W u_z`. Three eliminations:

    1. The last row gives :math:`u_z = W^{-2}(G u_x - b_z)`. Put into the first:
       :math:`(P + G^\top W^{-2} G)\,u_x + A^\top u_y = b_x + G^\top W^{-2} b_z =: r`.
    2. With :math:`G = [I; -I]` the added term is a *diagonal* matrix :math:`D`, the sum of the
       two halves of :math:`W^{-2}`, :eq:`eq-reduced`. Hence :math:`H = P + D` is the Gram matrix
       with a larger diagonal: one Cholesky factorisation (dense) or one r x r system (low rank).
    3. :math:`u_x = H^{-1}(r - A^\top u_y)` and :math:`A u_x = b_y` leave a system with one row an
       equality constraint, :math:`(A H^{-1} A^\top)\,u_y = A H^{-1} r - b_y`: a scalar for the SVM,
       :eq:`eq-schur`.

    Since :math:`Y^2 = I` the labels factor out, :math:`Q + D = Y(K + D)Y`: the Gram matrix itself
    is factored, and no Q is formed.

    Parameters
    ----------
    gram : StoredGram or LowRankGram
        The Gram matrix :math:`K`.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    scale : float
        Factor of the objective: :math:`P = \mathrm{scale} \cdot YKY`.
    A : ndarray of shape (p, n)
        Equality constraints, one a row.
    bounded : bool
        Whether there are upper bounds beside the lower ones.

    Returns
    -------
    callable
        ``factor(W)``, which returns ``solve(x, y, z)``. Both raise ArithmeticError where a
        factorisation fails, which is how cvxopt learns that it has to stop.
    """
    n = A.shape[1]

    def factor(W):
        w_inv = view(W["di"])
        w_inv_upper, w_inv_lower = (w_inv[:n], w_inv[n:]) if bounded else (0.0, w_inv)
        D = w_inv_upper**2 + w_inv_lower**2  # D_u + D_l of :eq:`eq-reduced`
        solve_K = gram.factor(D / scale)  # (scale K + D)^{-1} = (K + D / scale)^{-1} / scale

        def solve_H(r):
            return y * solve_K(y * r) / scale

        HA = np.stack([solve_H(a) for a in A])
        S = A @ HA.T

        def solve(u_x, u_y, u_z):
            x, b, z = view(u_x), view(u_y), view(u_z)
            z_upper, z_lower = (z[:n], z[n:]) if bounded else (0.0, z)
            r = x + w_inv_upper**2 * z_upper - w_inv_lower**2 * z_lower
            Hr = solve_H(r)
            try:
                b[:] = np.linalg.solve(S, A @ Hr - b)  # u_y, :eq:`eq-schur`
            except np.linalg.LinAlgError as error:  # cvxopt ends on ArithmeticError only
                raise ArithmeticError("the Schur complement is singular") from error
            x[:] = Hr - b @ HA
            if bounded:
                z[:n] = w_inv_upper * (x - z_upper)
            z[-n:] = w_inv_lower * (-x - z_lower)

        return solve

    return factor


def options(tol, max_iter, h_norm):
    """Return cvxopt's options.

    It stops on its own gap. We ask for a thousandth of ours: the last steps gain several
    digits each, and telling zero multipliers from small ones needs them. Its residuals are sums
    over numbers as large as ``h``: below the rounding error of such sums they cannot fall, and
    iterating on would spoil the solution.
    """
    return {
        "show_progress": False,
        "maxiters": max_iter,
        "abstol": 1e-14,
        "reltol": 1e-3 * tol,
        "feastol": max(1e-9, 10 * np.finfo(float).eps * h_norm),
    }


def coneqp(gram, y, scale, q, upper, A, b, tol, max_iter):
    """Call ``coneqp`` on min 1/2 scale u'Qu + q'u, 0 <= u (<= upper), Au = b."""
    n = len(q)
    bounded = upper is not None
    h = np.concatenate([upper, np.zeros(n)]) if bounded else np.zeros(n)

    def P(x, v, alpha=1.0, beta=0.0):
        x, v = view(x), view(v)
        v[:] = alpha * scale * y * gram.times(y * x) + (beta * v if beta else 0.0)

    def G(x, v, alpha=1.0, beta=0.0, trans="N"):
        x, v = view(x), view(v)
        if trans == "N":
            Gx = np.concatenate([x, -x]) if bounded else -x
        else:
            Gx = x[:n] - x[n:] if bounded else -x
        v[:] = alpha * Gx + (beta * v if beta else 0.0)

    cvxopt, solvers = cvxopt_parts()
    initvals = _inside_the_box(cvxopt, upper, y) if bounded else None
    with first_system_solvable():
        return solvers.coneqp(
            P,
            cvxopt.matrix(q),
            G,
            cvxopt.matrix(h),
            A=cvxopt.matrix(A),
            b=cvxopt.matrix(b),
            initvals=initvals,
            kktsolver=kkt_solver(gram, y, scale, A, bounded),
            options=options(tol, max_iter, np.linalg.norm(h)),
        )


def _inside_the_box(cvxopt, upper, y):
    r"""Return the starting point: half-way between the bounds, balanced; every price one.

    cvxopt's own start solves a KKT system of its own and lands outside the box where the box is
    large. The middle costs nothing, is far from all bounds, and saves up to half the iterations.
    The class with the larger sum of bounds starts lower, so that :math:`y^\top x = 0` holds from
    the start: where the box is large its violation would outlast the gap, and the last iterations
    spent on it spoil the solution.
    """
    x = 0.5 * upper
    positive, negative = x[y > 0].sum(), x[y < 0].sum()
    smaller = min(positive, negative)
    x *= np.where(y > 0, smaller / positive, smaller / negative)
    return {
        "x": cvxopt.matrix(x),
        "s": cvxopt.matrix(np.concatenate([upper - x, x])),
        "y": cvxopt.matrix(0.0),
        "z": cvxopt.matrix(1.0, (2 * len(upper), 1)),
    }


@contextmanager
def first_system_solvable():
    """Say in our words what cvxopt means by ``Rank(A) < p`` or by a root of a negative number."""
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
