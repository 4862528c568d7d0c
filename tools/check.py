"""Run the checks of the repository: all of them, or those named.

Usage: python tools/check.py [lint] [html] [pytest] [notebooks] [wheel] [--record]
       python tools/check.py quick | nightly | elsewhere [PROCESSOR ...]

The jobs of all checks share the cores. The first that fails is printed and ends the run with its
exit code; `nightly` and `elsewhere` go on and print each that fails. A summary with the time of
each check, the slowest tests and the reasons why tests were skipped is printed in any case.
`--record` writes what the jobs took, and the tests did, into tests/budget.toml.
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
from scheduling import ROOT, log_of, run_jobs

BUDGET = ROOT / "tests" / "budget.toml"
SLOWEST = 10
# The same computer may be a third slower on another day, in another minute, or while all cores are
# busy. So what is recorded is divided by how much longer this work takes, while the jobs run.
REFERENCE = """
import time

while True:
    start = time.process_time()
    sorted(str(k * k % 1009) for k in range(500_000))
    print(time.process_time() - start, flush=True)
    time.sleep(10)
"""
STANDARD = 0.225  # seconds of the processor for it, when the book was built in 66 of them
HEADER = """\
# Written by `tools/check.py --record`, never by hand.

# How long the jobs of `make test` took, in seconds of a computer that does the reference work of
# tools/check.py in its standard time. The longest are started first; a test keeps their sum from
# growing.
[seconds]
"""
WORK = """
# What the tests do: more than this, and a little, is an error (tests/budget.py).
[work]
"""


def chosen(names):
    """Return the jobs for the names on the command line, and whether a failure ends the run."""
    if names[:1] == ["elsewhere"]:
        unknown = set(names[1:]) - set(PROCESSORS)
        if unknown:
            raise SystemExit(f"no such processor: {', '.join(unknown)} (there are {[*PROCESSORS]})")
        return stages.elsewhere(names[1:] or PROCESSORS), True
    if names == ["nightly"]:
        return stages.nightly(), True
    if names == ["quick"]:
        return stages.quick(), False
    unknown = set(names) - set(stages.STAGES)
    if unknown:
        raise SystemExit(f"no such check: {', '.join(unknown)} (there are {[*stages.STAGES]})")
    return [job for name in names or stages.STAGES for job in stages.STAGES[name]()], False


def print_tests(results):
    """Print the slowest tests, and why how many were skipped."""
    times, skipped = [], Counter()
    for file in [log_of(result.job.name, "xml") for result in results]:
        for case in ElementTree.parse(file).iter("testcase") if file.exists() else ():
            times.append((float(case.get("time")), f"{case.get('classname')}::{case.get('name')}"))
            skipped.update(reason.get("message") for reason in case.iter("skipped"))
    if times:
        print(f"\nthe slowest of {len(times)} tests")
    for seconds, name in sorted(times, reverse=True)[:SLOWEST]:
        print(f"{seconds:6.1f} s  {name}")
    for reason, count in skipped.most_common():
        print(f"skipped {count}: {reason}")


def print_stages(results, jobs):
    """Print how each stage went, from the start of its first job to the end of its last."""
    print()
    for stage, planned in Counter(job.stage for job in jobs).items():
        its = [result for result in results if result.job.stage == stage]
        verdict = "ok" if len(its) == planned else f"{len(its)} of {planned}"
        verdict = "FAILED" if any(result.code for result in its) else verdict
        if not its:
            print(f"{stage:<10} not run")
            continue
        wall = max(result.end for result in its) - min(result.start for result in its)
        cpu = sum(result.cpu for result in its)
        print(f"{stage:<10} {verdict:<8} {wall:6.1f} s (cpu {cpu:6.1f} s)")
    wall = max(result.end for result in results) - min(result.start for result in results)
    print(
        f"{'all':<19} {wall:6.1f} s (cpu {sum(result.cpu for result in results):6.1f} s)",
        flush=True,
    )


@contextlib.contextmanager
def slowness():
    """Yield a list that gets, at the end, how often the standard time the reference work took."""
    found = []
    command = (sys.executable, "-c", REFERENCE)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
        try:
            yield found
        finally:
            watch.terminate()
        times = [float(line) for line in watch.stdout]
    found.append(sum(times) / len(times) / STANDARD)


def record(results, budget, slower):
    """Write what jobs took and tests did, where these ran, into the budget."""
    # Not the processor's seconds, which leave out browsers: nobody waits for the end of those.
    took = {r.job.name: round((r.end - r.start) / slower, 1) for r in results}
    seconds = budget["seconds"] | took
    jobs = {job.name for job in chosen([])[0]}
    work = {}
    for result in results:
        log = log_of(result.job.name).read_text(encoding="utf-8", errors="replace")
        for folder, counts in re.findall(r"^work of (\S+): (.*)$", log, re.M):
            counts = {kind: int(n) for n, kind in re.findall(r"(\d+) (\w+)", counts)}
            work.setdefault(folder, Counter()).update(counts)  # several jobs may share a folder
    lines = [HEADER, *(f'"{name}" = {seconds[name]}\n' for name in sorted(jobs & set(seconds)))]
    lines.append(WORK)
    for folder, counts in sorted((budget["work"] | work).items()):
        if (ROOT / folder).exists():
            listed = ", ".join(f"{kind} = {count}" for kind, count in counts.items())
            lines.append(f'"{folder}" = {{ {listed} }}\n')
    BUDGET.write_text("".join(lines), encoding="utf-8")


def main(arguments):
    recording = "--record" in arguments
    jobs, keep_going = chosen([name for name in arguments if name != "--record"])
    budget = tomllib.loads(BUDGET.read_text(encoding="utf-8"))
    if recording and keep_going:
        raise SystemExit("--record belongs to the checks of `make test`")
    if recording:
        os.environ["SVMBOOK_BUDGET"] = "off"
    for job in jobs:
        log_of(job.name, "xml").unlink(missing_ok=True)
    with slowness() if recording else contextlib.nullcontext() as slower:
        results = run_jobs(jobs, budget["seconds"], keep_going)
    print_tests(results)
    print_stages(results, jobs)
    code = next((result.code for result in results if result.code), 0)
    if recording and not code:
        record(results, budget, *slower)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
