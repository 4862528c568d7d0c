"""The arrays of a problem, checked once for all solvers."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array, check_scalar

from ..kernels import check_gram

__all__ = [
    "check_bounds",
    "check_factor",
    "check_lam",
    "check_logistic",
    "check_problem",
    "check_size",
    "check_stopping",
    "check_tolerance",
]

LARGEST = 1e50  # of K and C, and one over it the smallest: their products, squared, stay doubles


def check_problem(K, y, C, *, square=True, blocks=False):
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
    blocks : bool, default=False
        Whether ``K`` may be a function that computes blocks; it is returned as it is.

    Returns
    -------
    K : ndarray, or the function
    y, C : ndarray
        ``C`` with one entry a point.

    Raises
    ------
    ValueError
        Naming the array, what was found, and what is needed.

    Examples
    --------
    >>> from svmbook.solvers.checks import check_problem
    >>> check_problem([[1.0, 0.0], [0.0, 1.0]], [0, 1], 1.0)
    Traceback (most recent call last):
        ...
    ValueError: y must hold the labels -1 and +1, both of them; found [0. 1.].
    """
    y = _check_labels(y, [-1.0, 1.0])
    if not (blocks and callable(K)):
        K = _check_matrix(K, len(y), square=square)
    return K, y, check_bounds(C, len(y))


def check_bounds(C, n, name="C"):
    """Return upper bounds as floats, one a point, or say what is wrong with them.

    Parameters
    ----------
    C : float or array-like of shape (n,)
        Upper bounds, positive and finite.
    n : int
        Number of points.
    name : str, default="C"
        Their name.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        As `check_problem`.
    """
    remedy = "For the hard margin call solve_hard_margin; leave out points of weight zero."
    return _check_positive(C, n, name, remedy)


def check_logistic(K, y, weights, *, square=True, classes=None):
    """Return the arrays of a log likelihood as numbers, or say what is wrong with them.

    Parameters
    ----------
    K : array-like of shape (n, n), or (n, r) if not ``square``
        Gram matrix or factor.
    y : array-like of shape (n,)
        Labels, -1 and +1, or 0 to ``classes - 1``, each present.
    weights : float or array-like of shape (n,)
        Weights of the points, positive and finite.
    square : bool, default=True
        Whether ``K`` must have as many columns as rows.
    classes : int, default=None
        Number of classes; None for two with labels -1 and +1.

    Returns
    -------
    K, y, weights : ndarray
        ``y`` as integers for several classes, ``weights`` with one entry a point.

    Raises
    ------
    ValueError, TypeError
        Naming the array, what was found, and what is needed.

    Examples
    --------
    >>> from svmbook.solvers.checks import check_logistic
    >>> check_logistic([[1.0, 0.0], [0.0, 1.0]], [-1, 1], [2.0, 0.0])
    Traceback (most recent call last):
        ...
    ValueError: weights must be positive and finite; found values from 0 to 2. Leave out ...
    """
    if classes is None:
        y = _check_labels(y, [-1.0, 1.0])
    else:
        check_scalar(classes, "classes", Integral, min_val=2)
        y = _check_labels(y, range(classes)).astype(int)
    K = _check_matrix(K, len(y), square=square)
    if not square:
        check_factor(K)
    remedy = "Leave out points of weight zero."
    return K, y, _check_positive(weights, len(y), "weights", remedy)


def check_lam(lam):
    """Refuse a weight of a penalty that is not a positive, finite number of ordinary size.

    Parameters
    ----------
    lam : float
        The weight.

    Raises
    ------
    ValueError, TypeError
        It is not.
    """
    if not isinstance(lam, Real):
        raise TypeError(f"lam must be a number; found {lam!r}.")
    if not 0 < lam < np.inf:
        raise ValueError(f"lam must be positive and finite; found {lam!r}.")
    check_size("lam", lam, remedy="Choose another lam.")


def check_factor(Z):
    """Refuse a factor of a Gram matrix whose squares are no doubles.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        The factor; looked at without a copy.

    Raises
    ------
    ValueError
        As `check_size`.
    """
    check_size("Z", max(Z.max(), -Z.min()), power=2)


def _check_labels(y, wanted):
    y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    labels = np.unique(y)
    if y.ndim != 1 or not np.array_equal(labels, wanted):
        words = "-1 and +1, both of them"
        if len(wanted) > 2 or wanted[0] == 0:
            words = f"0 to {len(wanted) - 1}, each of them"
        raise ValueError(f"y must hold the labels {words}; found {labels[:5]}.")
    return y


def _check_matrix(K, n, *, square):
    K = check_array(K, dtype=np.float64, input_name="K")
    if len(K) != n or (square and K.shape[1] != n):
        needed = f"({n}, {n})" if square else f"({n}, r)"
        raise ValueError(f"K must have shape {needed} for {n} labels; found {K.shape}.")
    if square:
        K = check_gram(K, definite=False)
        check_size("K", np.diagonal(K).max())
    return K


def _check_positive(C, n, name, remedy):
    C = check_array(
        np.atleast_1d(C), dtype=float, ensure_2d=False, ensure_all_finite=False, input_name=name
    )
    if C.ndim > 1 or C.size not in (1, n):
        raise ValueError(f"{name} must be a number or hold {n} numbers; found shape {C.shape}.")
    if not (np.isfinite(C).all() and (C > 0).all()):
        raise ValueError(
            f"{name} must be positive and finite; found values from {C.min():g} to {C.max():g}. "
            f"{remedy}"
        )
    check_size(name, C.min())
    check_size(name, C.max())
    return np.broadcast_to(C, n)


def check_size(name, value, *, power=1, remedy="Scale the features, or C."):
    """Refuse a size from which products would overflow, or underflow to zero.

    Parameters
    ----------
    name : str
        What has that size.
    value : float
        Zero, or a typical or extreme positive value.
    power : int, default=1
        The power in which it enters: 2 for a factor of the Gram matrix.
    remedy : str, optional
        What to do about it.

    Raises
    ------
    ValueError
        The power lies outside 1e-50 to 1e50.

    Examples
    --------
    >>> from svmbook.solvers.checks import check_size
    >>> check_size("C", 1e60)
    Traceback (most recent call last):
        ...
    ValueError: C is of the size 1e+60; only between 1e-50 and 1e+50 do products stay ...
    """
    limit = LARGEST ** (1 / power)
    if value and not 1.0 / limit <= value <= limit:
        raise ValueError(
            f"{name} is of the size {value:.0e}; only between {1 / limit:.0e} and {limit:.0e} do "
            f"products stay doubles. {remedy}"
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
    >>> from svmbook.solvers.checks import check_stopping
    >>> check_stopping(1e-6, 0)
    Traceback (most recent call last):
        ...
    ValueError: max_iter == 0, must be >= 1.
    """
    tol = check_tolerance("tol", tol)
    check_scalar(max_iter, "max_iter", Integral, min_val=1)
    return tol, int(max_iter)


def check_tolerance(name, value):
    """Return a tolerance as a plain number, or say what is wrong with it.

    Parameters
    ----------
    name : str
        Its name.
    value : float
        A positive number.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        It is none.
    """
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; found {value!r}.")
    if not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive, finite number; found {value!r}.")
    return float(value)
