"""The four data sets of the chapters on exemplar SVMs and prototype SVMs, all in the plane."""

from __future__ import annotations

import numpy as np

from ...datasets import isolated, striated

__all__ = ["DATA_SETS", "islands", "slope", "stripes", "wedge"]


def slope(n, random_state):
    """Draw uniform points of a square, divided by an oblique line."""
    X = np.random.default_rng(random_state).uniform(-2, 2, (n, 2))
    return X, np.where(X[:, 0] > 0.7 * X[:, 1], 1.0, -1.0)


def islands(n, random_state):
    """Draw three round clusters in a uniform background, on the square of `slope`."""
    X, y = isolated(n, spread=0.075, random_state=random_state)
    return 4 * (X - 0.5), y


def wedge(n, random_state):
    """Draw uniform points of a square, class +1 between two lines that meet inside it."""
    X = np.random.default_rng(random_state).uniform(-2, 2, (n, 2))
    inside = np.abs(X[:, 0] + 0.3 * X[:, 1]) < 0.6 * (X[:, 1] + 1.5)
    return X, np.where(inside, 1.0, -1.0)


def stripes(n, random_state):
    """Draw four oblique stripes of alternating class around the origin."""
    X, y = striated(n, stripes=4, width=0.12, length=1.5, tilt=30, random_state=random_state)
    return X - [1.5, 0.0], y


DATA_SETS = {"slope": slope, "islands": islands, "wedge": wedge, "stripes": stripes}
