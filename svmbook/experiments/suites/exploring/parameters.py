"""The parameter study of *Exploring Classification* (its Figure 4), over many seeds.

For each data set and kernel: draw three parts of 400 points, fit on the first with every
parameter pair of the grid, keep the pair with the smallest error on the second, and report the
number of support vectors and the error on the third.
"""

from functools import partial
from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from ....datasets import non_separable, stdev, three_parts
from ....svm import DualSVC
from ....tables import Table, plus_minus
from ...methods.statistics import most_frequent, summarise
from ...running.suite import Suite

__all__ = [
    "C_GRID",
    "DATA_SETS",
    "GAMMA_GRID",
    "METHODS",
    "REPORTED",
    "SUITE",
    "candidates",
    "parameter_study",
]

DATA_SETS = {
    "stdev1": partial(stdev, 1),
    "stdev2": partial(stdev, 2),
    "stdev4": partial(stdev, 4),
    "nonSep": non_separable,
}
METHODS = ("gaussian", "linear")
C_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
GAMMA_GRID = (0.01, 0.1, 1.0, 10.0)

#: Parameters, support vectors and test error in percent, of one run (Figure 4).
REPORTED = {
    ("stdev1", "linear"): ((10,), 3, 0.0),
    ("stdev2", "linear"): ((0.01,), 125, 7.25),
    ("stdev4", "linear"): ((0.01,), 249, 22.0),
    ("nonSep", "linear"): ((1,), 392, 49.5),
    ("stdev1", "gaussian"): ((1, 0.1), 22, 0.25),
    ("stdev2", "gaussian"): ((0.01, 0.1), 400, 6.0),
    ("stdev4", "gaussian"): ((0.01, 0.01), 100, 21.75),
    ("nonSep", "gaussian"): ((10, 1), 99, 5.0),
}


def candidates(kernel):
    """Yield the machines among which the study chooses, the simplest first.

    Examples
    --------
    >>> from svmbook.experiments.suites.exploring.parameters import candidates
    >>> [C for C, gamma, machine in candidates("linear")]
    [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    _check_name(kernel, "kernel", METHODS)
    for C in C_GRID:
        if kernel == "linear":
            yield C, None, DualSVC(C=C)
        else:
            for gamma in GAMMA_GRID:
                yield C, gamma, DualSVC(C=C, kernel="rbf", gamma=gamma, solver="libsvm")


def parameter_study(data_set, kernel, run):
    """Choose the parameters of one machine on validation error and measure its test error.

    Parameters
    ----------
    data_set : {"stdev1", "stdev2", "stdev4", "nonSep"}
        Which generator.
    kernel : {"gaussian", "linear"}
        Which kernel; the linear one has no width to choose.
    run : int
        Number of the run, not negative, and the seed of its three parts.

    Returns
    -------
    dict
        ``seed, parameters, error, model_size`` (support vectors), ``validation_error``, the errors
        as fractions of 400 points; among equal validation errors the smallest ``C``, then the
        smallest ``gamma``, wins.

    Raises
    ------
    ValueError, TypeError
        An unknown data set or kernel, or a run that is not an integer of at least 0.

    Notes
    -----
    A validation point at the boundary may change sides between two builds of NumPy, and with it the
    choice where two pairs are one error apart.

    Examples
    --------
    >>> from svmbook.experiments.suites.exploring import parameters
    >>> outcome = parameters.parameter_study("stdev2", "linear", run=0)
    >>> list(outcome["parameters"]), round(outcome["error"], 1)
    (['C'], 0.1)
    """
    _check_name(data_set, "data_set", DATA_SETS)
    _check_name(kernel, "kernel", METHODS)
    check_scalar(run, "run", Integral, min_val=0)
    parts = three_parts(DATA_SETS[data_set], random_state=run)
    best = None
    for C, gamma, machine in candidates(kernel):
        wrong = _error_rate(machine.fit(*parts.train), *parts.validation)
        if best is None or wrong < best[0]:
            best = wrong, C, gamma, machine
    wrong, C, gamma, machine = best
    return {
        "seed": int(run),
        "parameters": {"C": C} if gamma is None else {"C": C, "gamma": gamma},
        "error": round(_error_rate(machine, *parts.test), 6),
        "model_size": len(machine.support_),
        "validation_error": round(wrong, 6),
    }


def _compare(records):
    """Set all runs beside the one that was reported; ``z`` is in standard deviations of a run."""
    rows = []
    for (data_set, method), (parameters, support_vectors, error) in REPORTED.items():
        runs = [r for r in records if (r["data_set"], r["method"]) == (data_set, method)]
        if not runs:
            continue
        chosen, times = most_frequent(tuple(r["parameters"].values()) for r in runs)
        ours = summarise([100 * r["error"] for r in runs])
        rows.append(
            {
                "data_set": data_set,
                "method": method,
                "runs": ours.runs,
                "reported_parameters": parameters,
                "chosen": chosen,
                "chosen_runs": times,
                "reported_support_vectors": support_vectors,
                "support_vectors": np.percentile(
                    [r["model_size"] for r in runs], [25, 50, 75]
                ).tolist(),
                "reported": error,
                "reproduced": ours.mean,
                "deviation": ours.deviation,
                "z": (ours.mean - error) / ours.deviation if ours.deviation else float("nan"),
            }
        )
    return rows


def _layout(rows):
    """Return the table as the source lays it out, with what came out."""
    columns = ["data", "kernel", r"$C$, $\gamma$ reported", "most frequent (runs)"]
    columns += ["support vectors reported", "median (middle half)"]
    columns += ["test error (%) reported", "mean ± s.d."]
    lines = []
    for row in rows:
        low, median, high = row["support_vectors"]
        lines.append(
            [
                row["data_set"],
                row["method"],
                ", ".join(f"{value:g}" for value in row["reported_parameters"]),
                ", ".join(f"{value:g}" for value in row["chosen"]) + f" ({row['chosen_runs']})",
                row["reported_support_vectors"],
                f"{median:.0f} ({low:.0f} to {high:.0f})",
                row["reported"],
                plus_minus(row["reproduced"], row["deviation"]),
            ]
        )
    return Table(columns, lines)


SUITE = Suite(
    name="exploring-parameters",
    title="Exploring Classification, Figure 4: parameters chosen on validation error",
    data_sets=tuple(DATA_SETS),
    methods=METHODS,
    runs=50,
    work=parameter_study,
    compare=_compare,
    layout=_layout,
)


def _error_rate(machine, X, y):
    """Return the fraction of points on which a fitted machine errs."""
    return float((machine.predict(X) != y).mean())


def _check_name(value, name, known):
    if value not in known:
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(known)}.")
