r"""Navia-Vazquez et al. (2004), Table 1, by the algorithm as the paper prints it.

The data are those of `cases`. Linear classifiers with C = 10 are fitted by 2,000 iterations of
weighted least squares, with the weights of equation (22) and the system (25), which includes b.
Each iteration is damped by d = 0.2, without a test that the objective decreases. The name of a
method states the steepness s of the loss, the weights (as printed, or without their superfluous
factor 2), and the starting point: unit weights, as in step 0 of the algorithm, or the SVM, as in
the text.

If the iterations do not converge, the last iterate is arbitrary, and for about half of these
samples it depends on rounding. Errors and thresholds are therefore means over the last 500
iterations. The field "threshold_range" is the range of the threshold in these iterations.
"""

import itertools

import numpy as np

from ....losses import usvc_slope
from ....svm import DualSVC
from ....tables import Table, plus_minus
from ...methods.protocols import GeneratedSamples
from ...methods.statistics import summarise
from ...running.suite import Suite
from ..paired import group_runs
from .cases import CASES, REPORTED

__all__ = ["METHODS", "RANGE_TOL", "SUITE", "carry_out_run", "iterates"]

C, DAMPING, N_ITERATIONS, N_AVERAGED = 10.0, 0.2, 2000, 500
MIN_SLACK = 1e-6  # in the denominator of a weight
RANGE_TOL = 1e-4  # iterations with a smaller range of the threshold have converged
#: Steepness, factor of the weights, and starting point by method.
METHODS = {
    f"s = {s:g}, {weights}, from {start}": (s, weight_factor, start)
    for s, (weights, weight_factor), start in itertools.product(
        (2.0, 4.0),
        {"printed weights": 2.0, "half the weights": 1.0}.items(),
        ("ones", "the SVM"),
    )
}


def iterates(X, y, s, weight_factor, start):
    """Return w and b after each iteration, of shape (2000, d + 1).

    Examples
    --------
    >>> from svmbook.datasets import usvc_case_a
    >>> from svmbook.experiments.suites.usvc2004.as_printed import iterates
    >>> path = iterates(*usvc_case_a(500, random_state=0), 2.0, 1.0, "ones")
    >>> (-path[-1, 1] / path[-1, 0]).round(2)
    np.float64(0.5)
    """
    Z = np.column_stack([X, np.ones(len(y))])
    ridge = np.diag(np.append(np.ones(X.shape[1]), 0.0))
    # v has the weights w, followed by the intercept b.
    if start == "ones":
        v = np.linalg.solve(Z.T @ Z + ridge, Z.T @ y)
    else:
        svm = DualSVC(C=C).fit(X, y)
        v = np.append(svm.coef_[0], svm.intercept_)
    path = np.empty((N_ITERATIONS, len(v)))
    for t in range(N_ITERATIONS):
        xi = np.maximum(0.0, 1.0 - y * (Z @ v))
        clipped_slack = np.maximum(xi, MIN_SLACK)
        slope = usvc_slope(1.0 - clipped_slack, s)
        a = np.where(xi > 0, -weight_factor * C * slope / clipped_slack, 0.0)  # (22)
        solution = np.linalg.lstsq(Z.T @ (a[:, None] * Z) + ridge, Z.T @ (a * y), rcond=None)[
            0
        ]  # (25)
        v = DAMPING * v + (1.0 - DAMPING) * solution
        path[t] = v
    return path


def carry_out_run(data_set, method, run):
    """Carry out one run: iterate, and summarise the last 500 iterations."""
    parts = GeneratedSamples(CASES[data_set], n_train=500, n_test=500, n_runs=run + 1)[run]
    last_iterates = iterates(parts.X_train, parts.y_train, *METHODS[method])[-N_AVERAGED:]
    w, b = last_iterates[:, 0], last_iterates[:, 1]
    outputs = parts.X_test * w + b
    thresholds = -b / w
    return {
        "seed": parts.seed,
        "parameters": {"C": C},
        "error": round(float(np.mean((outputs > 0) != (parts.y_test[:, None] > 0))), 6),
        "threshold": round(float(thresholds.mean()), 4),
        "threshold_range": round(float(np.ptp(thresholds)), 4),
        "model_size": 1,
    }


def _compare(records):
    """Return means and standard deviations, and the percentage of runs that converge."""
    rows = []
    for row, run_records in group_runs(records, CASES, METHODS, min_runs=2):
        for name, factor in (("error", 100), ("threshold", 1)):
            summary = summarise([factor * r[name] for r in run_records])
            row |= {name: summary.mean, f"{name}_deviation": summary.deviation}
        ranges = np.array([r["threshold_range"] for r in run_records])
        row["converged_percent"] = 100.0 * float(np.mean(ranges < RANGE_TOL))
        row["median_range"] = float(np.median(ranges))
        rows.append(row)
    return rows


def _make_table(rows):
    """Return the table, one row per case and method, below the rows of Table 1."""
    columns = ["case", "algorithm", "test error (%)", "threshold", "converged (%)", "median range"]
    table_rows = []
    for case, s in itertools.product(CASES, (2, 4)):
        reported = REPORTED[case, f"USVC (s = {s})"]
        cells = [plus_minus(*reported[:2], ".1f"), plus_minus(*reported[4:], ".2f")]
        case_letter = case[-1].upper()
        table_rows.append([case_letter, f"s = {s}, Table 1", *cells, "", ""])
        for row in rows:
            if (row["data_set"], row["method"][4]) == (case, str(s)):
                cells = [
                    plus_minus(row["error"], row["error_deviation"], ".1f"),
                    plus_minus(row["threshold"], row["threshold_deviation"], ".2f"),
                    f"{row['converged_percent']:.0f}",
                    f"{row['median_range']:.3f}",
                ]
                table_rows.append([case_letter, row["method"], *cells])
    return Table(columns, table_rows)


SUITE = Suite(
    name="usvc-as-printed",
    title="Navia-Vazquez et al. (2004), Table 1, by the algorithm as printed",
    data_sets=tuple(CASES),
    methods=tuple(METHODS),
    n_runs=100,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
