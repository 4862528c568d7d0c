r"""All machines of the book on all its tables, beside forests, boosted trees and neighbours.

A run divides a table anew, as in `linear_or_gaussian`: 70 to 30, at most a thousand rows, features
standardised by the training rows. C, the width, or what else a classifier has is chosen by three
folds of the training rows; of equals the first of the grid wins. A record holds the error, the
accuracy on the folds, how many numbers the classifier has to hold in order to answer, and the
processor's seconds to choose, to train the chosen one and to answer a thousand points; of the table
its size and the share of its smallest class. Classifiers of two classes vote, one against one. What
is not in a grid keeps its default: gamma of profile SVMs, the number of trees of a forest, the
learning rate of boosted trees. The exceptions: localized SVMs have 25 neighbours, `LPBoost` ends at
a gap of 1e-4, one of the two ensembles of exemplars neither mines nor weighs and has the
distance-weighted vote, boosted trees never stop early. One estimator is not here: `IRWLSSVC` ends
in the optimum of `DualSVC`.

Kernel machines of several classes vote as well, where they could do without; a point that several
pairs have in common is held once. `USVC` with a kernel gets for all pairs half as many prototypes
as the smallest pair has points, at most 50. Features are standardised once, by all training rows:
the folds see a little of each other's scale.
"""

import itertools
import math
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from ....ensembles import AdaBoostStump, LPBoost, StumpEnsembleLogistic, StumpEnsembleSVC
from ....logistic import ImportVectorMachine, KernelLogisticRegression
from ....prototypes import (
    ExemplarSVM,
    LocalizedSVM,
    ProfileSVM,
    PrototypeSVM,
    SampledPrototypeSVM,
)
from ....svm import DualSVC
from ....tables import Table
from ....unbiased import ERMSVC, USVC, LeastSquaresClassifier
from ...methods.multiple import rank
from ...methods.protocols import run_seed
from ...running.suite import Suite
from .linear_or_gaussian import SUITE as TWO_KERNELS
from .linear_or_gaussian import split

__all__ = ["METHODS", "SUITE", "work"]

ASKED = 1000  # points to answer, the test rows again and again
CHEAP = (0.001, 0.01, 0.1, 1.0, 10.0)
PRICES = (0.01, 0.1, 1.0, 10.0, 100.0)
DEAR = (0.1, 1.0, 10.0, 100.0, 1000.0)
LAMBDAS = PRICES[::-1]
LIGHT = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)  # with a Gaussian kernel
WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0)  # gamma times the number of features

#: For two classes: an estimator, its grid, and whether it has a width to choose as well.
PAIRS = {
    "linear": (DualSVC(), {"C": CHEAP}, False),
    "Gaussian": (DualSVC(kernel="rbf"), {"C": DEAR}, True),
    "logistic": (KernelLogisticRegression(kernel="linear"), {"lam": LAMBDAS}, False),
    "Gaussian logistic": (KernelLogisticRegression(), {"lam": LIGHT}, True),
    "import vectors": (ImportVectorMachine(), {"lam": LIGHT}, True),
    "least squares": (LeastSquaresClassifier(), {"C": CHEAP}, False),
    "unbiased": (USVC(), {"C": PRICES}, False),
    "unbiased, Gaussian": (USVC(kernel="rbf"), {"C": DEAR}, True),
    "fewest errors": (ERMSVC(), {"C": PRICES}, False),
    "stumps": (StumpEnsembleSVC(feature_scale=None), {"C": CHEAP}, False),
    "stumps, logistic": (StumpEnsembleLogistic(feature_scale=None), {"lam": LAMBDAS}, False),
    "perceptrons": (DualSVC(kernel="perceptron"), {"C": PRICES}, False),
    "trees": (DualSVC(kernel="stump_tree"), {"C": PRICES}, False),
    "AdaBoost": (AdaBoostStump(), {"n_estimators": (25, 100, 400)}, False),
    "LPBoost": (LPBoost(tol=1e-4), {"C": tuple(2.0**k for k in range(-7, 2, 2))}, False),
}
EXEMPLARS = ExemplarSVM(mining=False, positive_weight=1.0, voting="local")
OTHERS = {
    "exemplars": (EXEMPLARS, {"C": PRICES[1:]}),
    "exemplars that mine": (ExemplarSVM(), {"C": PRICES[1:-1]}),
    "prototypes": (PrototypeSVM(), {"C": PRICES[1:]}),
    "sampled prototypes": (SampledPrototypeSVM(), {"C": PRICES[1:]}),
    "localized": (LocalizedSVM(n_neighbors=25), {"C": PRICES}),
    "profiles": (ProfileSVM(), {"C": PRICES, "n_clusters": (1, 4, 16)}),
    "nearest neighbours": (KNeighborsClassifier(), {"n_neighbors": (15, 5, 1)}),
    "random forest": (RandomForestClassifier(), {"min_samples_leaf": (9, 3, 1)}),
    "boosted trees": (
        HistGradientBoostingClassifier(early_stopping=False),
        {
            "max_leaf_nodes": (2, 4, 8, 31),
            "max_iter": (25, 75, 200),
            "min_samples_leaf": (20, 5),
        },
    ),
}
METHODS = (*PAIRS, *OTHERS)
TIMES = ("choose_seconds", "train_seconds", "answer_seconds")
#: What a fitted machine proves: how far it is from its optimum, or that it stands still.
CERTIFICATES = {
    **dict.fromkeys(METHODS, "gap"),
    **dict.fromkeys(("unbiased", "unbiased, Gaussian", "fewest errors"), "stationary"),
    **dict.fromkeys(("least squares", "AdaBoost", "localized", *METHODS[-3:]), "none"),
}
BESIDE = METHODS[-3:]  # not of this book


def work(data_set, method, run):
    """Do one run: choose by three folds, fit, answer, and look at the clock."""
    X, y, X_test, y_test = split(data_set, run)
    seed = run_seed(0, run, purpose=1)
    machine, grid = _candidates(method, X, y, seed)
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    search = GridSearchCV(machine, grid, cv=folds, refit=False, error_score="raise")
    asked = np.resize(X_test, (ASKED, X.shape[1]))
    with threadpool_limits(1, user_api="openmp"):  # that of boosted trees
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            choose, _ = _timed(search.fit, X, y)
        chosen = machine.set_params(**search.best_params_)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            train, _ = _timed(chosen.fit, X, y)
        parts = chosen.estimators_ if method in PAIRS else [chosen]
        answer, _ = _timed(_answers, chosen, parts, asked)
        labels = chosen.predict(X_test)
    return {
        "seed": seed,
        "parameters": {name.split("__")[-1]: v for name, v in search.best_params_.items()},
        "error": round(float(np.mean(labels != y_test)), 6),
        "model_size": _held(parts, X),
        "converged": int(not any(issubclass(one.category, ConvergenceWarning) for one in told)),
        "validation": round(float(search.best_score_), 6),
        "choose_seconds": choose,
        "train_seconds": train,
        "answer_seconds": answer,
        "rows": len(y),
        "features": X.shape[1],
        "classes": len(np.unique(y)),
        "smallest": round(float(np.unique(y, return_counts=True)[1].min() / len(y)), 6),
    }


def _candidates(method, X, y, seed):
    """Return a machine, and the values of its parameters."""
    if method in PAIRS:
        machine, grid, has_width = PAIRS[method]
        widths = {"gamma": tuple(width / X.shape[1] for width in WIDTHS)} if has_width else {}
        grid = {f"estimator__{name}": values for name, values in (grid | widths).items()}
        machine = OneVsOneClassifier(machine)
    else:
        machine, grid = OTHERS[method]
        if method == "localized":  # as the Gaussian SVM
            grid = grid | {"gamma": tuple(width / X.shape[1] for width in WIDTHS)}
    machine = clone(machine)
    if method == "unbiased, Gaussian":  # no more than the smallest pair has points in two folds
        pair = sum(sorted(np.unique(y, return_counts=True)[1])[:2])
        machine.set_params(estimator__n_prototypes=min(50, pair // 2))
    wanted = [name for name in machine.get_params() if name.endswith("random_state")]
    return machine.set_params(**dict.fromkeys(wanted, seed)), grid


def _answers(chosen, parts, X):
    """Answer as a machine in use would: `OneVsOneClassifier` asks each of its parts twice."""
    if not isinstance(chosen, OneVsOneClassifier):
        return chosen.predict(X)
    outputs = np.column_stack([part.decision_function(X) for part in parts])
    if len(parts) == 1:
        return chosen.classes_[(outputs[:, 0] > 0).astype(int)]
    pairs = itertools.combinations(range(len(chosen.classes_)), 2)
    votes = np.zeros((len(X), len(chosen.classes_)))
    for (a, b), column in zip(pairs, outputs.T, strict=True):
        votes[:, b] += column > 0
        votes[:, a] += column <= 0
    return chosen.classes_[votes.argmax(axis=1)]


def _timed(function, *arguments):
    """Return the processor's seconds, and the result."""
    start = time.process_time()
    result = function(*arguments)
    return round(time.process_time() - start, 5), result


def _held(parts, X):
    """Return how many numbers all parts of a machine hold; a point of a kernel is held once."""
    vectors = [part.support_vectors_ for part in parts if _has_kernel(part)]
    points = np.unique(np.vstack(vectors), axis=0).size if vectors else 0
    return points + sum(_stored_numbers(part, X) for part in parts)


def _has_kernel(machine):
    return hasattr(machine, "dual_coef_") and not hasattr(machine, "coef_") and not _is_sum(machine)


def _is_sum(machine):
    return hasattr(machine, "shape_functions_") or hasattr(machine, "estimator_weights_")


def _stored_numbers(machine, X):
    """Return how many numbers a fitted machine needs to answer, besides the points of kernels."""
    if hasattr(machine, "exemplars_"):  # of a member a hyperplane, its class, a place or a sigmoid
        m = len(machine.coef_)
        beside = machine.exemplars_.size if machine.voting == "local" else 2 * m
        return machine.coef_.size + machine.intercept_.size + m + beside
    if hasattr(machine, "shape_functions_"):  # where a curve bends or jumps, and its values
        return 1 + sum(part.size for shape in machine.shape_functions_ for part in shape)
    if hasattr(machine, "estimator_weights_"):  # the curves that a list of stumps sums up to
        steps = {(int(h.features[0]), float(h.thresholds[0])) for h in machine.hypotheses_}
        return 1 + X.shape[1] + 2 * sum(math.isfinite(threshold) for _, threshold in steps)
    if hasattr(machine, "coef_"):
        return machine.coef_.size + machine.intercept_.size
    if hasattr(machine, "dual_coef_"):
        return machine.dual_coef_.size + 1
    # A node of a tree has a feature, a threshold and two children; a leaf has its values.
    if hasattr(machine, "estimators_"):
        trees = [tree.tree_ for tree in machine.estimators_]
        values = len(machine.classes_)
        return int(sum(4 * (t.node_count - t.n_leaves) + values * t.n_leaves for t in trees))
    if hasattr(machine, "_predictors"):
        trees = [tree for stage in machine._predictors for tree in stage]
        return int(sum(4 * len(t.nodes) - 3 * t.get_n_leaf_nodes() for t in trees))
    # All training points; with their labels, or with clusters' centres and planes.
    if not hasattr(machine, "cluster_centers_"):
        return X.size + len(X)
    planes = [planes for _, planes in machine._planes_.values()]
    held = sum(part.coef.size + part.intercept.size for part in planes)
    if len(machine.cluster_centers_) == 1:  # nothing to look for
        return held
    return X.size + machine.cluster_centers_.size + held


def _compare(records):
    """Return the means of each table and machine, over the runs that all machines of it have."""
    of = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for data_set in SUITE.data_sets:
        methods = [m for m in METHODS if any((data_set, m, run) in of for run in range(SUITE.runs))]
        runs = [k for k in range(SUITE.runs) if all((data_set, m, k) in of for m in methods)]
        for method in methods if runs else ():
            here = [of[data_set, method, run] for run in runs]
            row = {"data_set": data_set, "method": method, "runs": len(runs)}
            row |= {name: here[0][name] for name in ("rows", "features", "classes", "smallest")}
            # Errors have six digits; machines that make as many errors have to stay equal.
            row["error"] = round(100.0 * float(np.mean([r["error"] for r in here])), 3)
            for name in ("model_size", *TIMES):
                row[name] = float(np.median([r[name] for r in here]))
            rows.append(row)
    return rows


def _layout(rows):
    """Return a line a machine, the best mean rank first, over the tables that all machines have."""
    of = {(row["data_set"], row["method"]): row for row in rows}
    methods = [m for m in METHODS if any(name == m for _, name in of)]
    sets = [d for d in SUITE.data_sets if all((d, m) in of for m in methods)]
    errors = np.array([[of[d, m]["error"] for m in methods] for d in sets])
    if len(sets) < 2 or len(methods) < 3:
        ranks = np.full(len(methods), np.nan)
    else:
        ranks = rank(errors).means
    lines = []
    for k in np.argsort(ranks, kind="stable"):
        here = [of[d, methods[k]] for d in sets]
        size, choose, train, answer = (
            float(np.median([row[name] for row in here])) for name in ("model_size", *TIMES)
        )
        near = np.sum(errors[:, k] <= errors.min(axis=1) + 1.0)
        line = [methods[k], f"{ranks[k]:.1f}", f"{errors[:, k].mean():.1f}", f"{near}"]
        line += [f"{size:,.0f}", f"{choose:.2g}", f"{1000 * train:.2g}"]
        lines.append([*line, f"{1e6 * answer / ASKED:.2g}", CERTIFICATES[methods[k]]])
    columns = ["machine", "mean rank", "mean error (%)", "within a point of the best"]
    columns += ["numbers held", "to choose (s)", "to train (ms)", "to answer (µs a point)"]
    return Table([*columns, "certificate"], lines)


def _tables(rows):
    """Return a line a table: its size, the best machine of the book and the best beside it."""
    lines = []
    for data_set, here in itertools.groupby(rows, key=lambda row: row["data_set"]):
        here = list(here)
        shape = [data_set, *(here[0][name] for name in ("rows", "features", "classes"))]
        for of_the_book in (True, False):
            theirs = [row for row in here if (row["method"] not in BESIDE) == of_the_book]
            best = min(theirs, key=lambda row: row["error"], default=None)
            shape += [best["method"], f"{best['error']:.1f}"] if best else ["", ""]
        lines.append(shape)
    columns = ["table", "to train", "features", "classes", "best of the book", "error (%)"]
    return Table([*columns, "best beside it", "error (%) "], lines)


SUITE = Suite(
    name="all-machines",
    title="All machines of the book on all its tables, beside forests and boosted trees",
    data_sets=TWO_KERNELS.data_sets,
    methods=METHODS,
    runs=10,
    work=work,
    compare=_compare,
    layout=_layout,
    more={"tables": _tables},
    tables=TWO_KERNELS.tables,
)
