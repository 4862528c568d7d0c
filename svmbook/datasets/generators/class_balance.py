"""Balanced labels for the generators."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

__all__ = ["balanced_labels"]


def balanced_labels(n, rng):
    """Return n labels in random order: half of them (rounded down) are +1, the others -1."""
    check_scalar(n, "n", Integral, min_val=2)
    return rng.permutation(np.where(np.arange(n) < n // 2, 1.0, -1.0))
