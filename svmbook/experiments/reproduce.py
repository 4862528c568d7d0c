"""Carry out the missing runs of a suite in this process, in several processes, or with Dask."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import NamedTuple

import joblib
from sklearn.utils import check_scalar

from ..datasets.tables.loaders import load_table
from .suites import find_suite

WORKER_CHECK_SECONDS = 60  # if no result arrives for this time, check that workers are left

__all__ = ["Progress", "dask_client", "load_tables", "reproduce"]


class Progress(NamedTuple):
    """The record of a finished run, and how many of the ``n_runs`` requested runs are stored."""

    record: dict
    n_stored: int
    n_runs: int


def reproduce(jobs, store, *, n_jobs=1, client=None):
    """Carry out the missing runs, and append each record to the store as soon as it is complete.

    Each run has its own seed. The records therefore do not depend on the number of processes or on
    the cluster, except for their order and the times.

    Parameters
    ----------
    jobs : list of Job
        From `svmbook.experiments.running.suite.Suite.jobs`.
    store : Store
        Where the records are appended. Runs that it already has are not repeated.
    n_jobs : int, default=1
        Number of processes, -1 for one per core.
    client : distributed.Client, default=None
        Client of a Dask cluster, which is used instead of processes. Its workers need `svmbook`,
        and the tables in their own ``$SVMBOOK_DATA`` or cache.

    Yields
    ------
    Progress
        After each run.

    Raises
    ------
    OSError
        The store cannot be written to.
    RunError
        A run failed. No further runs are started; finished runs are in the store.
    ChildProcessError
        A process died, or the connection to the cluster was lost.

    Examples
    --------
    >>> import tempfile
    >>> from svmbook.experiments.reproduce import reproduce
    >>> from svmbook.experiments.running.store import Store
    >>> from svmbook.experiments.suites import find_suite
    >>> suite = find_suite("exploring-parameters")
    >>> jobs = suite.jobs(["stdev2"], ["linear"], runs=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/runs.jsonl")
    ...     _ = list(reproduce(jobs[:1], store))
    ...     [progress.n_stored for progress in reproduce(jobs, store)]
    [2]
    """
    check_scalar(n_jobs, "n_jobs", int)
    store.repair()
    missing_jobs = [job for job in jobs if job not in store]
    if not missing_jobs:
        return
    if client:
        records = _run_on_cluster(missing_jobs, client)
    else:
        records = _run_in_processes(missing_jobs, n_jobs)
    try:
        for record in records:
            store.append(record)
            yield Progress(record, sum(job in store for job in jobs), len(jobs))
    finally:
        records.close()


def load_tables(jobs):
    """Load every table that the jobs need, so that an absent or damaged one raises at once."""
    for suite_name, data_set in dict.fromkeys((job.suite, job.data_set) for job in jobs):
        table_name = find_suite(suite_name).data_tables.get(data_set)
        if table_name is not None:
            load_table(table_name)


@contextmanager
def dask_client(address, n_workers=None, *, timeout=20):
    """Connect to a Dask cluster, or start one on this computer, and yield its client."""
    try:
        from distributed import Client, LocalCluster  # an optional dependency
    except ImportError as error:
        raise ImportError(
            'Dask is missing; install it with: pip install "svmbook[cluster]"'
        ) from error
    if address != "local":
        with Client(address, timeout=timeout) as client:
            yield client
        return
    n_workers = joblib.cpu_count() if n_workers is None else n_workers
    try:
        with _delayed_interrupts():
            cluster = LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            )
            with Client(cluster) as client:
                client.run(_ignore_interrupts_permanently)  # on the workers
    except RuntimeError as error:
        raise ChildProcessError(f"the workers did not start ({error})") from error
    with cluster, Client(cluster) as client:
        yield client


@contextmanager
def _delayed_interrupts():
    """Handle Ctrl-C only at the end of the block."""
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


@contextmanager
def _ignored_interrupts():
    """Ignore Ctrl-C during the block, and for good in the processes that are started in it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set signal handlers
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _ignore_interrupts_permanently():
    """Ignore Ctrl-C until the process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_in_processes(jobs, n_jobs):
    n_jobs = min(joblib.effective_n_jobs(n_jobs), len(jobs))
    parallel = joblib.Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    with _ignored_interrupts():  # starts the processes; `yield from` waits for the jobs
        records = parallel(joblib.delayed(_run_job)(job) for job in jobs)
    try:
        yield from records
    except BrokenExecutor as error:
        raise ChildProcessError(
            "a process died, perhaps because memory ran out; use a smaller --jobs"
        ) from error


def _run_on_cluster(jobs, client):
    from distributed import CancelledError, KilledWorker, wait

    futures = client.map(_run_job, jobs, pure=False)
    pending = set(futures)
    try:
        while pending:
            try:
                finished, pending = wait(
                    pending, timeout=WORKER_CHECK_SECONDS, return_when="FIRST_COMPLETED"
                )
            except TimeoutError:
                if not client.ncores():
                    raise ChildProcessError("no worker is left on the cluster") from None
                continue
            for future in finished:
                yield future.result()
    except (CancelledError, KilledWorker) as error:
        raise ChildProcessError(
            f"the connection to the cluster was lost, or a job killed its workers ({error})"
        ) from error
    finally:
        client.cancel(futures)


def _run_job(job):
    return find_suite(job.suite).run_job(job)
