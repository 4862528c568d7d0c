"""Assertions for the tests of assignments: check types and shapes first, then numbers.

An answer is converted to a plain array before it is compared, so that a submitted object cannot
override the comparison.
"""

import numpy as np

__all__ = ["check_array", "check_close"]

PLAIN_TYPES = (bool, int, float, complex, np.number, np.bool_, list, tuple)


def check_array(name, value, shape=None, kinds="biuf"):
    """Return an answer as a plain array after checking its type and shape.

    Parameters
    ----------
    name : str
        The name of the answer in the assignment.
    value : object
        The answer: a number, a list or tuple of numbers, or a NumPy array that is not an instance
        of a subclass.
    shape : tuple of int, optional
        The expected shape.
    kinds : str, default="biuf"
        Allowed kinds of NumPy data types; by default booleans, integers and floats.

    Returns
    -------
    ndarray
        A copy of the answer.

    Raises
    ------
    AssertionError
        The type or the shape is wrong. The message is written for students.

    Examples
    --------
    >>> from svmbook.course.checks import check_array
    >>> check_array("w", [1.0, 2.0], (2,))
    array([1., 2.])
    >>> check_array("w", [1.0, 2.0], (3,))
    Traceback (most recent call last):
    AssertionError: w has shape (2,); expected (3,)
    """
    if type(value) is not np.ndarray and not isinstance(value, PLAIN_TYPES):
        raise AssertionError(f"{name} is a {type(value).__name__}; expected a NumPy array")
    array = np.array(value)
    if array.dtype.kind not in kinds:
        expected_type = "numbers" if "f" in kinds else "whole numbers"
        raise AssertionError(f"{name} has elements of type {array.dtype}; expected {expected_type}")
    if shape is not None and array.shape != shape:
        raise AssertionError(f"{name} has shape {array.shape}; expected {shape}")
    return array


def check_close(name, value, expected, rtol=1e-6, atol=1e-8):
    """Check that an answer equals the expected numbers up to a tolerance.

    Parameters
    ----------
    name : str
        The name of the answer in the assignment.
    value : object
        The answer, as in `check_array`.
    expected : array-like
        The correct numbers. The answer must have the same shape.
    rtol, atol : float
        The absolute error of each element may be up to ``atol + rtol * abs(expected)``.

    Raises
    ------
    AssertionError
        The type or the shape is wrong, as in `check_array`, or a number is not close; then the
        message gives the index of the first wrong element.

    Examples
    --------
    >>> from svmbook.course.checks import check_close
    >>> check_close("b", 0.30000001, 0.3)
    >>> check_close("w", [1.0, 2.0], [1.0, -2.0])
    Traceback (most recent call last):
    AssertionError: w is 2 at index (1,), which is not right
    """
    expected = np.array(expected, dtype=float)
    array = check_array(name, value, expected.shape).astype(float)
    for index, number in np.ndenumerate(array):
        expected_number = float(expected[index])
        if not abs(float(number) - expected_number) <= atol + rtol * abs(expected_number):
            location = f" at index {index}" if index else ""
            raise AssertionError(f"{name} is {number:.6g}{location}, which is not right")
