"""Data sets, baseline and seeding for the experiments on exemplar and prototype SVMs."""

import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from ....datasets import isolated, striated

__all__ = [
    "DATA_SETS",
    "WEIGHTED_NEIGHBOURS",
    "inverse_square",
    "islands",
    "nuisance",
    "slope",
    "stripes",
    "wedge",
    "with_seed",
]


def slope(n, random_state):
    """Draw points uniformly on a square, in which an oblique line separates the classes."""
    X = np.random.default_rng(random_state).uniform(-2, 2, (n, 2))
    return X, np.where(X[:, 0] > 0.7 * X[:, 1], 1.0, -1.0)


def islands(n, random_state):
    """Draw three round clusters, and a uniform background around them, on the square of `slope`."""
    X, y = isolated(n, spread=0.075, random_state=random_state)
    return 4 * (X - 0.5), y


def wedge(n, random_state):
    """Draw points uniformly on a square; class +1 lies between two lines that meet inside it."""
    X = np.random.default_rng(random_state).uniform(-2, 2, (n, 2))
    is_inside = np.abs(X[:, 0] + 0.3 * X[:, 1]) < 0.6 * (X[:, 1] + 1.5)
    return X, np.where(is_inside, 1.0, -1.0)


def stripes(n, random_state):
    """Draw four oblique stripes with alternating classes around the origin."""
    X, y = striated(n, n_stripes=4, width=0.12, length=1.5, tilt=30, random_state=random_state)
    return X - [1.5, 0.0], y


DATA_SETS = {"slope": slope, "islands": islands, "wedge": wedge, "stripes": stripes}


def nuisance(n, random_state, scale=10.0):
    """Draw small clusters in 20 dimensions, three of which are nuisance directions.

    Class -1 is standard normal and has 70 % of the points. Class +1 has 16 clusters with standard
    deviation 0.5, centred at -5 and 5 on each of eight axes. In the three nuisance directions both
    classes are normal with standard deviation ``scale``. A fixed rotation mixes the directions, so
    that single features do not reveal them.
    """
    rng = np.random.default_rng(random_state)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    Z = rng.standard_normal((n, 20))
    Z[y > 0] *= 0.5
    axes, centres = 3 + rng.integers(8, size=n), rng.choice([-5.0, 5.0], size=n)
    Z[np.arange(n), axes] += np.where(y > 0, centres, 0.0)
    Z[:, :3] = scale * rng.standard_normal((n, 3))
    rotation, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))
    return Z @ rotation, y


def inverse_square(distances):
    """Return the vote weights 1 / distance^2, which exemplar SVMs use as well."""
    return 1.0 / np.maximum(distances, 1e-12) ** 2


def with_seed(model, seed):
    """Return a copy of an estimator in which every ``random_state`` is the seed."""
    names = [name for name in model.get_params() if name.endswith("random_state")]
    return clone(model).set_params(**dict.fromkeys(names, seed))


#: Distance-weighted vote of five nearest neighbours, the baseline for exemplar and prototype SVMs.
WEIGHTED_NEIGHBOURS = KNeighborsClassifier(5, weights=inverse_square)
