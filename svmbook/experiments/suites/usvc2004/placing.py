r"""Four ways of placing the prototypes of an unbiased classifier, for 10 to 80 prototypes.

Does careful placement reduce the error? No source prints this table. 30 runs on the eight stripes
of `svmbook.datasets.striated`, 800 new points to train and 4,000 to test, C = 10, gamma = 2. The
four rules share the points of a run. A run also records the mean distance of the test points from
their nearest prototype, how many are within 0.7 of one, and how many of these are misclassified.
"""

import numpy as np
from scipy.spatial.distance import cdist

from ....datasets import striated
from ....tables import Table, plus_minus
from ....unbiased import USVC
from ...methods.protocols import Generated
from ...running.suite import Suite
from ..paired import paired_rows

__all__ = ["DATA_SETS", "METHODS", "SUITE", "division", "placed", "work"]

#: Number of prototypes by data set.
DATA_SETS = {f"stripes-{n}": n for n in (10, 20, 40, 80)}
REFERENCE = "random"
#: Rule of `svmbook.USVC` by method; training points at random are given to it as they are.
METHODS = {REFERENCE: None, "competitive": "fscl", "k-means": "kmeans", "pre-images": "kpca"}
PARAMETERS = {"C": 10.0, "gamma": 2.0}
NEAR = 0.7  # distance at which the kernel has fallen to 0.38


def division(run):
    """Return the training and test points of a run, and a seed for the prototypes.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004.placing import division
    >>> division(3).X_train.shape
    (800, 2)
    """
    return Generated(striated, train=800, test=4000, runs=run + 1)[run]


def placed(method, n_prototypes, parts):
    """Return a classifier with prototypes placed by a rule, not fitted.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004.placing import division, placed
    >>> parts = division(0)
    >>> placed("k-means", 10, parts).fit(parts.X_train, parts.y_train).n_kernels_
    10
    """
    rule = METHODS[method]
    if rule is None:
        drawn = np.random.default_rng(parts.seed).permutation(len(parts.X_train))
        rule = parts.X_train[drawn[:n_prototypes]]
    options = {"prototypes": rule, "n_prototypes": n_prototypes, "random_state": parts.seed}
    return USVC(kernel="rbf", **PARAMETERS, **options)


def work(data_set, method, run):
    """Do one run: place the prototypes, fit, and test."""
    parts = division(run)
    fitted = placed(method, DATA_SETS[data_set], parts).fit(parts.X_train, parts.y_train)
    wrong = fitted.predict(parts.X_test) != parts.y_test
    distances = cdist(parts.X_test, fitted.prototypes_).min(axis=1)
    return {
        "seed": parts.seed,
        "parameters": PARAMETERS,
        "error": round(float(wrong.mean()), 6),
        "model_size": int(fitted.n_kernels_),
        "distance": round(float(distances.mean()), 4),
        "near": int((distances < NEAR).sum()),
        "near_errors": int(wrong[distances < NEAR].sum()),
    }


def _compare(records):
    """Return mean errors and distances, and differences to random placement, paired over runs."""
    units = {"error": 100, "distance": 1}
    return paired_rows(records, DATA_SETS, METHODS, lambda method: REFERENCE, units)


def _layout(rows):
    """Return the table, one line per number of prototypes and rule."""
    lines = []
    for row in rows:
        line = [DATA_SETS[row["data_set"]], row["method"]]
        line.append(plus_minus(row["error"], row["error_se"], ".1f"))
        paired = "difference" in row
        line.append(plus_minus(row["difference"], row["difference_se"], "+.1f") if paired else "")
        lines.append([*line, f"{row['distance']:.2f}"])
    columns = ["prototypes", "placed by", "test error (%)", "minus random", "distance"]
    return Table(columns, lines)


SUITE = Suite(
    name="usvc-placing",
    title="Four ways of placing prototypes, on eight stripes",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    runs=30,
    work=work,
    compare=_compare,
    layout=_layout,
)
