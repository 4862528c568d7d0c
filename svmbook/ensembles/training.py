"""What the boosted estimators do before their solver."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..base import forget
from ..labels import encode_labels
from ..weights import point_weights

__all__ = ["prepare"]


def prepare(machine, X, y, sample_weight):
    """Check training data; return the points that count, signs, weights and the labels."""
    forget(machine)
    X, y = validate_data(machine, X, y, dtype=np.float64)
    classes, signs = encode_labels(y)
    weights = np.ones(len(X))
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    weights = point_weights(None, classes, y, weights)
    present = np.flatnonzero(weights > 0)
    return X[present], signs[present], weights[present], classes
