"""Pictures of additive machines: one curve a feature."""

from __future__ import annotations

import numpy as np

from .two import COLOURS

__all__ = ["plot_shapes"]

STRIPES = 200  # values at most that are marked below a curve


def plot_shapes(axes, shapes, *, names=None, X=None):
    """Draw shape functions, one on each of some axes, and where the values of the feature lie.

    Parameters
    ----------
    axes : sequence of matplotlib.axes.Axes
        Where to draw; as many as shape functions, or fewer for the first ones.
    shapes : sequence
        Shape functions as a machine keeps them: ``knots`` and ``values``, straight in between, or
        ``thresholds`` and one value more, for steps.
    names : sequence of str, default=None
        Labels of the axes; "$x_1$" and so on by default.
    X : array-like of shape (n, d), default=None
        Points whose values are marked, by short lines at the foot; 200 of them at most.

    Returns
    -------
    list of matplotlib.lines.Line2D
        The curves.

    Raises
    ------
    ValueError
        There are more axes than shape functions, names, or columns of points.

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
    axes = np.ravel(axes)
    columns = None if X is None else np.asarray(X, dtype=float).T
    for given, what in ((shapes, "shape functions"), (names, "names"), (columns, "columns of X")):
        if given is not None and len(axes) > len(given):
            raise ValueError(f"there are {len(axes)} axes for {len(given)} {what}.")
    curves = []
    for j, (ax, shape) in enumerate(zip(axes, shapes, strict=False)):
        column = None if columns is None else columns[j]
        x, heights = _curve(shape, column)
        ax.axhline(0.0, color=COLOURS["quiet"], lw=0.8)
        curves += ax.plot(x, heights, color=COLOURS[1], lw=1.8)
        if column is not None:
            some = column[:: -(-len(column) // STRIPES)]
            foot = np.zeros(len(some))
            transform = ax.get_xaxis_transform()
            ax.plot(some, foot, "|", color=COLOURS["ink"], ms=7, transform=transform)
        ax.set_xlabel(f"$x_{{{j + 1}}}$" if names is None else names[j])
    return curves


def _curve(shape, column):
    """Return points of a curve: the knots, or both ends of each step, and the ends of the data."""
    ends = [] if column is None else [column.min(), column.max()]
    if hasattr(shape, "knots"):
        x = np.union1d(shape.knots, ends)
        return x, shape(x)
    marks = np.append(shape.thresholds, ends)
    marks = marks if len(marks) else np.zeros(1)  # a feature without a say
    beyond = 1.0 if column is None else 0.0
    x = [marks.min() - beyond, *np.repeat(shape.thresholds, 2), marks.max() + beyond]
    return np.array(x), np.repeat(shape.values, 2)
