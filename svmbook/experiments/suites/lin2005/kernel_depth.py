"""Region and leaf kernels, which have no width parameter, compared with a Laplacian kernel.

Questions: are kernels without a width parameter as accurate as a Laplacian kernel whose gamma is
chosen by a grid search? Does the rule "leaves of depth L = d, the number of features" still work
with 60 features?

Protocol: each run draws 150 training points and 3,000 test points, the same for all methods. C, and
gamma of the Laplacian kernel, are chosen by 5-fold cross-validation on the training points.
"""

from functools import partial

import sklearn.datasets
from sklearn.model_selection import GridSearchCV

from ....datasets import threenorm
from ....kernels.ensembles import bounding_box, stump_mass
from ....svm import DualSVC
from ....tables import Table, plus_minus
from ...methods.protocols import GeneratedSamples
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell

__all__ = ["METHODS", "REFERENCES", "SUITE", "carry_out_run", "draw_samples", "moons"]


def moons(n, random_state=None):
    """Draw two moons with noise of standard deviation 0.25, and labels -1 and 1.

    Examples
    --------
    >>> from svmbook.experiments.suites.lin2005.kernel_depth import moons
    >>> X, y = moons(100, random_state=0)
    >>> X.shape, int(y.sum())
    ((100, 2), 0)
    """
    X, y = sklearn.datasets.make_moons(n, noise=0.25, random_state=random_state)
    return X, 2 * y - 1


DATA_SETS = {"moons": moons, "threenorm": threenorm, "threenorm-60": partial(threenorm, d=60)}
C_GRID = tuple(2.0**k for k in range(-5, 10, 2))
GAMMA_GRID = tuple(2.0**k for k in range(-9, 4, 2))
#: Kernel and grid of each method; the degree "d" stands for the number of features.
METHODS = {
    "stumps": ("stump", {"C": tuple(2.0**k for k in range(-11, 4, 2))}),
    "regions, L = 2": ("stump_regions", {"C": C_GRID, "degree": (2,)}),
    "regions, L = 30": ("stump_regions", {"C": C_GRID, "degree": (30,)}),
    "leaves, L = d": ("stump_tree", {"C": C_GRID, "degree": ("d",)}),
    "leaves, L = 20": ("stump_tree", {"C": C_GRID, "degree": (20,)}),
    "Laplacian": ("laplacian", {"C": C_GRID[::2], "gamma": GAMMA_GRID}),
}
LEAF_METHODS = ("leaves, L = d", "leaves, L = 20")
#: Reference method by data set.
REFERENCES = {"moons": "Laplacian", "threenorm": "Laplacian", "threenorm-60": "leaves, L = 20"}
EXCLUDED_DATA_SETS = {method: ("threenorm-60",) for method in METHODS if method not in LEAF_METHODS}
EXCLUDED_DATA_SETS["leaves, L = 20"] = ("threenorm",)  # d = 20: the same as "leaves, L = d"


def draw_samples(data_set, run):
    """Return the training data, the test data and the seed of a run."""
    return GeneratedSamples(DATA_SETS[data_set], n_train=150, n_runs=run + 1)[run]


def carry_out_run(data_set, method, run):
    """Carry out one run: choose the parameters, fit, and measure the test error."""
    parts = draw_samples(data_set, run)
    kernel, grid = METHODS[method]
    if grid.get("degree") == ("d",):
        grid = {**grid, "degree": (parts.X_train.shape[1],)}
    search = GridSearchCV(DualSVC(kernel=kernel), grid, cv=5).fit(parts.X_train, parts.y_train)
    record = {
        "seed": parts.seed,
        "parameters": search.best_params_,
        "error": round(float(1.0 - search.score(parts.X_test, parts.y_test)), 6),
        "model_size": len(search.best_estimator_.support_),
    }
    if "gamma" in grid:  # record the depth of the leaf kernel that is equivalent to this gamma
        mass = stump_mass(bounding_box(parts.X_train))
        record["equivalent_depth"] = round(float(2.0 * mass * search.best_params_["gamma"]), 4)
    return record


def _compare(records):
    """Return mean errors in percent, and paired differences in percentage points."""
    return [
        row
        for data_set, reference in REFERENCES.items()
        for row in comparison_rows(
            records, [data_set], METHODS, lambda _, name=reference: name, {"error": 100}
        )
    ]


def _make_table(rows, data_sets=("moons", "threenorm")):
    """Return the table of some data sets, one row per data set and method."""
    table_rows = []
    for row in (row for row in rows if row["data_set"] in data_sets):
        mean = plus_minus(row["error"], row["error_se"], ".2f")
        table_rows.append([row["data_set"], row["method"], mean, format_cell(row)])
    reference = REFERENCES[data_sets[0]]
    difference_heading = f"minus {reference} (percentage points)"
    return Table(["data", "classifier", "error (%)", difference_heading], table_rows)


SUITE = Suite(
    name="kernel-depth",
    title="Region and leaf kernels of several depths, on moons and threenorm",
    data_sets=tuple(DATA_SETS),
    methods=tuple(METHODS),
    n_runs=30,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
    extra_tables={"sixty-features": partial(_make_table, data_sets=("threenorm-60",))},
    excluded_data_sets=EXCLUDED_DATA_SETS,
)
