"""Measurements of time and peak memory, each in a process of its own.

Separate processes keep the memory of one method out of the peak of another. Each process loads the
data from a file, so that generating them is not timed. Times are medians over repetitions. The
scripts print ratios of times that were measured in the same run on the same computer.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import threadpool_info, threadpool_limits

from svmbook.experiments.running.suite import versions

# The libraries of requirements.txt.
PEERS = ("scikit-learn-intelex", "lightgbm", "xgboost-cpu", "dask-ml", "pyspark")


def peak_bytes():
    """Return the peak resident memory of this process.

    It is Linux's peak per address space (VmHWM). The peak of getrusage is not usable, because a
    process inherits it from its parent.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def computer():
    """Return the processor, the number of cores, and the kernels and threads of NumPy's BLAS."""
    lines = Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    blas = {
        f"{pool['internal_api']} {pool['version']}, {pool['architecture']} kernels, "
        f"{pool['num_threads']} threads"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    processor = next(names, platform.machine())
    return f"{processor}, {len(os.sched_getaffinity(0))} cores; {'; '.join(sorted(blas))}"


def origin():
    """Return the fields of a record that tell where it comes from."""
    installed = {distribution.name: distribution.version for distribution in distributions()}
    peers = [f"{name} {installed[name]}" for name in PEERS if name in installed]
    return {"computer": computer(), "versions": ", ".join([versions(), *peers])}


@contextmanager
def limit_threads(n_threads):
    """Let the threads that this process starts from now on use so many cores, and BLAS as well.

    Some libraries ignore the limits that threadpoolctl sets, so the cores are limited too.
    """
    cores = os.sched_getaffinity(0)
    if len(cores) < n_threads:
        raise OSError(f"{n_threads} cores are to be measured, but only {len(cores)} are available")
    os.sched_setaffinity(0, sorted(cores)[-n_threads:])
    try:
        with threadpool_limits(n_threads):
            yield
    finally:
        os.sched_setaffinity(0, cores)


def measure_in_new_process(script, method, X, y, *, repeats=1, **options):
    """Run ``METHODS[method](X, y, **options)`` of a script in a new process.

    Returns a dict with the median ``seconds``, ``memory_over_data`` (the growth of the peak memory,
    data included, divided by the size of the prepared data) and the values that the method returns.
    A function among these values is called after the measurement, and its result is returned: for
    instance, the test error of a classifier whose training is timed.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npy"
        np.save(path, np.column_stack([X, y]))
        job = {"method": method, "path": str(path), "repeats": repeats, "options": options}
        completed = subprocess.run(
            [sys.executable, script, "--child", json.dumps(job)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return json.loads(completed.stdout.splitlines()[-1])


def measure_and_print(methods, prepare, job):
    """Carry out the measurement that a job describes, in this process, and print it as JSON."""
    function = methods[job["method"]]
    # An untimed call on small data loads libraries and starts threads.
    X = np.random.default_rng(0).standard_normal((40, 3))
    function(prepare(X), np.where(np.arange(40) % 2 == 0, 1.0, -1.0), **job["options"])
    initial_peak = peak_bytes()
    data = np.load(job["path"], mmap_mode="r")
    X, y = np.array(data[:, :-1]), np.array(data[:, -1])
    del data
    X = prepare(X)
    result, seconds = time_call(lambda: function(X, y, **job["options"]), job["repeats"])
    memory_over_data = (peak_bytes() - initial_peak) / X.nbytes
    measured = {"seconds": seconds, "memory_over_data": memory_over_data}
    print(json.dumps(measured | evaluate(result)))


def evaluate(result):
    """Return the values of a method, with the functions among them replaced by their results."""
    return {key: value() if callable(value) else value for key, value in result.items()}


class ResumableRecord:
    """The rows of a file of JSON lines, to which each new measurement is added at once.

    Parameters
    ----------
    script : str
        The script whose ``METHODS`` are measured.
    path : Path
        The file; its folder is created.
    """

    def __init__(self, script, path):
        path.parent.mkdir(exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.script, self.path, self.rows = script, path, [json.loads(line) for line in lines]

    def row(self, key, measure):
        """Return the row with the fields ``key``; unless the file contains it, add ``measure()``.

        ``measure`` returns a dict of further fields.
        """
        for row in self.rows:
            if key.items() <= row.items():
                return row
        self.rows.append(key | measure() | origin())
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(self.rows[-1]) + "\n")
        return self.rows[-1]

    def measure(self, key, X, y, **options):
        """Return the row with the fields ``key``; measure it unless the file contains it.

        ``key`` contains the ``method``. The ``options`` of the method do not identify the row,
        since computed ones may differ by rounding errors on another computer.
        """

        def measure():
            return options | measure_in_new_process(self.script, key["method"], X, y, **options)

        return self.row(key, measure)


def time_call(function, repeats=1):
    """Return the result of ``function()`` and its median time in seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def compare(script, shared_fields, methods, X, y, *, repeats=1, single_run_methods=(), **options):
    """Return one row per method; ``ratio`` is its time divided by that of the first.

    Every row contains ``shared_fields``. Methods in ``single_run_methods`` are measured without
    repetitions.
    """
    rows = []
    for method in methods:
        n_repeats = 1 if method in single_run_methods else repeats
        measurement = measure_in_new_process(script, method, X, y, repeats=n_repeats, **options)
        rows.append(shared_fields | {"method": method} | options | measurement)
        rows[-1]["ratio"] = measurement["seconds"] / rows[0]["seconds"]
    return rows


#: Fields that depend on the computer or on rounding.
VOLATILE_FIELDS = {
    *("seconds", "memory_over_data", "ratio", "gibibytes", "exponent", "active_set_seconds"),
    *("libsvm_over_active_set", "default_libsvm_over_active_set", "libsvm_over_usvc"),
    *("iteration_over_cholesky", "cold_over_path", "cold_over_path_estimator"),
    *("relative_gap", "max_relative_gap", "kkt_residual", "relative_excess"),
    *("kernel_over_shapes", "kernel_over_shapes_and_build", "loop_over_batch"),
    *("probabilities_over_batch", "interior_point_over_active_set", "coef_difference"),
    *("objective_difference", "loop_over_prototype_svm", "loop_over_products"),
    *("fit_seconds", "predict_seconds", "seconds_per_million"),
    *("libsvm_seconds", "tight_libsvm_seconds", "tight_onedal_seconds"),
}


def recompute_stable_fields(module, row):
    """Run the method of a benchmark's row again; return the fields that are not volatile."""
    X, y, options = module.make_problem(row)
    prepare = getattr(module, "prepare", np.asarray)
    result = evaluate(module.METHODS[row["method"]](prepare(X), y, **options))
    return {key: value for key, value in result.items() if key not in VOLATILE_FIELDS}


def main(methods, run, prepare=np.asarray):
    """Carry out all measurements and print their tables, or one measurement as a child process.

    ``--out FILE`` also writes one JSON record per row, with the computer and the versions of the
    libraries.
    ``prepare`` converts the data to the input of the methods; it is not timed.
    """
    if "--child" in sys.argv:
        measure_and_print(methods, prepare, json.loads(sys.argv[-1]))
        return
    rows = run()
    if "--out" in sys.argv:
        lines = (json.dumps(row | origin()) + "\n" for row in rows)
        Path(sys.argv[sys.argv.index("--out") + 1]).write_text("".join(lines), encoding="utf-8")


def time_over_cholesky(K, solve, repeats):
    """Return the result of ``solve()``, and its time over that of a factorisation of K + I.

    ``solve()`` and the Cholesky factorisation are timed in turn in the same process, under the
    same conditions. The ratio is the median over the repetitions.
    """
    shifted = np.asfortranarray(K + np.eye(len(K)))
    factor = np.empty_like(shifted, order="F")
    ratios = []
    for _ in range(repeats):
        np.copyto(factor, shifted)
        _, cholesky_seconds = time_call(
            lambda: lapack.dpotrf(factor, lower=1, clean=0, overwrite_a=1)
        )
        result, seconds = time_call(solve)
        ratios.append(seconds / cholesky_seconds)
    return result, statistics.median(ratios)


def print_table(title, rows, columns):
    """Print rows as a Markdown table, numbers to three significant digits."""
    print(f"\n{title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for row in rows:
        values = (row.get(column, "") for column in columns)
        cells = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in values)
        print("| " + " | ".join(cells) + " |", flush=True)
