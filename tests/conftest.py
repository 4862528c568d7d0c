"""Settings shared by all tests: figures are drawn off screen, random examples are repeatable."""

import matplotlib
from budget import WorkCounter
from hypothesis import settings

matplotlib.use("Agg")

# The same examples in each run, and no clock: a slow machine is not a bug.
settings.register_profile("book", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("book")


def pytest_configure(config):
    config.pluginmanager.register(WorkCounter(config))
