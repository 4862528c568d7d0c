r"""Two ways to replace a Gaussian kernel by m features: Nystroem and random Fourier features.

Question: which of the two needs fewer features for the same test error, and does the one with the
better approximation of the kernel also give the better classifier?

Protocol: each run draws 1,600 training and 4,000 test points from eight stripes, the same ones for
all methods, which have :math:`\gamma = 2` and :math:`C = 10`. The error of a kernel value is the
mean absolute error over all pairs of the first 400 training points.
"""

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from ....datasets import striated
from ....kernels import gaussian
from ....svm import DualSVC
from ....tables import Table, plus_minus
from ...methods.protocols import Generated
from ...running.suite import Suite
from ..paired import cell, paired, paired_rows

__all__ = ["EXACT", "KINDS", "METHODS", "NUMBERS", "SUITE", "draw", "method_of", "work"]

C, GAMMA = 10.0, 2.0
EXACT = "exact kernel"
KINDS = {"Nystroem": Nystroem, "Fourier": RBFSampler}
NUMBERS = (20, 50, 100, 200, 400)
SOME = 400  # points on whose pairs the kernel is compared


def method_of(kind, m):
    """Return the name of a method: its kind and its number of features."""
    return f"{kind}, m = {m}"


METHODS = {method_of(kind, m): (kind, m) for m in NUMBERS for kind in KINDS}


def draw(run):
    """Return training points, test points and seed of a run."""
    return Generated(striated, train=1600, test=4000, runs=run + 1)[run]


def work(data_set, method, run):
    """Do one run: compute the features, fit a linear SVM on them, and measure both errors."""
    parts = draw(run)
    record = {"seed": parts.seed, "parameters": {"C": C, "gamma": GAMMA}}
    if method == EXACT:
        classifier = SVC(C=C, gamma=GAMMA).fit(parts.X_train, parts.y_train)
        record["model_size"] = int(classifier.n_support_.sum())
    else:
        kind, m = METHODS[method]
        features = KINDS[kind](gamma=GAMMA, n_components=m, random_state=parts.seed)
        classifier = make_pipeline(features, DualSVC(C=C)).fit(parts.X_train, parts.y_train)
        some = parts.X_train[:SOME]
        Z = features.transform(some)
        off = np.abs(Z @ Z.T - gaussian(some, gamma=GAMMA)).mean()
        record |= {"model_size": m, "kernel_error": round(float(off), 6)}
    return record | {
        "error": round(float(1.0 - classifier.score(parts.X_test, parts.y_test)), 6),
    }


def _compare(records):
    """Return mean errors in percent with their paired differences, and mean kernel errors."""
    units = {"error": 100, "kernel_error": 1}
    rows = paired_rows(records, SUITE.data_sets, SUITE.methods, lambda _: EXACT, units)
    for row in rows:
        data_set, method = row["data_set"], row["method"]
        if method == EXACT:
            continue
        kind, m = METHODS[method]
        other = paired(records, data_set, method, method_of("Nystroem", m))
        if kind == "Fourier" and other:
            row |= {"fourier_difference": other[1].mean, "fourier_difference_se": other[1].error}
    return rows


def _layout(rows):
    """Return the table, one row per method."""
    lines = []
    for row in rows:
        kind, m = METHODS.get(row["method"], (EXACT, ""))
        lines.append([kind, f"{m}", plus_minus(row["error"], row["error_se"], ".2f")])
        for name in ("difference", "fourier_difference"):
            lines[-1].append(cell(row, name))
        lines[-1].append(f"{row['kernel_error']:.2g}" if "kernel_error" in row else "")
    columns = ["features", "$m$", "error (%)", "minus exact kernel (points)"]
    return Table([*columns, "minus Nystroem (points)", "error of a kernel value"], lines)


SUITE = Suite(
    name="kernel-features",
    title="Nystroem and random Fourier features on eight stripes",
    data_sets=("stripes",),
    methods=(EXACT, *METHODS),
    runs=20,
    work=work,
    compare=_compare,
    layout=_layout,
)
