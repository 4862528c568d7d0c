"""The arrays of a dual, checked once for all solvers."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array, check_scalar

from ..kernels import check_gram

__all__ = ["check_problem", "check_size", "check_stopping"]

LARGEST = 1e50  # of K and C, and one over it the smallest: their products, squared, stay doubles


def check_problem(K, y, C, *, square=True):
    """Return the arrays of a dual as floats, or say what is wrong with them.

    Parameters
    ----------
    K : array-like of shape (n, n), or (n, r) if not ``square``
        Gram matrix or factor.
    y : array-like of shape (n,)
        Labels, -1 and +1, both present.
    C : float or array-like of shape (n,)
        Upper bounds, positive and finite.
    square : bool, default=True
        Whether ``K`` must have as many columns as rows.

    Returns
    -------
    K, y, C : ndarray
        ``C`` with one entry a point.

    Raises
    ------
    ValueError
        Naming the array, what was found, and what is needed.

    Examples
    --------
    >>> from svmbook.solvers.problem import check_problem
    >>> check_problem([[1.0, 0.0], [0.0, 1.0]], [0, 1], 1.0)
    Traceback (most recent call last):
        ...
    ValueError: y must hold the labels -1 and +1, both of them; found [0. 1.].
    """
    y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    labels = np.unique(y)
    if y.ndim != 1 or not np.array_equal(labels, [-1.0, 1.0]):
        raise ValueError(f"y must hold the labels -1 and +1, both of them; found {labels[:5]}.")
    n = len(y)
    K = check_array(K, dtype=np.float64, input_name="K")
    if len(K) != n or (square and K.shape[1] != n):
        needed = f"({n}, {n})" if square else f"({n}, r)"
        raise ValueError(f"K must have shape {needed} for {n} labels; found {K.shape}.")
    if square:
        K = check_gram(K, definite=False)
        check_size("K", np.diagonal(K).max())
    C = check_array(
        np.atleast_1d(C), dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name="C"
    )
    if C.ndim > 1 or C.size not in (1, n):
        raise ValueError(f"C must be a number or hold {n} numbers; found shape {C.shape}.")
    if not (np.isfinite(C).all() and (C > 0).all()):
        raise ValueError(
            f"C must be positive and finite; found values from {C.min():g} to {C.max():g}. "
            "For the hard margin call solve_hard_margin; leave out points of weight zero."
        )
    check_size("C", C.min())
    check_size("C", C.max())
    return K, y, np.broadcast_to(C, y.shape)


def check_size(name, value, *, power=1):
    """Refuse a size from which products would overflow, or underflow to zero.

    Parameters
    ----------
    name : str
        What has that size.
    value : float
        Zero, or a typical or extreme positive value.
    power : int, default=1
        The power in which it enters: 2 for a factor of the Gram matrix.

    Raises
    ------
    ValueError
        The power lies outside 1e-50 to 1e50.

    Examples
    --------
    >>> from svmbook.solvers.problem import check_size
    >>> check_size("C", 1e60)
    Traceback (most recent call last):
        ...
    ValueError: C is of the size 1e+60; only between 1e-50 and 1e+50 do products stay ...
    """
    limit = LARGEST ** (1 / power)
    if value and not 1.0 / limit <= value <= limit:
        raise ValueError(
            f"{name} is of the size {value:.0e}; only between {1 / limit:.0e} and {limit:.0e} do "
            "products stay doubles. Scale the features, or C."
        )


def check_stopping(tol, max_iter):
    """Return tolerance and limit of iterations as plain numbers, or say what is wrong with them.

    Parameters
    ----------
    tol : float
        Relative duality gap, positive.
    max_iter : int
        Iterations at most, one or more.

    Returns
    -------
    tol : float
    max_iter : int

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, what was found, and what is needed.

    Examples
    --------
    >>> from svmbook.solvers.problem import check_stopping
    >>> check_stopping(1e-6, 0)
    Traceback (most recent call last):
        ...
    ValueError: max_iter == 0, must be >= 1.
    """
    if not isinstance(tol, Real):
        raise TypeError(f"tol must be a number; found {tol!r}.")
    if not 0 < tol < np.inf:
        raise ValueError(f"tol must be a positive, finite number; found {tol!r}.")
    check_scalar(max_iter, "max_iter", Integral, min_val=1)
    return float(tol), int(max_iter)
