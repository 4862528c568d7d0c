r"""Splits, parameter selection and comparison, shared by the tables of Navia-Vazquez et al. (2004).

Tables are standardised to mean zero and standard deviation one, and split at random, with 80 %
training rows. The paper does not give the sizes of its artificial data sets. Here they have the
usual sizes, 7,400 and 5,000 points, drawn anew for each run. Parameters are chosen by 5-fold
cross-validation on the training points.
"""

import itertools
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from ....datasets import load, ringnorm, twonorm, waveform
from ....tables import Table
from ...methods.protocols import GeneratedSamples, RandomSplits
from ...methods.statistics import compare, summarise

__all__ = [
    "LINEAR_C_GRID",
    "MAX_TUNING_POINTS",
    "TEST_SHARE",
    "compare_to_reported",
    "make_table",
    "run_with_tuning",
    "split",
]

TEST_SHARE = 0.2
N_POINTS = {"ringnorm": 7400, "twonorm": 7400, "waveform": 5000}
GENERATORS = {"ringnorm": ringnorm, "twonorm": twonorm, "waveform": waveform}
N_REPORTED_RUNS = 10  # splits in the paper
LINEAR_C_GRID = tuple(2.0**k for k in range(-7, 10, 2))
MAX_TUNING_POINTS = 1500  # largest number of training points on which parameters are chosen


def split(data_set, run, tables):
    """Return the training and test points of a run, and a seed for its other random numbers.

    ``tables`` has the name of the table for each data set; "dermatology=3" is the table of that
    name with class 3 against the others.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004.common import split
    >>> split("waveform", 3, {}).X_train.shape
    (4000, 21)
    """
    if data_set in GENERATORS:
        n = N_POINTS[data_set]
        n_test = int(TEST_SHARE * n)
        return GeneratedSamples(
            GENERATORS[data_set], n_train=n - n_test, n_test=n_test, n_runs=run + 1
        )[run]
    X, y = _load_X_y(tables[data_set], *data_set.split("=")[1:])
    return RandomSplits(X, y, train_share=1 - TEST_SHARE, n_runs=run + 1)[run]


def _load_X_y(name, positive_class=None):
    """Return the points and labels of a table, with one class against the rest if given."""
    table = load(name, prepare="usvc2004")
    if positive_class is None:
        return table.data, table.target
    raw = load(name)
    complete = np.isfinite(raw.data).all(axis=1)
    return table.data, np.where(raw.target[complete].astype(str) == positive_class, 1.0, -1.0)


def run_with_tuning(estimator, grid, parts, size_function):
    """Choose the parameters of an estimator by 5-fold cross-validation, fit it, and test it.

    ``grid`` has the values of each parameter; if several combinations are tied, the first is
    chosen. ``size_function(model)`` returns the ``model_size`` of the record.
    """
    X, y = parts.X_train, parts.y_train
    tuning_indices = np.random.default_rng(parts.seed).permutation(len(y))[:MAX_TUNING_POINTS]
    start = time.perf_counter()
    splitter = StratifiedKFold(5, shuffle=True, random_state=parts.seed)
    folds = [
        (tuning_indices[train], tuning_indices[test])
        for train, test in splitter.split(tuning_indices, y[tuning_indices])
    ]
    best, fewest_errors = None, np.inf
    for values in itertools.product(*grid.values()):
        candidate = clone(estimator).set_params(**dict(zip(grid, values, strict=True)))
        n_errors = sum(_fit_and_count_errors(candidate, X, y, train, test) for train, test in folds)
        if n_errors < fewest_errors:
            best, fewest_errors = candidate, n_errors
    selection_seconds = time.perf_counter() - start
    start = time.perf_counter()
    best.fit(X, y)
    training_seconds = time.perf_counter() - start
    return {
        "seed": parts.seed,
        "parameters": {name: best.get_params()[name] for name in grid},
        "error": round(float(1.0 - best.score(parts.X_test, parts.y_test)), 6),
        "train_error": round(float(1.0 - best.score(X, y)), 6),
        "model_size": int(size_function(best)),
        "selection_seconds": round(selection_seconds, 4),
        "training_seconds": round(training_seconds, 4),
    }


def _fit_and_count_errors(model, X, y, train, test):
    """Fit a model, converged or not, and return its number of errors on the test points."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[train], y[train])
    return (model.predict(X[test]) != y[test]).sum()


def compare_to_reported(records, reported, reference):
    """Return one row per data set and method: reported and reproduced errors, and differences.

    ``reproduced_ten`` and ``z_ten`` are from the first ten splits, the number in the paper, and
    ``reproduced`` and ``z`` from all splits. ``z`` is the difference from the reported mean in
    joint standard errors. The paired difference is from the method ``reference`` on the same
    splits. On tables its interval is corrected for the overlap of the splits.
    """
    records_by_key = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for (data_set, method), (reported_mean, reported_deviation) in reported.items():
        runs = sorted(run for d, m, run in records_by_key if (d, m) == (data_set, method))
        if len(runs) < 2:
            continue
        errors = {run: 100 * records_by_key[data_set, method, run]["error"] for run in runs}
        row = {"data_set": data_set, "method": method, "n_runs": len(runs)}
        row |= {"reported": reported_mean, "reported_deviation": reported_deviation}
        for suffix, selected_runs in (("", runs), ("_ten", runs[:N_REPORTED_RUNS])):
            summary = summarise([errors[run] for run in selected_runs])
            row[f"reproduced{suffix}"], row[f"deviation{suffix}"] = summary.mean, summary.deviation
            joint_se = float(
                np.hypot(reported_deviation / N_REPORTED_RUNS**0.5, summary.standard_error)
            )
            row[f"z{suffix}"] = (summary.mean - reported_mean) / joint_se
        sizes = [records_by_key[data_set, method, run]["model_size"] for run in runs]
        row["model_size"] = float(np.mean(sizes))
        common_runs = [run for run in runs if (data_set, reference, run) in records_by_key]
        if method != reference and len(common_runs) > 1:
            reference_errors = [
                100 * records_by_key[data_set, reference, run]["error"] for run in common_runs
            ]
            test_share = None if data_set in GENERATORS else TEST_SHARE
            comparison = compare(
                [errors[run] for run in common_runs], reference_errors, test_share=test_share
            )
            row |= {"difference": comparison.difference}
            row |= {"low": comparison.low, "high": comparison.high}
        rows.append(row)
    return rows


def make_table(rows, reference, *, reported_kernel_counts=None):
    """Return the table of the rows of `compare_to_reported`, one row per data set and method.

    With ``reported_kernel_counts``, the printed numbers of kernels by data set and method, two more
    columns compare them with ours.
    """
    columns = ["data", "method", "reported (%)", "ten splits (%)", "diff. (s.e.)"]
    suffixes = ["_ten"]
    if max(row["n_runs"] for row in rows) > N_REPORTED_RUNS:
        columns, suffixes = [*columns, "all (%)", "diff. (s.e.) "], ["_ten", ""]
    columns.append(f"minus {reference}")
    if reported_kernel_counts:
        columns += ["kernels in paper", "ours"]
    table_rows = []
    for row in rows:
        is_reported = np.isfinite(row["reported"])
        table_row = [row["data_set"], row["method"]]
        table_row.append(
            f"{row['reported']:g} ± {row['reported_deviation']:g}" if is_reported else ""
        )
        for suffix in suffixes:
            table_row.append(f"{row[f'reproduced{suffix}']:.1f} ± {row[f'deviation{suffix}']:.1f}")
            table_row.append(f"{row[f'z{suffix}']:+z.1f}" if is_reported else "")
        table_row.append(f"{row['low']:+z.1f} to {row['high']:+z.1f}" if "low" in row else "")
        if reported_kernel_counts:
            table_row += [
                reported_kernel_counts[row["data_set"]].get(row["method"], ""),
                f"{row['model_size']:.0f}",
            ]
        table_rows.append(table_row)
    return Table(columns, table_rows)
