"""The arrays of a dual, checked once for all solvers."""

from __future__ import annotations

import numpy as np

__all__ = ["check_problem"]


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
    K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
    labels = np.unique(y)
    if y.ndim != 1 or not np.array_equal(labels, [-1.0, 1.0]):
        raise ValueError(f"y must hold the labels -1 and +1, both of them; found {labels[:5]}.")
    n = len(y)
    if K.ndim != 2 or len(K) != n or (square and K.shape[1] != n):
        needed = f"({n}, {n})" if square else f"({n}, r)"
        raise ValueError(f"K must have shape {needed} for {n} labels; found {K.shape}.")
    if not np.isfinite(K).all():
        raise ValueError("K holds values that are NaN or infinite; scale the features.")
    C = np.asarray(C, dtype=float)
    if C.ndim > 1 or C.size not in (1, n):
        raise ValueError(f"C must be a number or hold {n} numbers; found shape {C.shape}.")
    if not (np.isfinite(C).all() and (C > 0).all()):
        raise ValueError(
            f"C must be positive and finite; found values from {C.min():g} to {C.max():g}. "
            "For the hard margin call solve_hard_margin; leave out points of weight zero."
        )
    return K, y, np.broadcast_to(C, y.shape)
