"""Training errors of linear classifiers, compared with the smallest possible number.

Navia-Vazquez et al. (2004) have no such comparison; their tables compare classifiers with each
other. Here mixed-integer programming computes the smallest number of training errors for each of
300 samples.
"""

import itertools

import numpy as np
from sklearn.base import clone

from ....logistic import KernelLogisticRegression
from ....solvers import solve_fewest_errors
from ....svm import DualSVC
from ....tables import Table
from ....unbiased import USVC, LeastSquaresClassifier
from ...methods.protocols import run_seed
from ...running.suite import Suite

__all__ = ["GENERATORS", "METHODS", "SUITE", "carry_out_run", "clouds", "distant_cluster"]

MINIMUM = "minimum"
C = 100.0  # so large that the norm of the weights hardly matters
METHODS = {
    "least squares": LeastSquaresClassifier(C=C),
    "logistic": KernelLogisticRegression(lam=1.0 / C, kernel="linear"),
    "SVC": DualSVC(C=C),
    "USVC": USVC(C=C),
    "USVC, ten starts": USVC(C=C, n_init=10),
    "USVC (s = 8), ten starts": USVC(C=C, s=8.0, n_init=10),
}


def clouds(seed):
    """Return 20 to 60 points in two round clouds, one per class.

    The centres of the clouds lie at ``(shift, 0)`` and ``(-shift, 0)``, with a random ``shift``.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004 import fewest_errors
    >>> X, y = fewest_errors.clouds(0)
    >>> 20 <= len(X) <= 60, X.shape[1]
    (True, 2)
    """
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(rng.integers(20, 61)) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    shift = rng.uniform(0.0, 1.5)
    return rng.standard_normal((len(y), 2)) + np.outer(y, [shift, 0.0]), y


def distant_cluster(seed):
    """Return points in two clouds, with a fifth of the positive ones in a distant cluster.

    The cluster lies on the side of the negative class.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004 import fewest_errors
    >>> X, y = fewest_errors.distant_cluster(0)
    >>> set(y) == {-1.0, 1.0}
    True
    """
    X, y = clouds(seed)
    rng = np.random.default_rng([seed, 1])
    moved = np.flatnonzero(y > 0)
    moved = moved[: -(-len(moved) // 5)]
    centre = np.array([-rng.uniform(2.0, 6.0), rng.uniform(-2.0, 2.0)])
    X[moved] = centre + 0.2 * rng.standard_normal((len(moved), 2))
    return X, y


GENERATORS = {"clouds": clouds, "clouds and a distant cluster": distant_cluster}


def carry_out_run(data_set, method, run):
    """Carry out one run: count the training errors of a classifier, or compute the minimum."""
    seed = run_seed(0, run)
    X, y = GENERATORS[data_set](seed)
    record = {"seed": seed, "parameters": {"C": C}}
    if method == MINIMUM:
        minimum = solve_fewest_errors(X, y)
        n_errors = minimum.n_errors
        record["bound"] = minimum.lower_bound
    else:
        model = clone(METHODS[method])
        if isinstance(model, USVC):
            model.set_params(random_state=seed)
        n_errors = int((model.fit(X, y).predict(X) != y).sum())
    record["error"] = round(n_errors / len(y), 6)
    return record | {"model_size": 1, "n_errors": n_errors, "n_points": len(y)}


def _compare(records):
    """Return how often each method reaches the minimum, and its excess errors."""
    n_errors_by_key = {(r["data_set"], r["method"], r["run"]): r["n_errors"] for r in records}
    rows = []
    for data_set, method in itertools.product(GENERATORS, METHODS):
        runs = [run for d, m, run in n_errors_by_key if (d, m) == (data_set, method)]
        runs = [run for run in runs if (data_set, MINIMUM, run) in n_errors_by_key]
        if not runs:
            continue
        excess = np.array(
            [
                n_errors_by_key[data_set, method, run] - n_errors_by_key[data_set, MINIMUM, run]
                for run in runs
            ]
        )
        reached, within_one = (100 * float((excess <= limit).mean()) for limit in (0, 1))
        row = {"data_set": data_set, "method": method, "n_runs": len(runs), "reached": reached}
        row |= {"within_one": within_one, "mean_excess": float(excess.mean())}
        rows.append(row | {"max_excess": int(excess.max())})
    return rows


def _make_table(rows):
    """Return the table, one row per data set and method."""
    columns = ["data", "classifier", "minimum reached (%)", "at most one more (%)"]
    columns += ["excess errors, mean", "largest"]
    table_rows = [
        [
            row["data_set"],
            row["method"],
            f"{row['reached']:.0f}",
            f"{row['within_one']:.0f}",
            f"{row['mean_excess']:.2f}",
            row["max_excess"],
        ]
        for row in rows
    ]
    return Table(columns, table_rows)


SUITE = Suite(
    name="usvc-fewest-errors",
    title="Training errors of linear classifiers, compared with the smallest possible number",
    data_sets=tuple(GENERATORS),
    methods=(MINIMUM, *METHODS),
    n_runs=150,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
