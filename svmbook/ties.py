"""Comparison of numbers up to rounding error, so that all processors break ties alike."""

import numpy as np

__all__ = ["TIE_TOL", "argmax_up_to_rounding", "round_significand", "unique_up_to_rounding"]

SIGNIFICANT_BITS = 36  # significant bits after rounding: a relative step between 2**-36 and 2**-35
TIE_TOL = 2.0**-SIGNIFICANT_BITS


def round_significand(values):
    """Round numbers to 36 significant bits.

    The last few of the 53 significant bits of a sum depend on the order of summation, which differs
    between processors. So the result of `argmin` or of a sort can differ if numbers are equal in
    exact arithmetic. After rounding, such numbers are equal, unless a rounding boundary lies
    between them; for relative differences of 1e-15 the probability of that is about 1e-4.
    `argmax_up_to_rounding` has no such boundary, and its ``scale`` allows for sums with
    cancellation.

    Parameters
    ----------
    values : array-like of float
        Any numbers; infinite values are not changed.

    Returns
    -------
    ndarray
        Rounded numbers, of the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.ties import round_significand
    >>> distances = np.array([0.3, 0.1 + 0.2, 0.1])
    >>> int(distances.argmax()), int(round_significand(distances).argmax())
    (1, 0)
    """
    significands, exponents = np.frexp(np.asarray(values, dtype=float))
    return np.ldexp(np.rint(np.ldexp(significands, SIGNIFICANT_BITS)), exponents - SIGNIFICANT_BITS)


def unique_up_to_rounding(values):
    """Return the distinct numbers, sorted, and the index of each number among them.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers.

    Returns
    -------
    unique_values : ndarray
        The distinct numbers, not rounded: the first of those that are equal up to rounding.
    inverse : ndarray of shape (n,)
        The index of each value in ``unique_values``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.ties import unique_up_to_rounding
    >>> unique_up_to_rounding(np.array([0.3, 0.1, 0.1 + 0.2]))
    (array([0.1, 0.3]), array([1, 0, 1]))
    """
    rounded = round_significand(values)
    _, first_indices, inverse = np.unique(rounded, return_index=True, return_inverse=True)
    return values[first_indices], inverse


def argmax_up_to_rounding(values, scale=None, tol=TIE_TOL):
    """Return the index of the first number that equals the largest up to rounding.

    Parameters
    ----------
    values : ndarray
        Numbers; in row-major order if there is more than one dimension.
    scale : float, default=None
        Scale of the rounding errors; by default the absolute value of the largest number.
    tol : float, default=2**-36
        Numbers that are smaller than the largest by at most ``tol * scale`` are equal to it.

    Returns
    -------
    int
        Index into the flattened array.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.ties import argmax_up_to_rounding
    >>> argmax_up_to_rounding(np.array([0.1, 0.3, 0.1 + 0.2]))
    1
    """
    largest = values.max()
    scale = abs(largest) if scale is None else scale
    return int((values >= largest - tol * scale).argmax())
