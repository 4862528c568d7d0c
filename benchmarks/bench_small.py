"""Claims about accuracy: ten thousand small, often degenerate problems, compared with CVXOPT.

The problems have 2 to 60 points, C from 1e-6 to 1e6, and one of five kernels. The Gram matrix is
divided by its mean diagonal entry. The degenerate problems have duplicated points, points on a
line, a constant feature, or one positive point. In half of the problems the points have weights.
Every solution must have a KKT residual of at most 1e-9 max(1, C), where C is the smallest upper
bound of a multiplier, and a dual objective at least as large as that of CVXOPT's interior-point
method. The tolerance of the objective is 4 eps s max(10, s), where s is the sum of all multipliers,
or 1e-12 of the objective if that is larger. Nothing is timed.
"""

import numpy as np
from measure import main, print_table
from synthetic_data import DEGENERACIES, impose_degeneracy

from svmbook import kernels
from svmbook.solvers import solve_active_set, solve_dual

N_PROBLEMS = 10_000
COLUMNS = ["kernel", "problems", "converged", "used_monotone", "max_n_iter", "max_residual"]
COLUMNS += ["worse_than_cvxopt", "cvxopt_converged"]


def draw_points(rng):
    n, d = int(rng.integers(2, 61)), int(rng.integers(1, 7))
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X, y = impose_degeneracy(X, y, rng.choice(DEGENERACIES))
    return X * 10.0 ** rng.choice([0, 0, -3, 2]), y


def draw_dual_problem(seed):
    """Return the name of the kernel, the Gram matrix, the labels and the upper bounds."""
    rng = np.random.default_rng(seed)
    X, y = draw_points(rng)
    C = 10.0 ** rng.uniform(-6, 6)
    weights = rng.uniform(0.2, 5.0, len(y)) if rng.random() < 0.5 else np.ones(len(y))
    gamma = 10.0 ** rng.uniform(-3, 1)
    kernel_name = str(rng.choice(["linear", "polynomial", "gaussian", "laplacian", "exponential"]))
    params = {"linear": {}, "polynomial": {"degree": 3}}.get(kernel_name, {"gamma": gamma})
    K = getattr(kernels, kernel_name)(X, **params)
    return kernel_name, K / (np.mean(np.diagonal(K)) or 1.0), y, C * weights


def compare_solvers(seed):
    kernel_name, K, y, C = draw_dual_problem(seed)
    active_set, interior_point = solve_active_set(K, y, C), solve_dual(K, y, C, tol=1e-8)
    alpha_sum = active_set.alpha.sum()
    rounding_error = 4 * np.finfo(float).eps * alpha_sum * max(10.0, alpha_sum)
    tolerance = max(rounding_error, 1e-12 * abs(active_set.dual_objective))
    is_feasible = ((active_set.alpha >= 0) & (active_set.alpha <= C)).all()
    is_worse = active_set.dual_objective < interior_point.dual_objective - tolerance
    return {
        "kernel": kernel_name,
        "converged": active_set.converged and bool(is_feasible),
        "used_monotone": " 0 monotone" not in active_set.message,
        "n_iter": active_set.n_iter,
        "objective": active_set.dual_objective,
        "residual": active_set.kkt_residual / max(1.0, C.min()),
        "is_worse_than_cvxopt": is_worse,
        "cvxopt_converged": interior_point.converged,
    }


def summarise(kernel_name, comparisons):
    """Return the number of problems with a kernel, the number with each property, and maxima."""
    return {
        "kernel": kernel_name,
        "problems": len(comparisons),
        "converged": sum(comparison["converged"] for comparison in comparisons),
        "used_monotone": sum(comparison["used_monotone"] for comparison in comparisons),
        "max_n_iter": max(comparison["n_iter"] for comparison in comparisons),
        "max_residual": max(comparison["residual"] for comparison in comparisons),
        "worse_than_cvxopt": int(
            sum(comparison["is_worse_than_cvxopt"] for comparison in comparisons)
        ),
        "cvxopt_converged": sum(comparison["cvxopt_converged"] for comparison in comparisons),
        "sum_of_first_objectives": sum_of_first_objectives(comparisons),
    }


def sum_of_first_objectives(comparisons):
    """Return the sum of the first ten objectives, by which a test detects records of older code.

    The numbers of iterations are not compared: rounding, which depends on the processor, decides
    between steps that are equally good.
    """
    return sum(comparison["objective"] for comparison in comparisons[:10])


def run():
    comparisons = [compare_solvers(seed) for seed in range(N_PROBLEMS)]
    kernel_names = sorted({comparison["kernel"] for comparison in comparisons})
    rows = [
        summarise(
            kernel_name,
            [comparison for comparison in comparisons if comparison["kernel"] == kernel_name],
        )
        for kernel_name in kernel_names
    ]
    print_table("Random small problems; residuals in units of max(1, C)", rows, COLUMNS)
    return rows


if __name__ == "__main__":
    main({}, run)
