"""The dual solvers, checked by theory, by brute force, and against each other."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import cvxopt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC
from svm_problems import (
    brute_force_optimum,
    gram,
    kkt_violation,
    objectives,
    svm_problems,
    two_clouds,
)
from threadpoolctl import threadpool_info

from svmbook.datasets import stdev
from svmbook.solvers import (
    certify,
    intercept_interval,
    solve_active_set,
    solve_dual,
    solve_hard_margin,
    solve_interior_point,
    solve_libsvm,
    solve_smo,
    to_cvxopt,
)

FOUR_POINTS, FOUR_LABELS = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]]), np.array([1.0, 1, -1, -1])
CVXOPT_GRAM_FORMS = ["textbook", "sparse", "dense"]
MEHROTRA_NAMES = ["Mehrotra", "Mehrotra, low-rank"]
every_form = pytest.mark.parametrize("form", ["dense", "low-rank"])


def solve_with(name, X, K, y, C, **options):
    if name == "Mehrotra":
        return solve_interior_point(K, y, C, **options)
    if name == "Mehrotra, low-rank":
        return solve_interior_point(X, y, C, form="low-rank", **options)
    if name == "cvxopt, low-rank":
        return solve_dual(X, y, C, form="low-rank", **options)
    if name in CVXOPT_GRAM_FORMS:
        return solve_dual(K, y, C, form=name, **options)
    return {"smo": solve_smo, "libsvm": solve_libsvm}[name](K, y, C, **options)


def test_matrices_equal_those_printed_in_exploring_classification():
    qp = to_cvxopt(FOUR_POINTS @ FOUR_POINTS.T, FOUR_LABELS, C=7.0)
    assert np.array_equal(qp.P, [[5, 6, 0, -4], [6, 8, 0, -2], [0, 0, 0, 0], [-4, -2, 0, 13]])
    assert np.array_equal(np.ravel(qp.q), [-1, -1, -1, -1])
    expected_G = np.kron(np.eye(4), [[1], [-1]])
    assert np.array_equal(qp.G, expected_G)
    assert np.array_equal(np.ravel(qp.h), [7, 0, 7, 0, 7, 0, 7, 0])
    assert np.array_equal(qp.A, [[1, 1, -1, -1]])
    assert np.ravel(qp.b) == 0
    sparse = to_cvxopt(FOUR_POINTS @ FOUR_POINTS.T, FOUR_LABELS, C=7.0, sparse=True)
    assert np.array_equal(cvxopt.matrix(sparse.G), expected_G)


@pytest.mark.parametrize(
    "name", [*MEHROTRA_NAMES, *CVXOPT_GRAM_FORMS, "cvxopt, low-rank", "smo", "libsvm"]
)
def test_solution_for_four_points_is_that_computed_by_hand(name):
    # The nearest points of the convex hulls are (1, 2) and the point 4/13 of the way from (0, 0)
    # to (-2, 3). With their difference d, w = 2 d / |d|^2.
    result = solve_with(
        name, FOUR_POINTS, FOUR_POINTS @ FOUR_POINTS.T, FOUR_LABELS, np.full(4, 10.0)
    )
    np.testing.assert_allclose(result.alpha, np.array([26, 0, 18, 8]) / 49, atol=1e-7)
    assert result.alpha[1] == 0.0
    assert result.intercept == pytest.approx(-1.0, abs=1e-6)
    assert result.dual_objective == pytest.approx(26 / 49, rel=1e-6)


@given(problem=svm_problems(), kernel=st.sampled_from(["linear", "gaussian", "polynomial"]))
def test_interior_point_solutions_are_feasible_with_a_small_gap(problem, kernel):
    X, y, C = problem
    K = gram(X, kernel)
    for solver in (solve_dual, solve_interior_point):
        result = solver(K, y, C)
        # If entries of K times C are huge, no solution in double precision can be certified.
        assert result.converged or "relative rounding error" in result.message
        assert -1e-12 <= result.relative_gap <= 1e-6
        assert (result.alpha >= 0).all() and (result.alpha <= C).all()
        assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()


@given(problem=svm_problems())
def test_low_rank_and_dense_forms_agree(problem):
    X, y, C = problem
    dense = solve_dual(X @ X.T, y, C)
    for solver in (solve_dual, solve_interior_point):
        low_rank = solver(X, y, C, form="low-rank")
        assert low_rank.converged, low_rank
        assert low_rank.dual_objective == pytest.approx(dense.dual_objective, rel=2e-6)


@given(problem=svm_problems(max_n=6), kernel=st.sampled_from(["linear", "gaussian"]))
def test_dual_objective_equals_the_brute_force_optimum(problem, kernel):
    X, y, C = problem
    K = gram(X, kernel)
    C = np.clip(C, 1e-3, 1e3)  # outside this range `brute_force_optimum` is inaccurate
    expected = brute_force_optimum(K, y, C)
    for solver in (solve_dual, solve_interior_point, solve_smo, solve_active_set):
        rel = 1e-9 if solver is solve_active_set else 1e-6
        assert solver(K, y, C).dual_objective == pytest.approx(expected, rel=rel), solver


@pytest.mark.parametrize("name", ["Mehrotra", *CVXOPT_GRAM_FORMS, "smo", "libsvm"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_all_solvers_find_the_same_decision_function(name, C):
    X, y = two_clouds(120)
    K = gram(X, "gaussian")
    reference = solve_dual(K, y, C, tol=1e-9)
    result = solve_with(name, X, K, y, np.full(120, C))
    assert result.converged
    assert result.dual_objective == pytest.approx(reference.dual_objective, rel=1e-6)
    np.testing.assert_allclose(
        K @ (y * result.alpha) + result.intercept,
        K @ (y * reference.alpha) + reference.intercept,
        atol=1e-3,
    )


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_solution_agrees_with_scikit_learn(kernel, C):
    X, y = two_clouds(200)
    K = gram(X, kernel)
    svc = SVC(C=C, kernel="precomputed", tol=1e-7).fit(K, y)
    result = solve_dual(K, y, C)
    beta = np.zeros(200)
    beta[svc.support_] = svc.dual_coef_[0]
    svc_result = certify(np.abs(beta), svc.intercept_[0], y, C, K @ beta, n_iter=0, tol=1e-6)
    assert result.dual_objective == pytest.approx(svc_result.dual_objective, rel=1e-6)
    outputs = K @ (y * result.alpha) + result.intercept
    assert np.array_equal(outputs > 0, svc.decision_function(K) > 0)
    # P is strongly convex in w: 1/2 |w - w*|^2 <= gap, and |f - f*| <= |w - w*| k(x, x)^1/2. The
    # intercepts differ by at most the same amount.
    atol = 2 * np.sqrt(2 * max(svc_result.gap, 1e-12) * np.diagonal(K).max())
    np.testing.assert_allclose(outputs, svc.decision_function(K), atol=atol)


@every_form
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
def test_mehrotra_takes_as_many_iterations_as_cvxopt(form, C):
    # Both have the same start and the same steps; a wrong corrector at least doubles the number.
    X, y = two_clouds(300)
    matrix = X if form == "low-rank" else gram(X, "gaussian")
    mehrotra_result, cvxopt_result = (
        solver(matrix, y, C, form=form) for solver in (solve_interior_point, solve_dual)
    )
    assert abs(mehrotra_result.n_iter - cvxopt_result.n_iter) <= 2


@pytest.mark.parametrize("solver", [solve_dual, solve_interior_point])
@every_form
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
def test_zeros_and_bounds_are_exact(solver, form, C):
    X, y = two_clouds(300)
    K = X @ X.T
    result = solver(X if form == "low-rank" else K, y, C, form=form)
    margins = y * (K @ (y * result.alpha) + result.intercept)
    assert (result.alpha[margins > 1 + 1e-6] == 0.0).all()
    assert (result.alpha[margins < 1 - 1e-6] == C).all()
    # At most three points in general position in the plane lie on the margin boundaries.
    assert ((result.alpha > 0) & (result.alpha < C)).sum() <= 3
    assert kkt_violation(result.alpha, result.intercept, K, y, np.full(300, C)) < 1e-7


@every_form
def test_hard_margin_is_the_limit_of_the_soft_margin(form):
    X, y = two_clouds(60, mean_difference=12.0)
    matrix = X if form == "low-rank" else X @ X.T
    hard_result = solve_hard_margin(matrix, y, form=form)
    soft_result = solve_dual(matrix, y, 1e6, form=form)
    np.testing.assert_allclose(
        hard_result.alpha, soft_result.alpha, atol=1e-6 * hard_result.alpha.max()
    )
    assert hard_result.intercept == pytest.approx(soft_result.intercept, abs=1e-6)
    assert hard_result.relative_gap < 1e-9
    margins = y * (X @ X.T @ (y * hard_result.alpha) + hard_result.intercept)
    assert margins.min() == pytest.approx(1.0, abs=1e-7)


@every_form
def test_hard_margin_raises_if_the_convex_hulls_meet(form):
    X, y = two_clouds(60, mean_difference=0.5)
    with pytest.raises(ValueError, match="hulls meet"):
        solve_hard_margin(X if form == "low-rank" else X @ X.T, y, form=form)


def test_intercept_is_the_midpoint_if_no_point_is_free():
    # Both points are at the upper bound, so every b of an interval is optimal.
    X, y = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    C = 0.1
    for solver in (solve_dual, solve_smo, solve_active_set):
        result = solver(X @ X.T, y, C)
        assert (result.alpha == C).all()
        # w = 0.2, f = (0, 0.4); the margins -b and 0.4 + b must both be at most 1.
        low, high = -1.0, 0.6
        assert result.intercept == pytest.approx((low + high) / 2)


def test_ends_of_the_intercept_interval_coincide_at_the_optimum_and_cross_elsewhere():
    X, y = two_clouds(50)
    K, C = X @ X.T, np.ones(50)
    alpha = solve_dual(K, y, C).alpha
    low, high = intercept_interval(alpha, y, C, K @ (y * alpha))
    assert low == pytest.approx(high, abs=1e-7)
    low, high = intercept_interval(np.zeros(50), y, C, np.zeros(50))
    assert (low, high) == (1.0, -1.0)


@given(st.integers(0, 10_000), st.floats(-3, 3))
def test_certificate_brackets_the_optimum(seed, b):
    # Weak duality: D <= optimum <= P for any feasible alpha and any b.
    rng = np.random.default_rng(seed)
    X, y = two_clouds(20)
    K, C = X @ X.T, np.ones(20)
    optimum = solve_dual(K, y, C).dual_objective
    alpha = rng.uniform(0, 0.5, 20)
    alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
    alpha = np.minimum(alpha, 1.0) if alpha.max() <= 1 else alpha / alpha.max()
    result = certify(alpha, b, y, C, K @ (y * alpha), n_iter=0, tol=1e-6)
    assert result.dual_objective <= optimum + 1e-9 <= result.objective + 2e-9


@pytest.mark.parametrize("solver", [solve_dual, solve_interior_point])
@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
@every_form
def test_scaling_the_data_scales_the_solution(scale, form, solver):
    # X -> sX with C -> C/s^2 does not change f and divides alpha by s^2.
    X, y = two_clouds(80)
    result, scaled_result = (
        solver(Z if form == "low-rank" else Z @ Z.T, y, C, form=form)
        for Z, C in [(X, 1.0), (scale * X, 1.0 / scale**2)]
    )
    np.testing.assert_allclose(scaled_result.alpha * scale**2, result.alpha, atol=1e-6)
    assert scaled_result.intercept == pytest.approx(result.intercept, abs=1e-6)


@pytest.mark.parametrize("solver", [solve_dual, solve_interior_point])
def test_large_offset_does_not_change_the_low_rank_solution(solver):
    X, y = two_clouds(100)
    result, shifted_result = (solver(X + shift, y, 1.0, form="low-rank") for shift in (0.0, 1e4))
    np.testing.assert_allclose(shifted_result.alpha, result.alpha, atol=1e-6)
    assert shifted_result.converged


def test_message_reports_convergence_or_the_iteration_limit():
    X, y = two_clouds(100)
    for result in (
        solve_dual(X @ X.T, y, 1.0, max_iter=2),
        solve_interior_point(X @ X.T, y, 1.0, max_iter=2),
        solve_smo(X @ X.T, y, 1.0, max_iter=5),
    ):
        assert not result.converged
        assert result.gap > 0
        assert "iteration limit reached" in result.message
    assert solve_dual(X @ X.T, y, 1.0).message == "cvxopt: optimal"
    assert solve_interior_point(X @ X.T, y, 1.0).message == "interior point: converged"
    assert solve_smo(X @ X.T, y, 1.0).message == "SMO: converged"


def test_infeasible_hard_margin_is_not_converged():
    y, C = np.array([1.0, -1.0]), np.full(2, np.inf)
    result = certify(np.ones(2), 0.0, y, C, np.array([-1.0, 1.0]), n_iter=0, tol=1e-6)
    assert not result.converged
    assert result.relative_gap == np.inf


@pytest.mark.parametrize("max_iter", [1, 2, 5, 1000])
@pytest.mark.parametrize("name", [*MEHROTRA_NAMES, "dense", "cvxopt, low-rank", "smo", "libsvm"])
def test_certificate_is_that_of_the_returned_multipliers_at_any_iteration_limit(name, max_iter):
    X, y = two_clouds(60)
    K = X @ X.T
    result = solve_with(name, X, K, y, 1.0, max_iter=max_iter)
    primal, dual = objectives(result.alpha, result.intercept, K, y, 1.0)
    assert result.n_iter <= max_iter
    assert result.dual_objective == pytest.approx(dual, rel=1e-9)
    assert result.objective == pytest.approx(primal, rel=1e-9)
    assert ((result.alpha >= 0) & (result.alpha <= 1)).all()
    assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()


@pytest.mark.parametrize(
    ("f", "scale"),
    [([-1.0, 1.0], 1.0), ([0.5, -0.5], 1e17)],
    ids=["negative squared norm", "outputs below rounding error"],
)
def test_certificate_with_invalid_bounds_is_not_converged(f, scale):
    result = certify([1.0, 1.0], 0.0, [1, -1], 1.0, f, n_iter=0, tol=10.0, scale=scale)
    assert not result.converged


@every_form
def test_equal_points_of_both_classes_are_solved(form):
    X, y = np.tile([2.5, 1.4, 0.7], (3, 1)), np.array([1.0, -1, 1])
    result = solve_dual(X if form == "low-rank" else X @ X.T, y, 1.0, form=form)
    assert result.converged
    assert result.dual_objective == pytest.approx(2.0)


def test_hard_margin_reports_an_iteration_limit_that_is_too_small():
    X, y = stdev(1, n=60, random_state=11)
    assert solve_hard_margin(X @ X.T, y).converged
    with pytest.raises(ValueError, match="before it was clear"):
        solve_hard_margin(X @ X.T, y, max_iter=1)


def test_concurrent_fits_do_not_change_blas_threads_or_warning_filters():
    X, y = two_clouds(300)
    settings_before = threadpool_info(), list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: solve_dual(X, y, 1.0, form="low-rank"), range(12)))
        list(pool.map(lambda _: solve_libsvm(X @ X.T, y, 1.0, max_iter=3), range(12)))
    assert (threadpool_info(), list(warnings.filters)) == settings_before
