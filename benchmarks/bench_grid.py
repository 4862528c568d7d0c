"""Claim: `choose_parameters` makes the same choice as `GridSearchCV` and is not slower.

`GridSearchCV` is run with `SVC`, once with the built-in Gaussian kernel and once with a callable
kernel. The grid has 11 values of C and 10 of gamma; all methods use the same 5 folds.
"""

import itertools
from functools import partial

from measure import compare, main, print_table
from scipy.stats import gmean
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from svmbook.datasets import ringnorm, threenorm
from svmbook.experiments.methods.grid_search import choose_parameters
from svmbook.kernels import gaussian

C_GRID = [2.0**k for k in range(-5, 16, 2)]
GAMMA_GRID = [2.0**k for k in range(-15, 4, 2)]
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def search_with_shared_distances(X, y):
    choice = choose_parameters(X, y, C=C_GRID, gamma=GAMMA_GRID, cv=FOLDS)
    return {"C": choice.C, "gamma": choice.gamma, "score": choice.score}


def search_with_built_in_kernel(X, y):
    grid = {"C": C_GRID, "gamma": GAMMA_GRID}
    search = GridSearchCV(SVC(cache_size=500), grid, cv=FOLDS, refit=False)
    search.fit(X, y)
    return {**search.best_params_, "score": float(search.best_score_)}


def search_with_callable_kernel(X, y):
    kernels = [partial(gaussian, gamma=gamma) for gamma in GAMMA_GRID]
    grid = {"C": C_GRID, "kernel": kernels}
    search = GridSearchCV(SVC(cache_size=500), grid, cv=FOLDS, refit=False)
    search.fit(X, y)
    best = search.best_params_
    gamma = best["kernel"].keywords["gamma"]
    return {"C": best["C"], "gamma": gamma, "score": float(search.best_score_)}


METHODS = {
    "shared distances": search_with_shared_distances,
    "built-in kernel": search_with_built_in_kernel,
    "callable kernel": search_with_callable_kernel,
}
COLUMNS = ["data", "n", "method", "seconds", "ratio", "C", "gamma", "score"]
GENERATORS = {"threenorm": threenorm, "ringnorm": ringnorm}


def make_problem(row):
    return *GENERATORS[row["data"]](row["n"], random_state=0), {}


def run():
    rows = []
    for name, n in itertools.product(GENERATORS, (180, 300, 600)):
        row = {"data": name, "n": n}
        X, y, _ = make_problem(row)
        rows += compare(__file__, row, METHODS, X, y)
    print_table("Grid search, 11 values of C, 10 of gamma, 5 folds", rows, COLUMNS)
    for method in METHODS:
        ratios = [row["ratio"] for row in rows if row["method"] == method]
        mean = gmean(ratios)
        print(f"{method} takes {mean:.1f} times as long as `choose_parameters` (geometric mean)")
    return rows


if __name__ == "__main__":
    main(METHODS, run)
