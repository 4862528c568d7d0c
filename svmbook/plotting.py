"""Pictures of two-class machines in the plane.

Each function draws on the axes it is given and returns what it drew. None of them fits a
machine or creates a figure. Class -1 is blue and round, class +1 is vermilion and square, so
that no picture depends on colour alone.
"""

from __future__ import annotations

from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

__all__ = ["COLOURS", "plot_machine", "plot_points", "ring_support", "use_book_style"]

#: Colours of the classes -1 and +1, and of everything that belongs to neither.
COLOURS = {-1: "#0072B2", 1: "#D55E00", "ink": "#222222", "quiet": "#8A8A8A"}
_MARKERS = {-1: "o", 1: "s"}
_SIDES = LinearSegmentedColormap.from_list("sides", [COLOURS[-1], "#FFFFFF", COLOURS[1]])


def use_book_style():
    """Switch matplotlib to the style of the book's figures."""
    plt.style.use(files("svmbook") / "book.mplstyle")


def plot_points(ax, X, y, *, size=28.0, labels=("class -1", "class +1"), **scatter):
    """Draw points of two classes, one marker and one colour for each.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    X : ndarray of shape (n, 2)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    size : float or ndarray of shape (n,), default=28.0
        Marker area in square points.
    labels : tuple of str, default=("class −1", "class +1")
        Entries of the legend.
    **scatter
        Passed on to ``ax.scatter``.

    Returns
    -------
    dict
        The two collections, by label -1 and +1.
    """
    sizes = np.broadcast_to(size, len(y))
    style = {"edgecolor": "white", "linewidth": 0.6, "zorder": 3} | scatter
    drawn = {}
    for sign, label in zip((-1, 1), labels, strict=True):
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


def ring_support(ax, X, *, size=95.0, label="support vectors"):
    """Draw a ring around each of the points.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    X : ndarray of shape (n, 2)
        Points.
    size : float, default=95.0
        Area of a ring in square points.
    label : str, default="support vectors"
        Entry of the legend.

    Returns
    -------
    matplotlib.collections.PathCollection
    """
    return ax.scatter(
        *np.asarray(X).T,
        s=size,
        facecolor="none",
        edgecolor=COLOURS["ink"],
        linewidth=1.1,
        label=label,
        zorder=4,
    )


def plot_machine(ax, decision_function, *, levels=(-1, 0, 1), shade=True, resolution=160):
    """Draw the boundary of a machine, its margins and its two sides, within the axes' limits.

    Call it after the points are drawn: it reads the limits and leaves them as they are.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    decision_function : callable
        Maps an array of shape (m, 2) to m values, positive for the class +1.
    levels : sequence of float, default=(-1, 0, 1)
        Values to draw as lines; zero is solid, the others are dashed.
    shade : bool, default=True
        Whether to tint the two sides.
    resolution : int, default=160
        Grid points a side.

    Returns
    -------
    dict
        "lines", the contour set, and "sides", the image or None.
    """
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    first, second = np.linspace(left, right, resolution), np.linspace(bottom, top, resolution)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(first, second)])
    values = np.asarray(decision_function(grid)).reshape(resolution, resolution)
    sides = None
    if shade:
        sides = ax.pcolormesh(
            first,
            second,
            np.clip(values, -2, 2),
            cmap=_SIDES,
            vmin=-6,
            vmax=6,
            shading="gouraud",
            rasterized=True,
            zorder=0,
        )
    lines = ax.contour(
        first,
        second,
        values,
        levels=sorted(levels),
        colors=COLOURS["ink"],
        linewidths=[1.6 if level == 0 else 1.0 for level in sorted(levels)],
        linestyles=["solid" if level == 0 else "dashed" for level in sorted(levels)],
        zorder=2,
    )
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    return {"lines": lines, "sides": sides}
