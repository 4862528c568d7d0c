"""Data perturbed by a few units in the last place, to simulate another processor's rounding.

`perturbed` perturbs one array. After `perturb_sources`, random generators and loaders return
perturbed data; called at the start of a kernel, it makes a notebook run on perturbed data.
"""

import hashlib
from functools import wraps
from importlib import import_module
from numbers import Integral

import numpy as np
import sklearn.datasets
from sklearn.utils import check_random_state as sklearn_state

from svmbook.datasets.tables import preparation

RELATIVE = 1e-15  # four or five units in the last place
DRAWS = range(5)  # seeds of the perturbations
NUMPY_RNG = np.random.default_rng  # the original, which perturb_sources replaces
GENERATORS = ("breiman", "clouds", "class_balance", "intervals", "planar")
CONTINUOUS = ("normal", "random", "standard_normal", "uniform")
TABLES = ("load_breast_cancer", "load_digits", "load_iris", "load_wine", "make_moons")


def perturbed(X, seed):
    """Return X times 1 ± 1e-15 with random signs, which are determined by X and the seed."""
    content = hashlib.sha256(np.ascontiguousarray(X)).digest()
    rng = NUMPY_RNG([seed, *np.frombuffer(content, dtype=np.uint32)])
    return X * (1.0 + RELATIVE * rng.choice([-1.0, 1.0], size=X.shape))


def perturbed_table(X, seed):
    """Return a perturbed table; equal entries stay equal, as every processor reads them so."""
    values, inverse = np.unique(X, return_inverse=True)
    return perturbed(values, seed)[inverse.reshape(X.shape)]


def perturb_sources(seed, replace=setattr):
    """Perturb the data that NumPy, scikit-learn and the package generate or load from now on.

    ``replace`` sets an attribute, as `setattr` does; a test passes ``monkeypatch.setattr``.
    """
    Random, Generator = (_perturbing(c, seed) for c in (np.random.RandomState, np.random.Generator))

    def check_random_state(state):
        return Random(state) if isinstance(state, Integral) else sklearn_state(state)

    @wraps(NUMPY_RNG)
    def default_rng(seed=None):
        return Generator(NUMPY_RNG(seed).bit_generator)

    for name in GENERATORS:
        module = import_module(f"svmbook.datasets.generators.{name}")
        if hasattr(module, "check_random_state"):
            replace(module, "check_random_state", check_random_state)
    replace(np.random, "default_rng", default_rng)
    for module, names in ((preparation, ["load_table"]), (sklearn.datasets, TABLES)):
        for name in names:
            replace(module, name, _perturbing_loader(getattr(module, name), seed))


def _perturbing(rng_class, seed):
    """Return a subclass of a random generator that perturbs the arrays of real numbers it draws."""

    def perturbing(method):
        @wraps(method)
        def draw(self, *args, **kwargs):
            values = method(self, *args, **kwargs)
            return perturbed(values, seed) if np.ndim(values) else values

        return draw

    methods = {name: perturbing(getattr(rng_class, name)) for name in CONTINUOUS}
    return type(rng_class.__name__, (rng_class,), methods)


def _perturbing_loader(load, seed):
    @wraps(load)
    def load_perturbed(*args, **kwargs):
        table = load(*args, **kwargs)
        if isinstance(table, tuple):
            return perturbed_table(table[0], seed), *table[1:]
        table.data = perturbed_table(table.data, seed)
        return table

    return load_perturbed
