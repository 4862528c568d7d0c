"""Ties: numbers that differ by rounding alone count as equal, on every processor."""

import numpy as np

__all__ = ["TIE_TOL", "distinct", "first_largest", "rounded"]

KEPT_BITS = 36  # binary digits that are kept: the step is between 2**-36 and 2**-35 of a number
TIE_TOL = 2.0**-KEPT_BITS


def rounded(values):
    r"""Round numbers to 36 significant binary digits.

    The last of the 53 binary digits of a double depend on the order in which a processor adds.
    Numbers that are equal in exact arithmetic may differ there, and then `argmin` or a sort follows
    the processor. Rounded numbers are equal again, and the first of them wins, unless a boundary of
    rounding lies between them: for differences of 1e-15 that happens to one number in 10,000.
    `first_largest` has no such boundary. A sum that cancels needs the size of its terms as unit.

    Parameters
    ----------
    values : array-like of float
        Any numbers; infinite ones stay as they are.

    Returns
    -------
    ndarray
        Of the same shape.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.ties import rounded
    >>> distances = np.array([0.3, 0.1 + 0.2, 0.1])
    >>> int(distances.argmax()), int(rounded(distances).argmax())
    (1, 0)
    """
    significands, exponents = np.frexp(np.asarray(values, dtype=float))
    return np.ldexp(np.rint(np.ldexp(significands, KEPT_BITS)), exponents - KEPT_BITS)


def distinct(values):
    """Return the different numbers, sorted, and the place of each number among them.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers.

    Returns
    -------
    numbers : ndarray
        Of those that differ by rounding alone one, as it is.
    place : ndarray of shape (n,)
        The index of each value in ``numbers``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.ties import distinct
    >>> distinct(np.array([0.3, 0.1, 0.1 + 0.2]))
    (array([0.1, 0.3]), array([1, 0, 1]))
    """
    _, first, place = np.unique(rounded(values), return_index=True, return_inverse=True)
    return values[first], place


def first_largest(values, size=None, tol=TIE_TOL):
    """Return the index of the first number that is as large as any but for errors.

    Parameters
    ----------
    values : ndarray
        Numbers; read row by row where there is more than one dimension.
    size : float, default=None
        What their errors are small against; the size of the largest by default.
    tol : float, default=2**-36
        Numbers that differ by no more than this part of ``size`` are equal.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.ties import first_largest
    >>> first_largest(np.array([0.1, 0.3, 0.1 + 0.2]))
    1
    """
    largest = values.max()
    size = abs(largest) if size is None else size
    return int((values >= largest - tol * size).argmax())
