r"""Additive models: sums of functions of one feature each, :math:`F(x) = b + \sum_j g_j(x_j)`.

Every ensemble of stumps can be written, plotted and evaluated in this form. The **shape function**
:math:`g_j` of a feature is the weighted sum of all its stumps.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_feature_names_in, validate_data

from ..base import BaseClassifier
from ..moments import Moments
from ..rows import sum_rows
from ..tables import data_frame
from ..ties import round_significand, unique_up_to_rounding

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "AdditiveModel",
    "PiecewiseLinear",
    "StepFunction",
    "piecewise_linear_from_kernel_expansion",
    "step_functions_from_stumps",
]


class PiecewiseLinear(NamedTuple):
    """A shape function that is linear between knots and constant outside."""

    knots: np.ndarray
    values: np.ndarray

    def __call__(self, x):
        """Return the function's values at an array of any shape."""
        x = np.asarray(x, dtype=float)
        order = np.argsort(x, axis=None)  # interpolation is faster at sorted points
        values = np.empty(x.size)
        values[order] = np.interp(x.ravel()[order], self.knots, self.values)
        return values.reshape(x.shape)

    def vertices(self):
        """Return the pairs of knot and value."""
        return zip(self.knots, self.values, strict=True)


class StepFunction(NamedTuple):
    """A shape function that jumps after each threshold; there is one more value than thresholds."""

    thresholds: np.ndarray
    values: np.ndarray

    def __call__(self, x):
        """Return the function's values."""
        return self.values[np.searchsorted(self.thresholds, x)]

    def vertices(self):
        """Return two pairs of threshold and value per jump, before and after it."""
        values = np.repeat(self.values, 2)[1:-1]
        return zip(np.repeat(self.thresholds, 2), values, strict=True)


def piecewise_linear_from_kernel_expansion(x, coefficients):
    r"""Return :math:`g(u) = -\sum_i c_i|u - x_i|` for coefficients that sum to zero.

    This is the expansion in the kernel :math:`-|u - x|`. With the points in increasing order, its
    slope between :math:`x_k` and :math:`x_{k+1}` is :math:`-2\sum_{i \le k} c_i`.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Values of a feature, at least one.
    coefficients : ndarray of shape (n,)
        Coefficients :math:`c_i` that sum to zero up to rounding error.

    Returns
    -------
    PiecewiseLinear
        The function plus a constant, so that its first value is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.ensembles import additive
    >>> x, coefficients = np.array([2.0, 0.0, 2.0]), np.array([0.5, -1.0, 0.5])
    >>> additive.piecewise_linear_from_kernel_expansion(x, coefficients)
    PiecewiseLinear(knots=array([0., 2.]), values=array([0., 4.]))
    """
    knots, inverse = unique_up_to_rounding(x)
    slopes = -2.0 * np.cumsum(np.bincount(inverse, coefficients))[:-1]
    return PiecewiseLinear(knots, np.append(0.0, np.cumsum(slopes * np.diff(knots))))


def step_functions_from_stumps(stumps, weights, n_features):
    r"""Return the shape functions and the constant term of :math:`\sum_t w_t h_t`.

    Parameters
    ----------
    stumps : StumpArray
        See `svmbook.solvers.boosting.stumps.StumpArray`.
    weights : ndarray
        Weights of the stumps.
    n_features : int
        Number of features.

    Returns
    -------
    shape_functions : list of StepFunction
        One per feature, whose first value is 0.
    constant : float
        The value of the sum below all thresholds.
    """
    stump_jumps = 2.0 * weights * stumps.signs
    is_finite = np.isfinite(stumps.thresholds)
    shape_functions = []
    for j in range(n_features):
        is_split = is_finite & (stumps.features == j)
        thresholds, inverse = np.unique(stumps.thresholds[is_split], return_inverse=True)
        jumps = np.bincount(inverse, stump_jumps[is_split], minlength=len(thresholds))
        shape_functions.append(StepFunction(thresholds, np.append(0.0, np.cumsum(jumps))))
    return shape_functions, -float(weights @ stumps.signs)


class AdditiveModel(BaseClassifier):
    """Base class of the additive models: outputs, contributions, importances."""

    def contributions(self, X: ArrayLike) -> np.ndarray:
        r"""Return the contribution of each feature to each point's output, :math:`g_j(x_j)`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The entries of a row and ``intercept_`` sum to the output of the point. Positive
            contributions favour ``classes_[1]``.

        Raises
        ------
        ValueError
            The model has more than two classes; call it on a classifier of ``estimators_``.
        """
        self._check_single_decision_function("contributions")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return _contributions(self.shape_functions_, X)

    def explain(self, x: ArrayLike) -> DataFrame:
        r"""Return the contribution of each feature to the output of one point, largest first.

        In a pipeline, call ``pipeline[-1].explain(pipeline[:-1].transform(x))``. The names of the
        features are kept after ``pipeline.set_output(transform="pandas")``. The pipeline needs no
        scaler.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features), pandas Series or one-row frame
            A point.

        Returns
        -------
        pandas.DataFrame
            Columns ``feature``, ``value`` (of x) and ``contribution``, :math:`g_j(x_j)`, sorted by
            absolute contribution. The contributions and ``intercept_`` sum to the output; positive
            ones favour ``classes_[1]``.

        Raises
        ------
        ImportError
            pandas is not installed.
        ValueError
            The model has more than two classes (call it on a classifier of ``estimators_``), or
            ``x`` is not one point.

        Examples
        --------
        >>> from svmbook import StumpEnsembleLogistic
        >>> X, y = [[0.0, 5.0], [1.0, 5.0], [2.0, 6.0]], [0, 1, 1]
        >>> model = StumpEnsembleLogistic().fit(X, y)
        >>> model.explain([2.0, 5.0]).round(2)
          feature  value  contribution
        0      x0    2.0          0.59
        1      x1    5.0         -0.20
        """
        self._check_single_decision_function("explain")
        if hasattr(x, "to_frame"):  # a Series: a row of a data frame, with the column names
            x = x.to_frame().T
        x = x if np.ndim(x) == 2 else np.reshape(x, (1, -1))
        point = validate_data(self, x, dtype=np.float64, reset=False)
        if len(point) != 1:
            raise ValueError(f"explain takes one point; found {len(point)}.")
        contributions = _contributions(self.shape_functions_, point)[0]
        order = np.argsort(-round_significand(np.abs(contributions)), kind="stable")
        names = self._feature_names()
        rows = [(names[j], point[0, j], contributions[j]) for j in order]
        return data_frame(rows, ["feature", "value", "contribution"])

    def shape_frame(self) -> DataFrame:
        r"""Return all shape functions as one data frame.

        Returns
        -------
        pandas.DataFrame
            Columns ``feature``, ``value`` and ``contribution``: each knot :math:`t` of a feature
            and :math:`g_j(t)`. The function is linear between knots. A step function has two rows
            per threshold, with its values before and after the jump. Positive contributions
            favour ``classes_[1]``.

        Raises
        ------
        ImportError
            pandas is not installed.
        ValueError
            The model has more than two classes; call it on a classifier of ``estimators_``.

        See Also
        --------
        svmbook.plotting.plot_shape_functions : Plots the shape functions.

        Examples
        --------
        >>> from svmbook import StumpEnsembleSVC
        >>> model = StumpEnsembleSVC(C=10.0, feature_scale=None)
        >>> model.fit([[0.0], [1.0], [3.0]], [0, 1, 1]).shape_frame().round(2)
          feature  value  contribution
        0      x0    0.0         -1.33
        1      x0    1.0          0.67
        """
        self._check_single_decision_function("shape_frame")
        rows = [
            (name, t, value)
            for name, g in zip(self._feature_names(), self.shape_functions_, strict=True)
            for t, value in g.vertices()
        ]
        return data_frame(rows, ["feature", "value", "contribution"])

    def _feature_names(self):
        return _check_feature_names_in(self)

    def _decision_values(self, X):
        F = np.full(len(X), self.intercept_[0])
        for j, g in enumerate(self.shape_functions_):
            F += g(X[:, j])
        return F

    def _set_additive_attributes(self, shape_functions, constant, points, weights):
        """Set the fitted attributes of an additive model, with centred shape functions.

        The weighted mean of each shape function over the training points is added to the constant
        term, which gives the intercept. The weights are an array with sum one, or in blocks.
        """
        moments = sum_rows(partial(_contribution_moments, shape_functions), points, weights)
        self.shape_functions_ = [
            g._replace(values=g.values - mean)
            for g, mean in zip(shape_functions, moments.mean, strict=True)
        ]
        self.intercept_ = np.array([constant + moments.mean.sum()])
        self.feature_importances_ = moments.deviations


def _contributions(shape_functions, points):
    """Return the value of each shape function at each point."""
    contributions = np.empty(points.shape, order="F")
    for j, g in enumerate(shape_functions):
        contributions[:, j] = g(points[:, j])
    return contributions


def _contribution_moments(shape_functions, points, weights):
    return Moments.of_points(_contributions(shape_functions, points), weights)
