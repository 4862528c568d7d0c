"""What the tests of assignments are made of: types and shapes first, then plain numbers.

An answer is turned into a plain array before anything is compared, so that no object can answer
for itself whether it is right.
"""

import numpy as np

__all__ = ["check_array", "check_close"]

PLAIN = (bool, int, float, complex, np.number, np.bool_, list, tuple)


def check_array(name, value, shape=None, kinds="biuf"):
    """Return an answer as a plain array, or say what is wrong with it.

    Parameters
    ----------
    name : str
        What the assignment calls it.
    value : object
        The answer: a NumPy array and no subclass, a number, or a list of numbers.
    shape : tuple of int, optional
        The shape it must have.
    kinds : str, default="biuf"
        Kinds of NumPy's types that are allowed: booleans, integers and floats.

    Returns
    -------
    ndarray
        A copy.

    Raises
    ------
    AssertionError
        It is something else, or of another shape; the message is for students.

    Examples
    --------
    >>> from svmbook.course.checks import check_array
    >>> check_array("w", [1.0, 2.0], (2,))
    array([1., 2.])
    >>> check_array("w", [1.0, 2.0], (3,))
    Traceback (most recent call last):
    AssertionError: w has the shape (2,); (3,) is expected
    """
    if type(value) is not np.ndarray and not isinstance(value, PLAIN):
        raise AssertionError(f"{name} is a {type(value).__name__}; a NumPy array is expected")
    array = np.array(value)
    if array.dtype.kind not in kinds:
        wanted = "numbers" if "f" in kinds else "whole numbers"
        raise AssertionError(f"{name} has elements of type {array.dtype}; {wanted} are expected")
    if shape is not None and array.shape != shape:
        raise AssertionError(f"{name} has the shape {array.shape}; {shape} is expected")
    return array


def check_close(name, value, expected, rtol=1e-6, atol=1e-8):
    """Compare an answer with the numbers that are expected.

    Parameters
    ----------
    name : str
        What the assignment calls it.
    value : object
        The answer, as `check_array` takes it.
    expected : array-like
        The right numbers; the answer must have their shape.
    rtol, atol : float
        It may be off by ``atol + rtol * abs(expected)``.

    Raises
    ------
    AssertionError
        It is not close; the message names the first place where it is not.

    Examples
    --------
    >>> from svmbook.course.checks import check_close
    >>> check_close("b", 0.30000001, 0.3)
    >>> check_close("w", [1.0, 2.0], [1.0, -2.0])
    Traceback (most recent call last):
    AssertionError: w is 2 at (1,), and that is not right
    """
    expected = np.array(expected, dtype=float)
    array = check_array(name, value, expected.shape).astype(float)
    pairs = zip(np.ndindex(*expected.shape), array.ravel(), expected.ravel(), strict=True)
    for place, given, right in pairs:
        if not abs(float(given) - float(right)) <= atol + rtol * abs(float(right)):
            where = f" at {place}" if place else ""
            raise AssertionError(f"{name} is {given:.6g}{where}, and that is not right")
