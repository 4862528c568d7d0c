r"""Two rules for the width of a Gaussian kernel, compared with a grid over both parameters.

Question: how much larger is the test error if a rule computes :math:`\gamma` from the unlabelled
points than if C and :math:`\gamma` are both chosen on a validation set?

Protocol: each run draws 400 training, 400 validation and 4,000 test points, the same points for all
methods. Each method chooses the pair of C and gamma with the smallest validation error. A rule
tries three values of C with its gamma; the grid tries the same values with four values of gamma.
"""

import itertools

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from ....datasets import ringnorm, striated, threenorm
from ....tables import Table, plus_minus
from ...methods.protocols import run_seed
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell
from . import parameters

__all__ = [
    "METHODS",
    "REFERENCE",
    "RULES",
    "SUITE",
    "carry_out_run",
    "draw_samples",
    "median_rule",
    "scale_rule",
]

REFERENCE = "grid"
GAMMA_GRID_20D = (0.003, 0.01, 0.03, 0.1)  # for data sets with twenty features
#: Generator and grid of gamma for each data set.
DATA_SETS = {
    "stdev2": (parameters.DATA_SETS["stdev2"], parameters.GAMMA_GRID),
    "nonSep": (parameters.DATA_SETS["nonSep"], parameters.GAMMA_GRID),
    "threenorm": (threenorm, GAMMA_GRID_20D),
    "ringnorm": (ringnorm, GAMMA_GRID_20D),
    "stripes": (striated, parameters.GAMMA_GRID),
}
C_GRID = parameters.C_GRID[1:4]
SAMPLE_SIZES = (400, 400, 4000)  # of the training, validation and test samples


def median_rule(X):
    """Return the inverse of the median squared distance between two points."""
    return 1.0 / np.median(pdist(X, "sqeuclidean"))


def scale_rule(X):
    """Return the value of ``gamma="scale"`` in scikit-learn."""
    return 1.0 / (X.shape[1] * X.var())


RULES = {"median": median_rule, "scale": scale_rule}
METHODS = (*RULES, REFERENCE)


def draw_samples(data_set, run):
    """Return the training, validation and test points of a run, each drawn with its own seed."""
    generate, _ = DATA_SETS[data_set]
    return [
        generate(n, random_state=run_seed(0, run, purpose=purpose))
        for purpose, n in enumerate(SAMPLE_SIZES)
    ]


def carry_out_run(data_set, method, run):
    """Carry out one run: choose C, and gamma if no rule computes it, and test."""
    train, validation, test = draw_samples(data_set, run)
    gammas = DATA_SETS[data_set][1]
    if method in RULES:
        gammas = (float(f"{RULES[method](train[0]):.4g}"),)
    best = None
    for C, gamma in itertools.product(C_GRID, gammas):
        classifier = SVC(C=C, gamma=gamma).fit(*train)
        error = 1.0 - classifier.score(*validation)
        if best is None or error < best[0]:  # ties: the smallest C, then the smallest gamma
            best = error, classifier
    error, classifier = best
    return {
        "seed": run_seed(0, run),
        "parameters": {"C": classifier.C, "gamma": classifier.gamma},
        "error": round(float(1.0 - classifier.score(*test)), 6),
        "validation_error": round(float(error), 6),
        "model_size": int(classifier.n_support_.sum()),
    }


def _compare(records):
    """Return mean errors in percent, paired differences from the grid, and the median gamma."""
    rows = comparison_rows(records, DATA_SETS, METHODS, lambda _: REFERENCE, {"error": 100})
    for row in rows:
        key = row["data_set"], row["method"]
        run_records = [r for r in records if (r["data_set"], r["method"]) == key]
        row["gamma"] = float(np.median([r["parameters"]["gamma"] for r in run_records]))
    return rows


def _make_table(rows):
    """Return the table, one row per data set and method."""
    table_rows = []
    for row in rows:
        error = plus_minus(row["error"], row["error_se"], ".2f")
        gamma = f"{row['gamma']:.2g}"
        table_rows.append([row["data_set"], row["method"], gamma, error, format_cell(row)])
    columns = ["data", "$\\gamma$ by", "median $\\gamma$", "test error (%)"]
    return Table([*columns, "difference from grid (percentage points)"], table_rows)


SUITE = Suite(
    name="width-rules",
    title="Two rules for the width of a Gaussian kernel, compared with a grid over C and gamma",
    data_sets=tuple(DATA_SETS),
    methods=METHODS,
    n_runs=30,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
