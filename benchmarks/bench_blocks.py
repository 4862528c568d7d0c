"""Claims about training on data in blocks: time, memory, and the certificate.

The data are larger than the memory of a worker: 10^7 rows with 54 features (4.3 GB) for
`DualSVC`, and with 20 features for `StumpEnsembleSVC` and `StumpEnsembleLogistic` with 32 knots.
They are read from Parquet files, or from a memory map, by two workers of 2 GiB each. Each fit ends
with a relative duality gap of at most 1e-4. The growth of the time from 10^5 to 10^7 rows, and the
time over that of the same solver in memory for 10^6 rows, are printed.

``--out FILE`` adds each row to the file as soon as it is measured, and skips the rows that the file
contains already; ``--max-rows N`` omits larger problems. ``--folder DIR`` keeps the data.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from bench_ensembles import draw_points
from distributed import Client, LocalCluster
from measure import origin, peak_bytes, print_table

from svmbook import DualSVC, StumpEnsembleLogistic, StumpEnsembleSVC
from svmbook.gram import LowRankGram
from svmbook.solvers.smoothed_hinge import solve_smoothed_hinge

SIZES = (100_000, 1_000_000, 10_000_000)
BLOCK_ROWS = 100_000
N_WORKERS, WORKER_MEMORY = 2, "2GiB"
N_KNOTS, TOL = 32, 1e-4


def draw_linear_block(number, n):
    """Return n rows of a block, with a linear rule in 54 features and noisy labels."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n, 54))
    F = X @ np.cos(np.arange(54)) / 3 + rng.logistic(size=n)
    return X, np.where(F > 0, 1.0, -1.0)


def draw_additive_block(number, n):
    return draw_points(n, seed=number)


PROBLEMS = {"linear": draw_linear_block, "additive": draw_additive_block}
MODELS = {
    ("linear", "hinge"): DualSVC(tol=TOL),
    ("additive", "hinge"): StumpEnsembleSVC(0.1, n_knots=N_KNOTS, tol=TOL),
    ("additive", "logistic"): StumpEnsembleLogistic(n_knots=N_KNOTS, tol=TOL),
}


def write_data(folder, problem, n):
    """Write n rows as Parquet files and as one .npy file, unless they exist; return the folder."""
    folder = Path(folder) / f"{problem}-{n}"
    if (folder / "complete").exists():
        return folder
    (folder / "parquet").mkdir(parents=True, exist_ok=True)
    array = None
    for number, start in enumerate(range(0, n, BLOCK_ROWS)):
        X, y = PROBLEMS[problem](number, min(BLOCK_ROWS, n - start))
        columns = [f"x{j}" for j in range(X.shape[1])]
        frame = pd.DataFrame(X, columns=columns).assign(label=y)
        frame.to_parquet(folder / "parquet" / f"{number:05d}.parquet")
        if array is None:
            shape = n, X.shape[1] + 1
            array = np.lib.format.open_memmap(folder / "rows.npy", "w+", float, shape)
        array[start : start + len(X), :-1], array[start : start + len(X), -1] = X, y
    array.flush()
    (folder / "complete").touch()
    return folder


def read_rows(path, start, stop):
    """Return rows of a .npy file."""
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def open_collections(folder, source):
    """Return X and y as Dask collections."""
    if source == "Parquet":
        frame = dd.read_parquet(folder / "parquet")
        return frame.drop(columns="label"), frame["label"]
    shape = np.load(folder / "rows.npy", mmap_mode="r").shape
    chunks = ((BLOCK_ROWS,) * (shape[0] // BLOCK_ROWS), (shape[1],))
    rows = da.map_blocks(
        lambda block_info: read_rows(folder / "rows.npy", *block_info[None]["array-location"][0]),
        chunks=chunks,
        dtype=float,
    )
    return rows[:, :-1], rows[:, -1]


def fit_in_blocks(folder, model, source):
    """Fit on a cluster of local processes; return the time and the peak memory of all processes."""
    cluster = LocalCluster(
        n_workers=N_WORKERS,
        threads_per_worker=1,
        memory_limit=WORKER_MEMORY,
        dashboard_address=None,
    )
    with cluster, Client(cluster) as client:
        X, y = open_collections(folder, source)
        initial_bytes = client.run(peak_bytes)
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        worker_bytes = max(client.run(peak_bytes).values())
    return {
        "seconds": seconds,
        "worker_gibibytes": worker_bytes / 2**30,
        "idle_worker_gibibytes": max(initial_bytes.values()) / 2**30,
        "client_gibibytes": peak_bytes() / 2**30,
    }


def fit_in_memory(folder, model, source):
    """Fit to arrays in memory, with the solver that blocks use."""
    rows = np.load(folder / "rows.npy")
    X, y = np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy()
    del rows
    start = time.perf_counter()
    if isinstance(model, DualSVC):
        points = X - X.mean(axis=0)
        result, _ = solve_smoothed_hinge(LowRankGram(points), y, np.ones(len(y)), tol=TOL)
        model.relative_gap_, model.objective_ = result.relative_gap, result.objective
        model.n_iter_, model.converged_ = result.n_iter, result.converged
    else:
        model.fit(X, y)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "client_gibibytes": peak_bytes() / 2**30}


def measure_here(folder, problem, loss, source):
    """Carry out one measurement in this process and print it as JSON."""
    model = MODELS[problem, loss]
    fit = fit_in_memory if source == "memory" else fit_in_blocks
    measured = fit(Path(folder), model, source)
    fields = {name: getattr(model, f"{name}_") for name in ("objective", "relative_gap", "n_iter")}
    print(json.dumps(measured | fields | {"converged": bool(model.converged_)}))


def run(folder, max_rows, path):
    """Measure the rows that the file does not contain."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    for problem, loss in MODELS:
        for n in (n for n in SIZES if n <= max_rows):
            for source in ("Parquet", "memory map", "memory"):
                if source == "memory" and n > 1_000_000:
                    continue
                key = {"problem": problem, "loss": loss, "n": n, "source": source}
                if any(key.items() <= row.items() for row in rows):
                    continue
                data = write_data(folder, problem, n)
                job = [sys.executable, __file__, "--child", str(data), problem, loss, source]
                output = subprocess.run(job, check=True, stdout=subprocess.PIPE, text=True).stdout
                rows.append(key | json.loads(output.splitlines()[-1]) | origin())
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
                columns = [*key, "seconds", "worker_gibibytes", "client_gibibytes", "n_iter"]
                print_table("", rows[-1:], [*columns, "relative_gap"])
    return rows


if __name__ == "__main__":
    if "--child" in sys.argv:
        measure_here(*sys.argv[-4:])
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--out", type=Path, default=Path("bench_blocks.jsonl"))
        parser.add_argument("--max-rows", type=int, default=SIZES[-1])
        parser.add_argument("--folder", default=None)
        arguments = parser.parse_args()
        with tempfile.TemporaryDirectory() as temporary_folder:
            run(arguments.folder or temporary_folder, arguments.max_rows, arguments.out)
