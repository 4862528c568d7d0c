"""Data in blocks of rows, in Parquet files and in memory maps, and a cluster that reads them."""

import argparse
import json
import logging
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from bench_ensembles import draw_points
from distributed import Client, LocalCluster
from measure import peak_bytes

BLOCK_ROWS = 100_000
FIRST_TEST_BLOCK, N_TEST_SETS = 10**6, 10  # these blocks are in no training set
N_WORKERS, WORKER_MEMORY = 2, "2GiB"


def draw_linear_block(number, n):
    """Return n rows of a block, with a linear rule in 54 features and noisy labels."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n, 54))
    F = X @ np.cos(np.arange(54)) / 3 + rng.logistic(size=n)
    return X, np.where(F > 0, 1.0, -1.0)


def draw_additive_block(number, n):
    """Return n rows of a block, with rules in 20 features that are nearly additive."""
    return draw_points(n, seed=number)


DRAW_FUNCTIONS = {"linear": draw_linear_block, "additive": draw_additive_block}


def write_data(folder, problem, n):
    """Write n rows as Parquet files and as one .npy file, unless they exist; return the folder."""
    folder = Path(folder) / f"{problem}-{n}"
    if (folder / "complete").exists():
        return folder
    (folder / "parquet").mkdir(parents=True, exist_ok=True)
    array = None
    for number, start in enumerate(range(0, n, BLOCK_ROWS)):
        X, y = DRAW_FUNCTIONS[problem](number, min(BLOCK_ROWS, n - start))
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


def measure_errors(problem, predict):
    """Return errors in percent on ten test sets, and their mean.

    ``predict`` returns whether points belong to the positive class. The test sets are the same for
    all classifiers of a problem.
    """
    errors = []
    for number in range(FIRST_TEST_BLOCK, FIRST_TEST_BLOCK + N_TEST_SETS):
        X, y = DRAW_FUNCTIONS[problem](number, BLOCK_ROWS)
        errors.append(100.0 * float(np.mean(predict(X) != (y > 0))))
    return {"error": float(np.mean(errors)), "errors": errors}


def read_rows(path, start, stop):
    """Return rows of a .npy file, which the system reads when they are used."""
    return np.load(path, mmap_mode="r")[start:stop]


def load_in_memory(folder):
    """Return points and labels."""
    rows = np.load(folder / "rows.npy", mmap_mode="r")
    return np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy()


def open_collections(folder, source):
    """Return X and y as Dask collections: data frames of Parquet files, or arrays."""
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
    if source == "workers' memory":
        rows = rows.map_blocks(np.array).persist()
    return rows[:, :-1], rows[:, -1]


@contextmanager
def local_cluster(n_workers=N_WORKERS, memory=WORKER_MEMORY):
    """Run a block on a cluster of local processes with one thread each."""
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        memory_limit=memory,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,  # some workers are killed
    )
    with cluster, Client(cluster) as client:
        yield client


def peak_gibibytes(client):
    """Return the peak memory of the workers and of this process."""
    return {
        "worker_gibibytes": max(client.run(peak_bytes).values()) / 2**30,
        "client_gibibytes": peak_bytes() / 2**30,
    }


def measure_in_child(script, **job):
    """Carry out a job in a new process of a script, and return the dict that it prints."""
    command = [sys.executable, script, "--child", json.dumps(job)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])


def run_from_command_line(run, description, script, max_rows):
    """Call ``run(folder, max_rows, path)`` with the options of the command line.

    The record has the name of the script, unless ``--out`` names another file.
    """
    parser = argparse.ArgumentParser(description=description)
    default_path = Path("_build", Path(script).stem).with_suffix(".jsonl")
    parser.add_argument("--out", type=Path, default=default_path)
    parser.add_argument("--max-rows", type=int, default=max_rows)
    parser.add_argument("--folder", default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary_folder:
        run(arguments.folder or temporary_folder, arguments.max_rows, arguments.out)
