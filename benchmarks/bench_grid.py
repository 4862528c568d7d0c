"""How much faster the grid search of the experiments is than scikit-learn's.

Against `GridSearchCV` over `SVC` with the built-in Gaussian kernel and with a callable one, on the
same folds and with the same choice: 11 values of C, 10 of gamma, 5 folds.
"""

from functools import partial

import numpy as np
from measure import main, measure, print_table
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from svmbook.datasets import ringnorm, threenorm
from svmbook.experiments.methods.grid import choose_by_grid
from svmbook.kernels import gaussian

C = [2.0**k for k in range(-5, 16, 2)]
GAMMA = [2.0**k for k in range(-15, 4, 2)]
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def fast(X, y):
    choice = choose_by_grid(X, y, C=C, gamma=GAMMA, cv=FOLDS)
    return {"C": choice.C, "gamma": choice.gamma, "score": choice.score}


def built_in(X, y):
    search = GridSearchCV(SVC(cache_size=500), {"C": C, "gamma": GAMMA}, cv=FOLDS, refit=False)
    search.fit(X, y)
    return {**search.best_params_, "score": float(search.best_score_)}


def with_callable(X, y):
    kernels = [partial(gaussian, gamma=gamma) for gamma in GAMMA]
    search = GridSearchCV(SVC(cache_size=500), {"C": C, "kernel": kernels}, cv=FOLDS, refit=False)
    search.fit(X, y)
    best = search.best_params_
    return {
        "C": best["C"],
        "gamma": best["kernel"].keywords["gamma"],
        "score": float(search.best_score_),
    }


METHODS = {"fast": fast, "built-in kernel": built_in, "callable kernel": with_callable}
COLUMNS = ["data", "n", "method", "seconds", "ratio", "C", "gamma", "score"]


DRAWS = {"threenorm": threenorm, "ringnorm": ringnorm}


def problem(row):
    return *DRAWS[row["data"]](row["n"], random_state=0), {}


def compare(name, n):
    X, y, _ = problem({"data": name, "n": n})
    rows = []
    for method in METHODS:
        rows.append({"data": name, "n": n, "method": method} | measure(__file__, method, X, y))
    for row in rows:
        row["ratio"] = row["seconds"] / rows[0]["seconds"]
    return rows


def run():
    rows = []
    for name in DRAWS:
        for n in (180, 300, 600):
            rows += compare(name, n)
    print_table("Grid search, 11 values of C, 10 of gamma, 5 folds", rows, COLUMNS)
    ratios = {method: [] for method in METHODS}
    for row in rows:
        ratios[row["method"]].append(row["ratio"])
    for method, values in ratios.items():
        print(f"{method}: {np.exp(np.mean(np.log(values))):.1f} times the time of ours, on average")
    return rows


if __name__ == "__main__":
    main(METHODS, run)
