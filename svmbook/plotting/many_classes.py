"""Plots of up to seven classes in the plane.

As in `svmbook.plotting.two_classes`, each function draws on given axes and returns the artists.
Each class has its own colour and marker, so that no plot depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import ListedColormap, to_rgb
from numpy.typing import ArrayLike

from .two_classes import COLOURS, _check_points, _draw_image, _grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["CLASS_COLOURS", "plot_classes", "plot_regions"]

#: Colours of classes 0, 1, 2 and so on, which colour-blind readers can distinguish. Markers and
#: borders of regions distinguish the classes without colour.
CLASS_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B4A8A")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_REGION_ALPHA = 0.28  # low enough that points stand out
# Edge colours of markers: white is hard to see between the two palest colours and their regions.
_EDGE_COLOURS = ("white", "white", "white", "white", COLOURS["ink"], COLOURS["ink"], "white")


def plot_classes(
    ax: Axes,
    X: ArrayLike,
    codes: ArrayLike,
    *,
    size: float = 24.0,
    labels: Sequence[str] | None = None,
) -> dict:
    """Plot points of up to seven classes, with one marker and one colour per class.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    X : array-like of shape (n, 2)
        Points.
    codes : array-like of shape (n,)
        Class indices, 0 to 6.
    size : float, default=24.0
        Marker area in square points, not negative.
    labels : sequence of str, default=None
        Legend entry of each class; "class 0" and so on by default.

    Returns
    -------
    dict
        The `matplotlib.collections.PathCollection` of each class that occurs, by class index.

    Raises
    ------
    ValueError
        A point is not in the plane or not finite, a code is not a class index, or there are fewer
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
        raise ValueError(f"labels is {labels!r}; give one legend entry per class.")
    scatters = {}
    for code in np.unique(codes).tolist():
        in_class = codes == code
        scatters[code] = ax.scatter(
            *X[in_class].T,
            s=size,
            color=CLASS_COLOURS[code],
            marker=_MARKERS[code],
            label=labels[code],
            edgecolor=_EDGE_COLOURS[code],
            linewidth=0.5,
            zorder=3,
        )
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")
    return scatters


def plot_regions(ax: Axes, predict: Callable, *, resolution: int = 240) -> AxesImage:
    """Colour the regions in which a classifier predicts each class, and draw their borders.

    Call this function after the points are plotted: it uses the limits of the axes and does not
    change them.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    predict : callable
        Maps an array of shape (m, 2) to m class indices, 0 to 6; -1 means no prediction and is
        drawn in grey.
    resolution : int, default=240
        Number of grid points per axis, at least 2.

    Returns
    -------
    matplotlib.image.AxesImage
        The regions.

    Raises
    ------
    ValueError
        The values of the function are not one class index per point.

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
    x1, x2, grid_points = _grid(ax, resolution)
    limits = ax.get_xlim(), ax.get_ylim()
    codes = _check_codes(predict(grid_points), len(grid_points), lowest=-1)
    codes = codes.reshape(len(x2), len(x1))
    for code in np.unique(codes)[1:]:  # the borders of the first class belong to other classes too
        mask = (codes == code).astype(float)
        ax.contour(x1, x2, mask, levels=[0.5], colors="white", linewidths=1.2, zorder=1)
    colours = [(*to_rgb(colour), _REGION_ALPHA) for colour in (COLOURS["grey"], *CLASS_COLOURS)]
    colour_limits = {"vmin": -1.5, "vmax": len(CLASS_COLOURS) - 0.5}
    image = _draw_image(ax, x1, x2, codes, cmap=ListedColormap(colours), **colour_limits)
    ax.set(xlim=limits[0], ylim=limits[1])
    return image


def _check_codes(codes, n, *, lowest=0):
    """Return n class indices as an array, or raise an error."""
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
