"""Claims about kernel logistic regression.

l1 penalty, 400 points in the plane: for each kernel and lam the solver is at least 30 times faster
than BFGS on the smoothed objective of the report "Exploring Classification", and its objective is
no higher. In the geometric mean it is at least 60 times faster. Ridge penalty, 2,000 points: a
Newton iteration takes at most 3 times as long as a Cholesky factorisation. A path of 30 values of
lam on 1,000 points is at least 3 times faster than 30 cold-started fits. Estimators of scikit-learn
are timed for comparison.
"""

import itertools

import numpy as np
from measure import (
    compare,
    main,
    print_table,
    time_call,
    time_over_cholesky,
)
from scipy.optimize import fmin_bfgs
from scipy.special import expit
from scipy.stats import gmean
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression

from svmbook import DualSVC, ImportVectorMachine, KernelLogisticRegression
from svmbook.datasets import stdev
from svmbook.kernels import gaussian, linear
from svmbook.losses import logistic
from svmbook.solvers import (
    lam_max,
    solve_logistic,
    solve_logistic_l1,
    solve_logistic_l1_path,
    solve_logistic_unpenalised,
)

GAMMA = 0.1
EPSILON = 1e-6  # of the smoothed penalty: |alpha| is smoothed over a width of 1e-3


def gram_matrix(X, kernel):
    return linear(X) if kernel == "linear" else gaussian(X, gamma=GAMMA)


def l1_objective(K, y, lam, alpha, b):
    """Return the objective with the l1 penalty, which is not smoothed."""
    return float(logistic(y * (K @ alpha + b)).sum() + lam * np.abs(alpha).sum())


def solve_smoothed_l1_by_bfgs(X, y, *, kernel, lam):
    """Minimise by BFGS as in the report: penalty sqrt(alpha^2 + epsilon), analytic gradient."""
    K, n = gram_matrix(X, kernel), len(y)

    def objective(theta):
        alpha, b = theta[:n], theta[n]
        loss = np.logaddexp(0.0, -y * (K @ alpha + b)).sum()
        return loss + lam * np.sqrt(alpha**2 + EPSILON).sum()

    def gradient(theta):
        alpha, b = theta[:n], theta[n]
        # The derivative of the loss with respect to the outputs.
        loss_derivative = -y * expit(-y * (K @ alpha + b))
        penalty_gradient = lam * alpha / np.sqrt(alpha**2 + EPSILON)
        return np.append(penalty_gradient + K @ loss_derivative, loss_derivative.sum())

    theta = fmin_bfgs(objective, np.zeros(n + 1), gradient, disp=False)
    alpha, b = theta[:n], theta[n]
    return summarise(l1_objective(K, y, lam, alpha, b), alpha)


def solve_unpenalised(X, y, *, kernel, lam):
    """Minimise the log loss of a linear classifier without a penalty."""
    assert kernel == "linear" and lam == 0
    result = solve_logistic_unpenalised(X, y)  # one weight per feature, and no alpha
    return {"objective": result.objective, "iterations": result.n_iter}


def solve_l1(X, y, *, kernel, lam):
    """Minimise the objective with the l1 penalty."""
    K = gram_matrix(X, kernel)
    result = solve_logistic_l1(K, y, lam)
    objective = l1_objective(K, y, lam, result.coef, result.intercept)
    return summarise(objective, result.coef) | {"iterations": result.n_iter}


def summarise(objective, alpha):
    return {"objective": objective, "non_zero_coefs": int(np.count_nonzero(alpha))}


def time_newton_over_cholesky(X, y, *, lam, full_rank):
    """Time the solver in units of a factorisation of K + I; K has full rank if ``full_rank``."""
    K = gaussian(X, gamma=5.0 if full_rank else GAMMA)
    result, time_ratio = time_over_cholesky(K, lambda: solve_logistic(K, y, lam), repeats=5)
    return {
        "iterations": result.n_iter,
        "objective": result.objective,
        "relative_gap": result.gap / result.objective,
        "iteration_over_cholesky": time_ratio / result.n_iter,
    }


def time_paths(X, y):
    """Time a path and as many cold-started fits, by the solver and by the estimator."""
    K = gram_matrix(X, "gaussian")
    lams = np.geomspace(lam_max(K, y), 1e-3 * lam_max(K, y), 30)
    model = KernelLogisticRegression(penalty="l1", gamma=GAMMA)
    results, path_seconds = time_call(lambda: solve_logistic_l1_path(K, y, lams), repeats=3)
    _, cold_seconds = time_call(lambda: [solve_logistic_l1(K, y, lam) for lam in lams], repeats=3)
    _, estimator_path_seconds = time_call(lambda: model.path(X, y, lams), repeats=3)
    _, estimator_cold_seconds = time_call(
        lambda: [model.set_params(lam=lam).fit(X, y) for lam in lams], repeats=3
    )
    return {
        "objective": sum(result.objective for result in results),
        "cold_over_path": cold_seconds / path_seconds,
        "cold_over_path_estimator": estimator_cold_seconds / estimator_path_seconds,
    }


def fit_kernel_logistic(X, y, *, kernel, lam):
    model = KernelLogisticRegression(lam, kernel=kernel, gamma=GAMMA).fit(X, y)
    return {"objective": model.objective_, "accuracy": model.score(X, y)}


def fit_dual_svc(X, y, *, kernel, lam):
    """Fit the support vector machine with C = 1 / lam: hinge loss in place of log loss."""
    model = DualSVC(1 / lam, kernel=kernel, gamma=GAMMA).fit(X, y)
    result = {"solver": model.solver_, "objective": model.objective_}
    return result | {"accuracy": model.score(X, y), "non_zero_coefs": len(model.support_)}


def fit_sklearn_logistic(X, y, *, kernel, lam):
    model = LogisticRegression(C=1 / lam).fit(X, y)
    loss = logistic(y * model.decision_function(X)).sum()
    objective = float(loss + 0.5 * lam * np.sum(model.coef_**2))
    return {"objective": objective, "accuracy": model.score(X, y)}


def fit_gaussian_process(X, y, *, kernel, lam):
    """Fit by Laplace's approximation: no intercept, and the prior variance is 1 / lam."""
    model = GaussianProcessClassifier(1 / lam * RBF((0.5 / GAMMA) ** 0.5), optimizer=None)
    return {"accuracy": model.fit(X, y).score(X, y)}


def fit_import_vector_machine(X, y, *, kernel, lam):
    model = ImportVectorMachine(lam, kernel=kernel, gamma=GAMMA).fit(X, y)
    result = {"objective": model.objective_, "accuracy": model.score(X, y)}
    return result | {"non_zero_coefs": len(model.support_)}


METHODS = {
    "solve_logistic_l1": solve_l1,
    "solve_logistic_unpenalised": solve_unpenalised,
    "BFGS": solve_smoothed_l1_by_bfgs,
    "Newton iteration over Cholesky": time_newton_over_cholesky,
    "path": time_paths,
    "KernelLogisticRegression": fit_kernel_logistic,
    "DualSVC": fit_dual_svc,
    "LogisticRegression": fit_sklearn_logistic,
    "GaussianProcessClassifier": fit_gaussian_process,
    "ImportVectorMachine": fit_import_vector_machine,
}
COLUMNS = ["n", "kernel", "lam", "method", "seconds", "ratio", "objective", "non_zero_coefs"]


def make_problem(row):
    options = {key: row[key] for key in ("kernel", "lam", "full_rank") if key in row}
    return *stdev(2, row["n"], random_state=0), options


def compare_methods(problem, n, methods, repeats=5, **options):
    X, y, _ = make_problem({"n": n})
    fields = {"problem": problem, "n": n}
    return compare(__file__, fields, methods, X, y, repeats=repeats, **options)


def run():
    l1_rows = []
    kernels_and_lams = [("linear", 0.0), *itertools.product(("linear", "gaussian"), (0.01, 1.0))]
    for kernel, lam in kernels_and_lams:
        methods = ["solve_logistic_l1" if lam > 0 else "solve_logistic_unpenalised", "BFGS"]
        l1_rows += compare_methods("l1 penalty", 400, methods, repeats=3, kernel=kernel, lam=lam)
    print_table(f"l1 penalty, epsilon = {EPSILON:g}", l1_rows, COLUMNS)
    bfgs_ratios = [row["ratio"] for row in l1_rows if row["method"] == "BFGS" and row["lam"] > 0]
    print(f"\nBFGS takes {gmean(bfgs_ratios):.0f} times as long, in the geometric mean")

    ridge_rows = []
    for full_rank, lam in itertools.product((False, True), (0.01, 1.0)):
        ridge_rows += compare_methods(
            "ridge",
            2000,
            ["Newton iteration over Cholesky"],
            repeats=1,
            lam=lam,
            full_rank=full_rank,
        )
    columns = [
        "n",
        "full_rank",
        "lam",
        "iterations",
        "relative_gap",
        "iteration_over_cholesky",
    ]
    print_table("Ridge, Gaussian kernel", ridge_rows, columns)

    path_rows = compare_methods("path", 1000, ["path"], repeats=1)
    columns = ["n", "cold_over_path", "cold_over_path_estimator"]
    print_table(
        "Gaussian kernel: time of 30 cold-started fits divided by that of a path",
        path_rows,
        columns,
    )

    methods = ["KernelLogisticRegression", "DualSVC", "LogisticRegression"]
    estimator_rows = compare_methods("estimators", 5000, methods, kernel="linear", lam=1.0)
    methods = [*methods[:2], "ImportVectorMachine", "GaussianProcessClassifier"]
    estimator_rows += compare_methods("estimators", 1000, methods, repeats=3, kernel="rbf", lam=1.0)
    print_table("Comparison of estimators", estimator_rows, [*COLUMNS, "accuracy"])
    return l1_rows + ridge_rows + path_rows + estimator_rows


if __name__ == "__main__":
    main(METHODS, run)
