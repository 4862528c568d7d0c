"""Does a Gaussian kernel pay on real tables? The linear machine against it on each table at hand.

Every classical table, and the two larger ones that scikit-learn carries, with nothing chosen by
their results. Half of the runs are the search; the other half, on fresh divisions, looks again at
what the search has found. Whoever tries twenty tables finds the best of them too good.
"""

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ....datasets import load, manifest
from ....tables import Table
from ...methods.grid import grid_run
from ...methods.multiple import holm
from ...methods.protocols import run_seed
from ...methods.statistics import PracticalDifference, compare, practical_difference
from ...running.suite import Suite

__all__ = [
    "C_GRID",
    "METHODS",
    "SEARCH",
    "SUITE",
    "TABLES",
    "WIDTHS",
    "by_one_point",
    "split",
    "work",
]

SEARCH = 10  # runs that search; as many more confirm
TRAIN_SHARE, MOST = 0.7, 1000  # rows of a table that a run uses
TEST_SHARE = 1.0 - TRAIN_SHARE

#: Three more hold rows of these: "breast_id" has a column that numbers the samples, "image" is
#: "segment" with two classes, and each row of "heart" is a row of "cleveland".
SAME_ROWS = ("breast_id", "heart", "image")
TABLES = {name: name for name in manifest() if name not in SAME_ROWS}
BUNDLED = ("wdbc", "digits")
METHODS = {"linear": "linear", "gaussian": "rbf"}
C_GRID = {"linear": tuple(2.0**k for k in range(-9, 4, 2))}
C_GRID["gaussian"] = tuple(2.0**k for k in range(-3, 10, 2))
WIDTHS = tuple(2.0**k for k in range(-5, 4, 2))  # gamma times the number of features


def split(data_set, run):
    """Return training and test points of a run, standardised by the training points.

    Rows with an empty cell are left out, then classes of fewer than ten rows.

    Examples
    --------
    >>> from svmbook.experiments.suites.comparisons import linear_or_gaussian
    >>> X, y, X_test, y_test = linear_or_gaussian.split("wdbc", run=0)
    >>> X.shape, X_test.shape
    ((398, 30), (171, 30))
    """
    table = load(data_set)
    complete = np.isfinite(table.data).all(axis=1)
    X, y = table.data[complete], table.target[complete]
    _, of_row, counts = np.unique(y, return_inverse=True, return_counts=True)
    large = (counts >= 10)[of_row]
    X, y = X[large], y[large]
    seed = run_seed(0, run)
    rows = min(len(y), MOST)
    sizes = {"train_size": int(TRAIN_SHARE * rows), "test_size": rows - int(TRAIN_SHARE * rows)}
    X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=seed, **sizes)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def work(data_set, method, run):
    """Do one run: choose the parameters by five folds, fit, and count the errors."""
    X, y, X_test, y_test = split(data_set, run)
    grid = {"kernel": METHODS[method], "C": C_GRID[method]}
    if method == "gaussian":
        grid["gamma"] = [width / X.shape[1] for width in WIDTHS]
    found = grid_run(X, y, X_test, y_test, seed=run_seed(0, run, purpose=1), **grid)
    return {"seed": run_seed(0, run), "train": len(y), "test": len(y_test), **found}


def _compare(records):
    """Pair the two kernels, first on the runs that search, then on those that confirm.

    The p values of the search are those of all tables together, corrected by Holm. The verdict says
    whether the runs that confirm show a difference of more than one point. A table with fewer than
    two runs of either kind is left out.
    """
    of = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for data_set in (*TABLES, *BUNDLED):
        both = [run for run in range(2 * SEARCH) if all((data_set, m, run) in of for m in METHODS)]
        search = np.array(both) < SEARCH
        if min(search.sum(), (~search).sum()) < 2:
            continue
        linear, gaussian = (
            np.array([100 * of[data_set, method, run]["error"] for run in both])
            for method in METHODS
        )
        # Of a table with more than a thousand rows two runs share fewer than it is corrected for.
        searched, confirmed = (
            compare(gaussian[part], linear[part], test_share=TEST_SHARE)
            for part in (search, ~search)
        )
        practical = practical_difference(gaussian[~search], linear[~search], test_share=TEST_SHARE)
        first = of[data_set, "linear", both[0]]
        rows.append(
            {
                "data_set": data_set,
                "method": "gaussian - linear",
                "runs": len(both),
                "train": first["train"],
                "test": first["test"],
                "linear": float(linear.mean()),
                "gaussian": float(gaussian.mean()),
                "search": searched.difference,
                "p": searched.p,
                "fresh": confirmed.difference,
                "fresh_low": confirmed.low,
                "fresh_high": confirmed.high,
            }
            | practical._asdict()
        )
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = p
    return rows


def by_one_point(row):
    """Return whether the Gaussian kernel is better, equivalent or worse, by more than a point."""
    return PracticalDifference(*(row[name] for name in PracticalDifference._fields)).verdict


def _layout(rows):
    """Return one row per table, the largest gain of the Gaussian kernel first."""
    columns = ["table", "to train", "to test", "linear (%)", "Gaussian (%)"]
    columns += ["difference, search", "$p$ (Holm)", "difference, fresh", "by one point"]
    lines = [
        [
            row["data_set"],
            row["train"],
            row["test"],
            f"{row['linear']:.1f}",
            f"{row['gaussian']:.1f}",
            f"{row['search']:+z.1f}",
            f"{row['p_holm']:.2g}" if row["p_holm"] >= 0.001 else "below 0.001",
            f"{row['fresh']:+z.1f} ({row['fresh_low']:+z.1f} to {row['fresh_high']:+z.1f})",
            by_one_point(row),
        ]
        for row in sorted(rows, key=lambda row: row["fresh"])
    ]
    return Table(columns, lines)


SUITE = Suite(
    name="linear-or-gaussian",
    title="The linear against the Gaussian kernel on every table",
    data_sets=(*TABLES, *BUNDLED),
    methods=tuple(METHODS),
    runs=2 * SEARCH,
    work=work,
    compare=_compare,
    layout=_layout,
    tables=TABLES,
)
