r"""The book's classifiers, forests, boosted trees and nearest neighbours on all tables.

Each run splits a table anew, as in `linear_or_gaussian`: 70 % training rows, at most a thousand
rows in all, features standardised by the training rows. C, gamma and other parameters are chosen by
3-fold cross-validation on the training rows; ties go to the first point of the grid. Features are
standardised once for all folds, so that the validation rows affect the scale slightly.

A record has the test error, the validation accuracy, the number of stored numbers that prediction
needs, and the processor time of the selection, of the training and of predicting a thousand points.
It also has the size of the table and the share of its smallest class.

Parameters outside the grids keep their defaults, for instance gamma of profile SVMs, the number of
trees of a forest, and the learning rate of boosted trees. There are five exceptions. Localized SVMs
use 25 neighbours, `LPBoost` stops at a relative gap of 1e-4, boosted trees never stop early, the
infinite ensembles of stumps do not rescale the features, and one of the two exemplar ensembles has
no mining, unit weights and a distance-weighted vote.
`IRWLSSVC` is left out, because it converges to the solution of `DualSVC`.

Classifiers for two classes are combined by votes, one per pair of classes, even those that could
treat several classes at once. A kernel point that several pairs share is stored once. `USVC` with a
kernel has half as many prototypes as the smallest pair of classes has points, and at most 50.
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
from ...methods.multiple_comparisons import rank
from ...methods.protocols import run_seed
from ...running.suite import Suite
from .linear_or_gaussian import SUITE as LINEAR_OR_GAUSSIAN
from .linear_or_gaussian import split

__all__ = ["METHODS", "SUITE", "carry_out_run"]

N_TIMED_POINTS = 1000  # points in the timed prediction; test rows are repeated as needed
LOW_C_GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
C_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
HIGH_C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0)
LAMBDAS = C_GRID[::-1]
GAUSSIAN_LAMBDAS = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)
SCALED_GAMMAS = (1 / 16, 1 / 4, 1.0, 4.0)  # gamma times the number of features

#: Estimators for two classes, each with its grid, and with whether gamma is chosen as well.
BINARY_ESTIMATORS = {
    "linear SVM": (DualSVC(), {"C": LOW_C_GRID}, False),
    "Gaussian SVM": (DualSVC(kernel="rbf"), {"C": HIGH_C_GRID}, True),
    "linear logistic": (KernelLogisticRegression(kernel="linear"), {"lam": LAMBDAS}, False),
    "Gaussian logistic": (KernelLogisticRegression(), {"lam": GAUSSIAN_LAMBDAS}, True),
    "import vectors": (ImportVectorMachine(), {"lam": GAUSSIAN_LAMBDAS}, True),
    "least squares": (LeastSquaresClassifier(), {"C": LOW_C_GRID}, False),
    "unbiased linear": (USVC(), {"C": C_GRID}, False),
    "unbiased Gaussian": (USVC(kernel="rbf"), {"C": HIGH_C_GRID}, True),
    "smooth 0-1 loss": (ERMSVC(), {"C": C_GRID}, False),
    "stump kernel": (StumpEnsembleSVC(feature_scale=None), {"C": LOW_C_GRID}, False),
    "logistic stumps": (StumpEnsembleLogistic(feature_scale=None), {"lam": LAMBDAS}, False),
    "perceptron kernel": (DualSVC(kernel="perceptron"), {"C": C_GRID}, False),
    "tree kernel": (DualSVC(kernel="stump_tree"), {"C": C_GRID}, False),
    "AdaBoost": (AdaBoostStump(), {"n_estimators": (25, 100, 400)}, False),
    "LPBoost": (LPBoost(tol=1e-4), {"C": tuple(2.0**k for k in range(-7, 2, 2))}, False),
}
EXEMPLAR_SVM_WITHOUT_MINING = ExemplarSVM(mining=False, positive_weight=1.0, voting="local")
MULTICLASS_ESTIMATORS = {
    "exemplar SVMs": (EXEMPLAR_SVM_WITHOUT_MINING, {"C": C_GRID[1:]}),
    "mined exemplars": (ExemplarSVM(), {"C": C_GRID[1:-1]}),
    "prototype SVMs": (PrototypeSVM(), {"C": C_GRID[1:]}),
    "sampled prototypes": (SampledPrototypeSVM(), {"C": C_GRID[1:]}),
    "localized SVM": (LocalizedSVM(n_neighbors=25), {"C": C_GRID}),
    "profile SVM": (ProfileSVM(), {"C": C_GRID, "n_clusters": (1, 4, 16)}),
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
METHODS = (*BINARY_ESTIMATORS, *MULTICLASS_ESTIMATORS)
TIME_FIELDS = ("selection_seconds", "training_seconds", "prediction_seconds")
DATA_SET_FIELDS = ("n_rows", "n_features", "n_classes", "smallest_class_share")
#: What a fit certifies: its duality gap, that its solution is a stationary point, or nothing.
CERTIFICATES = {
    **dict.fromkeys(METHODS, "gap"),
    **dict.fromkeys(("unbiased linear", "unbiased Gaussian", "smooth 0-1 loss"), "stationary"),
    **dict.fromkeys(("least squares", "AdaBoost", "localized SVM", *METHODS[-3:]), "none"),
}
BASELINES = METHODS[-3:]  # classifiers of scikit-learn, not of the book


def carry_out_run(data_set, method, run):
    """Carry out one run: choose parameters, fit, predict, and time each step."""
    X, y, X_test, y_test = split(data_set, run)
    seed = run_seed(0, run, purpose=1)
    model, grid = _estimator_and_grid(method, X, y, seed)
    splitter = StratifiedKFold(3, shuffle=True, random_state=seed)
    search = GridSearchCV(model, grid, cv=splitter, refit=False, error_score="raise")
    with threadpool_limits(1, user_api="openmp"):  # boosted trees use OpenMP
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
            selection_seconds = _measure_processor_seconds(search.fit, X, y)
        model.set_params(**search.best_params_)
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always")
            training_seconds = _measure_processor_seconds(model.fit, X, y)
        estimators = model.estimators_ if method in BINARY_ESTIMATORS else [model]
        X_timed = np.resize(X_test, (N_TIMED_POINTS, X.shape[1]))
        prediction_seconds = _measure_processor_seconds(_predict, model, estimators, X_timed)
        labels = model.predict(X_test)
    converged = not any(
        issubclass(warning.category, ConvergenceWarning) for warning in caught_warnings
    )
    return {
        "seed": seed,
        "parameters": {name.split("__")[-1]: v for name, v in search.best_params_.items()},
        "error": round(float(np.mean(labels != y_test)), 6),
        "model_size": _model_size(estimators, X),
        "converged": int(converged),
        "validation_accuracy": round(float(search.best_score_), 6),
        "selection_seconds": selection_seconds,
        "training_seconds": training_seconds,
        "prediction_seconds": prediction_seconds,
        "n_rows": len(y),
        "n_features": X.shape[1],
        "n_classes": len(np.unique(y)),
        "smallest_class_share": round(float(np.unique(y, return_counts=True)[1].min() / len(y)), 6),
    }


def _estimator_and_grid(method, X, y, seed):
    """Return an estimator and its grid."""
    gammas = tuple(scaled_gamma / X.shape[1] for scaled_gamma in SCALED_GAMMAS)
    if method in BINARY_ESTIMATORS:
        model, grid, has_gamma = BINARY_ESTIMATORS[method]
        grid = grid | {"gamma": gammas} if has_gamma else grid
        grid = {f"estimator__{name}": values for name, values in grid.items()}
        model = OneVsOneClassifier(model)
    else:
        model, grid = MULTICLASS_ESTIMATORS[method]
        if method == "localized SVM":  # the same gammas as the Gaussian SVM
            grid = grid | {"gamma": gammas}
    model = clone(model)
    if method == "unbiased Gaussian":
        # Two of the three folds must contain at least n_prototypes points of each pair of classes.
        smallest_pair_size = sum(sorted(np.unique(y, return_counts=True)[1])[:2])
        model.set_params(estimator__n_prototypes=min(50, smallest_pair_size // 2))
    seed_parameters = [name for name in model.get_params() if name.endswith("random_state")]
    return model.set_params(**dict.fromkeys(seed_parameters, seed)), grid


def _predict(model, estimators, X):
    """Predict, with one call per estimator: `OneVsOneClassifier` would call each of them twice."""
    if not isinstance(model, OneVsOneClassifier):
        return model.predict(X)
    outputs = np.column_stack([estimator.decision_function(X) for estimator in estimators])
    if len(estimators) == 1:
        return model.classes_[(outputs[:, 0] > 0).astype(int)]
    pairs = itertools.combinations(range(len(model.classes_)), 2)
    votes = np.zeros((len(X), len(model.classes_)))
    for (a, b), column in zip(pairs, outputs.T, strict=True):
        votes[:, b] += column > 0
        votes[:, a] += column <= 0
    return model.classes_[votes.argmax(axis=1)]


def _measure_processor_seconds(function, *arguments):
    """Call a function and return the processor time of the call in seconds."""
    start = time.process_time()
    function(*arguments)
    return round(time.process_time() - start, 5)


def _model_size(estimators, X):
    """Return how many numbers all estimators store, each distinct kernel point once."""
    vectors = [
        estimator.support_vectors_ for estimator in estimators if _stores_kernel_points(estimator)
    ]
    n_point_numbers = np.unique(np.vstack(vectors), axis=0).size if vectors else 0
    return n_point_numbers + sum(_count_stored_numbers(estimator, X) for estimator in estimators)


def _stores_kernel_points(model):
    is_additive = hasattr(model, "shape_functions_") or hasattr(model, "estimator_weights_")
    return hasattr(model, "dual_coef_") and not hasattr(model, "coef_") and not is_additive


def _count_stored_numbers(model, X):
    """Return how many numbers a fitted model needs for prediction, without the kernel points."""
    if hasattr(model, "exemplars_"):  # hyperplanes, classes, and exemplars or sigmoids
        m = len(model.coef_)
        n_vote_numbers = model.exemplars_.size if model.voting == "local" else 2 * m
        return model.coef_.size + model.intercept_.size + m + n_vote_numbers
    if hasattr(model, "shape_functions_"):  # the knots of the shape functions, and their values
        return 1 + sum(part.size for shape in model.shape_functions_ for part in shape)
    if hasattr(model, "estimator_weights_"):  # the shape functions that the stumps sum to
        distinct_stumps = {(int(h.features[0]), float(h.thresholds[0])) for h in model.hypotheses_}
        return (
            1 + X.shape[1] + 2 * sum(math.isfinite(threshold) for _, threshold in distinct_stumps)
        )
    if hasattr(model, "coef_"):
        return model.coef_.size + model.intercept_.size
    if hasattr(model, "dual_coef_"):
        return model.dual_coef_.size + 1
    # An inner node of a tree has a feature, a threshold and two children; a leaf has its values.
    if hasattr(model, "estimators_"):
        trees = [tree.tree_ for tree in model.estimators_]
        n_values = len(model.classes_)
        return int(sum(4 * (t.node_count - t.n_leaves) + n_values * t.n_leaves for t in trees))
    if hasattr(model, "_predictors"):
        trees = [tree for stage in model._predictors for tree in stage]
        return int(sum(4 * len(t.nodes) - 3 * t.get_n_leaf_nodes() for t in trees))
    # All training points, with their labels or with the centres and hyperplanes of the clusters.
    if not hasattr(model, "cluster_centers_"):
        return X.size + len(X)
    n_plane_numbers = sum(
        part.coef.size + part.intercept.size for _, part in model._planes_.values()
    )
    if len(model.cluster_centers_) == 1:  # prediction needs no search for the nearest points
        return n_plane_numbers
    return X.size + model.cluster_centers_.size + n_plane_numbers


def _compare(records):
    """Return means per table and method, over the runs that all methods on the table have."""
    records_by_key = {(r["data_set"], r["method"], r["run"]): r for r in records}
    rows = []
    for data_set in SUITE.data_sets:
        run_numbers = range(SUITE.n_runs)
        methods = [
            m for m in METHODS if any((data_set, m, k) in records_by_key for k in run_numbers)
        ]
        runs = [k for k in run_numbers if all((data_set, m, k) in records_by_key for m in methods)]
        for method in methods if runs else ():
            run_records = [records_by_key[data_set, method, run] for run in runs]
            row = {"data_set": data_set, "method": method, "n_runs": len(runs)}
            row |= {name: run_records[0][name] for name in DATA_SET_FIELDS}
            # Recorded errors have six digits; methods with equally many errors must remain tied.
            row["error"] = round(100.0 * float(np.mean([r["error"] for r in run_records])), 3)
            for name in ("model_size", *TIME_FIELDS):
                row[name] = float(np.median([r[name] for r in run_records]))
            rows.append(row)
    return rows


def _make_table(rows):
    """Return the table of methods, sorted by mean rank over the data sets that all methods have."""
    rows_by_key = {(row["data_set"], row["method"]): row for row in rows}
    methods = [m for m in METHODS if any(name == m for _, name in rows_by_key)]
    data_sets = [d for d in SUITE.data_sets if all((d, m) in rows_by_key for m in methods)]
    errors = np.array([[rows_by_key[d, m]["error"] for m in methods] for d in data_sets])
    if len(data_sets) < 2 or len(methods) < 3:
        mean_ranks = np.full(len(methods), np.nan)
    else:
        mean_ranks = rank(errors).means
    table_rows = []
    for k in np.argsort(mean_ranks, kind="stable"):
        size, selection, training, prediction = (
            float(np.median([rows_by_key[d, methods[k]][name] for d in data_sets]))
            for name in ("model_size", *TIME_FIELDS)
        )
        n_near_best = np.sum(errors[:, k] <= errors.min(axis=1) + 1.0)
        table_row = [
            methods[k],
            f"{mean_ranks[k]:.1f}",
            f"{errors[:, k].mean():.1f}",
            f"{n_near_best}",
        ]
        table_row += [f"{size:,.0f}", f"{selection:.2g}", f"{1000 * training:.2g}"]
        table_rows.append(
            [*table_row, f"{1e6 * prediction / N_TIMED_POINTS:.2g}", CERTIFICATES[methods[k]]]
        )
    columns = ["classifier", "mean rank", "mean error (%)"]
    columns += ["tables within one percentage point of the best", "stored numbers"]
    columns += ["selection (s)", "training (ms)", "prediction (µs per point)"]
    return Table([*columns, "certificate"], table_rows)


def _make_data_set_table(rows):
    """Return the table of data sets: size, the best method of the book, the best baseline."""
    table_rows = []
    for data_set, group in itertools.groupby(rows, key=lambda row: row["data_set"]):
        group = list(group)
        table_row = [data_set, *(group[0][name] for name in DATA_SET_FIELDS[:3])]
        for is_baseline in (False, True):
            candidates = [row for row in group if (row["method"] in BASELINES) == is_baseline]
            best = min(candidates, key=lambda row: row["error"], default=None)
            table_row += [best["method"], f"{best['error']:.1f}"] if best else ["", ""]
        table_rows.append(table_row)
    columns = ["table", "training rows", "features", "classes", "best of the book", "error (%)"]
    return Table([*columns, "best of the others", "error (%) "], table_rows)


SUITE = Suite(
    name="all-classifiers",
    title="All classifiers of the book on all tables, compared with forests and boosted trees",
    data_sets=LINEAR_OR_GAUSSIAN.data_sets,
    methods=METHODS,
    n_runs=10,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
    extra_tables={"tables": _make_data_set_table},
    data_tables=LINEAR_OR_GAUSSIAN.data_tables,
)
