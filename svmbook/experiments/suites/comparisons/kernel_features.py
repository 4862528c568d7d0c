r"""Nystroem and random Fourier features, which approximate a Gaussian kernel by m features.

Question: which of the two needs fewer features for the same test error, and does the better
approximation of the kernel also give the better classifier?

Protocol: each run draws 1,600 training and 4,000 test points from eight stripes, the same points
for all methods, with :math:`\gamma = 2` and :math:`C = 10`. The error of the kernel approximation
is the mean absolute error of its values over all pairs of the first 400 training points.
"""

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from ....datasets import striated
from ....kernels import gaussian
from ....svm import DualSVC
from ....tables import Table, plus_minus
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell, paired_summaries

__all__ = [
    "APPROXIMATE_METHODS",
    "EXACT",
    "FEATURE_COUNTS",
    "FEATURE_MAPS",
    "SUITE",
    "carry_out_run",
    "draw_samples",
    "method_name",
]

C, GAMMA = 10.0, 2.0
EXACT = "exact kernel"
FEATURE_MAPS = {"Nystroem": Nystroem, "Fourier": RBFSampler}
FEATURE_COUNTS = (20, 50, 100, 200, 400)
N_KERNEL_ERROR_POINTS = 400  # training points between which the kernels are compared


def method_name(kind, m):
    """Return the name of the method with m features of the given kind."""
    return f"{kind}, m = {m}"


APPROXIMATE_METHODS = {
    method_name(kind, m): (kind, m) for m in FEATURE_COUNTS for kind in FEATURE_MAPS
}


def draw_samples(run):
    """Return the training points, the test points and the seed of a run."""
    return GeneratedSamples(striated, n_train=1600, n_test=4000, n_runs=run + 1)[run]


def carry_out_run(data_set, method, run):
    """Carry out one run: fit the classifier, and measure its error and that of the kernel."""
    parts = draw_samples(run)
    record = {"seed": parts.seed, "parameters": {"C": C, "gamma": GAMMA}}
    if method == EXACT:
        classifier = SVC(C=C, gamma=GAMMA).fit(parts.X_train, parts.y_train)
        record["model_size"] = int(classifier.n_support_.sum())
    else:
        kind, m = APPROXIMATE_METHODS[method]
        feature_map = FEATURE_MAPS[kind](gamma=GAMMA, n_components=m, random_state=parts.seed)
        classifier = make_pipeline(feature_map, DualSVC(C=C)).fit(parts.X_train, parts.y_train)
        X = parts.X_train[:N_KERNEL_ERROR_POINTS]
        Z = feature_map.transform(X)
        kernel_error = np.abs(Z @ Z.T - gaussian(X, gamma=GAMMA)).mean()
        record |= {"model_size": m, "kernel_error": round(float(kernel_error), 6)}
    error = 1.0 - classifier.score(parts.X_test, parts.y_test)
    return record | {"error": round(float(error), 6)}


def _compare(records):
    """Return mean errors in percent, their paired differences, and mean kernel errors."""
    factors = {"error": 100, "kernel_error": 1}
    rows = comparison_rows(records, SUITE.data_sets, SUITE.methods, lambda _: EXACT, factors)
    for row in rows:
        data_set, method = row["data_set"], row["method"]
        if method == EXACT:
            continue
        kind, m = APPROXIMATE_METHODS[method]
        summaries = paired_summaries(records, data_set, method, method_name("Nystroem", m))
        if kind == "Fourier" and summaries:
            row |= {
                "nystroem_difference": summaries[1].mean,
                "nystroem_difference_se": summaries[1].standard_error,
            }
    return rows


def _make_table(rows):
    """Return the table, one row per method."""
    table_rows = []
    for row in rows:
        kind, m = APPROXIMATE_METHODS.get(row["method"], (EXACT, ""))
        table_row = [kind, f"{m}", plus_minus(row["error"], row["error_se"], ".2f")]
        table_row += [format_cell(row, "difference"), format_cell(row, "nystroem_difference")]
        table_rows.append(
            [*table_row, f"{row['kernel_error']:.2g}" if "kernel_error" in row else ""]
        )
    columns = ["features", "$m$", "error (%)", "minus exact kernel (percentage points)"]
    columns += ["minus Nystroem (percentage points)", "mean absolute error of the kernel values"]
    return Table(columns, table_rows)


SUITE = Suite(
    name="kernel-features",
    title="Nystroem and random Fourier features on eight stripes",
    data_sets=("stripes",),
    methods=(EXACT, *APPROXIMATE_METHODS),
    n_runs=20,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
