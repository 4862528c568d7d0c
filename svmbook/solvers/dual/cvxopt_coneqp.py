r"""cvxopt's ``coneqp`` with a KKT solver for box constraints.

The problem is

    minimise 1/2 scale u'Qu - 1'u  subject to  0 <= u <= upper,  y'u = 0,

where :math:`Q = YKY`, :math:`Y = \mathrm{diag}(y)`, and K is one of the forms of `svmbook.gram`.
"""

import numpy as np

from .mehrotra import equalise_class_sums, hessian_solver

__all__ = ["call_coneqp", "cvxopt_options", "flat_view", "import_cvxopt", "kkt_solver"]


def import_cvxopt():
    """Return the modules cvxopt and cvxopt.solvers."""
    try:
        import cvxopt
        from cvxopt import solvers
    except ImportError as error:
        raise ImportError(
            "this solver needs cvxopt, which is not installed. Run pip install 'svmbook[cvxopt]', "
            "or choose another solver, such as solver='interior-point'."
        ) from error
    return cvxopt, solvers


def flat_view(x):
    """Return a flat NumPy view of a cvxopt column."""
    return np.asarray(x).ravel(order="K")


def kkt_solver(gram, y, scale):
    r"""Return the function that cvxopt calls once per iteration to solve its KKT system.

    With a positive diagonal scaling :math:`W` the system is :eq:`eq-kkt-system`,

    .. math::

        \begin{bmatrix} P & A^\top & G^\top\\ A & 0 & 0\\ G & 0 & -W^2\end{bmatrix}
        \begin{bmatrix} u_x\\ u_y\\ u_z\end{bmatrix}
        = \begin{bmatrix} b_x\\ b_y\\ b_z\end{bmatrix} .

    It is solved in place: the arguments hold :math:`b_x, b_y, b_z`, and on return
    :math:`u_x, u_y, W u_z`. Three eliminations are needed:

    1. The last row gives :math:`u_z = W^{-2}(G u_x - b_z)`, and substituted in the first row
       :math:`(P + G^\top W^{-2} G)\,u_x + A^\top u_y = b_x + G^\top W^{-2} b_z =: r`.
    2. With :math:`G = [I; -I]` the added term is a *diagonal* matrix :math:`D`, the sum of the
       two halves of :math:`W^{-2}`, :eq:`eq-reduced`. Hence :math:`H = P + D` is the Gram matrix
       with a larger diagonal: one Cholesky factorisation (dense) or one r x r system (low rank).
    3. With :math:`A = y^\top`, :math:`u_x = H^{-1}(r - y\,u_y)` and :math:`y^\top u_x = b_y` leave
       one equation for one number, :math:`(y^\top H^{-1} y)\,u_y = y^\top H^{-1} r - b_y`,
       :eq:`eq-schur`.

    Since :math:`Y^2 = I`, :math:`Q + D = Y(K + D)Y`. Therefore the Gram matrix itself is factored,
    and Q is not formed.

    Parameters
    ----------
    gram : StoredGram or LowRankGram
        The Gram matrix :math:`K`.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    scale : float
        Factor of the quadratic term: :math:`P = \mathrm{scale} \cdot YKY`.

    Returns
    -------
    callable
        ``factor(W)``, which returns ``solve(u_x, u_y, u_z)``. ``factor`` raises ArithmeticError if
        a factorisation fails, at which cvxopt stops.
    """
    n = len(y)

    def factor(W):
        w_inv = flat_view(W["di"])
        w_inv_upper, w_inv_lower = w_inv[:n], w_inv[n:]  # of the upper and the lower bounds
        D = w_inv_upper**2 + w_inv_lower**2  # D_u + D_l of :eq:`eq-reduced`
        solve_H = hessian_solver(gram, y, scale, D)
        H_inv_y = solve_H(y)
        S = y @ H_inv_y
        if S == 0.0:  # cvxopt handles only ArithmeticError
            raise ArithmeticError("the Schur complement is zero")

        def solve(u_x, u_y, u_z):
            x, b, z = flat_view(u_x), flat_view(u_y), flat_view(u_z)
            z_upper, z_lower = z[:n], z[n:]
            r = x + w_inv_upper**2 * z_upper - w_inv_lower**2 * z_lower
            H_inv_r = solve_H(r)
            b[:] = (y @ H_inv_r - b) / S  # u_y, :eq:`eq-schur`
            x[:] = H_inv_r - b * H_inv_y
            z[:n] = w_inv_upper * (x - z_upper)
            z[n:] = w_inv_lower * (-x - z_lower)

        return solve

    return factor


def cvxopt_options(tol, max_iter, h_norm):
    """Return cvxopt's options.

    Its tolerance of the gap is a thousandth of ``tol``: the last iterations gain several digits
    each, which are needed to distinguish zero multipliers from small ones. The tolerance of the
    residuals is at least their rounding error, that of sums of numbers as large as ``h``. Further
    iterations would make the solution worse.
    """
    return {
        "show_progress": False,
        "maxiters": max_iter,
        "abstol": 1e-14,
        "reltol": 1e-3 * tol,
        "feastol": max(1e-9, 10 * np.finfo(float).eps * h_norm),
    }


def call_coneqp(gram, y, scale, upper, tol, max_iter):
    r"""Call ``coneqp`` on min 1/2 scale u'Qu - 1'u, 0 <= u <= upper, y'u = 0.

    The starting point is half-way between the bounds, and lower in the class with the larger sum of
    bounds, so that :math:`y^\top u = 0`. It is far from all bounds and saves up to half the
    iterations. cvxopt's default start solves one more KKT system, and lies outside a large box. In
    a large box an initial violation of the equation would decrease more slowly than the gap, and
    the additional iterations would make the solution worse.
    """
    n = len(y)
    h = np.concatenate([upper, np.zeros(n)])

    def P(x, v, alpha=1.0, beta=0.0):
        x, v = flat_view(x), flat_view(v)
        v[:] = alpha * scale * y * gram.dot(y * x) + (beta * v if beta else 0.0)

    def G(x, v, alpha=1.0, beta=0.0, trans="N"):
        x, v = flat_view(x), flat_view(v)
        Gx = np.concatenate([x, -x]) if trans == "N" else x[:n] - x[n:]
        v[:] = alpha * Gx + (beta * v if beta else 0.0)

    cvxopt, solvers = import_cvxopt()
    u = equalise_class_sums(0.5 * upper, y)
    start = {
        "x": cvxopt.matrix(u),
        "s": cvxopt.matrix(np.concatenate([upper - u, u])),
        "y": cvxopt.matrix(0.0),
        "z": cvxopt.matrix(1.0, (2 * n, 1)),
    }
    return solvers.coneqp(
        P,
        cvxopt.matrix(-1.0, (n, 1)),
        G,
        cvxopt.matrix(h),
        A=cvxopt.matrix(y[None, :]),
        b=cvxopt.matrix(0.0),
        initvals=start,
        kktsolver=kkt_solver(gram, y, scale),
        options=cvxopt_options(tol, max_iter, np.linalg.norm(h)),
    )
