"""What the generators share: labels and the checks of their arguments."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_scalar

__all__ = ["balanced_labels", "check_positive"]


def balanced_labels(n, rng):
    """Return labels in random order, half of them (rounded down) positive.

    Parameters
    ----------
    n : int
        Their number.
    rng : RandomState
        Source of the order.

    Returns
    -------
    ndarray of shape (n,)
        -1.0 and +1.0.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.datasets.generators.draw import balanced_labels
    >>> sorted(balanced_labels(3, np.random.RandomState(0)))
    [np.float64(-1.0), np.float64(-1.0), np.float64(1.0)]
    """
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return rng.permutation(y)


def check_positive(value, name, *, or_zero=False):
    """Refuse what is not a finite number above zero.

    Parameters
    ----------
    value : float
        The argument.
    name : str
        Its name.
    or_zero : bool, default=False
        Whether zero will do.

    Raises
    ------
    TypeError, ValueError
        Naming the argument and what was found.

    Examples
    --------
    >>> from svmbook.datasets.generators.draw import check_positive
    >>> check_positive(0.0, "sd")
    Traceback (most recent call last):
        ...
    ValueError: sd == 0.0, must be > 0.
    """
    bounds = "left" if or_zero else "neither"
    check_scalar(value, name, Real, min_val=0, include_boundaries=bounds)
    if not np.isfinite(value):  # a comparison with NaN is never true
        raise ValueError(f"{name} == {value}, must be finite.")
