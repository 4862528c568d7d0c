"""What the generators share: balanced labels and a check of their arguments."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state, check_scalar

__all__ = ["balanced_labels", "check_positive"]


def balanced_labels(n, random_state):
    """Return labels in random order, half of them (rounded down) positive, and their source."""
    check_scalar(n, "n", Integral, min_val=2)
    rng = check_random_state(random_state)
    return rng.permutation(np.where(np.arange(n) < n // 2, 1.0, -1.0)), rng


def check_positive(value, name, *, or_zero=False):
    """Refuse what is not a finite number above zero.

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
