"""Claims about kernel logistic regression.

400 points in the plane: at least 30 times faster than BFGS on the source's smoothed objective, at
an objective no higher, for each kernel and penalty, and 60 times in the geometric mean. A ridge at
2,000 points: within 3 times the Cholesky factorisations that its Newton steps stand for. A path of
30 penalties at 1,000 points against 30 fits from nothing. scikit-learn stands beside ours.
"""

import itertools
import time

import numpy as np
from measure import main, measure, print_table
from scipy.linalg import lapack
from scipy.optimize import fmin_bfgs
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression

from svmbook import DualSVC, ImportVectorMachine, KernelLogisticRegression
from svmbook.datasets import stdev
from svmbook.kernels import gaussian, linear
from svmbook.losses import logistic
from svmbook.solvers import (
    largest_lam,
    solve_logistic,
    solve_logistic_l1,
    solve_logistic_l1_path,
    solve_unpenalised,
)

GAMMA = 0.1
EPSILON = 1e-6  # of the smoothed penalty: its kink is rounded over a thousandth


def gram(X, kernel):
    return linear(X) if kernel == "linear" else gaussian(X, gamma=GAMMA)


def penalised(K, y, lam, alpha, b):
    """Return the objective with the penalty as it is, not smoothed."""
    return float(logistic(y * (K @ alpha + b)).sum() + lam * np.abs(alpha).sum())


def source(X, y, *, kernel, lam):
    """Do as the source does: BFGS on sqrt(alpha^2 + epsilon), with the analytic gradient."""
    K, n = gram(X, kernel), len(y)

    def objective(theta):
        alpha, b = theta[:n], theta[n]
        loss = np.logaddexp(0.0, -y * (K @ alpha + b)).sum()
        return loss + lam * np.sqrt(alpha**2 + EPSILON).sum()

    def gradient(theta):
        alpha, b = theta[:n], theta[n]
        pull = y * expit(-y * (K @ alpha + b))
        return np.append(lam * alpha / np.sqrt(alpha**2 + EPSILON) - K @ pull, -pull.sum())

    theta = fmin_bfgs(objective, np.zeros(n + 1), gradient, disp=False)
    alpha, b = theta[:n], theta[n]
    return report(penalised(K, y, lam, alpha, b), alpha)


def ours(X, y, *, kernel, lam):
    """Solve with the penalty as it is; without one, on the points, since the kernel is linear."""
    if lam == 0:
        result = solve_unpenalised(X, y)  # weights of the features, no coefficients of points
        return {"objective": result.objective, "iterations": result.n_iter}
    K = gram(X, kernel)
    result = solve_logistic_l1(K, y, lam)
    objective = penalised(K, y, lam, result.coef, result.intercept)
    return report(objective, result.coef) | {"iterations": result.n_iter}


def report(objective, alpha):
    return {"objective": objective, "non_zero": int(np.count_nonzero(alpha))}


def newton_and_cholesky(X, y, *, lam, dense):
    """Solve, and factor K + I in the same process, so that both meet the same machine."""
    K = gaussian(X, gamma=5.0 if dense else GAMMA)
    shifted = np.asfortranarray(K + np.eye(len(K)))
    work = np.empty_like(shifted, order="F")
    factorisation, solution = [], []
    for _ in range(5):
        np.copyto(work, shifted)
        start = time.perf_counter()
        lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)
        middle = time.perf_counter()
        result = solve_logistic(K, y, lam)
        solution.append(time.perf_counter() - middle)
        factorisation.append(middle - start)
    factors = float(np.median(np.array(solution) / np.array(factorisation)))
    return {
        "iterations": result.n_iter,
        "objective": result.objective,
        "relative_gap": result.gap / result.objective,
        "factorisations_per_iteration": factors / result.n_iter,
    }


def path(X, y, **options):
    """Time a path and as many fits from nothing, in the solver and in the estimator."""
    K = gram(X, "gaussian")
    lams = np.geomspace(largest_lam(K, y), 1e-3 * largest_lam(K, y), 30)
    machine = KernelLogisticRegression(penalty="l1", gamma=GAMMA)
    seconds, found = {}, {}
    for name, work in {
        "path": lambda: solve_logistic_l1_path(K, y, lams),
        "cold": lambda: [solve_logistic_l1(K, y, lam) for lam in lams],
        "estimator_path": lambda: machine.path(X, y, lams),
        "estimator_cold": lambda: [machine.set_params(lam=lam).fit(X, y) for lam in lams],
    }.items():
        times = []
        for _ in range(3):
            start = time.perf_counter()
            found[name] = work()
            times.append(time.perf_counter() - start)
        seconds[name] = float(np.median(times))
    return {
        "objective": sum(result.objective for result in found["path"]),
        "cold_over_path": seconds["cold"] / seconds["path"],
        "cold_over_path_estimator": seconds["estimator_cold"] / seconds["estimator_path"],
    }


def klr(X, y, *, kernel, lam):
    machine = KernelLogisticRegression(lam, kernel=kernel, gamma=GAMMA).fit(X, y)
    return {"objective": machine.objective_, "accuracy": machine.score(X, y)}


def svm(X, y, *, kernel, lam):
    """Fit the support vector machine of the same price: the hinge in the place of the log loss."""
    machine = DualSVC(1 / lam, kernel=kernel, gamma=GAMMA).fit(X, y)
    report = {"solver": machine.solver_, "objective": machine.objective_}
    return report | {"accuracy": machine.score(X, y), "non_zero": len(machine.support_)}


def scikit_linear(X, y, *, kernel, lam):
    machine = LogisticRegression(C=1 / lam).fit(X, y)
    loss = logistic(y * machine.decision_function(X)).sum()
    objective = float(loss + 0.5 * lam * np.sum(machine.coef_**2))
    return {"objective": objective, "accuracy": machine.score(X, y)}


def gaussian_process(X, y, *, kernel, lam):
    """Fit Laplace's approximation: the same objective, lam in the kernel, no intercept."""
    process = GaussianProcessClassifier(1 / lam * RBF((0.5 / GAMMA) ** 0.5), optimizer=None)
    return {"accuracy": process.fit(X, y).score(X, y)}


def import_vectors(X, y, *, kernel, lam):
    machine = ImportVectorMachine(lam, kernel=kernel, gamma=GAMMA).fit(X, y)
    size = {"non_zero": len(machine.support_)}
    return {"objective": machine.objective_, "accuracy": machine.score(X, y)} | size


METHODS = {
    "ours": ours,
    "BFGS": source,
    "Newton, in factorisations": newton_and_cholesky,
    "path": path,
    "KernelLogisticRegression": klr,
    "DualSVC": svm,
    "LogisticRegression": scikit_linear,
    "GaussianProcessClassifier": gaussian_process,
    "ImportVectorMachine": import_vectors,
}
COLUMNS = ["n", "kernel", "lam", "method", "seconds", "ratio", "objective", "non_zero"]


def problem(row):
    options = {key: row[key] for key in ("kernel", "lam", "dense") if key in row}
    return *stdev(2, row["n"], random_state=0), options


def rows_of(name, n, methods, repeats=5, **options):
    """Measure several methods on the same draw; ratios are to the first."""
    X, y, _ = problem({"n": n})
    rows = []
    for method in methods:
        row = {"problem": name, "n": n, "method": method} | options
        rows.append(row | measure(__file__, method, X, y, repeats=repeats, **options))
    for row in rows:
        row["ratio"] = row["seconds"] / rows[0]["seconds"]
    return rows


def run():
    absolute = []
    penalties = [("linear", 0.0), *itertools.product(("linear", "gaussian"), (0.01, 1.0))]
    for kernel, lam in penalties:
        options = {"kernel": kernel, "lam": lam, "repeats": 3}
        absolute += rows_of("absolute values", 400, ["ours", "BFGS"], **options)
    print_table(f"Absolute-value penalty, epsilon = {EPSILON:g}", absolute, COLUMNS)
    ratios = [row["ratio"] for row in absolute if row["method"] == "BFGS" and row["lam"] > 0]
    print(f"\nBFGS takes {np.exp(np.mean(np.log(ratios))):.0f} times as long, on average")

    ridge = []
    for dense in (False, True):
        for lam in (0.01, 1.0):
            options = {"lam": lam, "dense": dense, "repeats": 1}
            ridge += rows_of("ridge", 2000, ["Newton, in factorisations"], **options)
    columns = ["n", "dense", "lam", "iterations", "relative_gap", "factorisations_per_iteration"]
    print_table("Ridge, Gaussian kernel", ridge, columns)

    paths = rows_of("path", 1000, ["path"], repeats=1)
    columns = ["n", "cold_over_path", "cold_over_path_estimator"]
    print_table("Thirty penalties, Gaussian kernel: fits from nothing over a path", paths, columns)

    others = []
    linear_machines = ["KernelLogisticRegression", "DualSVC", "LogisticRegression"]
    others += rows_of("others", 5000, linear_machines, kernel="linear", lam=1.0)
    gaussian_machines = ["KernelLogisticRegression", "DualSVC", "ImportVectorMachine"]
    gaussian_machines.append("GaussianProcessClassifier")
    others += rows_of("others", 1000, gaussian_machines, repeats=3, kernel="rbf", lam=1.0)
    print_table("Beside scikit-learn", others, [*COLUMNS, "accuracy"])
    return absolute + ridge + paths + others


if __name__ == "__main__":
    main(METHODS, run)
