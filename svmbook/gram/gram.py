r"""The signed Gram matrix :math:`Q = YKY`, :math:`Y = \mathrm{diag}(y)`, behind two operations.

An interior-point method never asks for the entries of :math:`Q`. It asks for products
:math:`Qv` and for solutions of :math:`(Q + D)x = b` with a positive diagonal :math:`D`.
Two classes answer, one for any Gram matrix and one for :math:`K = ZZ^\top` of low rank; a
third, for solvers that compute :math:`K` as they go, answers only what a certificate asks. Since
:math:`Y^2 = I`, the labels factor out, :math:`Q + D = Y(K + D)Y`, and no class forms :math:`Q`.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from scipy.linalg import blas, lapack, solve_triangular

from ..threads import one_blas_thread

__all__ = ["DenseGram", "KernelGram", "LowRankGram"]

# A residual, relative to the right-hand side, that needs no refinement: each is one more pass
# over the data.
SMALL_RESIDUAL = 1e-9
STALLED = 0.1  # a refinement that leaves more of the residual than this is the last
REFINEMENTS = 4
CENTRED = 1e-6  # of the root mean square: a mean this small costs no digits worth a copy
DEPENDENT = 10 * np.finfo(float).eps  # times r: what rounding leaves of a dependent unit column
BLOCK = 1024  # rows worked on at a time: bounds temporary memory, and stays in the cache


class _SignedGram:
    """What the stored forms share: ``self.times(v)`` is :math:`Kv`, ``self.y`` the labels."""

    def threads(self):
        """Return the context in which BLAS works best on this form: as many threads as it likes."""
        return nullcontext()

    def __matmul__(self, v):
        return self.y * self.times(self.y * v)


class DenseGram(_SignedGram):
    """Gram matrix stored in full; one Cholesky factorisation for each ``factor``.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric positive semi-definite; never changed, copied only by ``factor``.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    """

    def __init__(self, K, y):
        # LAPACK wants columns one after the other. A symmetric matrix equals its transpose,
        # so the transpose of a C-ordered one is the same numbers without a copy.
        K = np.asarray(K, dtype=float)
        self.K = K if K.flags.f_contiguous else K.T
        self.y = y
        self.scale = float(np.mean(np.diagonal(K)))  # a typical k(x, x)
        self._work = None

    def outputs(self, alpha):
        r"""Return :math:`f = K(y \circ \alpha)` and the shift of the intercept (none here)."""
        return self.times(self.y * alpha), 0.0

    def times(self, v):
        """Return :math:`Kv`."""
        return blas.dsymv(1.0, self.K, v, lower=1)

    def restrict(self, points):
        """Return the signed Gram matrix of some of the points."""
        return DenseGram(self.K[np.ix_(points, points)], self.y[points])

    def factor(self, D):
        """Factor :math:`K + D` and return the function that solves :math:`(Q + D)x = b`.

        Raises ArithmeticError where a pivot is not positive.
        """
        if self._work is None:
            self._work = np.empty_like(self.K, order="F")
        np.copyto(self._work, self.K)
        self._work.ravel(order="K")[:: len(D) + 1] += D
        L, info = lapack.dpotrf(self._work, lower=1, clean=0, overwrite_a=1)
        if info:
            raise ArithmeticError(f"K + D is not positive definite: pivot {info} failed")

        def solve(b):  # dpotrs does the same, three times as slowly for a single b
            return self.y * blas.dtrsv(L, blas.dtrsv(L, self.y * b, lower=1), lower=1, trans=1)

        return solve


class LowRankGram(_SignedGram):
    r"""Gram matrix :math:`K = ZZ^\top` of rank at most r, never formed.

    The matrix inversion lemma turns n unknowns into r,

    .. math:: (D + ZZ^\top)^{-1} = D^{-1} - D^{-1} Z\,(I + Z^\top D^{-1} Z)^{-1} Z^\top D^{-1},

    at :math:`n r^2` operations for a factorisation and :math:`4nr` for a solution. The lemma
    subtracts nearly equal numbers where :math:`D` is small; refinement restores the digits.

    On the feasible set :math:`y^\top\alpha = 0`, so adding a constant to every row of :math:`Z`
    changes nothing but the intercept. The rows are therefore centred: the same
    problem, better conditioned. Rows that are centred already are not copied.

    Columns that depend on others (constant ones; the last of a set of 0/1 indicators that sum to
    one) are folded into them. They add nothing to :math:`K`, and as :math:`D` goes to zero
    :math:`I + Z^\top D^{-1} Z` would be singular but for an :math:`I` that rounding swallows.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Factor of the Gram matrix; for the linear kernel the data matrix itself.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    centred : bool, default=False
        Whether the rows are to be taken as they are: part of a factor that was centred as a whole.
    """

    def __init__(self, Z, y, *, centred=False):
        self.mean = np.zeros(Z.shape[1]) if centred else Z.mean(axis=0)
        spread = np.sqrt(np.einsum("ij,ij->j", Z, Z) / len(Z))
        if (np.abs(self.mean) <= CENTRED * spread).all():
            self.mean[:] = 0.0
            self.Z = np.ascontiguousarray(Z)
        else:
            self.Z = Z - self.mean
        if not centred:
            with self.threads():
                self.Z, self.mean = _independent(self.Z, self.mean, spread)
        self.y = y
        self.scale = float(np.einsum("ij,ij->", self.Z, self.Z) / len(y))

    def threads(self):
        """Return the context in which BLAS works best on this form: one thread.

        Blocks that fit the cache of one core are done before a second one has woken up.
        """
        return one_blas_thread()

    def outputs(self, alpha):
        r"""Return :math:`f = \bar Z w`, centred, and the shift :math:`\bar z^\top w` of b."""
        w = self.Z.T @ (self.y * alpha)
        return self.Z @ w, float(self.mean @ w)

    def times(self, v):
        """Return :math:`Kv`."""
        return self.Z @ (self.Z.T @ v)

    def restrict(self, points):
        """Return the signed Gram matrix of some of the points."""
        return LowRankGram(self.Z[points], self.y[points], centred=True)

    def factor(self, D):
        r"""Factor the r x r system and return the function that solves :math:`(Q + D)x = b`.

        Raises ArithmeticError where a pivot is not positive.

        With :math:`S = I + Z^\top D^{-1} Z` the lemma reads :math:`S t = Z^\top D^{-1} b`,
        :math:`x = D^{-1}(b - Z t)`, and in exact arithmetic :math:`Z^\top x = t`. What rounding
        leaves of the difference is the whole residual,
        :math:`b - (D + ZZ^\top)x = Z(t - Z^\top x)`, so refinement happens among r numbers.
        Z is read in blocks that stay in the cache while both products with them are formed.
        """
        Z, n = self.Z, len(D)
        blocks = [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]
        S = np.eye(Z.shape[1])
        for rows in blocks:
            scaled = Z[rows] / np.sqrt(D[rows, None])
            S += scaled.T @ scaled
        L, info = lapack.dpotrf(S, lower=1, clean=0, overwrite_a=1)
        if info:
            raise ArithmeticError(f"I + Z'Z/D is not positive definite: pivot {info} failed")

        def subtract(x, t):
            r"""Take :math:`D^{-1} Z t` from x and return :math:`Z^\top x`."""
            w = np.zeros_like(t)
            for rows in blocks:
                x[rows] -= (Z[rows] @ t) / D[rows]
                w += x[rows] @ Z[rows]
            return w

        def solve(b):
            x = self.y * b / D
            t, _ = lapack.dpotrs(L, x @ Z, lower=1)
            w = subtract(x, t)

            small, before = SMALL_RESIDUAL * np.abs(b).max() / np.sqrt(self.scale or 1.0), np.inf
            for _ in range(REFINEMENTS):
                now = np.linalg.norm(w - t)
                if now <= small or now > STALLED * before:
                    break
                before = now
                correction, _ = lapack.dpotrs(L, w - t, lower=1)
                w = subtract(x, correction)
                t += correction
            return self.y * x

        return solve


def _independent(Z, mean, spread):
    r"""Return a factor of the same :math:`ZZ^\top` with independent columns, and its mean.

    With columns of length one, :math:`Z = UT`, a Cholesky factorisation of :math:`U^\top U` with
    pivots finds independent columns B and writes the others as :math:`U_B M`. Then

    .. math:: ZZ^\top = U_B\,[I\;M]\,T^2\,[I\;M]^\top U_B^\top = (U_B L)(U_B L)^\top,

    where :math:`LL^\top` is the small matrix in the middle.
    """
    n, r = Z.shape
    length = np.sqrt(np.einsum("ij,ij->j", Z, Z))
    varied = np.flatnonzero(length > DEPENDENT * np.sqrt(n) * spread)
    length = length[varied]
    inner = (Z.T @ Z)[np.ix_(varied, varied)] / np.outer(length, length)
    R, order, rank, _ = lapack.dpstrf(inner, tol=DEPENDENT * r)
    if rank == r or rank == 0:
        return Z, mean
    order -= 1  # LAPACK counts from one
    B, rest = order[:rank], order[rank:]
    M = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    L = np.linalg.cholesky(np.diag(length[B] ** 2) + (M * length[rest] ** 2) @ M.T)
    moved = length * mean[varied]
    mean = solve_triangular(L, moved[B] + M @ moved[rest], lower=True)
    chosen = np.zeros((r, rank))
    chosen[varied[B]] = L / length[B, None]
    return Z @ chosen, mean


class KernelGram:
    r"""Gram matrix of a kernel function, computed in blocks and never stored as a whole.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    kernel : callable
        ``kernel(X, Z)`` of shape (len(X), len(Z)).
    """

    def __init__(self, X, y, kernel):
        self.X, self.y, self.kernel = X, y, kernel
        few = 64  # a block of the diagonal costs that many values a point
        blocks = (X[start : start + few] for start in range(0, len(X), few))
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite scale is refused later
            self.scale = sum(float(np.trace(kernel(B, B))) for B in blocks) / len(X)

    def outputs(self, alpha):
        r"""Return :math:`f = K(y \circ \alpha)` and the shift of the intercept (none here).

        Costs n values of the kernel for each support vector.
        """
        support = np.flatnonzero(alpha)
        Z, beta = self.X[support], (self.y * alpha)[support]
        blocks = range(0, len(self.X), BLOCK)
        return np.concatenate([self.kernel(self.X[s : s + BLOCK], Z) @ beta for s in blocks]), 0.0

    def restrict(self, points):
        """Return the signed Gram matrix of some of the points, stored."""
        X = self.X[points]
        return DenseGram(self.kernel(X, X), self.y[points])
