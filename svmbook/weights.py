"""What each point weighs: class weights times sample weights, and the price of its slack."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import compute_class_weight

__all__ = ["point_weights", "upper_bounds"]


def point_weights(class_weight, classes, y, sample_weight):
    """Return the weights of the points: the product of two factors.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Factor of each class. "balanced" is ``n_samples / (n_classes * count)``, both counted with
        the sample weights, so that a point of weight two counts as two points.
    classes : ndarray of shape (k,)
        The labels, sorted.
    y : ndarray of shape (n,)
        Labels.
    sample_weight : ndarray of shape (n,)
        Factor of each point, not negative; zero makes the point absent, and so does a weight so
        small beside the largest that rounding swallows it.

    Returns
    -------
    ndarray of shape (n,)
        Weights; zero for absent points.

    Raises
    ------
    ValueError
        A negative sample weight, a class weight that is not a positive number, a product that
        overflows, or a class of which no point has a positive weight.

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
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is named below
        if isinstance(class_weight, str):  # "balanced", the only word
            shares = np.bincount(codes, weights=sample_weight / (sample_weight.max() or 1.0))
            factors = shares.sum() / (len(classes) * np.maximum(shares, np.finfo(float).tiny))
        else:
            _check_class_weight(class_weight or {})
            factors = compute_class_weight(class_weight, classes=classes, y=y)
        weights = sample_weight * factors[codes]
    if not np.isfinite(weights).all():
        raise ValueError(
            "class_weight times sample_weight is too large for double precision: the largest "
            f"sample weight is {sample_weight.max():g}."
        )
    # What such a point pays at most is lost in the rounding of the sum.
    weights[weights < np.finfo(float).eps / len(y) * weights.max()] = 0.0
    _check_classes_remain(classes, np.unique(codes[weights > 0]))
    return weights


def upper_bounds(C, class_weight, classes, y, sample_weight):
    r"""Return the upper bounds :math:`C_i` of the multipliers: C times the weights of the points.

    Parameters
    ----------
    C : float
        Price of one unit of slack, positive, possibly infinite.
    class_weight, classes, y, sample_weight
        As in `point_weights`.

    Returns
    -------
    ndarray of shape (n,)
        Bounds; zero for absent points.

    Raises
    ------
    ValueError
        As `point_weights`; also where C is not positive, or the product overflows.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.weights import upper_bounds
    >>> y = np.array(["a", "b", "b", "b"])
    >>> upper_bounds(3.0, "balanced", np.array(["a", "b"]), y, np.ones(4))
    array([6., 2., 2., 2.])
    """
    if not C > 0:
        raise ValueError(f"C must be positive; found {C}.")
    weights = point_weights(class_weight, classes, y, sample_weight)
    if np.isinf(C):
        return np.where(weights > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        bounds = C * weights
    if not np.isfinite(bounds).all():
        raise ValueError(
            "C times class_weight times sample_weight is too large for double precision: C is "
            f"{C:g}, the largest sample weight {sample_weight.max():g}."
        )
    return bounds


def _check_classes_remain(classes, remaining):
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
