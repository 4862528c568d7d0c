r"""Tables 5.2 and 5.3 of Lin (2005): infinite against finite ensembles of stumps.

The divisions of Table 5.4. The support vector machine with the stump kernel chooses its price; the
thesis's rivals have nothing to choose: adaptive boosting with 100 and 1,000 rounds, and the linear
program and the support vector machine with a hard margin. Where no ensemble of stumps separates
the training points there is no hard margin; a price as good as infinite takes its place.
"""

import numpy as np

from ....ensembles import AdaBoostStump, LPBoost
from ....svm import DualSVC
from ...methods.grid import grid_run
from ...methods.statistics import compare
from ...running.suite import Suite
from .kernels import (
    DATA_SETS,
    GENERATORS,
    LONG,
    TABLES,
    TEST_SHARE,
    beside,
    by_method,
    cell,
    protocol,
)

__all__ = ["METHODS", "REPORTED", "SUITE", "work"]

METHODS = (
    "SVM-Stump",
    "AdaBoost-Stump, T = 100",
    "AdaBoost-Stump, T = 1000",
    "LPBoost-Stump, hard",
    "SVM-Stump, hard",
)
NEARLY_INFINITE = 1e4

#: Test error in percent and its standard error (Tables 5.2 and 5.3), in the order of `METHODS`.
PRINTED = {
    "twonorm": ((2.86, 0.04), (5.06, 0.06), (4.97, 0.06), (5.54, 0.68), (4.02, 0.06)),
    "threenorm": ((17.7, 0.10), (21.8, 0.09), (22.9, 0.12), (24.1, 0.14), (22.0, 0.13)),
    "ringnorm": ((3.97, 0.07), (12.2, 0.13), (9.95, 0.14), (11.9, 0.15), (4.36, 0.06)),
    "australian": ((14.5, 0.21), (14.7, 0.18), (16.9, 0.18), (19.8, 0.23)),
    "breast": ((3.11, 0.08), (4.27, 0.11), (4.51, 0.11), (4.82, 0.12)),
    "cleveland": ((17.6, 0.21), (19.7, 0.30), (22.5, 0.35), (24.4, 0.34)),
    "diabetes": ((24.2, 0.23), (24.8, 0.22), (27.0, 0.25), (31.4, 0.23)),
    "german": ((24.7, 0.18), (25.0, 0.18), (26.9, 0.18), (32.0, 0.22)),
    "heart": ((16.4, 0.27), (19.9, 0.36), (22.6, 0.39), (24.3, 0.38)),
    "ionosphere": ((8.13, 0.17), (11.0, 0.23), (11.0, 0.25), (11.6, 0.23)),
    "sonar": ((16.6, 0.42), (19.0, 0.37), (19.0, 0.35), (19.7, 0.36)),
    "vote84": ((4.76, 0.14), (4.07, 0.14), (5.29, 0.15), (5.88, 0.16)),
}
PRINTED["ringnorm-near"] = PRINTED["ringnorm"]
UNKNOWN = np.nan, np.nan
REPORTED = {
    (name, method): PRINTED[name][k] if k < len(PRINTED[name]) else UNKNOWN
    for name in DATA_SETS
    for k, method in enumerate(METHODS)
}


def work(data_set, method, run):
    """Do one run: fit, after the choice of a price where there is one, and count the errors."""
    X, y, X_test, y_test, seed = protocol(data_set, runs=run + 1)[run]
    record = {"seed": seed, "parameters": {}}
    if method == "SVM-Stump":
        found = grid_run(X, y, X_test, y_test, seed=seed, kernel="stump", **LONG)
        return record | {key: found[key] for key in ("parameters", "error", "model_size")}
    if method.startswith("AdaBoost"):
        machine = AdaBoostStump(int(method.split()[-1])).fit(X, y)
        labels, size = machine.predict(X_test), machine.n_iter_
    else:
        lp = method.startswith("LP")
        machine, separable = _hard(LPBoost() if lp else DualSVC(kernel="stump"), X, y)
        labels = machine.predict(X_test)
        size = len(machine.hypotheses_ if lp else machine.support_)
        record["separable"] = separable
    error = round(float(np.mean(labels != y_test)), 6)
    return {**record, "error": error, "model_size": int(size)}


def _hard(machine, X, y):
    """Return a machine of the hard margin if there is one, and whether there is."""
    try:
        return machine.set_params(C=np.inf).fit(X, y), True
    except ValueError:  # it says which points no ensemble tells apart
        return machine.set_params(C=NEARLY_INFINITE, tol=1e-4).fit(X, y), False


def _compare(records):
    """Set mean errors beside the reported ones, and pair each with the first method's."""
    of = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for (data_set, method), printed in REPORTED.items():
        runs = sorted(run for d, m, run in of if (d, m) == (data_set, method))
        if len(runs) < 2:
            continue
        mine = [of[data_set, method, run] for run in runs]
        row = {"data_set": data_set, "method": method}
        row |= beside(printed, [100 * r["error"] for r in mine])
        row["size"] = float(np.mean([r["model_size"] for r in mine]))
        row["separable"] = 100 * float(np.mean([r.get("separable", True) for r in mine]))
        both = [run for run in runs if (data_set, METHODS[0], run) in of]
        if method != METHODS[0] and len(both) > 1:
            first = [100 * of[data_set, METHODS[0], run]["error"] for run in both]
            mine = [100 * of[data_set, method, run]["error"] for run in both]
            share = None if data_set in GENERATORS else TEST_SHARE
            found = compare(mine, first, test_share=share)
            row |= {"paired": found.difference, "low": found.low, "high": found.high}
        rows.append(row)
    return rows


def _layout(rows):
    """Return the errors as the thesis lays them out, and below each line what came out."""

    def lines_of(name, here):
        return [
            [name, *(cell(row, "reported") for row in here)],
            ["here", *(cell(row) for row in here)],
        ]

    return by_method(rows, lines_of, "error (%)")


SUITE = Suite(
    name="lin2005-boosting",
    title="Lin (2005), Tables 5.2 and 5.3: infinite and finite ensembles of stumps",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=100,
    work=work,
    compare=_compare,
    layout=_layout,
    tables=TABLES,
)
