"""The parameter study of *Exploring Classification* (its Figure 4), repeated with many seeds.

Each run draws three samples of 400 points. It fits a classifier on the first sample for each point
of the grid, and chooses the one with the smallest error on the second. It records the number of
support vectors and the error on the third sample.
"""

from functools import partial
from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from ....datasets import draw_split, non_separable, stdev
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
    "carry_out_run",
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

#: Parameters, number of support vectors and test error in percent of the one reported run.
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
    """Yield C, gamma and the classifier for each point of the grid, in ascending order.

    Examples
    --------
    >>> from svmbook.experiments.suites.exploring.parameters import candidates
    >>> [C for C, gamma, model in candidates("linear")]
    [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    _check_choice(kernel, "kernel", METHODS)
    for C in C_GRID:
        if kernel == "linear":
            yield C, None, DualSVC(C=C)
        else:
            for gamma in GAMMA_GRID:
                yield C, gamma, DualSVC(C=C, kernel="rbf", gamma=gamma, solver="libsvm")


def carry_out_run(data_set, kernel, run):
    """Choose the parameters of a classifier by validation error, and measure its test error.

    Parameters
    ----------
    data_set : {"stdev1", "stdev2", "stdev4", "nonSep"}
        Name of the generator.
    kernel : {"gaussian", "linear"}
        Name of the kernel; only the Gaussian kernel has a gamma.
    run : int
        Number of the run, not negative, which is also the seed of the three samples.

    Returns
    -------
    dict
        ``seed``, ``parameters``, ``error``, ``model_size`` (the number of support vectors) and
        ``validation_error``; errors are fractions. Ties of the validation error are broken by the
        smallest ``C``, then by the smallest ``gamma``.

    Raises
    ------
    ValueError, TypeError
        The data set or kernel is unknown, or `run` is not a non-negative integer.

    Notes
    -----
    Two builds of NumPy may classify a validation point at the boundary differently. This can change
    the choice if the numbers of validation errors differ by one.

    Examples
    --------
    >>> from svmbook.experiments.suites.exploring import parameters
    >>> outcome = parameters.carry_out_run("stdev2", "linear", run=0)
    >>> list(outcome["parameters"]), round(outcome["error"], 1)
    (['C'], 0.1)
    """
    _check_choice(data_set, "data_set", DATA_SETS)
    _check_choice(kernel, "kernel", METHODS)
    check_scalar(run, "run", Integral, min_val=0)
    parts = draw_split(DATA_SETS[data_set], random_state=run)
    best = None
    for C, gamma, model in candidates(kernel):
        error = _error_rate(model.fit(*parts.train), *parts.validation)
        if best is None or error < best[0]:
            best = error, C, gamma, model
    error, C, gamma, model = best
    return {
        "seed": int(run),
        "parameters": {"C": C} if gamma is None else {"C": C, "gamma": gamma},
        "error": round(_error_rate(model, *parts.test), 6),
        "model_size": len(model.support_),
        "validation_error": round(error, 6),
    }


def _compare(records):
    """Compare all runs with the reported run; ``z`` is in standard deviations of one run."""
    rows = []
    for (data_set, method), reported_results in REPORTED.items():
        reported_parameters, reported_size, reported_error = reported_results
        run_records = [r for r in records if (r["data_set"], r["method"]) == (data_set, method)]
        if not run_records:
            continue
        chosen_parameters, n_chosen = most_frequent(
            tuple(r["parameters"].values()) for r in run_records
        )
        summary = summarise([100 * r["error"] for r in run_records])
        rows.append(
            {
                "data_set": data_set,
                "method": method,
                "n_runs": summary.n_values,
                "reported_parameters": reported_parameters,
                "chosen_parameters": chosen_parameters,
                "n_chosen": n_chosen,
                "reported_support_vectors": reported_size,
                "support_vector_quartiles": np.percentile(
                    [r["model_size"] for r in run_records], [25, 50, 75]
                ).tolist(),
                "reported": reported_error,
                "reproduced": summary.mean,
                "deviation": summary.deviation,
                "z": (summary.mean - reported_error) / summary.deviation
                if summary.deviation
                else float("nan"),
            }
        )
    return rows


def _make_table(rows):
    """Return the table in the layout of the source, with the reproduced results."""
    columns = ["data", "kernel", r"$C$, $\gamma$ reported", "most frequent (runs)"]
    columns += ["support vectors reported", "median (middle half)"]
    columns += ["test error (%) reported", "mean ± s.d."]
    table_rows = []
    for row in rows:
        low, median, high = row["support_vector_quartiles"]
        table_rows.append(
            [
                row["data_set"],
                row["method"],
                ", ".join(f"{value:g}" for value in row["reported_parameters"]),
                ", ".join(f"{value:g}" for value in row["chosen_parameters"])
                + f" ({row['n_chosen']})",
                row["reported_support_vectors"],
                f"{median:.0f} ({low:.0f} to {high:.0f})",
                row["reported"],
                plus_minus(row["reproduced"], row["deviation"]),
            ]
        )
    return Table(columns, table_rows)


SUITE = Suite(
    name="exploring-parameters",
    title="Exploring Classification, Figure 4: parameters chosen on validation error",
    data_sets=tuple(DATA_SETS),
    methods=METHODS,
    n_runs=50,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)


def _error_rate(model, X, y):
    """Return the fraction of misclassified points."""
    return float((model.predict(X) != y).mean())


def _check_choice(value, parameter, choices):
    if value not in choices:
        raise ValueError(f"{parameter} must be one of {', '.join(choices)}; found {value!r}.")
