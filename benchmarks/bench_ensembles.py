"""Claims about machines of stumps: predicting, boosting, and fitting between knots.

A machine as one curve a feature predicts 50,000 points of 20 features at least 20 times faster than
its kernels, computed block by block, for 5,000 support vectors, and 100 times for 40,000.
`AdaBoostStump` does 1,000 rounds on 600 points of 24 features at least 15 times faster than
scikit-learn's `AdaBoostClassifier` over trees of depth one, and is no slower at 50,000 points.
`StumpEnsembleSVC` with 32 knots grows no faster than n^1.1 from 20,000 to a million points of 20
features, which takes at most 8 times their memory; at 20,000 it is at least 20 times as fast as
LIBSVM on the exact kernel, and on 4,000 its error is within one point of the exact machine's.
`HistGradientBoostingClassifier` stands beside it.
"""

import time

import numpy as np
from measure import main, measure, print_table
from scipy.spatial.distance import cdist
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from svmbook import AdaBoostStump, StumpEnsembleSVC
from svmbook.ensembles.additive import line_of_kernels
from svmbook.kernels import stump

SIZES = (20_000, 100_000, 1_000_000)
KNOTS, PRICE, BLOCK = 32, 0.1, 200
FEATURES = 20


def additive(n, seed=0, d=FEATURES):
    """Return n points whose labels depend on curves of single features, on one pair, and chance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    F = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) - 0.8 + 0.7 * X[:, 2] + 0.5 * (X[:, -1] > 0.5)
    if d > 7:
        F += 0.3 * X[:, 4] + 0.4 * X[:, 5] ** 2 - 0.4 + 0.3 * X[:, 6] * X[:, 7]
    return X, np.where(F + 0.5 * rng.logistic(size=n) > 0, 1.0, -1.0)


def knots(X, y):
    machine = StumpEnsembleSVC(PRICE, feature_scale=None, n_knots=min(KNOTS, len(X))).fit(X, y)
    return {"relative_gap": machine.relative_gap_, "error": _error(machine, X)}


def histograms(X, y):
    return {"error": _error(HistGradientBoostingClassifier(random_state=0).fit(X, y), X)}


def exact_libsvm(X, y):
    """Fit LIBSVM to the exact kernel, computed inside the clock."""
    machine = SVC(C=PRICE, kernel="precomputed", cache_size=2000).fit(stump(X), y)
    return {"support_vectors": int(machine.n_support_.sum())}


def exact(X, y):
    return {"error": _error(StumpEnsembleSVC(PRICE, feature_scale=None).fit(X, y), X)}


def _error(machine, X):
    new, truth = additive(20_000, seed=1, d=X.shape[1])
    return round(100 * (1 - machine.score(new, truth)), 2)


def boosting(X, y, rounds):
    return {"training_error": round(1 - AdaBoostStump(rounds).fit(X, y).score(X, y), 6)}


def boosted_trees(X, y, rounds):
    trees = DecisionTreeClassifier(max_depth=1)
    machine = AdaBoostClassifier(trees, n_estimators=rounds).fit(X, y)
    return {"training_error": round(1 - machine.score(X, y), 6)}


def prediction(X, y):
    """Let curves and kernels of one machine predict the same new points."""
    A = np.random.default_rng(2).random(len(y)) * y
    A -= A.mean()
    new = np.random.default_rng(3).standard_normal((min(50_000, 100 * len(y)), X.shape[1]))
    start = time.perf_counter()
    by_kernels = np.concatenate(
        [-cdist(new[k : k + BLOCK], X, "cityblock") @ A for k in range(0, len(new), BLOCK)]
    )
    middle = time.perf_counter()
    shapes = [line_of_kernels(column, A) for column in X.T]
    built = time.perf_counter()
    by_curves = sum(shape(column) for shape, column in zip(shapes, new.T, strict=True))
    end = time.perf_counter()
    off = np.ptp(by_curves - by_kernels) / np.ptp(by_kernels)
    assert off < 1e-8, off
    return {
        "support_vectors": len(y),
        "kernels_over_curves": (middle - start) / (end - built),
        "kernels_over_curves_built": (middle - start) / (end - middle),
    }


METHODS = {
    "StumpEnsembleSVC, 32 knots": knots,
    "HistGradientBoostingClassifier": histograms,
    "LIBSVM, exact kernel": exact_libsvm,
    "StumpEnsembleSVC, exact": exact,
    "AdaBoostStump": boosting,
    "AdaBoostClassifier": boosted_trees,
    "prediction": prediction,
}


def problem(row):
    options = {"rounds": row["rounds"]} if "rounds" in row else {}
    return *additive(row["n"], d=row["d"]), options


def run():
    rows = []

    def add(title, method, n, d=FEATURES, repeats=1, **options):
        row = {"problem": title, "n": n, "d": d, "method": method, **options}
        found = measure(__file__, method, *additive(n, d=d), repeats=repeats, **options)
        rows.append(row | found)

    for n in SIZES:
        for method in ("StumpEnsembleSVC, 32 knots", "HistGradientBoostingClassifier"):
            add("training", method, n, repeats=3)
    add("training", "LIBSVM, exact kernel", SIZES[0])
    for method in ("StumpEnsembleSVC, 32 knots", "StumpEnsembleSVC, exact"):
        add("training", method, 4_000)
    ours = {row["n"]: row["seconds"] for row in rows if row["method"].endswith("32 knots")}
    for row in rows:
        row["ratio"] = row["seconds"] / ours[row["n"]]
    columns = ["n", "method", "seconds", "ratio", "error", "relative_gap", "memory_over_data"]
    print_table("Fitting", rows, columns)
    for n, d, rounds in ((600, 24, 1000), (50_000, 20, 50)):
        for method in ("AdaBoostStump", "AdaBoostClassifier"):
            add("boosting", method, n, d, repeats=3, rounds=rounds)
    boosted = [row for row in rows if row["problem"] == "boosting"]
    for ours, theirs in zip(boosted[::2], boosted[1::2], strict=True):
        ours["ratio"], theirs["ratio"] = 1.0, theirs["seconds"] / ours["seconds"]
    print_table("Boosting", boosted, ["n", "d", "rounds", "method", "seconds", "ratio"])
    for n in (5_000, 40_000):
        add("prediction", "prediction", n)
    predicted = [row for row in rows if row["problem"] == "prediction"]
    columns = ["support_vectors", "kernels_over_curves", "kernels_over_curves_built"]
    print_table("Predicting 50,000 points", predicted, columns)
    return rows


if __name__ == "__main__":
    main(METHODS, run)
