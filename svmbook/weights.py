"""What each point weighs: class weights times sample weights, and the price of its slack."""

from numbers import Real

import numpy as np
from sklearn.utils import compute_class_weight

__all__ = ["point_weights", "shares", "upper_bounds"]


def point_weights(class_weight, classes, y, sample_weight):
    """Return the weights of the points: the product of two factors.

    "balanced" classes are weighed by ``n_samples / (n_classes * count)``, both counted with the
    sample weights, so that a point of weight two counts as two points. A weight of zero makes a
    point absent, and so does one so small beside the largest that rounding swallows it.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.weights import point_weights
    >>> y = np.array(["a", "b", "b", "b"])
    >>> point_weights("balanced", np.array(["a", "b"]), y, np.ones(4)).round(4)
    array([2.    , 0.6667, 0.6667, 0.6667])
    """
    if (sample_weight < 0).any():
        raise ValueError(
            f"sample_weight has negative values (smallest {sample_weight.min():g}); a weight "
            "counts a point so many times, so it must be zero or positive."
        )
    codes = np.searchsorted(classes, y)
    _check_classes_remain(classes, codes[sample_weight > 0])
    weights = sample_weight
    if class_weight is not None:
        if not isinstance(class_weight, str):  # "balanced" is the only string
            _check_class_weight(class_weight)
        counts = sample_weight / sample_weight.max()  # whose sum is a double
        factors = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=counts)
        with np.errstate(over="ignore"):  # overflow is reported below
            weights = sample_weight * factors[codes]
        if not np.isfinite(weights).all():
            raise ValueError(
                "class_weight times sample_weight is too large for double precision: the largest "
                f"factors are {factors.max():g} and {sample_weight.max():g}."
            )
    # A smaller upper bound is lost in the rounding error of the sum.
    rounding = np.finfo(float).eps / len(y) * weights.max()
    weights = np.where(weights < rounding, 0.0, weights)
    _check_classes_remain(classes, codes[weights > 0])
    return weights


def shares(weights):
    """Return weights that sum to one; large ones must not overflow in their sum.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.weights import shares
    >>> shares(np.array([1e308, 3e307, 1e308 - 3e307])).round(3)
    array([0.5 , 0.15, 0.35])
    """
    counts = weights / weights.max()
    return counts / counts.sum()


def upper_bounds(C, weights):
    """Return the upper bounds of the multipliers: C, perhaps infinite, times the weights."""
    with np.errstate(over="ignore"):
        bounds = C * weights
    if np.isfinite(C) and not np.isfinite(bounds).all():
        raise ValueError(
            "C times class_weight times sample_weight is too large for double precision: C is "
            f"{C:g}, the largest weight {weights.max():g}."
        )
    return bounds


def _check_classes_remain(classes, codes):
    remaining = np.flatnonzero(np.bincount(codes, minlength=len(classes)))
    if len(remaining) < 2:
        raise ValueError(
            "sample_weight leaves one class only, or none: points of weight zero (or of a weight "
            "that is rounding beside the largest) count as absent, and two classes must remain."
        )
    if len(remaining) < len(classes):
        absent = np.delete(classes, remaining)[0]
        raise ValueError(
            f"sample_weight leaves no point of the class {absent!r}: points of weight zero count "
            "as absent. Leave out the class."
        )


def _check_class_weight(class_weight):
    for label, factor in class_weight.items():
        if not isinstance(factor, Real) or not 0 < factor < np.inf:
            raise ValueError(
                "class_weight must hold positive, finite numbers, as they multiply the weights; "
                f"found {factor!r} for the class {label!r}."
            )
