"""Settings shared by all tests: figures are drawn off screen, random examples are repeatable."""

import matplotlib
from budget import WorkCounter
from hypothesis import settings
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

matplotlib.use("Agg")

# The same examples in each run, and no clock: a slow machine is not a bug.
settings.register_profile("book", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("book")

# Hypothesis also draws constants that stand in the source of the modules imported so far, so the
# examples would depend on which tests were collected. No setting turns this off.
# tests/test_repeatable.py fails where a new version of Hypothesis keeps these constants elsewhere.
HypothesisProvider._local_constants = Constants()


def pytest_configure(config):
    config.pluginmanager.register(WorkCounter(config))
