"""Settings of all tests: figures without a display, reproducible examples, counts of work."""

import matplotlib
import pytest
from budget import WorkCounter
from hypothesis import settings
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

matplotlib.use("Agg")

# The same examples in each run; no deadline, since a slow computer is not a bug.
settings.register_profile("book", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("book")

# Hypothesis also draws constants from the source of all modules imported so far, so the examples
# would depend on which tests were collected. No setting turns this off.
# tests/test_helpers.py fails if a new version of Hypothesis stores these constants elsewhere.
HypothesisProvider._local_constants = Constants()


def pytest_configure(config):
    config.pluginmanager.register(WorkCounter(config))


@pytest.fixture
def tasks_in_this_thread():
    """Let Dask run all tasks in this thread."""
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield
