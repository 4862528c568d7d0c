"""Claims about training on data in blocks: time, memory, and the certificate.

The data are larger than the memory of a worker: 10^7 rows with 54 features (4.3 GB) for
`DualSVC`, and with 20 features for `StumpEnsembleSVC` and `StumpEnsembleLogistic` with 32 knots.
They are read from Parquet files, or from a memory map, by two workers of 2 GiB each; up to 10^6
rows also from the workers' memory. Each fit ends with a relative duality gap of at most 1e-4. The
same solver in memory is measured up to 10^6 rows. Fits up to 10^6 rows are the median of three by
time, each the first fit of new processes; in memory, a second fit takes half the time. A pass over
ten blocks is timed in one process, and tasks that do nothing on the cluster. In ten fits to 10^6
rows, two of four workers are killed at random moments; the weights are the same. Cross-validation
of ten values of C by five folds is compared with a fit.

``--out FILE`` adds each row to the file as soon as it is measured, and skips the rows that the file
contains already; ``--max-rows N`` omits larger problems. ``--folder DIR`` keeps the data.
"""

import json
import os
import signal
import sys
from functools import partial
from operator import itemgetter
from pathlib import Path
from threading import Timer

import dask
import numpy as np
from block_data import (
    load_in_memory,
    local_cluster,
    measure_errors,
    measure_in_child,
    open_collections,
    peak_gibibytes,
    run_from_command_line,
    write_data,
)
from distributed import wait
from measure import ResumableRecord, peak_bytes, print_table, time_call

from svmbook import DualSVC, StumpEnsembleLogistic, StumpEnsembleSVC
from svmbook.gram import LowRankGram
from svmbook.rows import SUMS_PER_TASK, Blocks, sum_rows
from svmbook.solvers.hinge_terms import SmoothedHingeTerms
from svmbook.solvers.smoothed_hinge import solve_smoothed_hinge
from svmbook.svm import cross_validate_in_blocks

SIZES = (100_000, 1_000_000, 10_000_000)
MAX_ROWS_IN_MEMORY, N_REPEATS = 1_000_000, 3
N_KNOTS, TOL, N_KILL_RUNS = 32, 1e-4, 10
KILL_SHARE = 0.7  # of the time of a fit, in which workers are killed; later ones may be too late
MODELS = {
    ("linear", "hinge"): DualSVC(tol=TOL),
    ("additive", "hinge"): StumpEnsembleSVC(0.1, n_knots=N_KNOTS, tol=TOL),
    ("additive", "logistic"): StumpEnsembleLogistic(n_knots=N_KNOTS, tol=TOL),
}


class CountingBlocks:
    """Counts the results that are computed from blocks, most of which take a pass over the data."""

    def __init__(self):
        self.n_results = 0
        for name in ("gather", "persist", "total"):
            setattr(Blocks, name, self.counted(getattr(Blocks, name)))

    def counted(self, method):
        def counting_method(blocks):
            self.n_results += 1
            return method(blocks)

        return counting_method


def fit_in_blocks(folder, model, source):
    """Fit on a cluster of local processes; return the time and the peak memory of all processes."""
    with local_cluster() as client:
        idle_gibibytes = peak_gibibytes(client)["worker_gibibytes"]
        X, y = open_collections(folder, source)
        if source == "workers' memory":
            wait([X, y])  # until the workers have read them
        counter = CountingBlocks()
        _, seconds = time_call(lambda: model.fit(X, y))
        measured = {"seconds": seconds, "n_results": counter.n_results}
        return measured | {"idle_worker_gibibytes": idle_gibibytes} | peak_gibibytes(client)


def fit_in_memory(folder, model):
    """Fit to arrays in memory, with the solver that blocks use."""
    X, y = load_in_memory(folder)
    fit = fit_linear_in_memory if isinstance(model, DualSVC) else type(model).fit
    _, seconds = time_call(lambda: fit(model, X, y))
    return {"seconds": seconds, "client_gibibytes": peak_bytes() / 2**30}


def fit_linear_in_memory(model, X, y):
    """Fit a linear SVM to arrays; `DualSVC` itself would choose another solver."""
    problem = model._training_problem(X, y, None)  # the validation is part of every fit
    mean, C = problem.points.mean(axis=0), model.C * problem.weights
    result, w = solve_smoothed_hinge(LowRankGram(problem.points - mean), problem.y, C, tol=TOL)
    model.relative_gap_, model.objective_ = result.relative_gap, result.objective
    model.n_iter_, model.converged_ = result.n_iter, result.converged
    model.predict = lambda points: np.sign((points - mean) @ w + result.intercept)


def fit_here(folder, problem, loss, source):
    """Return the measurement of a fit in this process."""
    model, folder = MODELS[problem, loss], Path(folder)
    if source == "memory":
        measured = fit_in_memory(folder, model)
    else:
        measured = fit_in_blocks(folder, model, source)
    fields = {name: getattr(model, f"{name}_") for name in ("objective", "relative_gap", "n_iter")}
    fields |= measure_errors(problem, lambda X: np.asarray(model.predict(X)) > 0)
    return measured | fields | {"converged": bool(model.converged_)}


def time_blocks(folder, problem, loss, source):
    """Return the mean seconds per block: to be read, and for the sums of a Newton step."""
    X_parts, y_parts = (
        np.ravel(collection.to_delayed(optimize_graph=False))
        for collection in open_collections(Path(folder), source)
    )

    def read(part):
        return np.asarray(part.compute(), dtype=float)

    def add_terms(X, y):
        gram = Blocks([X]).map(lambda points: LowRankGram(points - origin), by_row=True)
        return sum_rows(terms, Blocks([y]), Blocks([np.ones(len(y))]), gram, by_row=True)

    with dask.config.set(scheduler="synchronous"):
        blocks, labels = [read(part) for part in X_parts], [read(part) for part in y_parts]
        origin, w = blocks[0].mean(axis=0), np.zeros(blocks[0].shape[1])
        terms = partial(SmoothedHingeTerms.of_points, w=w, b=0.0, width=0.02, is_block=True)
        _, seconds = time_call(lambda: [*map(add_terms, blocks, labels)], repeats=5)
        # A memory map is read when it is used.
        _, total_seconds = time_call(
            lambda: [add_terms(read(part), y) for part, y in zip(X_parts, labels, strict=True)],
            repeats=5,
        )
    seconds, total_seconds = seconds / len(blocks), total_seconds / len(blocks)
    return {"read_seconds": total_seconds - seconds, "seconds": seconds}


def time_tasks(n_tasks):
    """Return the seconds per task that does nothing, for the scheduler and two workers."""
    n_sums, n_additions = n_tasks, 0
    while n_sums > 1:
        n_sums = -(-n_sums // SUMS_PER_TASK)
        n_additions += n_sums
    with local_cluster():
        zeros = Blocks([dask.delayed(0) for _ in range(n_tasks)])
        zeros.map(abs).total()
        _, seconds = time_call(zeros.map(abs).total, repeats=5)
    return {"seconds": seconds / (n_tasks + n_additions)}


def fit_with_killed_workers(folder):
    """Kill two of four workers at random moments of a fit, ten times; return what changes."""
    model, runs = DualSVC(tol=TOL), []
    for seed in (None, *range(N_KILL_RUNS)):
        with local_cluster(n_workers=4) as client:
            X, y = open_collections(Path(folder), "memory map")
            timers = []
            if seed is not None:
                rng, process_ids = np.random.default_rng(seed), list(client.run(os.getpid).values())
                for process_id in rng.choice(process_ids, 2, replace=False):
                    moment = rng.uniform(0.0, KILL_SHARE * runs[0]["seconds"])
                    timers.append(Timer(moment, os.kill, (int(process_id), signal.SIGKILL)))
            for timer in timers:
                timer.start()
            _, seconds = time_call(partial(model.fit, X, y))
            is_late = any(timer.is_alive() for timer in timers)
            for timer in timers:
                timer.join()
        runs.append({"seconds": seconds, "coef": model.coef_, "is_late": is_late})
        runs[-1] |= {"relative_gap": model.relative_gap_, "converged": bool(model.converged_)}
    coef = runs[0]["coef"]
    return {
        "seconds": runs[0]["seconds"],
        "seconds_with_kills": [run["seconds"] for run in runs[1:]],
        "n_late": sum(run["is_late"] for run in runs[1:]),
        "largest_difference": max(float(np.abs(run["coef"] - coef).max()) for run in runs[1:]),
        "largest_coef": float(np.abs(coef).max()),
        "relative_gap": max(run["relative_gap"] for run in runs),
        "converged": all(run["converged"] for run in runs),
    }


def cross_validate(folder):
    """Compare ten values of C by five folds; return the time, and that of one fit."""
    C_values, model = np.logspace(-3, 0, 10), DualSVC(tol=TOL)
    with local_cluster() as client:
        X, y = open_collections(Path(folder), "memory map")
        model.fit(X, y)  # loads the code into the workers
        _, fit_seconds = time_call(lambda: model.fit(X, y), repeats=5)
        result, seconds = time_call(
            lambda: cross_validate_in_blocks(model, X, y, C_values), repeats=N_REPEATS
        )
        measured = {"seconds": seconds, "fit_seconds": fit_seconds} | peak_gibibytes(client)
    measured["relative_gap"] = float(result.relative_gaps.max())
    return measured | {"errors": (100.0 * result.errors.mean(axis=1)).tolist()}


JOBS = {
    "fit": fit_here,
    "block": time_blocks,
    "tasks": time_tasks,
    "kills": fit_with_killed_workers,
    "paths": cross_validate,
}


def run_job(job):
    """Carry out a job in this process and print its result as JSON."""
    job = json.loads(job)
    print(json.dumps(JOBS[job.pop("job")](**job)))


def run(folder, max_rows, path):
    """Measure the rows that the file does not contain."""
    record = ResumableRecord(__file__, path)
    record.row({"method": "tasks"}, lambda: measure_in_child(__file__, job="tasks", n_tasks=1000))
    data = str(write_data(folder, "linear", SIZES[1]))
    for kind in ("kills", "paths"):
        measure = partial(measure_in_child, __file__, job=kind, folder=data)
        record.row({"method": kind}, measure)
    for problem, loss in MODELS:
        for n in (n for n in SIZES if n <= max_rows):
            sources = ["Parquet", "memory map"]
            if n <= MAX_ROWS_IN_MEMORY:
                sources += ["workers' memory", "memory"]
            for source in sources:
                job = {"problem": problem, "loss": loss, "source": source}

                def measure(kind, n=n, job=job):
                    data = str(write_data(folder, job["problem"], n))
                    repeats = N_REPEATS if n <= MAX_ROWS_IN_MEMORY else 1
                    results = [
                        measure_in_child(__file__, job=kind, folder=data, **job)
                        for _ in range(repeats)
                    ]
                    return sorted(results, key=itemgetter("seconds"))[repeats // 2]

                row = record.row({"method": "fit", "n": n} | job, partial(measure, "fit"))
                columns = [*job, "n", "seconds", "n_results", "worker_gibibytes", "n_iter"]
                shown = {column: row.get(column, "") for column in columns}
                print_table("", [shown], columns)
                if (problem, n) == ("linear", SIZES[1]) and source != "memory":
                    record.row({"method": "block", "n": n} | job, partial(measure, "block"))
    return record.rows


if __name__ == "__main__":
    if "--child" in sys.argv:
        run_job(sys.argv[-1])
    else:
        run_from_command_line(run, __doc__, __file__, SIZES[-1])
