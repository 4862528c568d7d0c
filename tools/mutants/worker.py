"""Run tests in a copy of the repository, with the Python of the copy's own environment.

Reads a request per line from stdin, as JSON, and writes the outcome of each to stdout. Each run is
a fork of this process, which has loaded the libraries: imports would take longer than most tests.
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

LOADED = "pytest hypothesis.extra.numpy sklearn.svm sklearn.model_selection cvxopt.solvers pandas"
OPTIONS = ["-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider"]
PROCESSES = ("subprocess.Popen", "os.fork", "os.posix_spawn")  # audit events
PR_SET_CHILD_SUBREAPER = 36
ENDS = {0: "survived", 5: "survived", -signal.SIGXCPU: "timeout", -signal.SIGKILL: "timeout"}


def limited(cpu, run, *arguments):
    """Run something with limits and its output in a file, and end the process."""
    os.setsid()
    # On a busy machine only the processor's time tells a loop without end.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    log = os.open("mutant.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os._exit(run(*arguments))


def plain(options):
    return sys.modules["pytest"].main([*OPTIONS, *options])


def measured(options):
    """Run tests; leave in a file which lines they run, and whether they start processes."""
    started = []
    sys.addaudithook(lambda event, _: started.append(event) if event in PROCESSES else None)
    include = f"{os.getcwd()}/svmbook/*"
    tracer = coverage.Coverage(data_file=None, config_file=False, include=[include])
    tracer.start()
    code = plain(options)
    tracer.stop()
    data = tracer.get_data()
    lines = {os.path.relpath(path): data.lines(path) for path in data.measured_files()}
    told = {"lines": lines, "processes": bool(started)}
    Path("measured.json").write_text(json.dumps(told), encoding="utf-8")
    return code


def end_all():
    """End what is left of a run, in sessions of its own as well."""
    left = psutil.Process().children(recursive=True)
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=30)


def attempt(options, cpu=7200, wall=7200, measure=False):
    """Run tests in a fork; return the outcome, the tests that fail, and the times."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run = measured if measure else plain
    child = get_context("fork").Process(target=limited, args=[cpu, run, options])
    child.start()
    child.join(wall)
    if child.is_alive():
        child.kill()
        child.join()
    end_all()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    log = Path("mutant.log").read_text(encoding="utf-8", errors="replace")
    if child.exitcode == 4 and measure:  # a mutant in what a conftest.py imports is noticed by it
        raise RuntimeError(f"pytest cannot run {options}:\n{log}")
    by = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", log, re.M)
    result = {"outcome": ENDS.get(child.exitcode, "killed"), "by": by, "cpu": round(used, 1)}
    result["seconds"] = round(time.monotonic() - start, 1)
    if measure:
        result |= {"tests": child.exitcode != 5}
        result |= json.loads(Path("measured.json").read_text(encoding="utf-8"))
    return result


def main():
    # What a test leaves behind becomes a child of this process, which can end it then.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in LOADED.split():
        __import__(name)
    for line in sys.stdin:
        print(json.dumps(attempt(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
