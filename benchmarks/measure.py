"""Time and peak memory of a solver, each measurement in a process of its own.

A fresh process keeps one method's memory out of another's peak. The data are written to a file
once and loaded there, so that making them does not count. Times are medians over repeats; what
the scripts print are ratios of times taken in the same run on the same machine.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MIB = 2**20


def peak_mib():
    """Return the peak resident memory of this process in MiB (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB


def measure(script, method, X, y, *, repeats=1, **options):
    """Run ``METHODS[method](X, y, **options)`` of a script in a fresh process.

    Returns a dict: median ``seconds``, ``memory_over_data`` (growth of the peak over the data's
    size, the data included) and whatever the method itself reports.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npy"
        np.save(path, np.column_stack([X, y]))
        job = {"method": method, "path": str(path), "repeats": repeats, "options": options}
        done = subprocess.run(
            [sys.executable, script, "--child", json.dumps(job)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def child(methods, job):
    """Do one measurement in this process and print it as JSON."""
    method = methods[job["method"]]
    rng = np.random.default_rng(0)  # load libraries and start threads outside the clock
    warm_up = rng.standard_normal((40, 3))
    method(warm_up, np.where(np.arange(40) % 2 == 0, 1.0, -1.0), **job["options"])
    before = peak_mib()
    data = np.load(job["path"], mmap_mode="r")
    X, y = np.array(data[:, :-1]), np.array(data[:, -1])
    del data
    seconds = []
    for _ in range(job["repeats"]):
        start = time.perf_counter()
        report = method(X, y, **job["options"])
        seconds.append(time.perf_counter() - start)
    growth = (peak_mib() - before) * MIB / X.nbytes
    record = {"seconds": statistics.median(seconds), "memory_over_data": growth}
    print(json.dumps(record | report))


def main(methods, run):
    """Serve as child or print the table; ``--out FILE`` also writes one JSON record a row."""
    if "--child" in sys.argv:
        return child(methods, json.loads(sys.argv[-1]))
    rows = run()
    if "--out" in sys.argv:
        lines = (json.dumps(row) + "\n" for row in rows)
        Path(sys.argv[sys.argv.index("--out") + 1]).write_text("".join(lines), encoding="utf-8")
    return None


def print_table(title, rows, columns):
    """Print rows as a Markdown table, numbers to three significant digits."""
    print(f"\n{title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for row in rows:
        cells = (row.get(column, "") for column in columns)
        shown = (f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in cells)
        print("| " + " | ".join(shown) + " |", flush=True)
