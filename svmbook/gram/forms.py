r"""A function in a kernel's space, written by its values at the points or by its weights.

A logistic machine is :math:`F = f(X) + 1b^\top`: outputs f from a space with an inner product,
and intercepts. A solver needs four operations of that space, and two classes answer:

========================  ===============================  ==================================
operation                 `GramForm`, :math:`f = K\alpha`  `FactorForm`, :math:`f = Zw`
========================  ===============================  ==================================
outputs of a function     :math:`K\alpha`                  :math:`Zw`
gather a pull G           :math:`G`                        :math:`Z^\top G`
inner product             :math:`\alpha^\top K\alpha'`     :math:`w^\top w'`
weighted ridge            n unknowns                       r unknowns
========================  ===============================  ==================================

"Gather" answers: if each output is pulled by :math:`G_i`, which function f pulls as hard,
:math:`\langle f, h\rangle = \sum_i G_i h(x_i)` for all h? By the reproducing property it is
:math:`\sum_i G_i k(x_i, \cdot)`. All arrays of coefficients and outputs may have one column (as
vectors) or one column a class.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

__all__ = ["FactorForm", "GramForm", "independent_factor"]

BLOCK = 1024  # rows worked on at a time: bounds temporary memory, and stays in the cache


class GramForm:
    r"""Functions :math:`\sum_j \alpha_j k(x_j, \cdot)`, held by :math:`\alpha`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix; never changed.
    lam : float
        Weight :math:`\lambda > 0` of the squared norm.
    """

    def __init__(self, K, lam):
        self.K = K if K.flags.f_contiguous else K.T  # symmetric: the same numbers, no copy
        self.lam = lam
        self.lengths = np.sqrt(np.maximum(np.diagonal(K), 0.0))  # of the points in feature space
        self.size = len(K)
        self._work = None

    def outputs(self, A):
        """Return the values of a function at the points, :math:`KA`."""
        return blas.dsymv(1.0, self.K, A, lower=1) if A.ndim == 1 else self.K @ A

    def gather(self, G):
        """Return the coefficients of the function that pulls like G: G itself."""
        return G

    def size_of_terms(self, A):
        """Return the root of the sum of squares of the terms that make up a function."""
        return float(np.linalg.norm(A.T * self.lengths))

    def dot(self, U, V, outputs_of_V):
        """Return the inner product of two functions, given the outputs of the second."""
        return float(np.sum(U * outputs_of_V))

    def ridge(self, W):
        r"""Factor one system of weighted ridge regression and return its solver.

        Solves :math:`WK A + \lambda A + W1b^\top = R`, :math:`1^\top W(KA + 1b^\top) = r^\top` for
        A and b. With :math:`B = I + W^{1/2}KW^{1/2}/\lambda` (eigenvalues at least 1, one Cholesky
        factorisation), :math:`S = (\lambda I + WK)^{-1}` is
        :math:`SR = (R - W^{1/2}B^{-1}W^{1/2}KR/\lambda)/\lambda`, and
        :math:`t = SW1 = W^{1/2}B^{-1}W^{1/2}1/\lambda`. Then :math:`A = SR - tb^\top`, and b
        follows from the sum of the first n equations minus the last one.

        Parameters
        ----------
        W : ndarray of shape (n,)
            Weights, not negative, not all zero.

        Returns
        -------
        callable
            ``solve(R, r)`` returns A and b.

        Raises
        ------
        ArithmeticError
            A pivot is not positive.

        References
        ----------
        Rasmussen and Williams (2006), *Gaussian Processes for Machine Learning*, algorithm 3.1;
        the intercept is ours.
        """
        lam, root = self.lam, np.sqrt(W)
        if self._work is None:
            self._work = np.empty_like(self.K, order="F")
        B = self._work
        np.multiply(self.K, root / lam, out=B)
        B *= root[:, None]
        B.ravel(order="K")[:: self.size + 1] += 1.0
        L = _cholesky(B)

        def S(R):
            return (R - _times(root, _solve(L, _times(root, self.outputs(R)))) / lam) / lam

        t = root * _solve(L, root) / lam

        def solve(R, r):
            SR = S(R)
            b = (r - R.sum(axis=0) + lam * SR.sum(axis=0)) / (lam * t.sum())
            return SR - np.multiply.outer(t, b), b

        return solve


class FactorForm:
    r"""Functions :math:`w^\top z`, held by :math:`w`, where :math:`K = ZZ^\top`.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Factor of the Gram matrix; for the linear kernel the data matrix. Centred columns keep the
        digits of the intercept.
    lam : float
        Weight :math:`\lambda \ge 0` of the squared norm; zero needs independent columns.
    """

    def __init__(self, Z, lam):
        self.Z = Z
        self.lam = lam
        self.lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z))
        self.size = Z.shape[1]

    def outputs(self, A):
        """Return the values of a function at the points, :math:`ZA`."""
        return self.Z @ A

    def gather(self, G):
        r"""Return the weights of the function that pulls like G, :math:`Z^\top G`."""
        return self.Z.T @ G

    def size_of_terms(self, A):
        """Return the length of a function, of which an output is a product with a row of Z."""
        return float(np.linalg.norm(A))

    def dot(self, U, V, outputs_of_V):
        """Return the inner product of two functions."""
        return float(np.sum(U * V))

    def ridge(self, W):
        r"""Factor one system of weighted ridge regression and return its solver.

        Solves :math:`Z^\top W(ZA + 1b^\top) + \lambda A = R`, :math:`1^\top W(ZA + 1b^\top) =
        r^\top`. Around the weighted mean :math:`\bar z` of the rows the two parts separate:
        :math:`(\sum_i W_i (z_i - \bar z)(z_i - \bar z)^\top + \lambda I)A = R - \bar z r^\top`.

        Parameters
        ----------
        W : ndarray of shape (n,)
            Weights, not negative, not all zero.

        Returns
        -------
        callable
            ``solve(R, r)`` returns A and b.

        Raises
        ------
        ArithmeticError
            A pivot is not positive.
        """
        Z, total = self.Z, W.sum()
        mean = W @ Z / total
        H = self.lam * np.eye(self.size)
        for start in range(0, len(Z), BLOCK):
            rows = slice(start, start + BLOCK)
            scaled = (Z[rows] - mean) * np.sqrt(W[rows, None])
            H += scaled.T @ scaled
        L = _cholesky(H)

        def solve(R, r):
            A = _solve(L, R - np.multiply.outer(mean, r))
            return A, r / total - mean @ A

        return solve


def independent_factor(K, *, noise=None):
    r"""Return Z of independent columns with :math:`K = ZZ^\top` up to rounding.

    Cholesky's factorisation takes the points in the order of what the earlier ones leave of them,
    and stops where nothing is left but rounding errors. For smooth kernels that is soon.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Gram matrix, symmetric positive semi-definite.
    noise : float, default=None
        The fraction of the largest :math:`k(x, x)` below which what is left of a point is taken
        for rounding; by default n times the precision.

    Returns
    -------
    Z : ndarray of shape (n, r)
        The factor.
    pivots : ndarray of shape (r,)
        The points in the order they were taken; ``Z[pivots]`` is lower triangular.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram.forms import independent_factor
    >>> X = np.array([[3.0, 4.0], [1.0, 0.0], [6.0, 8.0]])
    >>> Z, pivots = independent_factor(X @ X.T)
    >>> Z.shape, bool(np.allclose(Z @ Z.T, X @ X.T))
    ((3, 2), True)
    """
    largest = np.diagonal(K).max()
    L, order, rank, _ = lapack.dpstrf(K, lower=1, tol=-1.0 if noise is None else noise * largest)
    order = order - 1
    Z = np.empty((len(K), rank))
    Z[order] = np.tril(L)[:, :rank]
    return Z, order[:rank]


def _times(root, V):
    """Return the rows of V, each times its entry of ``root``."""
    return root * V if V.ndim == 1 else root[:, None] * V


def _cholesky(B):
    """Factor a symmetric matrix in its own place."""
    L, info = lapack.dpotrf(B, lower=1, clean=0, overwrite_a=1)
    if info:
        raise ArithmeticError(f"the system of a Newton step is singular: pivot {info} failed")
    return L


def _solve(L, b):
    if b.ndim == 1:  # dpotrs does the same, three times as slowly for a single b
        return blas.dtrsv(L, blas.dtrsv(L, b, lower=1), lower=1, trans=1)
    return lapack.dpotrs(L, b, lower=1)[0]
