"""Mean ranks of methods on a line, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .two import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_ranks"]

BAR_GAP = 0.07  # between two bars, relative to the range of ranks


def plot_ranks(
    ax: Axes, names: Sequence[str], means: ArrayLike, critical_difference: float
) -> list[tuple[str, ...]]:
    """Draw mean ranks in their order, the best on top, and bars beside those that do not differ.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    names : sequence of str
        The methods.
    means : array-like of shape (n_methods,)
        Their mean ranks.
    critical_difference : float
        Mean ranks that lie no further apart share a bar.

    Returns
    -------
    list of tuple of str
        The groups that share a bar, from the best to the worst.

    Raises
    ------
    ValueError
        There are not as many names as ranks.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from svmbook.plotting import plot_ranks
    >>> figure, ax = plt.subplots()
    >>> plot_ranks(ax, ["a", "b", "c"], [1.2, 3.0, 1.8], 1.0)
    [('a', 'c')]
    >>> plt.close(figure)
    """
    means = np.asarray(means, dtype=float)
    if len(names) != len(means):
        raise ValueError(f"there are {len(names)} names for {len(means)} mean ranks.")
    order = np.argsort(means, kind="stable")
    groups = _groups(means[order], critical_difference)
    ax.scatter(means[order], np.arange(len(order)), color=COLOURS["ink"], s=24, zorder=3)
    step = BAR_GAP * max(np.ptp(means), critical_difference)
    for k, (first, last) in enumerate(groups, start=1):
        beside = means.max() + k * step
        ax.plot([beside, beside], [first - 0.2, last + 0.2], color=COLOURS[1], lw=3)
    ax.set_yticks(np.arange(len(order)), [names[k] for k in order])
    ax.invert_yaxis()
    ax.set_xlabel("mean rank")
    return [tuple(names[k] for k in order[first : last + 1]) for first, last in groups]


def _groups(means, critical_difference):
    """Return first and last of each widest run of rising ranks within the difference."""
    groups, farthest = [], 0
    for first in range(len(means)):
        last = int(np.searchsorted(means, means[first] + critical_difference, side="right")) - 1
        if last > max(first, farthest):
            groups.append((first, last))
            farthest = last
    return groups
