"""Bootstrap bands of the shape functions of additive models."""

from __future__ import annotations

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_consistent_length, check_random_state, check_scalar
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .additive import AdditiveModel

__all__ = ["Band", "shape_bands"]

N_BAND_POINTS = 101  # points at which a band is computed, per feature


class Band(NamedTuple):
    """Quantiles of a shape function over refits: ``low`` and ``high`` at the values ``x``."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray


def shape_bands(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_refits: int = 50,
    level: float = 0.9,
    random_state: int | np.random.RandomState | None = None,
) -> list[Band]:
    r"""Return pointwise bootstrap bands of the shape functions of an additive model.

    The model is refitted to bootstrap samples, drawn from the points with replacement. A band
    consists of the quantiles :math:`(1 \mp` ``level`` :math:`)/2` of the refitted shape functions,
    each centred to weighted mean zero over the given points. The band shows sampling variation. It
    does not show bias, such as that of a penalty, so it understates the uncertainty.

    Parameters
    ----------
    model : estimator
        A fitted `StumpEnsembleLogistic`, `StumpEnsembleSVC` or `AdaBoostStump` for two classes;
        copies of it are refitted.
    X : array-like of shape (n_samples, n_features)
        The training points of the model.
    y : array-like of shape (n_samples,)
        Labels of the points.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights with which the model was fitted; a refit uses the weights of its points.
    n_refits : int, default=50
        Number of bootstrap samples; the quantiles 0.05 and 0.95 need about fifty.
    level : float, default=0.9
        Fraction of the refitted functions between the two limits of a band at each value.
    random_state : int, RandomState or None, default=None
        Seed of the bootstrap samples.

    Returns
    -------
    list of Band
        One per feature, at 101 values from its smallest to its largest.

    Raises
    ------
    TypeError
        The model is not additive.
    ValueError
        The model has more than two classes, ``y`` has labels that are not classes of the model, or
        only one class or another length than ``X``, or a number is out of range.
    sklearn.exceptions.NotFittedError
        The model is not fitted.

    See Also
    --------
    svmbook.plotting.plot_shape_functions : Plots shape functions with their bands.

    Examples
    --------
    >>> from svmbook import StumpEnsembleLogistic
    >>> from svmbook.datasets import twonorm
    >>> from svmbook.ensembles import shape_bands
    >>> X, y = twonorm(100, random_state=0)
    >>> model = StumpEnsembleLogistic(n_knots=8).fit(X, y)
    >>> bands = shape_bands(model, X, y, n_refits=10, random_state=0)
    >>> len(bands), bool((bands[0].low <= bands[0].high).all())
    (20, True)
    """
    check_scalar(n_refits, "n_refits", Integral, min_val=2)
    check_scalar(level, "level", Real, min_val=0, max_val=1, include_boundaries="neither")
    if not isinstance(model, AdditiveModel):
        raise TypeError(
            f"shape_bands takes an additive model; found {type(model).__name__}. For a pipeline "
            "pass its last step, pipeline[-1], and the points transformed by the other steps, "
            "pipeline[:-1].transform(X)."
        )
    check_is_fitted(model)
    model._check_single_decision_function("shape_bands")
    points, y = validate_data(model, X, dtype=np.float64, reset=False), np.asarray(y)
    if not np.isin(y, model.classes_).all():
        raise ValueError(
            f"y has labels that the model was not fitted to; its classes are {model.classes_}. "
            "For the model of a pair of classes pass only the points of the pair: "
            "rows = np.isin(y, model.classes_)."
        )
    check_consistent_length(points, y)
    weights = _check_sample_weight(sample_weight, points, ensure_non_negative=True)
    if len(np.unique(y[weights > 0])) < 2:
        raise ValueError(
            "shape_bands needs points of both classes with positive weight; found those of one "
            "class only."
        )
    grid = np.linspace(points.min(axis=0), points.max(axis=0), N_BAND_POINTS)
    rng, refit_values = check_random_state(random_state), []
    for _ in range(n_refits):
        rows = _bootstrap_rows(rng, y, weights)
        refit = clone(model).fit(points[rows], y[rows], sample_weight=weights[rows])
        means = [
            np.average(g(column), weights=weights)
            for g, column in zip(refit.shape_functions_, points.T, strict=True)
        ]
        refit_values.append(
            [g(x) - mean for g, x, mean in zip(refit.shape_functions_, grid.T, means, strict=True)]
        )
    low, high = np.quantile(refit_values, [0.5 * (1.0 - level), 0.5 * (1.0 + level)], axis=0)
    return [Band(*band) for band in zip(grid.T, low, high, strict=True)]


def _bootstrap_rows(rng, y, weights):
    """Return rows drawn with replacement, until both classes have positive weight among them."""
    while True:
        rows = rng.randint(len(y), size=len(y))
        if len(np.unique(y[rows[weights[rows] > 0]])) == 2:
            return rows
