"""Critical-difference diagrams: mean ranks, and groups that do not differ significantly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .two_classes import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_ranks"]

# Horizontal distance between two bars, relative to the range of the mean ranks or the critical
# difference, whichever is larger.
RELATIVE_BAR_SPACING = 0.07


def plot_ranks(
    ax: Axes, names: Sequence[str], mean_ranks: ArrayLike, critical_difference: float
) -> list[tuple[str, ...]]:
    """Plot mean ranks, the best on top; bars join methods that do not differ significantly.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    names : sequence of str
        Names of the methods.
    mean_ranks : array-like of shape (n_methods,)
        Mean ranks of the methods.
    critical_difference : float
        Methods do not differ significantly, and share a bar, if their mean ranks differ by no more
        than this.

    Returns
    -------
    list of tuple of str
        The groups that share a bar, from the best to the worst.

    Raises
    ------
    ValueError
        The numbers of names and of ranks differ.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_ranks
    >>> figure, ax = plt.subplots()
    >>> plot_ranks(ax, ["a", "b", "c"], [1.2, 3.0, 1.8], 1.0)
    [('a', 'c')]
    >>> plt.close(figure)
    """
    mean_ranks = np.asarray(mean_ranks, dtype=float)
    if len(names) != len(mean_ranks):
        raise ValueError(f"there are {len(names)} names for {len(mean_ranks)} mean ranks.")
    order = np.argsort(mean_ranks, kind="stable")
    groups = _maximal_groups(mean_ranks[order], critical_difference)
    ax.scatter(mean_ranks[order], np.arange(len(order)), color=COLOURS["ink"], s=24, zorder=3)
    bar_spacing = RELATIVE_BAR_SPACING * max(np.ptp(mean_ranks), critical_difference)
    for bar_number, (first, last) in enumerate(groups, start=1):
        x = mean_ranks.max() + bar_number * bar_spacing
        ax.plot([x, x], [first - 0.2, last + 0.2], color=COLOURS[1], lw=3)
    ax.set_yticks(np.arange(len(order)), [names[k] for k in order])
    ax.invert_yaxis()
    ax.set_xlabel("mean rank")
    return [tuple(names[k] for k in order[first : last + 1]) for first, last in groups]


def _maximal_groups(sorted_ranks, critical_difference):
    """Return the first and last index of each maximal group of two or more methods.

    The mean ranks in a group differ by at most the critical difference.
    """
    groups, previous_last = [], 0
    for first in range(len(sorted_ranks)):
        largest_rank = sorted_ranks[first] + critical_difference
        last = int(np.searchsorted(sorted_ranks, largest_rank, side="right")) - 1
        if last > max(first, previous_last):
            groups.append((first, last))
            previous_last = last
    return groups
