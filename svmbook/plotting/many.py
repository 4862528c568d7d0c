"""Pictures of machines for several classes in the plane.

As in `svmbook.plotting.two`, each function draws on the axes it is given and returns what it
drew. A class has a colour and a marker, so that no picture depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from numpy.typing import ArrayLike

from .two import COLOURS, _check_points, _grid, _tint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["CLASS_COLOURS", "plot_classes", "plot_regions"]

#: Colours of classes 0, 1, 2 and so on; told apart by colour-blind readers. Markers and borders
#: of regions help where there is no colour.
CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B4A8A")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_TINT = 0.28  # of its colour in a region: the points on it must stand out
# A marker's edge: white would leave the two palest colours without one on their own regions.
_EDGES = ("white", "white", "white", "white", COLOURS["ink"], COLOURS["ink"], "white")


def plot_classes(
    ax: Axes,
    X: ArrayLike,
    codes: ArrayLike,
    *,
    size: float = 24.0,
    labels: Sequence[str] | None = None,
) -> dict:
    """Draw points of up to seven classes, one marker and one colour for each.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    X : array-like of shape (n, 2)
        Points.
    codes : array-like of shape (n,)
        Numbers of the classes, 0 to 6.
    size : float, default=24.0
        Marker area in square points, not negative.
    labels : sequence of str, default=None
        Entries of the legend, by number; "class 0" and so on by default.

    Returns
    -------
    dict
        The `matplotlib.collections.PathCollection` of each class that occurs, by number.

    Raises
    ------
    ValueError
        Points that are not in the plane or not finite, numbers that are none of a class, or fewer
        labels than classes.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_classes
    >>> figure, ax = plt.subplots()
    >>> sorted(plot_classes(ax, [[0, 0], [1, 1], [2, 0]], [2, 0, 2]))
    [0, 2]
    >>> plt.close(figure)
    """
    X = _check_points(X)
    codes = _check_codes(codes, len(X))
    labels = [f"class {code}" for code in range(len(CLASS_COLOURS))] if labels is None else labels
    if len(labels) <= codes.max(initial=-1):
        raise ValueError(f"labels is {labels!r}; give an entry of the legend for each class.")
    drawn = {}
    for code in np.unique(codes).tolist():
        rows = codes == code
        drawn[code] = ax.scatter(
            *X[rows].T,
            s=size,
            color=CLASS_COLOURS[code],
            marker=_MARKERS[code],
            label=labels[code],
            edgecolor=_EDGES[code],
            linewidth=0.5,
            zorder=3,
        )
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")
    return drawn


def plot_regions(ax: Axes, predict: Callable, *, resolution: int = 240) -> AxesImage:
    """Tint the regions in which a machine answers each class, and draw their borders.

    Call it after the points are drawn: it reads the limits and leaves them as they are.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    predict : callable
        Maps an array of shape (m, 2) to m numbers of classes, 0 to 6; -1 stands for no answer and
        is drawn in grey.
    resolution : int, default=240
        Grid points a side, at least 2.

    Returns
    -------
    matplotlib.image.AxesImage
        The regions.

    Raises
    ------
    ValueError
        The function's values are not one class a point.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_regions
    >>> figure, ax = plt.subplots()
    >>> image = plot_regions(ax, lambda Z: 1 * (Z[:, 0] > 0.5), resolution=3)
    >>> image.get_array().tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 1]]
    >>> plt.close(figure)
    """
    first, second, grid = _grid(ax, resolution)
    limits = ax.get_xlim(), ax.get_ylim()
    codes = _check_codes(predict(grid), len(grid), lowest=-1).reshape(len(second), len(first))
    for code in np.unique(codes)[1:]:  # all but one: the last border belongs to its neighbours
        inside = (codes == code).astype(float)
        ax.contour(first, second, inside, levels=[0.5], colors="white", linewidths=1.2, zorder=1)
    colours = [(*to_rgb(colour), _TINT) for colour in (COLOURS["quiet"], *CLASS_COLOURS)]
    span = {"vmin": -1.5, "vmax": len(CLASS_COLOURS) - 0.5}
    image = _tint(ax, first, second, codes, cmap=ListedColormap(colours), **span)
    ax.set(xlim=limits[0], ylim=limits[1])
    return image


def _check_codes(codes, n, *, lowest=0):
    """Return n numbers of classes."""
    codes = np.asarray(codes) if n else np.zeros(0, dtype=int)
    if codes.shape != (n,):
        raise ValueError(f"there are {n} points, but the classes have shape {codes.shape}.")
    highest = len(CLASS_COLOURS) - 1
    if codes.dtype.kind not in "iu" or (n and not lowest <= codes.min() <= codes.max() <= highest):
        raise ValueError(
            f"classes must be integers from {lowest} to {highest}; found {np.unique(codes)[:5]}. "
            "Number them first: `classes, codes = svmbook.labels.encode_classes(y)`."
        )
    return codes
