r"""Two rules for the width of a Gaussian kernel, and a grid over both parameters.

Question: how much larger is the test error if a rule sets :math:`\gamma` from the points without
their labels than if both parameters are chosen?

Protocol: each run draws 400 training, 400 validation and 4,000 test points, the same ones for all
methods. Each method takes the pair of C and gamma with the smallest validation error: a rule tries
three values of C at its own gamma, the grid tries the same three with four values of gamma.
"""

import itertools

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from ....datasets import ringnorm, striated, threenorm
from ....tables import Table, plus_minus
from ...methods.protocols import run_seed
from ...running.suite import Suite
from ..paired import cell, paired_rows
from . import parameters as exploring

__all__ = ["GRID", "METHODS", "RULES", "SUITE", "draw", "median_rule", "scale_rule", "work"]

GRID = "grid"
IN_TWENTY = (0.003, 0.01, 0.03, 0.1)  # widths for twenty features
#: Generator and grid of gamma for each data set.
DATA_SETS = {
    "stdev2": (exploring.DATA_SETS["stdev2"], exploring.GAMMA_GRID),
    "nonSep": (exploring.DATA_SETS["nonSep"], exploring.GAMMA_GRID),
    "threenorm": (threenorm, IN_TWENTY),
    "ringnorm": (ringnorm, IN_TWENTY),
    "stripes": (striated, exploring.GAMMA_GRID),
}
C_GRID = exploring.C_GRID[1:4]
SIZES = (400, 400, 4000)  # of the three parts


def median_rule(X):
    """Return the inverse of the median squared distance of two points."""
    return 1.0 / np.median(pdist(X, "sqeuclidean"))


def scale_rule(X):
    """Return what scikit-learn calls ``gamma="scale"``."""
    return 1.0 / (X.shape[1] * X.var())


RULES = {"median": median_rule, "scale": scale_rule}
METHODS = (*RULES, GRID)


def draw(data_set, run):
    """Return training, validation and test points of a run, from seeds of their own."""
    generate, _ = DATA_SETS[data_set]
    return [
        generate(n, random_state=run_seed(0, run, purpose=purpose))
        for purpose, n in enumerate(SIZES)
    ]


def work(data_set, method, run):
    """Do one run: choose C, and gamma where no rule gives it, and measure the test error."""
    train, validation, test = draw(data_set, run)
    gammas = DATA_SETS[data_set][1]
    if method in RULES:
        gammas = (float(f"{RULES[method](train[0]):.4g}"),)
    best = None
    for C, gamma in itertools.product(C_GRID, gammas):
        classifier = SVC(C=C, gamma=gamma).fit(*train)
        error = 1.0 - classifier.score(*validation)
        if best is None or error < best[0]:  # of equal errors the smaller C, then gamma
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
    """Return mean errors in percent, paired differences to the grid, and the median gamma."""
    rows = paired_rows(records, DATA_SETS, METHODS, lambda _: GRID, {"error": 100})
    for row in rows:
        line = row["data_set"], row["method"]
        runs = [r for r in records if (r["data_set"], r["method"]) == line]
        row["gamma"] = float(np.median([r["parameters"]["gamma"] for r in runs]))
    return rows


def _layout(rows):
    """Return the table, one row per data set and method."""
    lines = []
    for row in rows:
        mean = plus_minus(row["error"], row["error_se"], ".2f")
        gamma = f"{row['gamma']:.2g}"
        lines.append([row["data_set"], row["method"], gamma, mean, cell(row)])
    columns = ["data", "$\\gamma$ by", "median $\\gamma$", "test error (%)"]
    return Table([*columns, "minus grid (points)"], lines)


SUITE = Suite(
    name="width-rules",
    title="Two rules for the width of a Gaussian kernel, and a grid over both parameters",
    data_sets=tuple(DATA_SETS),
    methods=METHODS,
    runs=30,
    work=work,
    compare=_compare,
    layout=_layout,
)
