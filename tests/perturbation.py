"""Data perturbed by 5 to 10 units in the last place, to simulate another processor's rounding.

`perturb` perturbs one array. After a call of `perturb_sources`, random number generators and
the functions that load or generate data return perturbed data; if a kernel starts with this call,
its notebook runs on perturbed data.
"""

import hashlib
from functools import wraps
from importlib import import_module
from numbers import Integral

import numpy as np
import sklearn.datasets
from sklearn.utils import check_random_state as sklearn_check_random_state

from svmbook.datasets.tables import preparation

RELATIVE_PERTURBATION = 1e-15  # 5 to 10 units in the last place
SEEDS = range(5)  # seeds of the perturbations
NUMPY_DEFAULT_RNG = np.random.default_rng  # the original, which perturb_sources replaces
DATA_GENERATOR_MODULES = ("breiman", "exploring", "planar", "usvc_cases")
# Methods of random number generators that return real numbers.
REAL_VALUED_METHODS = ("normal", "random", "standard_normal", "uniform")
SKLEARN_SOURCES = ("load_breast_cancer", "load_digits", "load_iris", "load_wine", "make_moons")


def perturb(X, seed):
    """Return X times 1 ± 1e-15 with random signs, which are determined by X and the seed."""
    digest = hashlib.sha256(np.ascontiguousarray(X)).digest()
    rng = NUMPY_DEFAULT_RNG([seed, *np.frombuffer(digest, dtype=np.uint32)])
    return X * (1.0 + RELATIVE_PERTURBATION * rng.choice([-1.0, 1.0], size=X.shape))


def perturb_table(X, seed):
    """Return a perturbed table; equal entries stay equal, as on each processor."""
    values, inverse = np.unique(X, return_inverse=True)
    return perturb(values, seed)[inverse.reshape(X.shape)]


def perturb_sources(seed, replace=setattr):
    """Perturb the data that NumPy, scikit-learn and the package generate or load from now on.

    ``replace`` sets an attribute, as `setattr` does; a test passes ``monkeypatch.setattr``.
    """
    RandomState, Generator = (
        _perturbing_rng_class(cls, seed) for cls in (np.random.RandomState, np.random.Generator)
    )

    def check_random_state(state):
        return (
            RandomState(state) if isinstance(state, Integral) else sklearn_check_random_state(state)
        )

    @wraps(NUMPY_DEFAULT_RNG)
    def default_rng(seed=None):
        return Generator(NUMPY_DEFAULT_RNG(seed).bit_generator)

    for name in DATA_GENERATOR_MODULES:
        module = import_module(f"svmbook.datasets.generators.{name}")
        if hasattr(module, "check_random_state"):
            replace(module, "check_random_state", check_random_state)
    replace(np.random, "default_rng", default_rng)
    for module, names in ((preparation, ["load_table"]), (sklearn.datasets, SKLEARN_SOURCES)):
        for name in names:
            replace(module, name, _perturbing_source(getattr(module, name), seed))


def _perturbing_rng_class(rng_class, seed):
    """Return a subclass of a random number generator that perturbs its arrays of real numbers."""

    def perturbing(method):
        @wraps(method)
        def draw(self, *args, **kwargs):
            values = method(self, *args, **kwargs)
            return perturb(values, seed) if np.ndim(values) else values

        return draw

    methods = {name: perturbing(getattr(rng_class, name)) for name in REAL_VALUED_METHODS}
    return type(rng_class.__name__, (rng_class,), methods)


def _perturbing_source(source, seed):
    """Return a function that perturbs the table that ``source`` loads or generates."""

    @wraps(source)
    def perturbed_source(*args, **kwargs):
        table = source(*args, **kwargs)
        if isinstance(table, tuple):
            return perturb_table(table[0], seed), *table[1:]
        table.data = perturb_table(table.data, seed)
        return table

    return perturbed_source
