"""The arrays of a problem, checked once for all solvers."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_array, check_scalar

from ..arguments import check_positive
from ..kernels import check_gram

__all__ = [
    "check_bounds",
    "check_logistic",
    "check_problem",
    "check_stopping",
]


def check_problem(K, y, C, *, square=True, blocks=False, name="K"):
    """Return the arrays of a dual as floats, or say what is wrong with them.

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
        K = _check_matrix(K, len(y), square=square, name=name)
    return K, y, check_bounds(C, len(y))


def check_bounds(C, n, name="C"):
    """Return upper bounds, or weights of them, as floats, one a point."""
    remedy = "For the hard margin call solve_hard_margin; leave out points of weight zero."
    return _check_positive(C, n, name, remedy)


def check_logistic(K, y, weights, *, square=True, classes=None):
    """Return the arrays of a log likelihood as numbers, or say what is wrong with them.

    Examples
    --------
    >>> from svmbook.solvers.checks import check_logistic
    >>> check_logistic([[1.0, 0.0], [0.0, 1.0]], [-1, 1], [2.0, 0.0])
    Traceback (most recent call last):
        ...
    ValueError: weights must be positive and finite; found values from 0 to 2. ...
    """
    if classes is None:
        y = _check_labels(y, [-1.0, 1.0])
    else:
        check_scalar(classes, "classes", Integral, min_val=2)
        y = _check_labels(y, range(classes)).astype(int)
    K = _check_matrix(K, len(y), square=square)
    remedy = "Leave out points of weight zero."
    return K, y, _check_positive(weights, len(y), "weights", remedy)


def check_stopping(tol, max_iter):
    """Return tolerance and limit of iterations as plain numbers, or say what is wrong with them."""
    tol = check_positive("tol", tol)
    check_scalar(max_iter, "max_iter", Integral, min_val=1)
    return tol, int(max_iter)


def _check_labels(y, wanted):
    y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    labels = np.unique(y)
    if y.ndim != 1 or not np.array_equal(labels, wanted):
        words = "-1 and +1, both of them"
        if len(wanted) > 2 or wanted[0] == 0:
            words = f"0 to {len(wanted) - 1}, each of them"
        raise ValueError(f"y must hold the labels {words}; found {labels[:5]}.")
    return y


def _check_matrix(K, n, *, square, name="K"):
    K = check_array(K, dtype=np.float64, input_name=name)
    if len(K) != n or (square and K.shape[1] != n):
        needed = f"({n}, {n})" if square else f"({n}, r)"
        raise ValueError(f"{name} must have shape {needed} for {n} labels; found {K.shape}.")
    return check_gram(K, definite=False) if square else K


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
    return np.broadcast_to(C, n)
