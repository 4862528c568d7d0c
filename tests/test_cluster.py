"""Training on `dask.distributed`: two worker processes, one killed; interruptions; no leftovers."""

import logging
import os
import signal
import time

import numpy as np
import pytest
from block_problems import in_blocks

from svmbook import DualSVC, StumpEnsembleLogistic, dask_input
from svmbook.datasets import twonorm
from svmbook.progress import logger

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def problem():
    X, y = twonorm(400, random_state=0)
    return in_blocks(X[:, :3], (100,) * 4), in_blocks(y, (400,)), X[:, :3], y


@pytest.fixture
def client():
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


class CallAtStep(logging.Handler):
    """Calls a function when Newton's method reports its second iteration."""

    def __init__(self, function):
        super().__init__()
        self.function, self.n_reports = function, 0

    def emit(self, record):
        self.n_reports += "Newton" in record.getMessage()
        if self.n_reports == 2:
            self.function()


def names_of_tasks(dask_scheduler):
    return list(dask_scheduler.tasks)


def wait_until(condition, seconds=10):
    """Return whether the condition becomes true; messages to the scheduler take a moment."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def call_at_step():
    handlers, level = [], logger.level

    def add(function):
        handlers.append(CallAtStep(function))
        logger.addHandler(handlers[-1])
        logger.setLevel(logging.INFO)
        return handlers[-1]

    yield add
    for handler in handlers:
        logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.parametrize("kept_share", [0.0, 0.25])
def test_a_killed_worker_costs_its_blocks_and_not_the_fit(
    client, problem, call_at_step, kept_share, monkeypatch
):
    monkeypatch.setattr(dask_input, "KEPT_SHARE", kept_share)
    X, y, X_memory, y_memory = problem
    process_ids = client.run(os.getpid)
    kill = call_at_step(lambda: os.kill(next(iter(process_ids.values())), signal.SIGKILL))
    model = DualSVC(tol=1e-10).fit(X, y)
    assert kill.n_reports > 2
    reference = DualSVC(tol=1e-10).fit(X_memory, y_memory)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-5)
    # The same answer as without the death, to the last bit.
    undisturbed = DualSVC(tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(model.coef_, undisturbed.coef_)


def test_a_quarter_of_the_workers_memory_may_be_kept(client):
    n_bytes = sum(w["memory_limit"] for w in client.scheduler_info()["workers"].values()) // 4
    n_numbers = n_bytes // 8
    assert n_numbers > 0
    assert dask_input.fits_in_workers(n_numbers, 1)
    assert not dask_input.fits_in_workers(n_numbers + 1, 1)


def test_without_a_cluster_nothing_is_kept():
    assert not dask_input.fits_in_workers(1, 1)


def test_an_interrupted_fit_leaves_nothing_on_the_workers(client, problem, call_at_step):
    def interrupt():
        raise KeyboardInterrupt

    call_at_step(interrupt)
    with pytest.raises(KeyboardInterrupt):
        DualSVC(tol=1e-10).fit(*problem[:2])
    assert wait_until(lambda: not client.run_on_scheduler(names_of_tasks))


def test_without_a_scheduler_a_cluster_runs_in_this_process_for_the_fit(problem):
    X, y, X_memory, y_memory = problem
    model = StumpEnsembleLogistic(n_knots=3).fit(X, y)
    in_memory = StumpEnsembleLogistic(n_knots=3).fit(X_memory, y_memory)
    assert model.objective_ == pytest.approx(in_memory.objective_, rel=1e-9)
    with pytest.raises(ValueError, match="No global client found"):
        distributed.get_client()


def test_workers_without_the_package_are_reported(client, problem, monkeypatch):
    monkeypatch.setattr("svmbook.dask_input.HAS_PACKAGE", "False")
    with pytest.raises(ModuleNotFoundError, match=r"not installed on 2 of 2 workers.*tcp://"):
        DualSVC().fit(*problem[:2])


def test_a_block_that_ends_every_worker_is_reported(client, problem):
    def end_worker(block):
        os._exit(1)

    client.cluster.scheduler.allowed_failures = 0
    X = problem[0].map_blocks(end_worker, meta=np.empty((0, 0)))
    with pytest.raises(MemoryError, match="smaller blocks"):
        DualSVC().fit(X, problem[1])
