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
# Those that this process may use; containers and batch systems often leave it a few.
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
# Jobs share the cores: BLAS threads on top of them only get in each other's way.
SHARED = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}  # hundreds of processes read the same modules
# Of arrays that were freed (glibc): to fetch their pages anew costs as much as to add them up.
KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**30)}
PATIENCE = 10  # seconds in which an interrupted job may end its servers and browsers


@dataclass(frozen=True)
class Job:
    """One command, run in the repository with one BLAS thread unless `env` says otherwise."""

    name: str
    stage: str
    command: tuple
    after: tuple = ()  # stages that must have passed before
    env: dict = field(default_factory=dict)
    ok: tuple = (0,)  # exit codes of a job that passed
    cores: int = 1  # that it keeps busy


def log_of(name, kind="log"):
    """Return the file for the output of a job, or for what pytest says of it in XML."""
    return LOGS / f"{name.replace(' ', '-')}.{kind}"


@dataclass(frozen=True)
class Result:
    """How a job ended: its exit code, when it started and ended, and the processor's seconds."""

    job: Job
    code: int
    start: float
    end: float
    cpu: float


class Running:
    """A job that has been started."""

    def __init__(self, job):
        self.job, self.start = job, time.monotonic()
        LOGS.mkdir(parents=True, exist_ok=True)
        with log_of(job.name).open("wb") as log:
            self.process = subprocess.Popen(
                [str(part) for part in job.command],
                cwd=ROOT,
                env={**os.environ, **SHARED, **BYTECODE, **KEPT_MEMORY, **job.env},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that all that a job has started can be interrupted
            )

    def result(self):
        """Wait for the end of the job and return its result."""
        _, status, usage = os.wait4(self.process.pid, 0)
        code = self.process.returncode = os.waitstatus_to_exitcode(status)
        code = 0 if code in self.job.ok else code
        cpu = usage.ru_utime + usage.ru_stime
        return Result(self.job, code, self.start, time.monotonic(), cpu)

    def signal(self, number):
        """Send a signal to the job and to what it has started, as Ctrl-C does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


def by_urgency(jobs, seconds):
    """Return the jobs in the order in which to start them.

    The longest go first, so that no core is idle at the end. A job counts for as long as itself and
    the longest that waits for it; one that has never been measured counts as the longest of all.
    What stands in brackets behind a name, such as a processor, does not count.
    """

    def cost(job):
        own = seconds.get(job.name.split(" (")[0], float("inf"))
        return own + max((cost(other) for other in jobs if job.stage in other.after), default=0)

    return sorted(jobs, key=lambda job: (-cost(job), job.name))


def run_jobs(jobs, seconds, keep_going=False, workers=CORES):
    """Run all jobs and return their results; stop at the first failure unless told otherwise.

    Parameters
    ----------
    jobs : list of Job
        What to run. A job waits for the stages in `after` as far as they are in this list.
    seconds : dict
        Expected seconds by the names of jobs.
    keep_going : bool
        Whether to run the other jobs after a failure. Those that wait for it are left out.
    workers : int
        How many cores the jobs may keep busy; one that asks for more runs alone.

    Returns
    -------
    list of Result
        In the order in which the jobs ended.
    """
    # A shell that starts us in the background ignores Ctrl-C, and so would all that we start. Who
    # ends us otherwise, as a time limit does, means the jobs as well.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    waiting, running, results = by_urgency(jobs, seconds), {}, []
    with ThreadPoolExecutor(workers) as pool:
        try:
            while waiting or running:
                unfinished = {job.stage for job in waiting}
                unfinished |= {started.job.stage for started in running.values()}
                ready = [job for job in waiting if not unfinished.intersection(job.after)]
                for job in ready:
                    taken = sum(started.job.cores for started in running.values())
                    if taken + min(job.cores, workers) > workers:
                        continue
                    started = Running(job)
                    running[pool.submit(started.result)] = started
                    waiting.remove(job)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    del running[future]
                    results.append(future.result())
                    report(results[-1])
                failed = {result.job.stage for result in results if result.code}
                if failed and not keep_going:
                    break
                waiting = [job for job in waiting if not failed.intersection(job.after)]
        finally:
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one comes too early
            for number in (signal.SIGINT, signal.SIGKILL):
                for started in running.values():
                    started.signal(number)
                wait(running, timeout=PATIENCE)
            signal.signal(signal.SIGINT, before)
    return results


def report(result):
    """Print a line for a job that passed, and before it all of its output for one that failed.

    Of a notebook that passed, numbers whose last digit differs are listed (tests/nbval_numbers.py).
    """
    text = log_of(result.job.name).read_text(encoding="utf-8", errors="replace")
    if result.code:
        print(text)
    elif differing := re.search(r"^=+ numbers that differ .*", text, re.M | re.S):
        print(differing[0])
    verdict = f"FAILED ({result.code})" if result.code else "ok"
    wall = result.end - result.start
    print(
        f"{verdict:<12} {result.job.name:<40} {wall:6.1f} s (cpu {result.cpu:6.1f} s)", flush=True
    )
