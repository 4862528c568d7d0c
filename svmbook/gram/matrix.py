r"""What every form of a Gram matrix offers, and what follows from it.

Solvers ask a training Gram matrix :math:`K` for products, for blocks, for parts and for systems;
whether it is stored, of low rank or computed as it is asked for is no business of theirs.

A machine's function f has outputs :math:`f(x_i) = \langle f, k(x_i, \cdot)\rangle`. The map from
functions to outputs and its adjoint are the two halves of K: gathering numbers :math:`G_i` into the
function :math:`\sum_i G_i k(x_i, \cdot)` and taking its outputs is the product :math:`KG`. How a
function is held depends on the form:

=====================  =========================================  ===============================
                       by coefficients :math:`\alpha` of points   by weights w, :math:`K = ZZ^\top`
=====================  =========================================  ===============================
outputs                :math:`K\alpha`                            :math:`Zw`
adjoint of G           :math:`G`                                  :math:`Z^\top G`
inner product          :math:`\alpha^\top K\alpha'`               :math:`w^\top w'`
unknowns               n                                          r
=====================  =========================================  ===============================

Arrays of coefficients and outputs may be vectors, or have one column a class.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import blas, lapack

__all__ = ["GramMatrix", "cholesky", "cholesky_solve", "chunks"]

GATHERED_ROWS = 64  # rows gathered at a time: they stay in the cache until they are multiplied
WHOLE_PRODUCT_SHARE = 0.25  # share of the points from which a product with all rows is faster
# Relative to lambda: a smaller weight changes nothing, and its inverse is finite.
SMALLEST_WEIGHT = 1e-300


class GramMatrix:
    """A Gram matrix in some form, its functions held by coefficients of the points.

    A form provides ``n``, ``diagonal``, ``times``, ``columns``, ``block`` and ``part``, and
    ``factor`` where systems can be solved with it.
    """

    def threads(self) -> AbstractContextManager:
        """Return the context in which BLAS works best on this form: as many threads as it likes."""
        return nullcontext()

    @property
    def size(self):
        """Number of unknowns by which a function is held."""
        return self.n

    @cached_property
    def lengths(self):
        r"""Lengths :math:`\sqrt{k(x_i, x_i)}` of the points in feature space."""
        return np.sqrt(np.maximum(self.diagonal, 0.0))

    @cached_property
    def scale(self):
        """Mean of the diagonal, a typical k(x, x); 1 for a matrix of zeros."""
        return float(np.mean(self.diagonal)) or 1.0

    def outputs(self, A: np.ndarray) -> np.ndarray:
        """Return the values of a function at the points."""
        return self.times(A)

    def adjoint(self, G: np.ndarray) -> np.ndarray:
        r"""Return the function f with :math:`\langle f, h\rangle = \sum_i G_i h(x_i)` for all h."""
        return G

    def inner(self, U: np.ndarray, V: np.ndarray, outputs_of_V: np.ndarray) -> float:
        """Return the inner product of two functions, given the outputs of the second."""
        return float(np.sum(U * outputs_of_V))

    def size_of_terms(self, A: np.ndarray) -> float:
        """Return the root of the sum of squares of the terms that make up a function."""
        return float(np.linalg.norm(A.T * self.lengths))

    def ridge(self, W: ArrayLike, lam: float) -> Callable:
        r"""Factor one system of weighted ridge regression and return its solver.

        Solves, as :eq:`eq-irls` asks, :math:`WKA + \lambda A + W1b^\top = R`,
        :math:`1^\top W(KA + 1b^\top) = r^\top` for A and b. With
        :math:`S = (\lambda I + WK)^{-1}` and the system that `factor` solves,
        :math:`H = K + \lambda W^{-1}`,

        .. math:: SR = (R - H^{-1}KR)/\lambda, \quad t = SW1 = H^{-1}1, \quad A = SR - tb^\top,

        and b follows from the sum of the first n equations minus the last one.

        Parameters
        ----------
        W : ndarray of shape (n,)
            Weights, not negative, not all zero.
        lam : float
            Weight of the squared norm, positive.

        Returns
        -------
        callable
            ``solve(R, r)`` returns A and b.

        References
        ----------
        Rasmussen and Williams (2006), *Gaussian Processes for Machine Learning*, algorithm 3.1;
        the intercept is ours.
        """
        solve_H = self.factor(lam / np.maximum(W, SMALLEST_WEIGHT * lam))
        t = solve_H(np.ones(self.n))

        def solve(R, r):
            SR = (R - solve_H(self.times(R))) / lam
            b = (r - R.sum(axis=0) + lam * SR.sum(axis=0)) / (lam * t.sum())
            return SR - np.multiply.outer(t, b), b

        return solve


def cholesky(H):
    """Factor a symmetric matrix in its own place, or raise ArithmeticError."""
    L, info = lapack.dpotrf(H, lower=1, clean=0, overwrite_a=1)
    if info:
        raise ArithmeticError(f"the matrix is not positive definite: pivot {info} failed")
    return L


def cholesky_solve(L, b):
    """Solve with a factor of `cholesky`."""
    if b.ndim == 1:  # dpotrs does the same, three times as slowly for a single b
        return blas.dtrsv(L, blas.dtrsv(L, b, lower=1), lower=1, trans=1)
    return lapack.dpotrs(L, b, lower=1)[0]


def chunks(indices, size):
    """Yield the indices, so many at a time."""
    for start in range(0, len(indices), size):
        yield indices[start : start + size]
