"""Run the stages of the checks: all of them, or those named.

Usage: python tools/check.py [lint] [fonts] [html] [slides] [pytest] [notebooks] [wheel]
                              [--record]
       python tools/check.py quick | nightly | portability [PROCESSOR ...]

The jobs of all stages share the cores. When a job fails, its output is printed and the run ends
with its exit code; `nightly` and `portability` continue and print the output of every failing job.
Each run ends with a summary: the slowest tests, the reasons why tests were skipped, and the time of
each stage. `--record` writes the times of the jobs and the work of the tests into
tests/budget.toml.
"""

import contextlib
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from xml.etree import ElementTree

import stages
from processors import PROCESSORS
from scheduling import ROOT, log_path, run_jobs

BUDGET_PATH = ROOT / "tests" / "budget.toml"
N_SLOWEST_TESTS = 10
# The speed of one computer varies by a third between days, or with the load on its cores. Recorded
# times are therefore divided by the slowdown of this reference work, measured while the jobs run.
REFERENCE_SCRIPT = """
import time

while True:
    start = time.process_time()
    sorted(str(k * k % 1009) for k in range(500_000))
    print(time.process_time() - start, flush=True)
    time.sleep(10)
"""
REFERENCE_SECONDS = 0.225  # CPU time of one reference run on a computer that built the book in 66 s
SECONDS_HEADER = """\
# Written by `tools/check.py --record`, never by hand.

# Times of the jobs of `make test`, in seconds on a computer that does the reference work of
# tools/check.py in REFERENCE_SECONDS. The longest jobs start first; a test limits the sum.
[seconds]
"""
WORK_HEADER = """
# The work of the tests; exceeding these counts by more than a tolerance is an error
# (tests/budget.py).
[work]
"""


def select_jobs(names):
    """Return the jobs named on the command line, and whether to continue after a failure."""
    if names[:1] == ["portability"]:
        unknown = set(names[1:]) - set(PROCESSORS)
        if unknown:
            raise SystemExit(f"no such processor: {', '.join(unknown)} (known: {[*PROCESSORS]})")
        return stages.portability(names[1:] or PROCESSORS), True
    if names == ["nightly"]:
        return stages.nightly(), True
    if names == ["quick"]:
        return stages.quick(), False
    unknown = set(names) - set(stages.STAGES)
    if unknown:
        raise SystemExit(f"no such stage: {', '.join(unknown)} (known: {[*stages.STAGES]})")
    return [job for name in names or stages.STAGES for job in stages.STAGES[name]()], False


def print_test_summary(results):
    """Print the slowest tests, and the number of skipped tests for each reason."""
    times, skipped = [], Counter()
    for result in results:
        report = log_path(result.job.name, "xml")
        for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
            times.append((float(case.get("time")), f"{case.get('classname')}::{case.get('name')}"))
            skipped.update(element.get("message") for element in case.iter("skipped"))
    if times:
        print(f"\nthe slowest of {len(times)} tests")
    for seconds, name in sorted(times, reverse=True)[:N_SLOWEST_TESTS]:
        print(f"{seconds:6.1f} s  {name}")
    for reason, count in skipped.most_common():
        print(f"skipped {count}: {reason}")


def print_stages(results, jobs):
    """Print the outcome of each stage and its time, from its first start to its last end."""

    def format_times(group):
        elapsed = max(result.end for result in group) - min(result.start for result in group)
        return f"{elapsed:6.1f} s (cpu {sum(result.cpu_seconds for result in group):6.1f} s)"

    print()
    for stage, n_planned in Counter(job.stage for job in jobs).items():
        finished = [result for result in results if result.job.stage == stage]
        if not finished:
            print(f"{stage:<10} not run")
            continue
        verdict = "ok" if len(finished) == n_planned else f"{len(finished)} of {n_planned}"
        verdict = "FAILED" if any(result.code for result in finished) else verdict
        print(f"{stage:<10} {verdict:<8} {format_times(finished)}")
    print(f"{'all':<19} {format_times(results)}", flush=True)


@contextlib.contextmanager
def measure_slowdown():
    """Yield a list to which the slowdown of the reference work is appended on exit."""
    slowdowns = []
    command = (sys.executable, "-c", REFERENCE_SCRIPT)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reference:
        try:
            yield slowdowns
        finally:
            reference.terminate()
        times = [float(line) for line in reference.stdout]
    slowdowns.append(sum(times) / len(times) / REFERENCE_SECONDS)


def update_budget(results, budget, slowdown):
    """Write the times of these jobs, and the work of their tests, into the budget."""
    # Wall-clock times, since CPU times do not include browsers that a job does not wait for.
    measured = {r.job.name: round((r.end - r.start) / slowdown, 1) for r in results}
    seconds = budget["seconds"] | measured
    current_jobs = {job.name for job in select_jobs([])[0]}
    work = {}
    for result in results:
        log = log_path(result.job.name).read_text(encoding="utf-8", errors="replace")
        for folder, counts_text in re.findall(r"^work of (\S+): (.*)$", log, re.M):
            counts = {kind: int(n) for n, kind in re.findall(r"(\d+) (\w+)", counts_text)}
            work.setdefault(folder, Counter()).update(counts)  # several jobs may share a folder
    names = sorted(current_jobs & set(seconds))
    lines = [SECONDS_HEADER, *(f'"{name}" = {seconds[name]}\n' for name in names), WORK_HEADER]
    for folder, counts in sorted((budget["work"] | work).items()):
        if (ROOT / folder).exists():
            entries = ", ".join(f"{kind} = {count}" for kind, count in counts.items())
            lines.append(f'"{folder}" = {{ {entries} }}\n')
    BUDGET_PATH.write_text("".join(lines), encoding="utf-8")


def main(arguments):
    must_record = "--record" in arguments
    jobs, keep_going = select_jobs([name for name in arguments if name != "--record"])
    budget = tomllib.loads(BUDGET_PATH.read_text(encoding="utf-8"))
    if must_record and keep_going:
        raise SystemExit("--record applies only to the stages of `make test`")
    if must_record:
        os.environ["SVMBOOK_BUDGET"] = "off"
    for job in jobs:
        log_path(job.name, "xml").unlink(missing_ok=True)
    with measure_slowdown() if must_record else contextlib.nullcontext() as slowdowns:
        results = run_jobs(jobs, budget["seconds"], keep_going)
    print_test_summary(results)
    print_stages(results, jobs)
    code = next((result.code for result in results if result.code), 0)
    if must_record and not code:
        update_budget(results, budget, *slowdowns)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
