r"""The interface that all forms of a Gram matrix share.

Solvers need products with a training Gram matrix :math:`K`, blocks and submatrices of it, and
solutions of linear systems. They need not know whether it is stored, of low rank or computed on
demand.

A decision function f has outputs :math:`f(x_i) = \langle f, k(x_i, \cdot)\rangle`. The adjoint of
the map from functions to outputs turns numbers :math:`G_i` into the function
:math:`\sum_i G_i k(x_i, \cdot)`, whose outputs are the product :math:`KG`. How a function is
represented depends on the form:

=====================  ============================================  ===============================
                       coefficients :math:`\alpha` of the points     weights w, :math:`K = ZZ^\top`
=====================  ============================================  ===============================
outputs                :math:`K\alpha`                               :math:`Zw`
adjoint of G           :math:`G`                                     :math:`Z^\top G`
inner product          :math:`\alpha^\top K\alpha'`                  :math:`w^\top w'`
unknowns               n                                             r
=====================  ============================================  ===============================

Arrays of coefficients and outputs are vectors, or have one column per class.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, lapack

from ..threads import all_blas_threads

__all__ = ["GramMatrix", "cholesky", "cholesky_solve", "chunks"]

MIN_THREADED_FACTOR = 2000  # smaller matrices are factored faster by one thread
MAX_GATHERED_ROWS = 64  # rows gathered at a time: they stay in the cache until they are multiplied
FULL_PRODUCT_SHARE = 0.25  # above this fraction of columns, a full product is faster
# Relative to lambda: smaller weights are raised to it, so that their inverses are finite.
MIN_RELATIVE_WEIGHT = 1e-300


class GramMatrix:
    """Base class of Gram matrices; functions are represented by coefficients of the points.

    A form provides ``n``, ``diagonal``, ``dot``, ``dot_columns``, ``block`` and ``submatrix``,
    and ``factor`` if systems can be solved with it.
    """

    dtype = float  # of the entries
    entry_rounding = 1.0  # relative rounding error of the entries per row, in units of dtype's eps

    def in_single_precision(self) -> GramMatrix:
        """Return this form with entries in single precision if they are then computed faster."""
        return self

    def in_double_precision(self) -> GramMatrix:
        """Return this form with entries in double precision."""
        return self

    def limit_blas_threads(self) -> AbstractContextManager:
        """Return the context in which BLAS is fastest for this form: by default without limit."""
        return nullcontext()

    @property
    def n_unknowns(self):
        """Number of unknowns that represent a function."""
        return self.n

    @cached_property
    def norms(self):
        r"""Norms :math:`\sqrt{k(x_i, x_i)}` of the points in feature space."""
        return np.sqrt(np.maximum(self.diagonal, 0.0))

    @property
    def rows(self):
        """The rows of the points, for `svmbook.rows.sum_rows`; in memory, this Gram matrix."""
        return self

    @cached_property
    def scale(self):
        """Mean of the diagonal, a typical k(x, x); 1 for a matrix of zeros."""
        return float(np.mean(self.diagonal)) or 1.0

    def array(self) -> np.ndarray:
        """Return the matrix as an array, which must not be changed."""
        return self.block(np.arange(self.n), np.arange(self.n))

    def cache_rows(self, indices: np.ndarray) -> None:
        """Announce that products with these columns follow; a computed form caches their rows."""

    def upper_triangle(self, indices: np.ndarray, dtype: type) -> np.ndarray:
        """Return the block of these points; entries below the diagonal are undefined."""
        return self.block(indices, indices).astype(dtype, copy=False)

    def outputs(self, A: np.ndarray) -> np.ndarray:
        """Return the values of a function at the points."""
        return self.dot(A)

    def adjoint(self, G: np.ndarray) -> np.ndarray:
        r"""Return the function f with :math:`\langle f, h\rangle = \sum_i G_i h(x_i)` for all h."""
        return G

    def inner(self, U: np.ndarray, V: np.ndarray, outputs_of_V: np.ndarray) -> float:
        """Return the inner product of two functions, given the outputs of the second."""
        return float(np.sum(U * outputs_of_V))

    def squared_norm(self, A: np.ndarray) -> float:
        """Return the squared norm of a function, or the sum of those of several."""
        return self.inner(A, A, self.outputs(A))

    def terms_norm(self, A: np.ndarray) -> float:
        """Return the Euclidean norm of the norms of the terms of a kernel expansion."""
        return float(np.linalg.norm(A.T * self.norms))

    def factor_ridge(self, W: ArrayLike, lam: float) -> Callable:
        r"""Factor a system of weighted ridge regression and return its solver.

        The solver finds A and b in :eq:`eq-irls`, :math:`WKA + \lambda A + W1b^\top = R`,
        :math:`1^\top W(KA + 1b^\top) = r^\top`. With
        :math:`S = (\lambda I + WK)^{-1}` and the system that `factor` solves,
        :math:`H = K + \lambda W^{-1}`,

        .. math:: SR = (R - H^{-1}KR)/\lambda, \quad t = SW1 = H^{-1}1, \quad A = SR - tb^\top,

        and b follows from the sum of the first n equations minus the last one.

        Parameters
        ----------
        W : ndarray of shape (n,)
            Weights, not negative, not all zero.
        lam : float
            Regularisation parameter, the factor of the squared norm; positive.

        Returns
        -------
        callable
            ``solve(R, r)`` returns A and b.

        References
        ----------
        Rasmussen and Williams (2006), *Gaussian Processes for Machine Learning*, algorithm 3.1,
        to which this method adds the intercept.
        """
        solve_H = self.factor(lam / np.maximum(W, MIN_RELATIVE_WEIGHT * lam))
        t = solve_H(np.ones(self.n))

        def solve(R, r):
            SR = (R - solve_H(self.dot(R))) / lam
            b = (r - R.sum(axis=0) + lam * SR.sum(axis=0)) / (lam * t.sum())
            return SR - np.multiply.outer(t, b), b

        return solve


def cholesky(H):
    """Factor a symmetric matrix in place, in its precision, or raise ArithmeticError."""
    factor = lapack.spotrf if H.dtype == np.float32 else lapack.dpotrf
    with all_blas_threads() if len(H) >= MIN_THREADED_FACTOR else nullcontext():
        L, info = factor(H, lower=1, clean=0, overwrite_a=1)
    if info:
        raise ArithmeticError(f"the matrix is not positive definite: pivot {info} is not positive")
    return L


def cholesky_solve(L, b):
    """Solve a system whose matrix was factored by `cholesky`."""
    if b.ndim == 1:  # dpotrs does the same, but for a single b it takes three times as long
        solve = blas.strsv if L.dtype == np.float32 else blas.dtrsv
        return solve(L, solve(L, b, lower=1), lower=1, trans=1)
    solve = lapack.spotrs if L.dtype == np.float32 else lapack.dpotrs
    return solve(L, b, lower=1)[0]


def chunks(indices, size):
    """Yield the indices in chunks of at most ``size``."""
    for start in range(0, len(indices), size):
        yield indices[start : start + size]
