"""How near machines come to the fewest errors that a line can make: three hundred sets of points.

The source has no such figure: its tables compare machines with each other. Here the smallest number
of training errors is known for each set, by mixed integer programming.
"""

import numpy as np
from sklearn.base import clone

from ....logistic import KernelLogisticRegression
from ....solvers import solve_fewest_errors
from ....svm import DualSVC
from ....tables import Table
from ....unbiased import USVC, LeastSquaresClassifier
from ...methods.protocols import run_seed
from ...running.suite import Suite

__all__ = ["DRAWS", "METHODS", "SUITE", "clouds", "clouds_and_a_clump", "work"]

MINIMUM = "fewest possible"
PRICE = 100.0  # of one error: the street hardly counts beside it
METHODS = {
    "least squares": LeastSquaresClassifier(C=PRICE),
    "logistic": KernelLogisticRegression(lam=1.0 / PRICE, kernel="linear"),
    "SVC": DualSVC(C=PRICE),
    "USVC": USVC(C=PRICE),
    "USVC, ten starts": USVC(C=PRICE, n_init=10),
    "USVC (s = 8), ten starts": USVC(C=PRICE, s=8.0, n_init=10),
}


def clouds(seed):
    """Return 20 to 60 points in the plane: two round clouds, near or far, each with its label.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004.oracle import clouds
    >>> X, y = clouds(0)
    >>> 20 <= len(X) <= 60, X.shape[1]
    (True, 2)
    """
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(rng.integers(20, 61)) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    away = rng.uniform(0.0, 1.5)
    return rng.standard_normal((len(y), 2)) + np.outer(y, [away, 0.0]), y


def clouds_and_a_clump(seed):
    """Return such points, a fifth of the positive ones in a clump deep on the other side.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004.oracle import clouds_and_a_clump
    >>> X, y = clouds_and_a_clump(0)
    >>> set(y) == {-1.0, 1.0}
    True
    """
    X, y = clouds(seed)
    rng = np.random.default_rng([seed, 1])
    moved = np.flatnonzero(y > 0)
    moved = moved[: -(-len(moved) // 5)]
    place = np.array([-rng.uniform(2.0, 6.0), rng.uniform(-2.0, 2.0)])
    X[moved] = place + 0.2 * rng.standard_normal((len(moved), 2))
    return X, y


DRAWS = {"clouds": clouds, "clouds and a clump": clouds_and_a_clump}


def work(data_set, method, run):
    """Do one run: count the training errors of a machine, or find the fewest."""
    seed = run_seed(0, run)
    X, y = DRAWS[data_set](seed)
    if method == MINIMUM:
        found = solve_fewest_errors(X, y)
        errors, more = found.errors, {"bound": found.bound}
    else:
        machine = clone(METHODS[method])
        if isinstance(machine, USVC):
            machine.set_params(random_state=seed)
        errors, more = int((machine.fit(X, y).predict(X) != y).sum()), {}
    row = {"seed": seed, "parameters": {"C": PRICE}, "error": round(errors / len(y), 6)}
    return row | {"model_size": 1, "errors": errors, "points": len(y)} | more


def _compare(records):
    """Return how often each machine reaches the fewest errors, and by how many it misses them."""
    of = {(r["data_set"], r["method"], r["run"]): r["errors"] for r in records}
    rows = []
    for data_set in DRAWS:
        for method in METHODS:
            runs = [r for d, m, r in of if (d, m) == (data_set, method)]
            runs = [r for r in runs if (data_set, MINIMUM, r) in of]
            more = [of[data_set, method, r] - of[data_set, MINIMUM, r] for r in runs]
            if not more:
                continue
            shares = [100 * float(np.mean(np.array(more) <= limit)) for limit in (0, 1)]
            row = {"data_set": data_set, "method": method, "runs": len(runs), "reached": shares[0]}
            row |= {"within_one": shares[1], "more": float(np.mean(more)), "most": max(more)}
            rows.append(row)
    return rows


def _layout(rows):
    """Return the table, a line a machine."""
    columns = ["sets", "machine", "reaches the fewest (%)", "or one more (%)"]
    columns += ["errors more, mean", "at most"]
    lines = [
        [
            row["data_set"],
            row["method"],
            f"{row['reached']:.0f}",
            f"{row['within_one']:.0f}",
            f"{row['more']:.2f}",
            row["most"],
        ]
        for row in rows
    ]
    return Table(columns, lines)


SUITE = Suite(
    name="usvc-oracle",
    title="The fewest errors of a line, and how near machines come to it",
    data_sets=tuple(DRAWS),
    methods=(MINIMUM, *METHODS),
    runs=150,
    work=work,
    compare=_compare,
    layout=_layout,
)
