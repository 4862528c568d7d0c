"""Plots of the shape functions of additive models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .two_classes import COLOURS

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["plot_shape_functions"]

MAX_MARKS = 200  # maximum number of feature values marked below a curve


def plot_shape_functions(
    axes: Sequence,
    model_or_functions: object,
    *,
    names: Sequence[str] | None = None,
    X: ArrayLike | None = None,
    bands: list | None = None,
) -> list[Line2D]:
    """Plot shape functions, one per axes, and a rug of the values of each feature.

    Axes without a shape function are hidden.

    Parameters
    ----------
    axes : sequence of matplotlib.axes.Axes
        Axes to draw on; if there are fewer than shape functions, the first functions are plotted.
    model_or_functions : estimator or sequence
        A fitted additive model, or shape functions: `PiecewiseLinear` with ``knots`` and
        ``values``, or `StepFunction` with ``thresholds`` and one more value than thresholds. A
        model also provides the names of the features and the label of the vertical axis.
    names : sequence of str, default=None
        Labels of the horizontal axes; by default the model's feature names, or "$x_1$" and so on.
    X : array-like of shape (n, d), default=None
        Points whose values are marked by short lines at the bottom; at most 200 are marked.
    bands : list of Band, default=None
        Bands around the curves, from `svmbook.ensembles.shape_bands`.

    Returns
    -------
    list of matplotlib.lines.Line2D
        The curves.

    Raises
    ------
    TypeError
        The estimator has no shape functions, for instance because it is a pipeline.
    ValueError
        There are fewer names, columns of points or bands than shape functions to plot.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook import StumpEnsembleSVC
    >>> from svmbook.plotting import plot_shape_functions
    >>> model = StumpEnsembleSVC().fit([[0.0], [1.0], [3.0]], [0, 1, 1])
    >>> figure, ax = plt.subplots()
    >>> len(plot_shape_functions([ax], model.shape_functions_))
    1
    >>> plt.close(figure)
    """
    axes, functions, ylabel = np.ravel(axes), model_or_functions, None
    if hasattr(model_or_functions, "fit"):
        model = model_or_functions
        functions = _shape_functions(model)
        names = getattr(model, "feature_names_in_", None) if names is None else names
        ylabel_prefix = "log odds of" if hasattr(model, "predict_proba") else "output for"
        ylabel = f"{ylabel_prefix} {model.classes_[1]}"  # positive values favour this class
    axes, unused_axes = axes[: len(functions)], axes[len(functions) :]
    columns = None if X is None else np.asarray(X, dtype=float).T
    for values, description in ((names, "names"), (columns, "columns of X"), (bands, "bands")):
        if values is not None and len(axes) > len(values):
            raise ValueError(
                f"there are {len(axes)} shape functions for {len(values)} {description}."
            )
    for ax in unused_axes:
        ax.set_visible(False)
    curves = []
    for j, (ax, function) in enumerate(zip(axes, functions, strict=False)):
        column = None if columns is None else columns[j]
        x, y = _curve_vertices(function, column)
        ax.axhline(0.0, color=COLOURS["grey"], lw=0.8)
        curves += ax.plot(x, y, color=COLOURS[1], lw=1.8)
        if bands is not None:
            ax.fill_between(*bands[j], color=COLOURS[1], alpha=0.25, lw=0)
        if column is not None:
            marked_values = column[:: -(-len(column) // MAX_MARKS)]
            bottom, transform = np.zeros(len(marked_values)), ax.get_xaxis_transform()
            ax.plot(marked_values, bottom, "|", color=COLOURS["ink"], ms=7, transform=transform)
        ax.set_xlabel(f"$x_{{{j + 1}}}$" if names is None else names[j])
        subplot_spec = ax.get_subplotspec()
        if ylabel is not None and (subplot_spec is None or subplot_spec.is_first_col()):
            ax.set_ylabel(ylabel)
    return curves


def _shape_functions(model):
    """Return the shape functions of a fitted additive model."""
    if not hasattr(model, "shape_functions_"):
        raise TypeError(
            f"{type(model).__name__} has no shape functions. Pass a fitted additive model: for a "
            "pipeline its last step, pipeline[-1]; with more than two classes one of estimators_, "
            "which are the models of the pairs."
        )
    return model.shape_functions_


def _curve_vertices(function, column):
    """Return the vertices of a curve, which covers the knots or thresholds and the data."""
    data_range = [] if column is None else [column.min(), column.max()]
    if hasattr(function, "knots"):
        x = np.union1d(function.knots, data_range)
        return x, function(x)
    x = np.append(function.thresholds, data_range)
    x = x if len(x) else np.zeros(1)  # a feature without stumps
    padding = 1.0 if column is None else 0.0
    x = [x.min() - padding, *np.repeat(function.thresholds, 2), x.max() + padding]
    return np.array(x), np.repeat(function.values, 2)
