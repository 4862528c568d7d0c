"""Run tests in a copy of the repository, with the Python of the copy's own environment.

Reads one JSON request per line from stdin and writes its outcome to stdout. Each run is a fork of
this process, which has loaded the libraries, since imports take longer than most tests.
"""

import ctypes
import json
import os
import re
import resource
import signal
import sys
import time
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import coverage
import psutil

PRELOADED_MODULES = (
    "pytest hypothesis.extra.numpy sklearn.svm sklearn.model_selection cvxopt.solvers pandas"
)
PYTEST_OPTIONS = ["-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"]
PROCESS_START_EVENTS = ("subprocess.Popen", "os.fork", "os.posix_spawn")  # audit events
PR_SET_CHILD_SUBREAPER = 36
OUTCOMES = {0: "survived", 5: "survived", -signal.SIGXCPU: "timeout", -signal.SIGKILL: "timeout"}


def run_with_limits_and_exit(cpu_limit, function, *arguments):
    """Call a function with resource limits and its output in a file; exit with its result.

    ``cpu_limit`` is in seconds of CPU time.
    """
    os.setsid()
    # On a busy computer only CPU time reliably detects an infinite loop.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    log = os.open("mutant.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os._exit(function(*arguments))


def run_tests(options):
    return sys.modules["pytest"].main([*PYTEST_OPTIONS, *options])


def run_with_coverage(options):
    """Run tests; write to a file which lines they run, and whether they start processes."""
    process_starts = []

    def record_process_start(event, _):
        if event in PROCESS_START_EVENTS:
            process_starts.append(event)

    sys.addaudithook(record_process_start)
    include = f"{os.getcwd()}/svmbook/*"
    tracer = coverage.Coverage(data_file=None, config_file=False, include=[include])
    tracer.start()
    code = run_tests(options)
    tracer.stop()
    data = tracer.get_data()
    lines = {os.path.relpath(path): data.lines(path) for path in data.measured_files()}
    measured = {"lines": lines, "starts_processes": bool(process_starts)}
    Path("measured.json").write_text(json.dumps(measured), encoding="utf-8")
    return code


def kill_descendants():
    """Kill the remaining processes of a run, including those in other process groups."""
    processes = psutil.Process().children(recursive=True)
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=30)


def run_in_fork(options, cpu_limit=7200, wall_limit=7200, measure=False):
    """Run tests in a fork; return the outcome, the failed tests, and the times.

    The limits are in seconds of CPU time and of elapsed time. With ``measure``, the result also has
    the lines that the tests run, and whether there are tests and whether they start processes.
    """
    start, usage_before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    function = run_with_coverage if measure else run_tests
    child = get_context("fork").Process(
        target=run_with_limits_and_exit, args=[cpu_limit, function, options]
    )
    child.start()
    child.join(wall_limit)
    if child.is_alive():
        child.kill()
        child.join()
    kill_descendants()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = usage.ru_utime + usage.ru_stime - usage_before.ru_utime - usage_before.ru_stime
    log = Path("mutant.log").read_text(encoding="utf-8", errors="replace")
    # pytest exits with 4 if a conftest.py fails. With a mutant, this counts as killed.
    if child.exitcode == 4 and measure:
        raise RuntimeError(f"pytest cannot run {options}:\n{log}")
    result = {
        "outcome": OUTCOMES.get(child.exitcode, "killed"),
        "failed_tests": re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", log, re.M),
        "cpu_seconds": round(cpu_seconds, 1),
        "seconds": round(time.monotonic() - start, 1),
    }
    if measure:
        result["has_tests"] = child.exitcode != 5
        result |= json.loads(Path("measured.json").read_text(encoding="utf-8"))
    return result


def main():
    # Orphaned processes of a test become children of this process; kill_descendants finds them.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in PRELOADED_MODULES.split():
        __import__(name)
    for line in sys.stdin:
        print(json.dumps(run_in_fork(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
