"""Do the runs of a suite that its store lacks: one by one, on all cores, or on a cluster."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from contextlib import contextmanager
from typing import NamedTuple

import joblib
from sklearn.utils import check_scalar

from ..datasets.loaders import load_table
from .suites import find_suite

__all__ = ["Progress", "check_tables", "cluster", "reproduce"]


class Progress(NamedTuple):
    """What `reproduce` yields after each run: the record, and how many of all are there."""

    record: dict
    done: int
    total: int


def reproduce(jobs, store, *, n_jobs=1, client=None):
    """Do what is missing and append each record as soon as it is there.

    Every run has a seed of its own, so the records are the same, but for their order and the
    seconds, whatever does the work.

    Parameters
    ----------
    jobs : list of Job
        From `svmbook.experiments.suite.Suite.jobs`.
    store : Store
        Where the records go, and which runs need not be done.
    n_jobs : int, default=1
        Processes, -1 for one a core.
    client : distributed.Client, default=None
        A Dask cluster to work on instead. Its workers need `svmbook`, and the tables by their own
        ``$SVMBOOK_DATA`` or cache.

    Yields
    ------
    Progress
        After each run.

    Raises
    ------
    OSError
        The store cannot be written to.
    Exception
        What a run raises ends the whole; what was finished before is in the store.

    Examples
    --------
    >>> import tempfile
    >>> from svmbook.experiments.reproduce import reproduce
    >>> from svmbook.experiments.store import Store
    >>> from svmbook.experiments.suites import find_suite
    >>> jobs = find_suite("exploring-parameters").jobs(["stdev2"], ["linear"], runs=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/runs.jsonl")
    ...     _ = list(reproduce(jobs[:1], store))
    ...     [progress.done for progress in reproduce(jobs, store)]
    [2]
    """
    check_scalar(n_jobs, "n_jobs", int)
    store.mend()
    missing = [job for job in jobs if job not in store]
    done = len(jobs) - len(missing)
    records = _on_cluster(missing, client) if client else _on_cores(missing, n_jobs)
    try:
        for record in records:
            store.append(record)
            done += 1
            yield Progress(record, done, len(jobs))
    finally:
        records.close()


def check_tables(jobs):
    """Load every table that jobs need, so that none fails for want of it after an hour.

    Parameters
    ----------
    jobs : list of Job
        The jobs.

    Raises
    ------
    FileNotFoundError, ValueError
        A table is missing, or not what it should be.
    """
    for suite, data_set in dict.fromkeys((job.suite, job.data_set) for job in jobs):
        table = find_suite(suite).tables.get(data_set)
        if table is not None:
            load_table(table)


@contextmanager
def cluster(address, workers=None, *, timeout=20):
    """Connect to a Dask cluster, or start one on this machine.

    Parameters
    ----------
    address : str
        Of the scheduler, such as ``tcp://10.0.0.1:8786``, or "local".
    workers : int, default=None
        Worker processes of a local cluster; by default one a core.
    timeout : float, default=20
        Seconds to wait for an answer from the address.

    Yields
    ------
    distributed.Client

    Raises
    ------
    ImportError
        Dask is not installed.
    OSError
        Nothing answers at the address.
    """
    from distributed import Client, LocalCluster  # an extra: most readers have one machine

    if address != "local":
        with Client(address, timeout=timeout) as client:
            yield client
        return
    workers = joblib.cpu_count() if workers is None else workers
    with _deaf_to_ctrl_c():
        local = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        )
    with local, Client(local) as client:
        yield client


@contextmanager
def _deaf_to_ctrl_c():
    """Let processes started here ignore Ctrl-C: it is for the one that writes the store."""
    if threading.current_thread() is not threading.main_thread():  # where signals cannot be set
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _on_cores(jobs, n_jobs):
    parallel = joblib.Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(joblib.delayed(_in_a_process)(job) for job in jobs)


def _on_cluster(jobs, client):
    from distributed import as_completed

    futures = client.map(_carry_out, jobs, pure=False)
    try:
        for _, record in as_completed(futures, with_results=True):
            yield record
    finally:
        client.cancel(futures)


def _in_a_process(job):
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _carry_out(job)


def _carry_out(job):
    return find_suite(job.suite).carry_out(job)
