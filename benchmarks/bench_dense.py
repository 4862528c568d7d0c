"""Claims about the dense form of the interior-point method on a Gaussian kernel.

It is at least 4 times faster than the textbook form at n = 1,000, and no slower than CVXOPT's own
solver with a sparse G at n = 1,500. At n = 4,000 an iteration takes at most 1.5 times as long as a
Cholesky factorisation. LIBSVM, with the crossover from its solution to the exact one, is timed for
comparison, also where it is faster. The Gram matrix is computed beforehand for all methods; its
size is the unit of memory, and the memory includes it.
"""

import numpy as np
from measure import compare, main, print_table, time_over_cholesky
from sklearn.svm import SVC
from synthetic_data import draw_overlapping_classes

from svmbook.gram import StoredGram
from svmbook.kernels import gaussian
from svmbook.solvers import solve_dual
from svmbook.solvers.dual.active_sets.crossover import cross_over


def summarise(result):
    return {
        "objective": result.objective,
        "relative_gap": result.relative_gap,
        "iterations": result.n_iter,
        "n_free": int(((result.alpha > 0) & (result.alpha < result.alpha.max())).sum()),
    }


def make_interior_point_method(form):
    """Return a method: the interior-point solver with a form of the quadratic program."""
    return lambda K, y, C: summarise(solve_dual(K, y, C, form=form))


def make_libsvm_with_crossover_method(tol):
    """Return a method: LIBSVM with a tolerance, and the crossover from its solution."""

    def solve(K, y, C):
        svc = SVC(C=C, kernel="precomputed", tol=tol).fit(K, y)
        alpha = np.zeros(len(y))
        alpha[svc.support_] = np.abs(svc.dual_coef_[0])
        options = {"n_iter": svc.n_iter_[0], "message": "", "tol": tol}
        C = np.full(len(y), C)
        return summarise(cross_over(StoredGram(K), y, C, alpha, svc.intercept_[0], **options))

    return solve


def time_dense_over_cholesky(K, y, C):
    """Time the solver in units of a factorisation of K + I that is timed in the same process."""
    result, time_ratio = time_over_cholesky(K, lambda: solve_dual(K, y, C), repeats=3)
    return summarise(result) | {"iteration_over_cholesky": time_ratio / result.n_iter}


METHODS = {
    "dense": make_interior_point_method("dense"),
    "sparse G": make_interior_point_method("sparse"),
    "textbook": make_interior_point_method("textbook"),
    "LIBSVM 1e-3": make_libsvm_with_crossover_method(1e-3),
    "LIBSVM 1e-6": make_libsvm_with_crossover_method(1e-6),
    "dense iteration over Cholesky": time_dense_over_cholesky,
}
COLUMNS = ["n", "C", "method", "seconds", "ratio", "relative_gap", "iterations", "n_free"]
COLUMNS += ["memory_over_data", "iteration_over_cholesky"]


def prepare(X):
    return gaussian(X, gamma=0.1)


def make_problem(row):
    return *draw_overlapping_classes(row["n"]), {"C": row["C"]}


def run():
    methods = ["dense", "dense iteration over Cholesky", "LIBSVM 1e-3", "LIBSVM 1e-6"]
    rows = []
    for n, further_methods, repeats in [
        (500, ["sparse G", "textbook"], 5),
        (1000, ["sparse G", "textbook"], 3),
        (1500, ["sparse G"], 3),
        (2500, [], 2),
        (4000, [], 1),
    ]:
        for C in (1.0, 100.0):
            rows += compare(
                __file__,
                {"n": n},
                methods + further_methods,
                *draw_overlapping_classes(n),
                repeats=repeats,
                # "textbook" is slow; `time_over_cholesky` has repetitions of its own.
                single_run_methods=("textbook", "dense iteration over Cholesky"),
                C=C,
            )
    print_table("Gaussian kernel, gamma = 0.1, ten features, noisy labels", rows, COLUMNS)
    return rows


if __name__ == "__main__":
    main(METHODS, run, prepare)
