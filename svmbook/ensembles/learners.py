r"""Base learners of infinite ensembles: random samples of their hypotheses, and their total weight.

The kernel of an infinite ensemble is an integral, :math:`\int r^2\,h(x)\,h(z)\,d\mu`. Let the
total weight :math:`\int r^2\,d\mu`, the **mass** of the learner, be finite. Then the kernel is the
mass times the mean of :math:`h(x)h(z)` over random hypotheses. A sample of T hypotheses
approximates it with an error of order :math:`T^{-1/2}`. This is an independent check of each closed
form in `svmbook.kernels.ensembles`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.ensembles import mean_abs_cos, stump_mass

__all__ = [
    "Conjunctions",
    "Leaves",
    "NegationClosure",
    "Perceptrons",
    "Rules",
    "Stumps",
    "sampled_kernel",
]

BATCH_SIZE = 1000  # number of hypotheses drawn at a time


class Stumps:
    r"""All stumps :math:`q\,\mathrm{sign}(x_j - a)` with thresholds in a box.

    Parameters
    ----------
    box : array-like of shape (2, d)
        Lowest and highest threshold of each feature.
    """

    def __init__(self, box: ArrayLike) -> None:
        self.low, self.high = np.asarray(box, dtype=float)
        self.mass = stump_mass(box)

    def draw_hypotheses(self, n_hypotheses: int, rng: np.random.Generator) -> Callable:
        """Draw hypotheses; return a function that evaluates them at points, (n, n_hypotheses)."""
        widths = self.high - self.low
        j = rng.choice(len(widths), n_hypotheses, p=widths / widths.sum())
        a = self.low[j] + widths[j] * rng.random(n_hypotheses)
        q = rng.choice([-1.0, 1.0], n_hypotheses)
        return lambda X: q * np.where(X[:, j] > a, 1.0, -1.0)


class Perceptrons:
    r"""All perceptrons :math:`q\,\mathrm{sign}(\theta^\top x - a)` whose hyperplane cuts a ball.

    Parameters
    ----------
    d : int
        Number of features.
    radius : float
        Radius of the ball around the origin.
    """

    def __init__(self, d: int, radius: float) -> None:
        self.d, self.radius = d, radius
        self.mass = radius / mean_abs_cos(d)

    def draw_hypotheses(self, n_hypotheses: int, rng: np.random.Generator) -> Callable:
        """Draw hypotheses; return a function that evaluates them at points, (n, n_hypotheses)."""
        theta = rng.standard_normal((self.d, n_hypotheses))
        theta /= np.linalg.norm(theta, axis=0)
        a = self.radius * rng.uniform(-1.0, 1.0, n_hypotheses)
        q = rng.choice([-1.0, 1.0], n_hypotheses)
        return lambda X: q * np.where(X @ theta > a, 1.0, -1.0)


class Rules:
    r"""Rules :math:`(h + 1)/2`, with values 0 and 1, from the hypotheses h of a learner.

    Parameters
    ----------
    learner : object
        Has ``mass`` and ``draw_hypotheses``, and hypotheses with values -1 and +1.
    """

    def __init__(self, learner: object) -> None:
        self.learner, self.mass = learner, learner.mass

    def draw_hypotheses(self, n_hypotheses: int, rng: np.random.Generator) -> Callable:
        """Draw rules; return a function that evaluates them at points, (n, n_hypotheses)."""
        h = self.learner.draw_hypotheses(n_hypotheses, rng)
        return lambda X: 0.5 * (h(X) + 1.0)


class Conjunctions:
    """Conjunctions of two rules: products of a rule of one set and a rule of another.

    Parameters
    ----------
    first_rule_set, second_rule_set : object
        Sets of rules, with ``mass`` and ``draw_hypotheses``.
    """

    def __init__(self, first_rule_set: object, second_rule_set: object) -> None:
        self.first_rule_set, self.second_rule_set = first_rule_set, second_rule_set
        self.mass = first_rule_set.mass * second_rule_set.mass

    def draw_hypotheses(self, n_hypotheses: int, rng: np.random.Generator) -> Callable:
        """Draw conjunctions; return a function that evaluates them at points, (n, n_hypotheses)."""
        first_rules = self.first_rule_set.draw_hypotheses(n_hypotheses, rng)
        second_rules = self.second_rule_set.draw_hypotheses(n_hypotheses, rng)
        return lambda X: first_rules(X) * second_rules(X)


class NegationClosure:
    """Rules and their negations as hypotheses with values -1 and +1.

    Parameters
    ----------
    rule_set : object
        Set of rules, with ``mass`` and ``draw_hypotheses``.
    """

    def __init__(self, rule_set: object) -> None:
        self.rule_set, self.mass = rule_set, rule_set.mass

    def draw_hypotheses(self, n_hypotheses: int, rng: np.random.Generator) -> Callable:
        """Draw hypotheses; return a function that evaluates them at points, (n, n_hypotheses)."""
        rules = self.rule_set.draw_hypotheses(n_hypotheses, rng)
        signs = rng.choice([-1.0, 1.0], n_hypotheses)
        return lambda X: signs * (2.0 * rules(X) - 1.0)


class Leaves:
    r"""Leaves of trees: conjunctions of rules whose number has a Poisson distribution.

    The mean of that number is 2L and the mass is :math:`e^L`. The leaves that contain a given point
    then have L rules on average and total weight one.

    Parameters
    ----------
    rule_set : object
        Set of rules with ``draw_hypotheses``; each point satisfies rules of half the total weight.
    degree : float
        L, the mean number of rules of the leaves that contain a point.
    """

    def __init__(self, rule_set: object, degree: float) -> None:
        self.rule_set, self.degree = rule_set, degree
        self.mass = float(np.exp(degree))

    def draw_hypotheses(self, n_hypotheses: int, rng: np.random.Generator) -> Callable:
        """Draw leaves; return a function that evaluates them at points, (n, n_hypotheses)."""
        sizes = rng.poisson(2.0 * self.degree, n_hypotheses)
        leaves = [self.rule_set.draw_hypotheses(size, rng) for size in sizes]
        return lambda X: np.stack([rules(X).prod(axis=1) for rules in leaves], axis=1)


def sampled_kernel(
    learner: object,
    X: ArrayLike,
    Z: ArrayLike | None = None,
    *,
    n_hypotheses: int,
    random_state: int | np.random.Generator | None = None,
) -> np.ndarray:
    r"""Return the mass of a learner times the mean of :math:`h(x)h(z)` over random hypotheses.

    Parameters
    ----------
    learner : object
        Has ``mass`` and ``draw_hypotheses``.
    X : ndarray of shape (n, d)
        Points.
    Z : ndarray of shape (m, d), default=None
        Other points; ``X`` itself by default.
    n_hypotheses : int
        Number of random hypotheses.
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
    >>> K = sampled_kernel(stumps, X, n_hypotheses=100_000, random_state=0)
    >>> K[0].round(1)  # 2 - |x - z|
    array([ 2.,  1., -2.])
    """
    rng = np.random.default_rng(random_state)
    X = np.asarray(X, dtype=float)
    Z = X if Z is None else np.asarray(Z, dtype=float)
    total = np.zeros((len(X), len(Z)))
    for start in range(0, n_hypotheses, BATCH_SIZE):
        h = learner.draw_hypotheses(min(BATCH_SIZE, n_hypotheses - start), rng)
        total += h(X) @ h(Z).T
    return learner.mass / n_hypotheses * total
