"""Claims about training on data in blocks, compared with the libraries of the field.

Beside `DualSVC` on data with a linear rule stand the linear SVMs of Dask-ML (`Incremental` with
scikit-learn's ``SGDClassifier``, one pass) and of Spark MLlib (``LinearSVC``), at their defaults.
Beside the additive models on nearly additive data stand LightGBM and XGBoost on the same cluster,
and ``HistGradientBoostingClassifier`` in memory, at their defaults. Each row contains the time, the
memory, and the errors on ten test sets; for linear models also the SVM objective at C = 1. Each
worker may use 8 GiB, four times as much as in ``bench_blocks.py``, since some of the libraries copy
the data.

The data and the cluster are those of ``bench_blocks.py``. ``--out FILE`` adds each row to the file
as soon as it is measured, and skips the rows that the file contains already; ``--max-rows N`` omits
larger problems. ``--folder DIR`` keeps the data.
"""

import json
import sys
from pathlib import Path

import numpy as np
from block_data import (
    BLOCK_ROWS,
    N_WORKERS,
    load_in_memory,
    local_cluster,
    measure_errors,
    measure_in_child,
    open_collections,
    peak_gibibytes,
    read_rows,
    run_from_command_line,
    write_data,
)
from measure import ResumableRecord, peak_bytes, print_table, time_call

SIZES = (100_000, 1_000_000, 10_000_000)
WORKER_MEMORY, SPARK_MEMORY = "8GiB", "16g"  # Spark has one process for both workers


def fit_sgd(folder):
    """Fit Dask-ML's linear SVM: one pass of stochastic gradient descent over the blocks."""
    from dask_ml.wrappers import Incremental
    from sklearn.linear_model import SGDClassifier

    with local_cluster(memory=WORKER_MEMORY) as client:
        X, y = open_collections(folder, "memory map")
        model = Incremental(SGDClassifier(random_state=0), shuffle_blocks=False)
        _, seconds = time_call(lambda: model.fit(X, y, classes=[-1.0, 1.0]))
        w, b = model.estimator_.coef_[0], float(model.estimator_.intercept_[0])
        return {"seconds": seconds} | peak_gibibytes(client) | judge_linear(folder, w, b)


def fit_spark(folder):
    """Fit the linear SVM of Spark MLlib."""
    from pyspark.ml.classification import LinearSVC
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession, functions

    builder = SparkSession.builder.master(f"local[{N_WORKERS}]")
    spark = builder.config("spark.driver.memory", SPARK_MEMORY).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.read.parquet(str(folder / "parquet"))
    names = [name for name in frame.columns if name.startswith("x")]
    rows = VectorAssembler(inputCols=names, outputCol="features").transform(frame)
    rows = rows.select("features", functions.expr("(label + 1) / 2").alias("label"))
    model, seconds = time_call(lambda: LinearSVC().fit(rows))
    w, b = model.coefficients.toArray(), float(model.intercept)
    n_iter = len(model.summary().objectiveHistory)
    spark.stop()
    return {"seconds": seconds, "n_iter": n_iter} | judge_linear(folder, w, b)


def judge_linear(folder, w, b):
    """Return the SVM objective at C = 1 of a linear function, and its test errors in percent."""
    n = np.load(folder / "rows.npy", mmap_mode="r").shape[0]
    loss = 0.0
    for start in range(0, n, BLOCK_ROWS):
        rows = read_rows(folder / "rows.npy", start, start + BLOCK_ROWS)
        loss += np.maximum(0.0, 1.0 - rows[:, -1] * (rows[:, :-1] @ w + b)).sum()
    errors = measure_errors("linear", lambda X: X @ w + b > 0)
    return {"objective": float(0.5 * w @ w + loss)} | errors


def fit_lightgbm(folder):
    """Fit LightGBM on the cluster."""
    from lightgbm import DaskLGBMClassifier

    with local_cluster(memory=WORKER_MEMORY) as client:
        X, y = open_collections(folder, "memory map")
        model = DaskLGBMClassifier(client=client, random_state=0, verbose=-1)
        _, seconds = time_call(lambda: model.fit(X, (y + 1) / 2))
        measured = {"seconds": seconds} | peak_gibibytes(client)
    return measured | measure_errors("additive", lambda X: model.to_local().predict(X) > 0.5)


def fit_xgboost(folder):
    """Fit XGBoost on the cluster."""
    from xgboost.dask import DaskXGBClassifier

    with local_cluster(memory=WORKER_MEMORY) as client:
        X, y = open_collections(folder, "memory map")
        model = DaskXGBClassifier(random_state=0)
        model.client = client
        _, seconds = time_call(lambda: model.fit(X, (y + 1) / 2))
        measured = {"seconds": seconds} | peak_gibibytes(client)
    predict = model.get_booster().inplace_predict
    return measured | measure_errors("additive", lambda X: predict(X) > 0.5)


def fit_histogram_boosting(folder):
    """Fit scikit-learn's gradient boosting in memory."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = load_in_memory(folder)
    model, seconds = time_call(
        lambda: HistGradientBoostingClassifier(random_state=0).fit(X, (y + 1) / 2)
    )
    measured = {"seconds": seconds, "client_gibibytes": peak_bytes() / 2**30}
    return measured | measure_errors("additive", lambda X: model.predict(X) > 0.5)


METHODS = {
    "SGD (Dask-ML)": ("linear", fit_sgd),
    "LinearSVC (Spark)": ("linear", fit_spark),
    "LightGBM (Dask)": ("additive", fit_lightgbm),
    "XGBoost (Dask)": ("additive", fit_xgboost),
    "HistGradientBoosting": ("additive", fit_histogram_boosting),
}


def run(folder, max_rows, path):
    """Measure the rows that the file does not contain."""
    record = ResumableRecord(__file__, path)
    for method, (problem, _) in METHODS.items():
        for n in (n for n in SIZES if n <= max_rows):

            def measure(method=method, problem=problem, n=n):
                data = str(write_data(folder, problem, n))
                return measure_in_child(__file__, method=method, folder=data)

            row = record.row({"method": method, "problem": problem, "n": n}, measure)
            print_table("", [row], ["method", "n", "seconds", "error"])
    return record.rows


if __name__ == "__main__":
    if "--child" in sys.argv:
        job = json.loads(sys.argv[-1])
        _, fit = METHODS[job["method"]]
        print(json.dumps(fit(Path(job["folder"]))))
    else:
        run_from_command_line(run, __doc__, __file__, SIZES[-1])
