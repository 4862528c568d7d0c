"""The price of each point's slack, from C, class weights and sample weights."""

from __future__ import annotations

import numpy as np
from sklearn.utils import compute_class_weight

__all__ = ["upper_bounds"]


def upper_bounds(C, class_weight, classes, y, sample_weight):
    r"""Return the upper bounds :math:`C_i` of the multipliers: the product of three factors.

    Parameters
    ----------
    C : float
        Price of one unit of slack, positive, possibly infinite.
    class_weight : dict, "balanced" or None
        Factor of each class. "balanced" is ``n_samples / (2 * count)``, both counted with the
        sample weights, so that a point of weight two counts as two points.
    classes : ndarray of shape (2,)
        The two labels, sorted.
    y : ndarray of shape (n,)
        Labels.
    sample_weight : ndarray of shape (n,)
        Factor of each point, not negative; zero makes the point absent.

    Returns
    -------
    ndarray of shape (n,)
        Bounds; zero for absent points.

    Raises
    ------
    ValueError
        A negative sample weight, or a class weight that is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.weights import upper_bounds
    >>> y = np.array(["a", "b", "b", "b"])
    >>> upper_bounds(3.0, "balanced", np.array(["a", "b"]), y, np.ones(4))
    array([6., 2., 2., 2.])
    """
    if (sample_weight < 0).any():
        raise ValueError(
            f"sample_weight has negative values (smallest {sample_weight.min():g}); a weight "
            "multiplies C, so it must be zero or positive."
        )
    codes = np.searchsorted(classes, y)
    if isinstance(class_weight, str):  # "balanced", the only word
        counts = np.bincount(codes, weights=sample_weight, minlength=2)
        factors = counts.sum() / (2.0 * np.maximum(counts, np.finfo(float).tiny))
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=y)
    if sample_weight.any() and not (factors > 0).all():
        raise ValueError(
            f"class_weight must be positive, as it multiplies C; found {class_weight!r}."
        )
    weights = sample_weight * factors[codes]
    return np.where(weights > 0, np.inf, 0.0) if np.isinf(C) else C * weights
