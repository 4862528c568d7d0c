r"""What the tables of Navia-Vazquez et al. (2004) share: divisions, choice of parameters, rows.

Tables are brought to mean zero and standard deviation one and divided at random, 80 % of the rows
to train. The paper does not say how many points its artificial sets have; these have the usual
numbers, 7,400 and 5,000, drawn anew for each run. Parameters are chosen by five folds of the
training points.
"""

import itertools
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from ....datasets import load, ringnorm, twonorm, waveform
from ....tables import Table
from ...methods.protocols import Generated, RandomSplits
from ...methods.statistics import compare, summarise

__all__ = ["CHOSEN_ON", "C_GRID", "TEST_SHARE", "chosen_run", "compared_rows", "division", "layout"]

TEST_SHARE = 0.2
POINTS = {"ringnorm": 7400, "twonorm": 7400, "waveform": 5000}
GENERATORS = {"ringnorm": ringnorm, "twonorm": twonorm, "waveform": waveform}
PRINTED_RUNS = 10  # divisions of the paper
C_GRID = tuple(2.0**k for k in range(-7, 10, 2))
CHOSEN_ON = 1500  # training points at most on which parameters are chosen


def division(data_set, run, tables):
    """Return the training and test points of a run, and a seed for whatever else it draws.

    ``tables`` gives the table behind each data set; "dermatology=3" is the table of that name with
    class 3 against the others.

    Examples
    --------
    >>> from svmbook.experiments.suites.usvc2004.divisions import division
    >>> division("waveform", 3, {}).X_train.shape
    (4000, 21)
    """
    if data_set in GENERATORS:
        n = POINTS[data_set]
        test = int(TEST_SHARE * n)
        return Generated(GENERATORS[data_set], train=n - test, test=test, runs=run + 1)[run]
    X, y = _table(tables[data_set], *data_set.split("=")[1:])
    return RandomSplits(X, y, train_share=1 - TEST_SHARE, runs=run + 1)[run]


def _table(name, positive=None):
    """Return points and labels of a table, with the positive class if it is named."""
    table = load(name, prepare="usvc2004")
    if positive is None:
        return table.data, table.target
    raw = load(name)
    complete = np.isfinite(raw.data).all(axis=1)
    return table.data, np.where(raw.target[complete].astype(str) == positive, 1.0, -1.0)


def chosen_run(machine, grid, parts, size):
    """Choose the parameters of a machine by five folds, fit it, and count its errors.

    ``grid`` gives the values of each parameter; of equally good ones the first is taken.
    ``size(machine)`` is what a record calls its ``model_size``.
    """
    X, y = parts.X_train, parts.y_train
    some = np.random.default_rng(parts.seed).permutation(len(y))[:CHOSEN_ON]
    start = time.perf_counter()
    folds = list(StratifiedKFold(5, shuffle=True, random_state=parts.seed).split(some, y[some]))
    best, least = None, np.inf
    for values in itertools.product(*grid.values()):
        candidate = clone(machine).set_params(**dict(zip(grid, values, strict=True)))
        wrong = sum(_errors(candidate, X, y, some[fit], some[check]) for fit, check in folds)
        if wrong < least:
            best, least = candidate, wrong
    selection = time.perf_counter() - start
    start = time.perf_counter()
    best.fit(X, y)
    training = time.perf_counter() - start
    return {
        "seed": parts.seed,
        "parameters": {name: best.get_params()[name] for name in grid},
        "error": round(float(1.0 - best.score(parts.X_test, parts.y_test)), 6),
        "train_error": round(float(1.0 - best.score(X, y)), 6),
        "model_size": int(size(best)),
        "selection_seconds": round(selection, 4),
        "training_seconds": round(training, 4),
    }


def _errors(machine, X, y, fit, check):
    """Count the errors of a candidate, which need not have come to its end to be judged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X[fit], y[fit])
    return (machine.predict(X[check]) != y[check]).sum()


def compared_rows(records, reported, against):
    """Return a row for each line of a table: reported, reproduced, and paired differences.

    ``reproduced_ten`` and ``z_ten`` are of the first ten divisions, as many as the paper makes,
    ``reproduced`` and ``z`` of all. ``z`` is the difference to the reported mean in joint standard
    errors. The paired difference is to the method ``against``, on equal divisions, with the
    interval corrected for their overlap.
    """
    of = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for (data_set, method), (mean, deviation) in reported.items():
        runs = sorted(run for d, m, run in of if (d, m) == (data_set, method))
        if len(runs) < 2:
            continue
        errors = [100 * of[data_set, method, run]["error"] for run in runs]
        row = {"data_set": data_set, "method": method, "runs": len(runs)}
        row |= {"reported": mean, "reported_deviation": deviation}
        for end, part in (("", errors), ("_ten", errors[:PRINTED_RUNS])):
            ours = summarise(part)
            row[f"reproduced{end}"], row[f"deviation{end}"] = ours.mean, ours.deviation
            joint = float(np.hypot(deviation / PRINTED_RUNS**0.5, ours.error))
            row[f"z{end}"] = (ours.mean - mean) / joint
        sizes = [of[data_set, method, run]["model_size"] for run in runs]
        row["model_size"] = float(np.mean(sizes))
        both = [run for run in runs if (data_set, against, run) in of]
        if method != against and len(both) > 1:
            ours, others = (
                [100 * of[data_set, name, run]["error"] for run in both]
                for name in (method, against)
            )
            share = None if data_set in GENERATORS else TEST_SHARE
            paired = compare(ours, others, test_share=share)
            row |= {"paired": paired.difference, "low": paired.low, "high": paired.high}
        rows.append(row)
    return rows


def layout(rows, against, *, sizes=None):
    """Return the table of `compared_rows`, a line a data set and method.

    ``sizes`` gives the kernels that the paper prints, by data set and method, for two more columns.
    """
    columns = ["data", "machine", "reported (%)", "ten divisions (%)", "off, in s.e."]
    ends = ["_ten"]
    if max(row["runs"] for row in rows) > PRINTED_RUNS:
        columns, ends = [*columns, "all (%)", "off, in s.e."], ["_ten", ""]
    columns.append(f"minus {against}")
    if sizes:
        columns += ["kernels, reported", "kernels"]
    lines = []
    for row in rows:
        printed = np.isfinite(row["reported"])
        line = [row["data_set"], row["method"]]
        line.append(f"{row['reported']:g} ± {row['reported_deviation']:g}" if printed else "")
        for end in ends:
            line.append(f"{row[f'reproduced{end}']:.1f} ± {row[f'deviation{end}']:.1f}")
            line.append(f"{row[f'z{end}']:+z.1f}" if printed else "")
        line.append(f"{row['low']:+z.1f} to {row['high']:+z.1f}" if "low" in row else "")
        if sizes:
            line += [sizes[row["data_set"]].get(row["method"], ""), f"{row['model_size']:.0f}"]
        lines.append(line)
    return Table(columns, lines)
