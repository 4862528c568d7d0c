"""Plots of two classes and a decision function in the plane.

Each function draws on given axes and returns the artists; none fits a model or creates a figure.
Points of class -1 are blue circles and points of class +1 vermilion squares, so that no plot
depends on colour alone. The functions raise an error for input that Matplotlib would plot wrongly.
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

__all__ = ["COLOURS", "plot_decision_function", "plot_points", "plot_rings"]

#: Colours of the classes -1 and +1; "ink" for lines and text, "grey" for reference
#: lines and regions without a prediction.
COLOURS = {-1: "#0072B2", 1: "#D55E00", "ink": "#222222", "grey": "#8A8A8A"}
_MARKERS = {-1: "o", 1: "s"}
# Transparent where the function is zero, so that the colour map suits light and dark pages.
_SIDES_COLORMAP = ListedColormap(
    [(*to_rgb(COLOURS[1 if value > 0 else -1]), abs(value)) for value in np.linspace(-1, 1, 256)]
)


def plot_points(
    ax: Axes,
    X: ArrayLike,
    y: ArrayLike,
    *,
    size: ArrayLike = 28.0,
    labels: Sequence[str] = ("class -1", "class +1"),
    **scatter_options,
) -> dict:
    """Plot points of two classes, with one marker and one colour per class.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    X : array-like of shape (n, 2)
        Points.
    y : array-like of shape (n,)
        Labels -1 and +1; one of them may be missing.
    size : float or array-like of shape (n,), default=28.0
        Marker area in square points, not negative.
    labels : pair of str, default=("class -1", "class +1")
        Legend entries of class -1 and class +1.
    **scatter_options
        Passed on to ``ax.scatter``, except for colour, marker and label, which are set by class.

    Returns
    -------
    dict
        The two `matplotlib.collections.PathCollection`, by label -1 and +1.

    Raises
    ------
    ValueError
        A point is not in the plane or not finite, or a label is neither -1 nor +1.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_points
    >>> figure, ax = plt.subplots()
    >>> scatters = plot_points(ax, [[0, 0], [1, 1], [2, 0]], [-1, 1, 1])
    >>> len(scatters[-1].get_offsets()), len(scatters[1].get_offsets())
    (1, 2)
    >>> plt.close(figure)
    """
    X = _check_points(X)
    y = _check_labels(y, len(X))
    sizes = np.broadcast_to(size, len(X))
    negative_label, positive_label = labels
    style = {"edgecolor": "white", "linewidth": 0.6, "zorder": 3}
    style |= normalize_kwargs(scatter_options, PathCollection)  # "lw" must replace "linewidth"
    scatters = {}
    for sign, label in ((-1, negative_label), (1, positive_label)):
        in_class = y == sign
        scatters[sign] = ax.scatter(
            *X[in_class].T,
            s=sizes[in_class],
            color=COLOURS[sign],
            marker=_MARKERS[sign],
            label=label,
            **style,
        )
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")
    return scatters


def plot_rings(
    ax: Axes, X: ArrayLike, *, size: ArrayLike = 95.0, label: str = "support vectors"
) -> PathCollection:
    """Draw a ring around each point, for instance around support vectors.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    X : array-like of shape (n, 2)
        Points, possibly none.
    size : float or array-like of shape (n,), default=95.0
        Area of a ring in square points, not negative.
    label : str, default="support vectors"
        Legend entry.

    Returns
    -------
    matplotlib.collections.PathCollection
        The rings.

    Raises
    ------
    ValueError
        A point is not in the plane or not finite.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_rings
    >>> figure, ax = plt.subplots()
    >>> plot_rings(ax, [[0, 0], [1, 1]]).get_label()
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


def plot_decision_function(
    ax: Axes,
    decision_function: Callable,
    *,
    levels: Sequence[float] = (-1, 0, 1),
    shade: bool = True,
    resolution: int = 160,
) -> dict:
    """Draw the decision boundary of a classifier, its margin boundaries and its two sides.

    Call this function after the points are plotted: it uses the limits of the axes and does not
    change them.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    decision_function : callable
        Maps an array of shape (m, 2) to m finite values, positive for class +1.
    levels : sequence of float, default=(-1, 0, 1)
        Contour levels in any order; the line of level zero is solid, the others are dashed.
    shade : bool, default=True
        Whether to colour the two sides.
    resolution : int, default=160
        Number of grid points per axis, at least 2.

    Returns
    -------
    dict
        "lines", the `matplotlib.contour.QuadContourSet` with sorted levels, and "sides", the
        `matplotlib.image.AxesImage` or None.

    Raises
    ------
    ValueError
        The values of the function are not one finite number per point, or there are no levels.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_decision_function
    >>> figure, ax = plt.subplots()
    >>> lines = plot_decision_function(ax, lambda Z: 4 * Z[:, 0] - 2)["lines"]
    >>> [round(float(path.vertices[0, 0]), 6) for path in lines.get_paths()]
    [0.25, 0.5, 0.75]
    >>> plt.close(figure)
    """
    levels = np.unique(_check_finite(levels, "levels"))  # Matplotlib needs increasing levels
    if not len(levels):
        raise ValueError("levels is empty; give at least one, for instance levels=(0,).")
    x1, x2, grid_points = _grid(ax, resolution)
    limits = ax.get_xlim(), ax.get_ylim()
    values = _check_finite(decision_function(grid_points), "the result of decision_function")
    values = values.reshape(resolution, resolution)
    sides = None
    if shade:
        clipped_values = np.clip(values, -2, 2)
        sides = _draw_image(ax, x1, x2, clipped_values, cmap=_SIDES_COLORMAP, vmin=-6, vmax=6)
    lines = ax.contour(
        x1,
        x2,
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
    """Return the coordinates of a grid along both axes, and its points."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x1, x2 = np.linspace(left, right, resolution), np.linspace(bottom, top, resolution)
    return x1, x2, np.column_stack([axis.ravel() for axis in np.meshgrid(x1, x2)])


def _draw_image(ax, x1, x2, values, **colour_options):
    """Colour the plane by values on a grid, with one pixel per value, and return the image."""
    half_dx, half_dy = (0.5 * (coordinates[1] - coordinates[0]) for coordinates in (x1, x2))
    return ax.imshow(
        values,
        extent=(x1[0] - half_dx, x1[-1] + half_dx, x2[0] - half_dy, x2[-1] + half_dy),
        origin="lower",
        interpolation="none",  # stores one pixel per value; viewers of the SVG smooth them
        aspect=ax.get_aspect(),
        zorder=0,
        **colour_options,
    )


def _check_finite(values, name):
    """Return an array of floats, or raise an error: Matplotlib silently omits non-finite ones."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        invalid = values[~np.isfinite(values)][0]
        raise ValueError(f"{name} contains {invalid}; only finite values can be plotted.")
    return values


def _check_points(X):
    """Return points of the plane, of shape (n, 2); an empty list is accepted."""
    X = _check_finite(X, "X")
    if X.shape == (0,):
        return X.reshape(0, 2)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(
            f"X has shape {X.shape}; a plot in the plane needs shape (n, 2), one row per point. "
            "Choose two columns, for instance X[:, [0, 1]]."
        )
    return X


def _check_labels(y, n):
    """Return n labels -1 and +1 as an array, or raise an error."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}, but X has {n} points; y needs shape ({n},).")
    invalid = y[(y != -1) & (y != 1)]
    if len(invalid):
        raise ValueError(
            f"y contains the label {invalid.tolist()[0]!r}; only -1 and +1 can be plotted. "
            "Encode other labels first: `classes, y = svmbook.labels.encode_binary_labels(y)`."
        )
    return y
