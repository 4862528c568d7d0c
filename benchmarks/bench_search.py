"""Time of a parameter search on a table of moderate size, and time per million predictions.

The table has 6,000 rows, 30 features and three classes of different sizes. Each candidate, a
combination of parameter values, is fitted three times (3-fold cross-validation), and the best one
is fitted once more to the whole table. Binary estimators fit three models, one per pair of classes,
in each of these fits.
"""

import numpy as np
from measure import compare, main, print_table, time_call
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from svmbook import DualSVC, KernelLogisticRegression, StumpEnsembleLogistic

N_PREDICTED = 100_000
LAM_GRID, C_GRID = [10, 1, 0.1, 0.01], [0.1, 1, 10, 100]
GAMMA_GRID = [factor / 30 for factor in (1 / 16, 1 / 4, 1, 4)]
SETTINGS = {
    "StumpEnsembleLogistic": (StumpEnsembleLogistic(n_knots=16), {"lam": LAM_GRID}),
    "DualSVC, linear": (DualSVC(), {"C": C_GRID}),
    "DualSVC, Gaussian": (DualSVC(kernel="rbf"), {"C": C_GRID, "gamma": GAMMA_GRID}),
    "KernelLogisticRegression": (KernelLogisticRegression(gamma=1 / 30), {"lam": LAM_GRID}),
}


def make_search_method(name):
    """Return a method that chooses the parameters of an estimator and predicts many points."""
    estimator, grid = SETTINGS[name]

    def method(X, y):
        search = GridSearchCV(estimator, grid, cv=3).fit(X, y)
        X_new = X[np.arange(N_PREDICTED) % len(X)]
        _, prediction_seconds = time_call(lambda: search.predict(X_new))
        n_fits = 3 * len(search.cv_results_["params"]) + 1
        return {"n_fits": n_fits, "seconds_per_million": prediction_seconds * 1e6 / N_PREDICTED}

    return method


METHODS = {name: make_search_method(name) for name in SETTINGS}


def make_problem(row):
    class_shares = [0.6, 0.3]  # the third class has the rest
    X, y = make_classification(
        row["n"], 30, n_informative=10, n_classes=3, weights=class_shares, random_state=0
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y, {}


def run():
    X, y, _ = make_problem({"n": 6000})
    rows = compare(__file__, {"n": len(X)}, METHODS, X, y)
    columns = ["method", "seconds", "ratio", "n_fits", "seconds_per_million"]
    print_table("6,000 rows, 30 features, three classes", rows, columns)
    return rows


if __name__ == "__main__":
    main(METHODS, run)
