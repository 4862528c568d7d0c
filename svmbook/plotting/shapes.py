"""Pictures of additive machines: one curve a feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .two import COLOURS

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["plot_shapes"]

MAX_MARKS = 200  # values that are marked below a curve


def plot_shapes(
    axes: Sequence,
    shapes: object,
    *,
    names: Sequence[str] | None = None,
    X: ArrayLike | None = None,
    bands: list | None = None,
) -> list[Line2D]:
    """Draw shape functions, one on each of some axes, and where the values of the feature lie.

    Axes that are left over are hidden.

    Parameters
    ----------
    axes : sequence of matplotlib.axes.Axes
        Where to draw; if there are fewer than shape functions, the first ones are drawn.
    shapes : sequence or estimator
        Shape functions as a machine keeps them: ``knots`` and ``values``, straight in between, or
        ``thresholds`` and one value more, for steps. Or the fitted machine, which also names its
        features and the unit of its outputs.
    names : sequence of str, default=None
        Labels of the axes; by default the machine's names of its features, or "$x_1$" and so on.
    X : array-like of shape (n, d), default=None
        Points whose values are marked, by short lines at the foot; 200 of them at most.
    bands : list of Band, default=None
        Bands around the curves, from `svmbook.ensembles.shape_bands`.

    Returns
    -------
    list of matplotlib.lines.Line2D
        The curves.

    Raises
    ------
    TypeError
        An estimator without shape functions, such as a pipeline.
    ValueError
        There are fewer names, columns of points or bands than shape functions to draw.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook import StumpEnsembleSVC
    >>> from svmbook.plotting import plot_shapes
    >>> machine = StumpEnsembleSVC().fit([[0.0], [1.0], [3.0]], [0, 1, 1])
    >>> figure, ax = plt.subplots()
    >>> len(plot_shapes([ax], machine.shape_functions_))
    1
    >>> plt.close(figure)
    """
    axes, unit = np.ravel(axes), None
    if hasattr(shapes, "fit"):
        model, shapes = shapes, _shapes_of(shapes)
        names = getattr(model, "feature_names_in_", None) if names is None else names
        kind = "log odds of" if hasattr(model, "predict_proba") else "output for"
        unit = f"{kind} {model.classes_[1]}"  # positive values speak for this class
    axes, unused = axes[: len(shapes)], axes[len(shapes) :]
    columns = None if X is None else np.asarray(X, dtype=float).T
    for given, what in ((names, "names"), (columns, "columns of X"), (bands, "bands")):
        if given is not None and len(axes) > len(given):
            raise ValueError(f"there are {len(axes)} shape functions for {len(given)} {what}.")
    for ax in unused:
        ax.set_visible(False)
    curves = []
    for j, (ax, shape) in enumerate(zip(axes, shapes, strict=False)):
        column = None if columns is None else columns[j]
        x, heights = _curve(shape, column)
        ax.axhline(0.0, color=COLOURS["quiet"], lw=0.8)
        curves += ax.plot(x, heights, color=COLOURS[1], lw=1.8)
        if bands is not None:
            ax.fill_between(*bands[j], color=COLOURS[1], alpha=0.25, lw=0)
        if column is not None:
            some = column[:: -(-len(column) // MAX_MARKS)]
            foot = np.zeros(len(some))
            transform = ax.get_xaxis_transform()
            ax.plot(some, foot, "|", color=COLOURS["ink"], ms=7, transform=transform)
        ax.set_xlabel(f"$x_{{{j + 1}}}$" if names is None else names[j])
        place = ax.get_subplotspec()
        if unit is not None and (place is None or place.is_first_col()):
            ax.set_ylabel(unit)
    return curves


def _shapes_of(model):
    """Return the shape functions of a fitted additive model, or say which object has them."""
    if not hasattr(model, "shape_functions_"):
        raise TypeError(
            f"{type(model).__name__} has no shape functions. Pass a fitted additive model: of a "
            "pipeline its last step, pipeline[-1]; with more than two classes one of estimators_, "
            "which are the models of the pairs."
        )
    return model.shape_functions_


def _curve(shape, column):
    """Return points of a curve: the knots, or both ends of each step, and the ends of the data."""
    ends = [] if column is None else [column.min(), column.max()]
    if hasattr(shape, "knots"):
        x = np.union1d(shape.knots, ends)
        return x, shape(x)
    marks = np.append(shape.thresholds, ends)
    marks = marks if len(marks) else np.zeros(1)  # a feature without effect
    beyond = 1.0 if column is None else 0.0
    x = [marks.min() - beyond, *np.repeat(shape.thresholds, 2), marks.max() + beyond]
    return np.array(x), np.repeat(shape.values, 2)
