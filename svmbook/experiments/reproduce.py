"""Do the runs of a suite that its store lacks: one by one, on all cores, or on a cluster."""

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

SILENT_SECONDS = 60  # seconds without a result after which a cluster is asked for workers

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
        From `svmbook.experiments.running.suite.Suite.jobs`.
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
    RunError
        A run failed, which ends the whole; what was finished before is in the store.
    ChildProcessError
        A process died, or the cluster was lost.

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
    ...     [progress.done for progress in reproduce(jobs, store)]
    [2]
    """
    check_scalar(n_jobs, "n_jobs", int)
    store.repair()
    missing = [job for job in jobs if job not in store]
    if not missing:
        return
    records = _on_cluster(missing, client) if client else _on_cores(missing, n_jobs)
    try:
        for record in records:
            store.append(record)
            yield Progress(record, sum(job in store for job in jobs), len(jobs))
    finally:
        records.close()


def check_tables(jobs):
    """Load every table that jobs need, so that none fails for want of it after an hour."""
    for suite, data_set in dict.fromkeys((job.suite, job.data_set) for job in jobs):
        table = find_suite(suite).tables.get(data_set)
        if table is not None:
            load_table(table)


@contextmanager
def cluster(address, workers=None, *, timeout=20):
    """Connect to a Dask cluster, or start one on this machine."""
    try:
        from distributed import Client, LocalCluster  # an extra: most readers have one machine
    except ImportError as error:
        raise ImportError(
            'Dask is missing; install it by: pip install "svmbook[cluster]"'
        ) from error
    if address != "local":
        with Client(address, timeout=timeout) as client:
            yield client
        return
    workers = joblib.cpu_count() if workers is None else workers
    try:
        with _ignoring_interrupts():
            local = LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            )
            with Client(local) as client:
                client.run(_ignore_interrupts)
    except RuntimeError as error:
        raise ChildProcessError(f"the workers did not start ({error})") from error
    with local, Client(local) as client:
        yield client


@contextmanager
def _ignoring_interrupts():
    """Hear Ctrl-C at the end of the block only."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _start_ignoring_interrupts():
    """Let processes that start inside ignore Ctrl-C: it is for the one that writes the store."""
    if threading.current_thread() is not threading.main_thread():  # where it cannot be set
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ignore_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_cores(jobs, n_jobs):
    n_jobs = min(joblib.effective_n_jobs(n_jobs), len(jobs))
    parallel = joblib.Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    with _start_ignoring_interrupts():  # the processes start here, the jobs are done below
        records = parallel(joblib.delayed(_run_jobs)(job) for job in jobs)
    try:
        yield from records
    except BrokenExecutor as error:
        raise ChildProcessError(
            "a process died, of lack of memory perhaps; fewer --jobs need less"
        ) from error


def _on_cluster(jobs, client):
    from distributed import CancelledError, KilledWorker, wait

    futures = client.map(_run_jobs, jobs, pure=False)
    pending = set(futures)
    try:
        while pending:
            try:
                done, pending = wait(pending, timeout=SILENT_SECONDS, return_when="FIRST_COMPLETED")
            except TimeoutError:
                if not client.ncores():
                    raise ChildProcessError("no worker is left on the cluster") from None
                continue
            for future in done:
                yield future.result()
    except (CancelledError, KilledWorker) as error:
        raise ChildProcessError(
            f"the cluster was lost, or a job killed its workers ({error})"
        ) from error
    finally:
        client.cancel(futures)


def _run_jobs(job):
    return find_suite(job.suite).run_job(job)
