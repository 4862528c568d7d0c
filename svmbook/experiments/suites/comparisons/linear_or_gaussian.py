"""Linear and Gaussian support vector machines compared on real tables.

The study uses every table of `svmbook.datasets.manifest` that is not a copy or a part of another,
and the tables "wdbc" and "digits" of scikit-learn. None was selected by its results. Ten runs
search for differences, and ten runs on new splits confirm them, because the largest of 21 observed
differences tends to overestimate the true one.
"""

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ....datasets import load, manifest
from ....tables import Table
from ...methods.grid_search import run_svm_with_tuning
from ...methods.multiple_comparisons import holm
from ...methods.protocols import run_seed
from ...methods.statistics import PracticalDifference, compare, practical_difference
from ...running.suite import Suite

__all__ = [
    "C_GRIDS",
    "METHODS",
    "N_SEARCH_RUNS",
    "SCALED_GAMMAS",
    "SUITE",
    "TABLES",
    "carry_out_run",
    "practical_verdict",
    "split",
]

N_SEARCH_RUNS = 10  # runs that search for differences; as many further runs confirm them
TRAIN_SHARE, MAX_ROWS = 0.7, 1000  # share of training rows; largest number of rows of a run
TEST_SHARE = 1.0 - TRAIN_SHARE

#: Tables that are left out because they share rows with others: "breast_id" is "breast" with a
#: column of sample numbers, "image" is "segment" with two classes, and "heart" is a part of
#: "cleveland".
OVERLAPPING_TABLES = ("breast_id", "heart", "image")
TABLES = {name: name for name in manifest() if name not in OVERLAPPING_TABLES}
BUNDLED_TABLES = ("wdbc", "digits")
METHODS = {"linear": "linear", "gaussian": "rbf"}
C_GRIDS = {"linear": tuple(2.0**k for k in range(-9, 4, 2))}
C_GRIDS["gaussian"] = tuple(2.0**k for k in range(-3, 10, 2))
SCALED_GAMMAS = tuple(2.0**k for k in range(-5, 4, 2))  # gamma times the number of features


def split(data_set, run):
    """Return the training and test points of a run, standardised by the training points.

    Rows with missing values are left out, then classes with fewer than ten rows.

    Examples
    --------
    >>> from svmbook.experiments.suites.comparisons import linear_or_gaussian
    >>> X, y, X_test, y_test = linear_or_gaussian.split("wdbc", run=0)
    >>> X.shape, X_test.shape
    ((398, 30), (171, 30))
    """
    table = load(data_set)
    is_complete = np.isfinite(table.data).all(axis=1)
    X, y = table.data[is_complete], table.target[is_complete]
    _, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
    in_large_class = (counts >= 10)[inverse]
    X, y = X[in_large_class], y[in_large_class]
    n_rows = min(len(y), MAX_ROWS)
    n_train = int(TRAIN_SHARE * n_rows)
    options = {"stratify": y, "random_state": run_seed(0, run)}
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n_train, test_size=n_rows - n_train, **options
    )
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def carry_out_run(data_set, method, run):
    """Carry out one run: choose parameters by 5-fold cross-validation, fit, and test."""
    X, y, X_test, y_test = split(data_set, run)
    grid = {"kernel": METHODS[method], "C": C_GRIDS[method]}
    if method == "gaussian":
        grid["gamma"] = [scaled_gamma / X.shape[1] for scaled_gamma in SCALED_GAMMAS]
    fields = run_svm_with_tuning(X, y, X_test, y_test, seed=run_seed(0, run, purpose=1), **grid)
    return {"seed": run_seed(0, run), "n_train": len(y), "n_test": len(y_test), **fields}


def _compare(records):
    """Compare the two kernels on the runs of the search and on the confirming runs.

    The p values of the search are corrected for the number of tables by Holm's method. The
    probabilities of a practical difference, larger than one percentage point, are computed from the
    confirming runs. A table with fewer than two runs of either kind is left out.
    """
    records_by_key = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for data_set in (*TABLES, *BUNDLED_TABLES):
        runs = [
            k
            for k in range(2 * N_SEARCH_RUNS)
            if all((data_set, m, k) in records_by_key for m in METHODS)
        ]
        is_search = np.array(runs) < N_SEARCH_RUNS
        if min(is_search.sum(), (~is_search).sum()) < 2:
            continue
        linear, gaussian = (
            np.array([100 * records_by_key[data_set, method, run]["error"] for run in runs])
            for method in METHODS
        )
        # For tables of more than a thousand rows the correction is conservative, because the
        # training sets of two runs share fewer rows.
        search_result, confirmation_result = (
            compare(gaussian[mask], linear[mask], test_share=TEST_SHARE)
            for mask in (is_search, ~is_search)
        )
        practical_result = practical_difference(
            gaussian[~is_search], linear[~is_search], test_share=TEST_SHARE
        )
        first_record = records_by_key[data_set, "linear", runs[0]]
        rows.append(
            {
                "data_set": data_set,
                "method": "gaussian - linear",
                "n_runs": len(runs),
                "n_train": first_record["n_train"],
                "n_test": first_record["n_test"],
                "linear": float(linear.mean()),
                "gaussian": float(gaussian.mean()),
                "search_difference": search_result.difference,
                "p": search_result.p,
                "confirmation_difference": confirmation_result.difference,
                "confirmation_low": confirmation_result.low,
                "confirmation_high": confirmation_result.high,
            }
            | practical_result._asdict()
        )
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = p
    return rows


def practical_verdict(row):
    """Return the verdict on the Gaussian kernel: better, equivalent, worse or undecided.

    Differences of at most one percentage point count as equivalent.
    """
    return PracticalDifference(*(row[name] for name in PracticalDifference._fields)).verdict


def _make_table(rows):
    """Return one row per table, the largest improvement by the Gaussian kernel first."""
    columns = ["table", "rows", "linear (%)", "Gaussian (%)"]
    columns += ["difference in search", "$p$ (Holm)", "difference in fresh runs", "verdict"]
    table_rows = [
        [
            row["data_set"],
            row["n_train"] + row["n_test"],
            f"{row['linear']:.1f}",
            f"{row['gaussian']:.1f}",
            f"{row['search_difference']:+z.1f}",
            f"{row['p_holm']:.2g}" if row["p_holm"] >= 0.001 else "below 0.001",
            f"{row['confirmation_difference']:+z.1f} "
            f"({row['confirmation_low']:+z.1f} to {row['confirmation_high']:+z.1f})",
            practical_verdict(row),
        ]
        for row in sorted(rows, key=lambda row: row["confirmation_difference"])
    ]
    return Table(columns, table_rows)


SUITE = Suite(
    name="linear-or-gaussian",
    title="The linear and the Gaussian kernel compared on every table",
    data_sets=(*TABLES, *BUNDLED_TABLES),
    methods=tuple(METHODS),
    n_runs=2 * N_SEARCH_RUNS,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
    data_tables=TABLES,
)
