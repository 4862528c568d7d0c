r"""Navia-Vazquez et al. (2004), Table 1, by the algorithm as the paper prints it.

Linear classifiers on the data of `cases`, C = 10: 2,000 iterations of least squares with the
weights of equation (22), by the system (25), which has b, each damped by d = 0.2, without a
test whether the objective falls. Each method names the steepness s of the loss, the weights (as
printed, or without their surplus factor 2), and the start: all weights 1, which is step 0 of the
algorithm, or the SVM, from which the text starts.

Where the iterations do not converge, the last of them is arbitrary, and on about half of these
samples it depends on rounding. So error, threshold and "swing", the largest threshold minus the
smallest, belong to the last 500 iterations; error and threshold are means over them.
"""

import itertools

import numpy as np

from ....losses import unbiased_slope
from ....svm import DualSVC
from ....tables import Table, plus_minus
from ...methods.protocols import Generated
from ...methods.statistics import summarise
from ...running.suite import Suite
from .cases import CASES, REPORTED

__all__ = ["AT_REST", "METHODS", "SUITE", "iterations", "work"]

C, DAMPING, ITERATIONS, LAST = 10.0, 0.2, 2000, 500
SMALLEST = 1e-6  # slack in the denominator of a weight
AT_REST = 1e-4  # a smaller swing of the threshold counts as convergence
#: Steepness, factor of the weights, and start by method.
METHODS = {
    f"s = {s:g}, {weights}, from {start}": (s, factor, start)
    for s, (weights, factor), start in itertools.product(
        (2.0, 4.0),
        {"printed weights": 2.0, "half the weights": 1.0}.items(),
        ("ones", "the SVM"),
    )
}


def iterations(X, y, s, factor, start):
    """Return w and b after each iteration, of shape (2000, d + 1).

    Examples
    --------
    >>> from svmbook.datasets import usvc_case_a
    >>> from svmbook.experiments.suites.usvc2004.as_printed import iterations
    >>> path = iterations(*usvc_case_a(500, random_state=0), 2.0, 1.0, "ones")
    >>> (-path[-1, 1] / path[-1, 0]).round(2)
    np.float64(0.5)
    """
    Z = np.column_stack([X, np.ones(len(y))])
    ridge = np.diag(np.append(np.ones(X.shape[1]), 0.0))
    if start == "ones":
        v = np.linalg.solve(Z.T @ Z + ridge, Z.T @ y)
    else:
        first = DualSVC(C=C).fit(X, y)
        v = np.append(first.coef_[0], first.intercept_)
    path = np.empty((ITERATIONS, len(v)))
    for t in range(ITERATIONS):
        xi = np.maximum(0.0, 1.0 - y * (Z @ v))
        positive = np.maximum(xi, SMALLEST)
        a = np.where(
            xi > 0, -factor * C * unbiased_slope(1.0 - positive, s) / positive, 0.0
        )  # (22)
        new = np.linalg.lstsq(Z.T @ (a[:, None] * Z) + ridge, Z.T @ (a * y), rcond=None)[0]  # (25)
        v = DAMPING * v + (1.0 - DAMPING) * new
        path[t] = v
    return path


def work(data_set, method, run):
    """Do one run: iterate, and look at the last 500 iterations."""
    parts = Generated(CASES[data_set], train=500, test=500, runs=run + 1)[run]
    last = iterations(parts.X_train, parts.y_train, *METHODS[method])[-LAST:]
    w, b = last[:, 0], last[:, 1]
    outputs = parts.X_test * w + b
    thresholds = -b / w
    return {
        "seed": parts.seed,
        "parameters": {"C": C},
        "error": round(float(np.mean((outputs > 0) != (parts.y_test[:, None] > 0))), 6),
        "threshold": round(float(thresholds.mean()), 4),
        "swing": round(float(np.ptp(thresholds)), 4),
        "model_size": 1,
    }


def _compare(records):
    """Return means and deviations, and in how many runs the iterations converge."""
    rows = []
    for data_set, method in itertools.product(CASES, METHODS):
        runs = [r for r in records if (r["data_set"], r["method"]) == (data_set, method)]
        if len(runs) < 2:
            continue
        row = {"data_set": data_set, "method": method, "runs": len(runs)}
        for name, unit in (("error", 100), ("threshold", 1)):
            values = summarise([unit * r[name] for r in runs])
            row |= {name: values.mean, f"{name}_deviation": values.deviation}
        swings = np.array([r["swing"] for r in runs])
        row["converged"] = 100.0 * float(np.mean(swings < AT_REST))
        row["swing"] = float(np.median(swings))
        rows.append(row)
    return rows


def _layout(rows):
    """Return the table, one row per case and method, below what Table 1 prints."""
    columns = ["case", "algorithm", "test error (%)", "threshold", "converged (%)", "median swing"]
    lines = []
    for case, s in itertools.product(CASES, (2, 4)):
        error, spread, *_, threshold, width = REPORTED[case, f"USVC (s = {s})"]
        name = case[-1].upper()
        printed = [plus_minus(error, spread, ".1f"), plus_minus(threshold, width, ".2f")]
        lines.append([name, f"s = {s}, Table 1", *printed, "", ""])
        for row in rows:
            if (row["data_set"], row["method"][4]) == (case, str(s)):
                ours = [
                    plus_minus(row["error"], row["error_deviation"], ".1f"),
                    plus_minus(row["threshold"], row["threshold_deviation"], ".2f"),
                    f"{row['converged']:.0f}",
                    f"{row['swing']:.3f}",
                ]
                lines.append([name, row["method"], *ours])
    return Table(columns, lines)


SUITE = Suite(
    name="usvc-as-printed",
    title="Navia-Vazquez et al. (2004), Table 1, by the algorithm as it is printed",
    data_sets=tuple(CASES),
    methods=tuple(METHODS),
    runs=100,
    work=work,
    compare=_compare,
    layout=_layout,
)
