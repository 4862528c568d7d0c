"""Run independent commands on all cores, the longest first."""

import contextlib
import os
import re
import signal
import subprocess
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "_build" / "checks"
# The number of cores available to this process; containers and batch systems often restrict them.
N_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
# Jobs already use all cores, so BLAS threads would only oversubscribe them.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ONE_THREAD_ENV = dict.fromkeys(THREAD_VARIABLES, "1")
BYTECODE_ENV = {"PYTHONDONTWRITEBYTECODE": ""}  # hundreds of processes read the same modules
# Lets glibc keep the memory of freed arrays. Obtaining it from the system again takes as long as
# summing an array.
MALLOC_ENV = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**30)}
SHUTDOWN_TIMEOUT = 10  # seconds for an interrupted job to stop its servers and browsers
INTERRUPTING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Job:
    """One command, run in the repository with one BLAS thread unless `env` says otherwise."""

    name: str
    stage: str
    command: tuple
    required_stages: tuple = ()  # stages that must pass first
    env: dict = field(default_factory=dict)
    passing_codes: tuple = (0,)  # exit codes that count as passed
    n_cores: int = 1  # number of cores that the job keeps busy


def log_path(name, suffix="log"):
    """Return the path of a job's output, or of its JUnit report from pytest (suffix "xml")."""
    return LOGS / f"{name.replace(' ', '-')}.{suffix}"


@dataclass(frozen=True)
class Result:
    """The outcome of a job: exit code, start and end time, and CPU time in seconds."""

    job: Job
    code: int
    start: float
    end: float
    cpu_seconds: float


class RunningJob:
    """A job that has been started."""

    def __init__(self, job):
        self.job, self.start = job, time.monotonic()
        LOGS.mkdir(parents=True, exist_ok=True)
        with log_path(job.name).open("wb") as log:
            self.process = subprocess.Popen(
                [str(part) for part in job.command],
                cwd=ROOT,
                env={**os.environ, **ONE_THREAD_ENV, **BYTECODE_ENV, **MALLOC_ENV, **job.env},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that all processes of a job can be interrupted
            )

    def result(self):
        """Wait until the job ends and return its result."""
        _, status, usage = os.wait4(self.process.pid, 0)
        code = self.process.returncode = os.waitstatus_to_exitcode(status)
        code = 0 if code in self.job.passing_codes else code
        cpu_seconds = usage.ru_utime + usage.ru_stime
        return Result(self.job, code, self.start, time.monotonic(), cpu_seconds)

    def send_signal(self, signum):
        """Send a signal to the job and to all processes that it has started, as Ctrl-C does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signum)


@contextlib.contextmanager
def postponed_interruption():
    """Let a signal that arrives in the block interrupt only at the end of the block."""
    received = []
    handlers = {
        signum: signal.signal(signum, lambda *args: received.append(args))
        for signum in INTERRUPTING_SIGNALS
    }
    try:
        yield
    finally:
        for signum, handler in handlers.items():
            signal.signal(signum, handler)
    if received:
        raise KeyboardInterrupt


def sort_by_priority(jobs, expected_seconds):
    """Return the jobs in the order in which to start them.

    The longest jobs start first, so that no core is idle at the end. The length of a job is that
    of its critical path: its own time plus the longest critical path among the jobs that wait for
    it. A job without a recorded time starts before all others. A suffix in brackets, such as a
    processor, is ignored in the look-up.
    """

    def critical_path_seconds(job):
        own_seconds = expected_seconds.get(job.name.split(" (")[0], float("inf"))
        return own_seconds + max(
            (critical_path_seconds(other) for other in jobs if job.stage in other.required_stages),
            default=0,
        )

    return sorted(jobs, key=lambda job: (-critical_path_seconds(job), job.name))


def run_jobs(jobs, expected_seconds, keep_going=False, n_cores=N_CORES):
    """Run all jobs and return their results; by default, stop at the first failure.

    Parameters
    ----------
    jobs : list of Job
        Jobs to run. A job waits for those stages of its `required_stages` that are in this list.
    expected_seconds : dict
        Expected seconds by job name.
    keep_going : bool
        Whether to continue after a failure. Jobs that depend on the failed stage are skipped.
    n_cores : int
        Number of cores that the jobs may keep busy; a job that needs more runs alone.

    Returns
    -------
    list of Result
        In the order in which the jobs ended.
    """
    # A process started in the background by a shell ignores SIGINT, and so do its children. The
    # other signals, sent by a time limit for instance, must end the jobs too.
    for signum in INTERRUPTING_SIGNALS:
        signal.signal(signum, signal.default_int_handler)
    waiting, running, results = sort_by_priority(jobs, expected_seconds), {}, []
    with ThreadPoolExecutor(n_cores) as pool:
        try:
            while waiting or running:
                unfinished_stages = {job.stage for job in waiting}
                unfinished_stages |= {running_job.job.stage for running_job in running.values()}
                ready = [
                    job
                    for job in waiting
                    if not unfinished_stages.intersection(job.required_stages)
                ]
                for job in ready:
                    n_busy_cores = sum(running_job.job.n_cores for running_job in running.values())
                    if n_busy_cores + min(job.n_cores, n_cores) > n_cores:
                        continue
                    with postponed_interruption():  # a job that is not in `running` would survive
                        running_job = RunningJob(job)
                        running[pool.submit(running_job.result)] = running_job
                    waiting.remove(job)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    del running[future]
                    results.append(future.result())
                    print_result(results[-1])
                failed_stages = {result.job.stage for result in results if result.code}
                if failed_stages and not keep_going:
                    break
                waiting = [
                    job for job in waiting if not failed_stages.intersection(job.required_stages)
                ]
        finally:
            # A second Ctrl-C must not interrupt the shutdown.
            previous_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
            for signum in (signal.SIGINT, signal.SIGKILL):
                for running_job in running.values():
                    running_job.send_signal(signum)
                wait(running, timeout=SHUTDOWN_TIMEOUT)
            signal.signal(signal.SIGINT, previous_handler)
    return results


def print_result(result):
    """Print one line for a job, preceded by its whole output if it failed.

    For notebooks that passed, numbers that differ in the last digit are listed
    (tests/nbval_numbers.py).
    """
    text = log_path(result.job.name).read_text(encoding="utf-8", errors="replace")
    if result.code:
        print(text)
    elif differing_numbers := re.search(r"^=+ numbers that differ .*", text, re.M | re.S):
        print(differing_numbers[0])
    verdict = f"FAILED ({result.code})" if result.code else "ok"
    times = f"{result.end - result.start:6.1f} s (cpu {result.cpu_seconds:6.1f} s)"
    print(f"{verdict:<12} {result.job.name:<40} {times}", flush=True)
