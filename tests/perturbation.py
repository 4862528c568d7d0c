"""Data moved by a few units in the last place, as another processor moves what it computes.

`perturbed` moves one array. `perturb_sources` moves what generators and loaders return from then
on; called at the start of a kernel it runs a notebook on data that nobody can tell from the book's.
"""

import hashlib
from functools import wraps
from importlib import import_module
from numbers import Integral

import numpy as np
import sklearn.datasets
from sklearn.utils import check_random_state as sklearn_state

from svmbook.datasets.tables import treatments

RELATIVE = 1e-15  # four or five units in the last place
DRAWS = range(5)
SOURCE_OF_SIGNS = np.random.default_rng  # NumPy's own, whatever becomes of that name
GENERATORS = ("breiman", "clouds", "draw", "intervals", "planar")
CONTINUOUS = ("normal", "random", "standard_normal", "uniform")
TABLES = ("load_breast_cancer", "load_digits", "load_iris", "load_wine", "make_moons")


def perturbed(X, draw):
    """Return X times 1 ± 1e-15, the signs at random; the same X and draw have the same signs."""
    content = hashlib.sha256(np.ascontiguousarray(X)).digest()
    rng = SOURCE_OF_SIGNS([draw, *np.frombuffer(content, dtype=np.uint32)])
    return X * (1.0 + RELATIVE * rng.choice([-1.0, 1.0], size=X.shape))


def perturbed_table(X, draw):
    """Return a perturbed table; what is equal in it stays equal, as every processor reads it so."""
    values, place = np.unique(X, return_inverse=True)
    return perturbed(values, draw)[place.reshape(X.shape)]


def perturb_sources(draw, replace=setattr):
    """Perturb what NumPy, scikit-learn and the package draw or load; ``replace`` is a setattr."""
    Random, Generator = (_perturbing(c, draw) for c in (np.random.RandomState, np.random.Generator))

    def check_random_state(seed):
        return Random(seed) if isinstance(seed, Integral) else sklearn_state(seed)

    @wraps(SOURCE_OF_SIGNS)
    def default_rng(seed=None):
        return Generator(SOURCE_OF_SIGNS(seed).bit_generator)

    for name in GENERATORS:
        module = import_module(f"svmbook.datasets.generators.{name}")
        if hasattr(module, "check_random_state"):
            replace(module, "check_random_state", check_random_state)
    replace(np.random, "default_rng", default_rng)
    for module, names in ((treatments, ["load_table"]), (sklearn.datasets, TABLES)):
        for name in names:
            replace(module, name, _perturbing_loader(getattr(module, name), draw))


def _perturbing(source, draw):
    """Return a class of random numbers whose arrays of real numbers are perturbed."""

    def of(method):
        @wraps(method)
        def drawn(self, *args, **kwargs):
            values = method(self, *args, **kwargs)
            return perturbed(values, draw) if np.ndim(values) else values

        return drawn

    methods = {name: of(getattr(source, name)) for name in CONTINUOUS}
    return type(source.__name__, (source,), methods)


def _perturbing_loader(load, draw):
    @wraps(load)
    def loaded(*args, **kwargs):
        table = load(*args, **kwargs)
        if isinstance(table, tuple):
            return perturbed_table(table[0], draw), *table[1:]
        table.data = perturbed_table(table.data, draw)
        return table

    return loaded
