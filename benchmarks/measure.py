"""Time and peak memory of a solver, each measurement in a process of its own.

A fresh process keeps one method's memory out of another's peak. The data are written to a file
once and loaded there, so that making them does not count. Times are medians over repeats; what
the scripts print are ratios of times taken in the same run on the same machine.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from svmbook.experiments.running.suite import versions


def peak_bytes():
    """Return the peak resident memory of this process.

    Linux keeps it by address space (VmHWM). The figure of getrusage would not do: it is inherited
    from the process that started this one.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


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


def child(methods, prepare, job):
    """Do one measurement in this process and print it as JSON."""
    method = methods[job["method"]]
    rng = np.random.default_rng(0)  # load libraries and start threads outside the clock
    warm_up = rng.standard_normal((40, 3))
    method(prepare(warm_up), np.where(np.arange(40) % 2 == 0, 1.0, -1.0), **job["options"])
    before = peak_bytes()
    data = np.load(job["path"], mmap_mode="r")
    X, y = np.array(data[:, :-1]), np.array(data[:, -1])
    del data
    X = prepare(X)
    seconds = []
    for _ in range(job["repeats"]):
        start = time.perf_counter()
        report = method(X, y, **job["options"])
        seconds.append(time.perf_counter() - start)
    growth = (peak_bytes() - before) / X.nbytes
    record = {"seconds": statistics.median(seconds), "memory_over_data": growth}
    print(json.dumps(record | report))


#: What depends on the machine, or is rounding.
VOLATILE = {
    *("seconds", "memory_over_data", "ratio", "ratio_default", "gibibytes", "active_set"),
    *("factorisations_per_iteration", "cold_over_path", "cold_over_path_estimator"),
    *("relative_gap", "kkt_residual", "above_optimum", "exponent", "libsvm_over_usvc"),
    *("kernels_over_curves", "kernels_over_curves_built", "loop_over_batch", "off_from_loop"),
    *("probabilities_over_batch", "interior_over_active", "interior_gap", "largest_gap"),
    *("loops_over_ours", "loop_over_products"),
}


def again(script, row):
    """Do what a row of a script's records stands for once more; return what is not volatile."""
    X, y, options = script.problem(row)
    prepare = getattr(script, "prepare", np.asarray)
    found = script.METHODS[row["method"]](prepare(X), y, **options)
    return {key: value for key, value in found.items() if key not in VOLATILE}


def main(methods, run, prepare=np.asarray):
    """Serve as child or print the table.

    ``--out FILE`` also writes one JSON record a row, with the versions of the libraries;
    ``prepare`` turns the data into what the methods take, outside the clock.
    """
    if "--child" in sys.argv:
        return child(methods, prepare, json.loads(sys.argv[-1]))
    rows = run()
    if "--out" in sys.argv:
        lines = (json.dumps(row | {"versions": versions()}) + "\n" for row in rows)
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
