"""Validation of arguments, shared by several parts of the package."""

from numbers import Real

import numpy as np

__all__ = ["check_positive"]


def check_positive(name, value, *, allow_zero=False):
    """Check that a number is positive (or optionally zero) and finite, and return it as a float.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : object
        Value of the argument.
    allow_zero : bool, default=False
        Whether zero is allowed.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        ``value`` is not a number, or does not satisfy the condition.

    Examples
    --------
    >>> from svmbook.arguments import check_positive
    >>> check_positive("sd", 0.0)
    Traceback (most recent call last):
        ...
    ValueError: sd must be positive and finite; found 0.0.
    """
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; found {value!r}.")
    if not (0 < value < np.inf or (allow_zero and value == 0)):
        condition = "nonnegative and finite" if allow_zero else "positive and finite"
        raise ValueError(f"{name} must be {condition}; found {value!r}.")
    return float(value)
