"""Balanced labels for the generators."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state, check_scalar

__all__ = ["balanced_labels"]


def balanced_labels(n, random_state):
    """Return labels in random order, half of them (rounded down) +1, and the random generator."""
    check_scalar(n, "n", Integral, min_val=2)
    rng = check_random_state(random_state)
    return rng.permutation(np.where(np.arange(n) < n // 2, 1.0, -1.0)), rng
