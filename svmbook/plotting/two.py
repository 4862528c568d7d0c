"""Pictures of two-class machines in the plane.

Each function draws on the axes it is given and returns what it drew. None of them fits a
machine or creates a figure. Class -1 is blue and round, class +1 is vermilion and square, so that
no picture depends on colour alone. What would draw a wrong picture in silence is refused; what
Matplotlib or NumPy refuse is left to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.cbook import normalize_kwargs
from matplotlib.collections import PathCollection
from matplotlib.colors import ListedColormap, to_rgb
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "plot_machine", "plot_points", "ring_support"]

#: Colours of the classes -1 and +1, and of everything that belongs to neither.
COLOURS = {-1: "#0072B2", 1: "#D55E00", "ink": "#222222", "quiet": "#8A8A8A"}
_MARKERS = {-1: "o", 1: "s"}
# Transparent where the function is zero: what lies behind the picture decides how light that is.
_SIDES = ListedColormap(
    [(*to_rgb(COLOURS[1 if depth > 0 else -1]), abs(depth)) for depth in np.linspace(-1, 1, 256)]
)


def plot_points(
    ax: Axes,
    X: ArrayLike,
    y: ArrayLike,
    *,
    size: ArrayLike = 28.0,
    labels: Sequence[str] = ("class -1", "class +1"),
    **scatter,
) -> dict:
    """Draw points of two classes, one marker and one colour for each.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    X : array-like of shape (n, 2)
        Points.
    y : array-like of shape (n,)
        Labels -1 and +1; one of them may be missing.
    size : float or array-like of shape (n,), default=28.0
        Marker area in square points, not negative.
    labels : pair of str, default=("class -1", "class +1")
        Entries of the legend, of class -1 first.
    **scatter
        Passed on to ``ax.scatter``; colour, marker and label belong to the classes.

    Returns
    -------
    dict
        The two `matplotlib.collections.PathCollection`, by label -1 and +1.

    Raises
    ------
    ValueError
        Points that are not in the plane or not finite, or labels other than -1 and +1.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_points
    >>> figure, ax = plt.subplots()
    >>> drawn = plot_points(ax, [[0, 0], [1, 1], [2, 0]], [-1, 1, 1])
    >>> len(drawn[-1].get_offsets()), len(drawn[1].get_offsets())
    (1, 2)
    >>> plt.close(figure)
    """
    X = _check_points(X)
    y = _check_signs(y, len(X))
    sizes = np.broadcast_to(size, len(X))
    negative, positive = labels
    style = {"edgecolor": "white", "linewidth": 0.6, "zorder": 3}
    style |= normalize_kwargs(scatter, PathCollection)  # "lw" must replace "linewidth"
    drawn = {}
    for sign, label in ((-1, negative), (1, positive)):
        rows = y == sign
        drawn[sign] = ax.scatter(
            *X[rows].T,
            s=sizes[rows],
            color=COLOURS[sign],
            marker=_MARKERS[sign],
            label=label,
            **style,
        )
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")
    return drawn


def ring_support(
    ax: Axes, X: ArrayLike, *, size: ArrayLike = 95.0, label: str = "support vectors"
) -> PathCollection:
    """Draw a ring around each of the points.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    X : array-like of shape (n, 2)
        Points; there may be none.
    size : float or array-like of shape (n,), default=95.0
        Area of a ring in square points, not negative.
    label : str, default="support vectors"
        Entry of the legend.

    Returns
    -------
    matplotlib.collections.PathCollection
        The rings.

    Raises
    ------
    ValueError
        Points that are not in the plane or not finite.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import ring_support
    >>> figure, ax = plt.subplots()
    >>> ring_support(ax, [[0, 0], [1, 1]]).get_label()
    'support vectors'
    >>> plt.close(figure)
    """
    X = _check_points(X)
    return ax.scatter(
        *X.T,
        s=size,
        facecolor="none",
        edgecolor=COLOURS["ink"],
        linewidth=1.1,
        label=label,
        zorder=4,
    )


def plot_machine(
    ax: Axes,
    decision_function: Callable,
    *,
    levels: Sequence[float] = (-1, 0, 1),
    shade: bool = True,
    resolution: int = 160,
) -> dict:
    """Draw the boundary of a machine, its margins and its two sides, within the axes' limits.

    Call it after the points are drawn: it reads the limits and leaves them as they are.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    decision_function : callable
        Maps an array of shape (m, 2) to m finite values, positive for the class +1.
    levels : sequence of float, default=(-1, 0, 1)
        Values to draw as lines, each once, in any order; zero is solid, the others are dashed.
    shade : bool, default=True
        Whether to tint the two sides.
    resolution : int, default=160
        Grid points a side, at least 2.

    Returns
    -------
    dict
        "lines", the `matplotlib.contour.QuadContourSet` with its levels sorted, and "sides", the
        `matplotlib.image.AxesImage` or None.

    Raises
    ------
    ValueError
        The function's values are not one finite number a point, or there are no levels to draw.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_machine
    >>> figure, ax = plt.subplots()
    >>> lines = plot_machine(ax, lambda Z: 4 * Z[:, 0] - 2)["lines"]
    >>> [round(float(path.vertices[0, 0]), 6) for path in lines.get_paths()]
    [0.25, 0.5, 0.75]
    >>> plt.close(figure)
    """
    levels = np.unique(_finite(levels, "levels"))  # a contour wants them sorted, each once
    if not len(levels):
        raise ValueError("levels is empty; give at least one, for instance levels=(0,).")
    first, second, grid = _grid(ax, resolution)
    limits = ax.get_xlim(), ax.get_ylim()
    values = _finite(decision_function(grid), "the result of decision_function")
    values = values.reshape(resolution, resolution)
    sides = None
    if shade:
        sides = _tint(ax, first, second, np.clip(values, -2, 2), cmap=_SIDES, vmin=-6, vmax=6)
    lines = ax.contour(
        first,
        second,
        values,
        levels=levels,
        colors=COLOURS["ink"],
        linewidths=[1.6 if level == 0 else 1.0 for level in levels],
        linestyles=["solid" if level == 0 else "dashed" for level in levels],
        zorder=2,
    )
    ax.set(xlim=limits[0], ylim=limits[1])
    return {"lines": lines, "sides": sides}


def _grid(ax, resolution):
    """Return places along both axes, and the points of their grid."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    first, second = np.linspace(left, right, resolution), np.linspace(bottom, top, resolution)
    return first, second, np.column_stack([axis.ravel() for axis in np.meshgrid(first, second)])


def _tint(ax, first, second, values, **colours):
    """Colour the plane by values on a grid, one pixel each, and return the image."""
    across, up = (0.5 * (places[1] - places[0]) for places in (first, second))
    return ax.imshow(
        values,
        extent=(first[0] - across, first[-1] + across, second[0] - up, second[-1] + up),
        origin="lower",
        interpolation="none",  # stored as pixels; viewers smooth it
        aspect=ax.get_aspect(),
        zorder=0,
        **colours,
    )


def _finite(values, name):
    """Return an array of floats; Matplotlib would leave out what is not finite without a word."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        strange = values[~np.isfinite(values)][0]
        raise ValueError(f"{name} holds {strange}; only finite values can be drawn.")
    return values


def _check_points(X):
    """Return points of the plane, of shape (n, 2); an empty list holds none."""
    X = _finite(X, "X")
    if X.shape == (0,):
        return X.reshape(0, 2)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(
            f"X has shape {X.shape}; a picture in the plane needs shape (n, 2), one row a point. "
            "Choose two columns, for instance X[:, [0, 1]]."
        )
    return X


def _check_signs(y, n):
    """Return n labels -1 and +1."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}, but X holds {n} points; y needs shape ({n},).")
    strange = y[(y != -1) & (y != 1)]
    if len(strange):
        raise ValueError(
            f"y holds the label {strange.tolist()[0]!r}; only -1 and +1 can be drawn. "
            "Translate other labels first: `classes, y = svmbook.labels.encode_labels(y)`."
        )
    return y
