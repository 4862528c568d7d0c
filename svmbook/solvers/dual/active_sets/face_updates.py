r"""The system of a face that differs by a few points from an earlier one, whose matrix is factored.

Let :math:`A_{GG}` be factored for the points G. The face F consists of G without the points R, and
of the new points N. With the columns E of the identity that belong to R, its system is part of

.. math::

    \begin{bmatrix} A_{GG} & A_{GN} & E\\ A_{NG} & A_{NN} & 0\\ E^\top & 0 & 0\end{bmatrix}
    \begin{bmatrix} x_G\\ x_N\\ \lambda\end{bmatrix} =
    \begin{bmatrix} r_G\\ r_N\\ 0\end{bmatrix},

whose last rows set the unknowns of R to zero. With :math:`V = [A_{GN}, E]`, eliminating :math:`x_G`
leaves one equation for each point of N and R. Their matrix is the Schur complement
:math:`S = \mathrm{diag}(A_{NN}, 0) - V^\top A_{GG}^{-1}V`. With k such points and m points in G,
this takes about :math:`2km^2` operations, and a new factorisation of :eq:`eq-face` takes
:math:`m^3/3`.
"""

import numpy as np
from scipy.linalg import lu_factor, lu_solve

__all__ = ["changed_face_solver"]


def changed_face_solver(solve, G, F, is_new, A_GN, A_NN, min_squared_distance):
    """Return a function that solves the system of F, where ``solve`` solves that of G.

    G and F hold sorted indices of points, and the mask ``is_new`` selects the points of F that are
    not in G. ``solve`` accepts one or several right-hand sides, the returned function accepts one.
    The result is None if the squared distance, in feature space, of a new point from the span of G,
    or of a removed point from the span of the rest of G, is below ``min_squared_distance``, as for
    duplicates: the Schur complement would be too inaccurate.
    """
    R, n_new = np.flatnonzero(~np.isin(G, F)), is_new.sum()
    kept = np.searchsorted(G, F[~is_new])
    V = np.zeros((len(G), n_new + len(R)))
    V[:, :n_new], V[R, n_new + np.arange(len(R))] = A_GN, 1.0
    W = solve(V)
    S = -(V.T @ W)
    S[:n_new, :n_new] += A_NN
    diagonal = np.diagonal(S)  # the squared distances of N, and minus the inverse ones of R
    squared_distances = np.append(diagonal[:n_new], -1.0 / diagonal[n_new:])
    if (squared_distances < min_squared_distance).any():
        return None
    S_factor = lu_factor(S)

    def solve_changed(r):
        r_G, right_side = np.zeros(len(G)), np.zeros(len(S))
        r_G[kept], right_side[:n_new] = r[~is_new], r[is_new]
        u = solve(r_G)
        t = lu_solve(S_factor, right_side - V.T @ u)  # x_N and lambda
        x = np.empty(len(F))
        x[~is_new], x[is_new] = (u - W @ t)[kept], t[:n_new]
        return x

    return solve_changed
