"""The price of each point's slack, from C, class weights and sample weights."""

from __future__ import annotations

from numbers import Real

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
        Factor of each point, not negative; zero makes the point absent, and so does a weight so
        small beside the largest that rounding swallows it.

    Returns
    -------
    ndarray of shape (n,)
        Bounds; zero for absent points.

    Raises
    ------
    ValueError
        A negative sample weight, a class weight that is not a positive number, a product that
        overflows, or a class of which no point has a positive weight.

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
    if not C > 0:
        raise ValueError(f"C must be positive; found {C}.")
    codes = np.searchsorted(classes, y)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is named below
        if isinstance(class_weight, str):  # "balanced", the only word
            shares = np.bincount(codes, weights=sample_weight / (sample_weight.max() or 1.0))
            factors = shares.sum() / (2.0 * np.maximum(shares, np.finfo(float).tiny))
        else:
            _check_class_weight(class_weight or {})
            factors = compute_class_weight(class_weight, classes=classes, y=y)
        weights = sample_weight * factors[codes]
        bounds = weights if np.isinf(C) else C * weights
    if not np.isfinite(bounds).all():
        raise ValueError(
            "C times class_weight times sample_weight is too large for double precision: C is "
            f"{C:g}, the largest sample weight {sample_weight.max():g}."
        )
    # What such a point pays at most is lost in the rounding of the sum.
    bounds[bounds < np.finfo(float).eps / len(y) * bounds.max()] = 0.0
    if len(np.unique(codes[bounds > 0])) < 2:
        raise ValueError(
            "sample_weight leaves one class only, or none: points of weight zero (or of a weight "
            "that is rounding beside the largest) count as absent, and both classes must remain."
        )
    return np.where(bounds > 0, np.inf, 0.0) if np.isinf(C) else bounds


def _check_class_weight(class_weight):
    for label, factor in class_weight.items():
        if not isinstance(factor, Real) or not 0 < factor < np.inf:
            raise ValueError(
                "class_weight must hold positive, finite numbers, as they multiply C; found "
                f"{factor!r} for the class {label!r}."
            )
