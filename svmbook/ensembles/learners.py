r"""Base learners as what they are to an ensemble: hypotheses that can be drawn, and their weight.

A kernel of an infinite ensemble is an integral, :math:`\int r^2\,h(x)\,h(z)\,d\mu`. Where the
total weight :math:`\int r^2\,d\mu`, the learner's **mass**, is finite, it is the mass times the
mean of :math:`h(x)h(z)` over hypotheses drawn at random, so T of them come as near as
:math:`T^{-1/2}`. That is a second route to each closed form of `svmbook.kernels.ensembles`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.ensembles import mean_cosine, stump_mass

__all__ = ["And", "Closure", "Leaves", "Perceptrons", "Rules", "Stumps", "sampled_kernel"]

HYPOTHESES_AT_ONCE = 1000  # hypotheses drawn at a time


class Stumps:
    r"""All stumps :math:`q\,\mathrm{sign}(x_j - a)` with thresholds in a box.

    Parameters
    ----------
    box : array-like of shape (2, d)
        Lowest and highest thresholds.
    """

    def __init__(self, box: ArrayLike) -> None:
        self.low, self.high = np.asarray(box, dtype=float)
        self.mass = stump_mass(box)

    def draw(self, count: int, rng: np.random.Generator) -> Callable:
        """Return a function of points: what so many hypotheses say, of shape (n, count)."""
        widths = self.high - self.low
        j = rng.choice(len(widths), count, p=widths / widths.sum())
        a = self.low[j] + widths[j] * rng.random(count)
        q = rng.choice([-1.0, 1.0], count)
        return lambda X: q * np.where(X[:, j] > a, 1.0, -1.0)


class Perceptrons:
    r"""All perceptrons :math:`q\,\mathrm{sign}(\theta^\top x - a)` that cut a ball.

    Parameters
    ----------
    d : int
        Number of features.
    radius : float
        Of the ball around the origin.
    """

    def __init__(self, d: int, radius: float) -> None:
        self.d, self.radius = d, radius
        self.mass = radius / mean_cosine(d)

    def draw(self, count: int, rng: np.random.Generator) -> Callable:
        """Return a function of points: what so many hypotheses say, of shape (n, count)."""
        theta = rng.standard_normal((self.d, count))
        theta /= np.linalg.norm(theta, axis=0)
        a = self.radius * rng.uniform(-1.0, 1.0, count)
        q = rng.choice([-1.0, 1.0], count)
        return lambda X: q * np.where(X @ theta > a, 1.0, -1.0)


class Rules:
    r"""The rules of some hypotheses, :math:`(h + 1)/2`: 1 for yes, 0 for no.

    Parameters
    ----------
    learner : object
        With a ``mass`` and ``draw``.
    """

    def __init__(self, learner: object) -> None:
        self.learner, self.mass = learner, learner.mass

    def draw(self, count: int, rng: np.random.Generator) -> Callable:
        """Return a function of points: what so many rules say, of shape (n, count)."""
        says = self.learner.draw(count, rng)
        return lambda X: 0.5 * (says(X) + 1.0)


class And:
    """All pairs of rules of two sorts, each saying yes where both do.

    Parameters
    ----------
    first, second : object
        Rules.
    """

    def __init__(self, first: object, second: object) -> None:
        self.first, self.second = first, second
        self.mass = first.mass * second.mass

    def draw(self, count: int, rng: np.random.Generator) -> Callable:
        """Return a function of points: what so many rules say, of shape (n, count)."""
        one, other = self.first.draw(count, rng), self.second.draw(count, rng)
        return lambda X: one(X) * other(X)


class Closure:
    """Rules as hypotheses, each with its negation: -1 and +1, complete and neutral.

    Parameters
    ----------
    rules : object
        Rules.
    """

    def __init__(self, rules: object) -> None:
        self.rules, self.mass = rules, rules.mass

    def draw(self, count: int, rng: np.random.Generator) -> Callable:
        """Return a function of points: what so many hypotheses say, of shape (n, count)."""
        says, q = self.rules.draw(count, rng), rng.choice([-1.0, 1.0], count)
        return lambda X: q * (2.0 * says(X) - 1.0)


class Leaves:
    r"""Leaves of trees: the AND of a Poisson number of rules.

    With the mean 2L of that number, and mass :math:`e^L`, the leaves that hold a point have L rules
    in the mean and the total weight one.

    Parameters
    ----------
    rules : object
        Rules, each true of half of its points' weight.
    degree : float
        The mean L.
    """

    def __init__(self, rules: object, degree: float) -> None:
        self.rules, self.degree = rules, degree
        self.mass = float(np.exp(degree))

    def draw(self, count: int, rng: np.random.Generator) -> Callable:
        """Return a function of points: what so many leaves say, of shape (n, count)."""
        sizes = rng.poisson(2.0 * self.degree, count)
        says = [self.rules.draw(size, rng) for size in sizes]
        return lambda X: np.stack([one(X).prod(axis=1) for one in says], axis=1)


def sampled_kernel(
    learner: object,
    X: ArrayLike,
    Z: ArrayLike | None = None,
    *,
    count: int,
    random_state: int | np.random.Generator | None = None,
) -> np.ndarray:
    r"""Return the mass of a learner times the mean of :math:`h(x)h(z)` over drawn hypotheses.

    Parameters
    ----------
    learner : object
        With a ``mass`` and ``draw``.
    X : ndarray of shape (n, d)
        Points.
    Z : ndarray of shape (m, d), default=None
        Other points; ``X`` itself by default.
    count : int
        Hypotheses.
    random_state : int or Generator, default=None
        Seed.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.ensembles.learners import Stumps, sampled_kernel
    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> stumps = Stumps([[0.0], [4.0]])
    >>> K = sampled_kernel(stumps, X, count=100_000, random_state=0)
    >>> K[0].round(1)  # 2 - |x - z|
    array([ 2.,  1., -2.])
    """
    rng = np.random.default_rng(random_state)
    X = np.asarray(X, dtype=float)
    Z = X if Z is None else np.asarray(Z, dtype=float)
    total = np.zeros((len(X), len(Z)))
    for start in range(0, count, HYPOTHESES_AT_ONCE):
        says = learner.draw(min(HYPOTHESES_AT_ONCE, count - start), rng)
        total += says(X) @ says(Z).T
    return learner.mass / count * total
