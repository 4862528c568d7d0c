"""Validation of the arrays and options that the solvers share."""

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


def check_problem(K, y, C, *, require_square=True, allow_callable=False, name="K"):
    """Return K (or features), y and C as floats, or raise an error that names the invalid one.

    Examples
    --------
    >>> from svmbook.solvers.checks import check_problem
    >>> check_problem([[1.0, 0.0], [0.0, 1.0]], [0, 1], 1.0)
    Traceback (most recent call last):
        ...
    ValueError: y must contain both labels -1 and +1, and no others; found [0. 1.].
    """
    y = _check_labels(y, [-1.0, 1.0])
    if not (allow_callable and callable(K)):
        K = _check_matrix(K, len(y), require_square=require_square, name=name)
    return K, y, check_bounds(C, len(y))


def check_bounds(C, n, name="C"):
    """Return upper bounds, or factors of them, as an array of n positive floats."""
    remedy = "For the hard margin call solve_hard_margin; remove points of weight zero."
    return _check_positive_values(C, n, name, remedy)


def check_logistic(K, y, weights, *, require_square=True, n_classes=None):
    """Return the arrays of a logistic regression, or raise an error that names the invalid one.

    Examples
    --------
    >>> from svmbook.solvers.checks import check_logistic
    >>> check_logistic([[1.0, 0.0], [0.0, 1.0]], [-1, 1], [2.0, 0.0])
    Traceback (most recent call last):
        ...
    ValueError: weights must be positive and finite; found values from 0 to 2. ...
    """
    if n_classes is None:
        y = _check_labels(y, [-1.0, 1.0])
    else:
        check_scalar(n_classes, "n_classes", Integral, min_val=2)
        y = _check_labels(y, range(n_classes)).astype(int)
    K = _check_matrix(K, len(y), require_square=require_square)
    return K, y, _check_positive_values(weights, len(y), "weights", "Remove points of weight zero.")


def check_stopping(tol, max_iter):
    """Return the tolerance as a float and the iteration limit as an int, if they are valid."""
    tol = check_positive("tol", tol)
    check_scalar(max_iter, "max_iter", Integral, min_val=1)
    return tol, int(max_iter)


def _check_labels(y, expected_labels):
    y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    labels = np.unique(y)
    if y.ndim != 1 or not np.array_equal(labels, expected_labels):
        wording = "both labels -1 and +1"
        if expected_labels[0] == 0:
            wording = f"all labels from 0 to {len(expected_labels) - 1}"
        raise ValueError(f"y must contain {wording}, and no others; found {labels[:5]}.")
    return y


def _check_matrix(K, n, *, require_square, name="K"):
    K = check_array(K, dtype=np.float64, input_name=name)
    if len(K) != n or (require_square and K.shape[1] != n):
        expected_shape = f"({n}, {n})" if require_square else f"({n}, r)"
        raise ValueError(
            f"{name} must have shape {expected_shape} for {n} labels; found {K.shape}."
        )
    return check_gram(K, require_definite=False) if require_square else K


def _check_positive_values(values, n, name, remedy):
    values = np.atleast_1d(values)
    values = check_array(
        values, dtype=float, ensure_2d=False, ensure_all_finite=False, input_name=name
    )
    if values.ndim > 1 or values.size not in (1, n):
        raise ValueError(f"{name} must be a number or {n} numbers; found shape {values.shape}.")
    if not (np.isfinite(values).all() and (values > 0).all()):
        value_range = f"values from {values.min():g} to {values.max():g}"
        raise ValueError(f"{name} must be positive and finite; found {value_range}. {remedy}")
    return np.broadcast_to(values, n)
