r"""Four rules for placing the prototypes of an unbiased classifier, for 10 to 80 prototypes.

Does careful placement reduce the error? This experiment is not a reproduction. Each of 30 runs
draws 800 training and 4,000 test points from the eight stripes of `svmbook.datasets.striated`, the
same for all rules. All classifiers have C = 10 and gamma = 2. A record also has the mean distance
of the test points from their nearest prototype, the number of test points within 0.7 of a
prototype, and how many of these are misclassified.
"""

import numpy as np
from scipy.spatial.distance import cdist

from ....datasets import striated
from ....tables import Table
from ....unbiased import USVC
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell

__all__ = ["DATA_SETS", "METHODS", "SUITE", "carry_out_run", "draw_samples", "make_classifier"]

#: Number of prototypes by data set.
DATA_SETS = {f"stripes-{n}": n for n in (10, 20, 40, 80)}
REFERENCE = "random"
#: Rule of `svmbook.USVC` by method, or None for training points chosen at random.
METHODS = {REFERENCE: None, "competitive": "fscl", "k-means": "kmeans", "pre-images": "kpca"}
PARAMETERS = {"C": 10.0, "gamma": 2.0}
NEAR_DISTANCE = 0.7  # where the kernel has decreased to 0.38


def draw_samples(run):
    """Return the training and test points of a run, and a seed for the prototypes.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004 import prototype_placement
    >>> prototype_placement.draw_samples(3).X_train.shape
    (800, 2)
    """
    return GeneratedSamples(striated, n_train=800, n_test=4000, n_runs=run + 1)[run]


def make_classifier(method, n_prototypes, parts):
    """Return an unfitted classifier with a rule for its prototypes, or with random prototypes.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004 import prototype_placement
    >>> parts = prototype_placement.draw_samples(0)
    >>> model = prototype_placement.make_classifier("k-means", 10, parts)
    >>> model.fit(parts.X_train, parts.y_train).n_kernels_
    10
    """
    prototypes = METHODS[method]
    if prototypes is None:
        order = np.random.default_rng(parts.seed).permutation(len(parts.X_train))
        prototypes = parts.X_train[order[:n_prototypes]]
    options = {"n_prototypes": n_prototypes, "random_state": parts.seed}
    return USVC(kernel="rbf", prototypes=prototypes, **PARAMETERS, **options)


def carry_out_run(data_set, method, run):
    """Carry out one run: place the prototypes, fit, and test."""
    parts = draw_samples(run)
    model = make_classifier(method, DATA_SETS[data_set], parts).fit(parts.X_train, parts.y_train)
    is_error = model.predict(parts.X_test) != parts.y_test
    distances = cdist(parts.X_test, model.prototypes_).min(axis=1)
    is_near = distances < NEAR_DISTANCE
    return {
        "seed": parts.seed,
        "parameters": PARAMETERS,
        "error": round(float(is_error.mean()), 6),
        "model_size": int(model.n_kernels_),
        "mean_distance": round(float(distances.mean()), 4),
        "n_near": int(is_near.sum()),
        "n_near_errors": int(is_error[is_near].sum()),
    }


def _compare(records):
    """Return mean errors and distances, and differences from random placement, paired over runs."""
    factors = {"error": 100, "mean_distance": 1}
    return comparison_rows(records, DATA_SETS, METHODS, lambda method: REFERENCE, factors)


def _make_table(rows):
    """Return the table, one row per number of prototypes and rule."""
    table_rows = []
    for row in rows:
        table_row = [DATA_SETS[row["data_set"]], row["method"]]
        table_row += [format_cell(row, "error", ".1f"), format_cell(row, format_spec="+.1f")]
        table_rows.append([*table_row, f"{row['mean_distance']:.2f}"])
    columns = ["prototypes", "placed by", "test error (%)", "minus random", "distance"]
    return Table(columns, table_rows)


SUITE = Suite(
    name="usvc-placing",
    title="Four rules for placing prototypes, on eight stripes",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    n_runs=30,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
