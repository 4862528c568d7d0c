"""Claims about stump ensembles: prediction, boosting, and training with knots.

Prediction: for 50,000 points with 20 features, evaluating one shape function per feature is at
least 20 times faster than computing the kernel expansion, in blocks, with 5,000 support vectors. It
is at least 100 times faster with 40,000 support vectors.

Boosting: `AdaBoostStump` takes 1,000 rounds on 600 points with 24 features at least 15 times faster
than scikit-learn's `AdaBoostClassifier` with trees of depth 1. It is no slower at 50,000 points.

Training: the time of `StumpEnsembleSVC` with 32 knots grows no faster than n^1.1 from 20,000 to a
million points with 20 features. At a million points its memory is at most 8 times that of the data.
At 20,000 points it is at least 20 times as fast as LIBSVM with the exact kernel. At 4,000 points
its error differs by at most one percentage point from that of the exact kernel.
`HistGradientBoostingClassifier` is timed for comparison.
"""

from functools import partial

import numpy as np
from measure import compare, main, print_table, time_call
from scipy.spatial.distance import cdist
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from svmbook import AdaBoostStump, StumpEnsembleSVC
from svmbook.ensembles.additive import piecewise_linear_from_kernel_expansion
from svmbook.kernels import stump

SIZES = (20_000, 100_000, 1_000_000)
N_KNOTS, C, BLOCK_SIZE = 32, 0.1, 200
N_FEATURES = 20


def draw_points(n, seed=0, d=N_FEATURES):
    """Return n points and labels; the log odds are additive, except for one product if d > 7."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    # F is half the log odds.
    F = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) - 0.8 + 0.7 * X[:, 2] + 0.5 * (X[:, -1] > 0.5)
    if d > 7:
        F += 0.3 * X[:, 4] + 0.4 * X[:, 5] ** 2 - 0.4 + 0.3 * X[:, 6] * X[:, 7]
    return X, np.where(F + 0.5 * rng.logistic(size=n) > 0, 1.0, -1.0)


def fit_stumps_with_knots(X, y):
    model = StumpEnsembleSVC(C, feature_scale=None, n_knots=min(N_KNOTS, len(X))).fit(X, y)
    return {"relative_gap": model.relative_gap_, "error": partial(test_error_percent, model, X)}


def fit_stumps_with_exact_kernel(X, y):
    model = StumpEnsembleSVC(C, feature_scale=None).fit(X, y)
    return {"error": partial(test_error_percent, model, X)}


def fit_histogram_boosting(X, y):
    model = HistGradientBoostingClassifier(random_state=0).fit(X, y)
    return {"error": partial(test_error_percent, model, X)}


def fit_libsvm_with_exact_kernel(X, y):
    """Train LIBSVM with the exact kernel; the time includes the Gram matrix."""
    model = SVC(C=C, kernel="precomputed", cache_size=2000).fit(stump(X), y)
    return {"support_vectors": int(model.n_support_.sum())}


def test_error_percent(model, X):
    X_test, y_test = draw_points(20_000, seed=1, d=X.shape[1])
    return round(100 * (1 - model.score(X_test, y_test)), 2)


def fit_adaboost_stumps(X, y, n_estimators):
    model = AdaBoostStump(n_estimators).fit(X, y)
    return {"training_error": lambda: round(1 - model.score(X, y), 6)}


def fit_adaboost_trees(X, y, n_estimators):
    tree = DecisionTreeClassifier(max_depth=1)
    model = AdaBoostClassifier(tree, n_estimators=n_estimators).fit(X, y)
    return {"training_error": lambda: round(1 - model.score(X, y), 6)}


def compare_predictions(X, y):
    """Time predictions by the shape functions and by the kernel expansion of the same model.

    The dual coefficients sum to zero, so that the constant of the stump kernel cancels.
    """
    dual_coef = np.random.default_rng(2).random(len(y)) * y
    dual_coef -= dual_coef.mean()
    X_new = np.random.default_rng(3).standard_normal((min(50_000, 100 * len(y)), X.shape[1]))
    blocks = [X_new[k : k + BLOCK_SIZE] for k in range(0, len(X_new), BLOCK_SIZE)]
    kernel_outputs, kernel_seconds = time_call(
        lambda: np.concatenate([-cdist(block, X, "cityblock") @ dual_coef for block in blocks])
    )
    shape_functions, build_seconds = time_call(
        lambda: [piecewise_linear_from_kernel_expansion(column, dual_coef) for column in X.T]
    )
    shape_outputs, shape_seconds = time_call(
        lambda: sum(g(column) for g, column in zip(shape_functions, X_new.T, strict=True))
    )
    relative_error = np.ptp(shape_outputs - kernel_outputs) / np.ptp(kernel_outputs)
    assert relative_error < 1e-8, relative_error
    return {
        "support_vectors": len(y),
        "kernel_over_shapes": kernel_seconds / shape_seconds,
        "kernel_over_shapes_and_build": kernel_seconds / (build_seconds + shape_seconds),
    }


METHOD_WITH_KNOTS = "StumpEnsembleSVC, 32 knots"
METHODS = {
    METHOD_WITH_KNOTS: fit_stumps_with_knots,
    "HistGradientBoostingClassifier": fit_histogram_boosting,
    "LIBSVM, exact kernel": fit_libsvm_with_exact_kernel,
    "StumpEnsembleSVC, exact": fit_stumps_with_exact_kernel,
    "AdaBoostStump": fit_adaboost_stumps,
    "AdaBoostClassifier": fit_adaboost_trees,
    "prediction": compare_predictions,
}


def make_problem(row):
    options = {"n_estimators": row["n_estimators"]} if "n_estimators" in row else {}
    return *draw_points(row["n"], d=row["d"]), options


def run():
    rows = []

    def add_rows(problem, methods, n, d=N_FEATURES, repeats=1, **options):
        fields, data = {"problem": problem, "n": n, "d": d}, draw_points(n, d=d)
        rows.extend(compare(__file__, fields, methods, *data, repeats=repeats, **options))

    for n in SIZES:
        add_rows("training", [METHOD_WITH_KNOTS, "HistGradientBoostingClassifier"], n, repeats=3)
    add_rows("training", ["LIBSVM, exact kernel"], SIZES[0])
    rows[-1]["ratio"] = rows[-1]["seconds"] / rows[0]["seconds"]
    add_rows("training", [METHOD_WITH_KNOTS, "StumpEnsembleSVC, exact"], 4_000)
    columns = ["n", "method", "seconds", "ratio", "error", "relative_gap", "memory_over_data"]
    print_table("Training", rows, columns)
    for n, d, n_estimators in ((600, 24, 1000), (50_000, 20, 50)):
        methods = ["AdaBoostStump", "AdaBoostClassifier"]
        add_rows("boosting", methods, n, d, repeats=3, n_estimators=n_estimators)
    print_table("Boosting", rows[-4:], ["n", "d", "n_estimators", "method", "seconds", "ratio"])
    for n in (5_000, 40_000):
        add_rows("prediction", ["prediction"], n)
    columns = ["support_vectors", "kernel_over_shapes", "kernel_over_shapes_and_build"]
    print_table("Predicting 50,000 points", rows[-2:], columns)
    return rows


if __name__ == "__main__":
    main(METHODS, run)
