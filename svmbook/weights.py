"""Weights of the points, from class and sample weights, and penalties: C times the weights."""

from numbers import Real

import numpy as np
from sklearn.utils import compute_class_weight

__all__ = ["normalise_weights", "point_penalties", "point_weights"]


def point_weights(class_weight, classes, y, sample_weight):
    """Return the weight of each point, its class weight times its sample weight.

    "balanced" class weights are ``n_samples / (n_classes * count)``, where each point contributes
    its sample weight to both counts. Points of weight zero are ignored. A weight below rounding
    error relative to the largest is set to zero.

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
            f"sample_weight has negative values (smallest {sample_weight.min():g}); weights must "
            "be zero or positive."
        )
    codes = np.searchsorted(classes, y)
    _check_classes_remain(classes, codes[sample_weight > 0])
    weights = sample_weight
    if class_weight is not None:
        if not isinstance(class_weight, str):  # "balanced" is the only string
            _check_class_weight(class_weight)
        scaled_weights = sample_weight / sample_weight.max()  # so that the sum does not overflow
        class_factors = compute_class_weight(
            class_weight, classes=classes, y=y, sample_weight=scaled_weights
        )
        with np.errstate(over="ignore"):  # overflow is reported below
            weights = sample_weight * class_factors[codes]
        if not np.isfinite(weights).all():
            raise ValueError(
                "class_weight times sample_weight is too large for double precision: the largest "
                f"factors are {class_factors.max():g} and {sample_weight.max():g}."
            )
    # The sum of all smaller weights is below the rounding error of the largest.
    min_weight = np.finfo(float).eps / len(y) * weights.max()
    weights = np.where(weights < min_weight, 0.0, weights)
    _check_classes_remain(classes, codes[weights > 0])
    return weights


def normalise_weights(weights):
    """Return the weights divided by their sum, without overflow of the sum.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.weights import normalise_weights
    >>> normalise_weights(np.array([1e308, 3e307, 1e308 - 3e307])).round(3)
    array([0.5 , 0.15, 0.35])
    """
    scaled_weights = weights / weights.max()
    return scaled_weights / scaled_weights.sum()


def point_penalties(C, weights):
    """Return C, possibly infinite, times the weights.

    These are the factors of the points' losses in the objective. In the dual of the SVM they are
    the upper bounds of the multipliers.
    """
    with np.errstate(over="ignore"):
        penalties = C * weights
    if np.isfinite(C) and not np.isfinite(penalties).all():
        raise ValueError(
            "C times class_weight times sample_weight is too large for double precision: C is "
            f"{C:g}, the largest weight {weights.max():g}."
        )
    return penalties


def _check_classes_remain(classes, codes):
    remaining_codes = np.flatnonzero(np.bincount(codes, minlength=len(classes)))
    if len(remaining_codes) < 2:
        raise ValueError(
            "sample_weight leaves one class only, or none: points of weight zero (or negligible "
            "compared with the largest weight) are ignored, and two classes must remain."
        )
    if len(remaining_codes) < len(classes):
        absent_class = np.delete(classes, remaining_codes)[0]
        raise ValueError(
            f"sample_weight leaves no point of the class {absent_class!r}: points of weight zero "
            "are ignored. Leave this class out of the data."
        )


def _check_class_weight(class_weight):
    for label, factor in class_weight.items():
        if not isinstance(factor, Real) or not 0 < factor < np.inf:
            raise ValueError(
                "class_weight must hold positive, finite numbers; found "
                f"{factor!r} for the class {label!r}."
            )
