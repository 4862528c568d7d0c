"""The dual solvers: optimality by theory, by brute force, and against each other."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import cvxopt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import brute_force, gram, kkt_violation, objectives, svm_problems, two_clouds
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

from svmbook.datasets import stdev
from svmbook.solvers import (
    certify,
    intercept_interval,
    solve_dual,
    solve_hard_margin,
    solve_interior_point,
    solve_libsvm,
    solve_smo,
    to_cvxopt,
)

FOUR_X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
CVXOPT = ["textbook", "sparse", "dense"]
MEHROTRA = ["Mehrotra", "Mehrotra, low-rank"]
FOUR_Y = np.array([1.0, 1, -1, -1])


def solve_by(name, X, K, y, C, **options):
    if name == "Mehrotra":
        return solve_interior_point(K, y, C, **options)
    if name == "Mehrotra, low-rank":
        return solve_interior_point(X, y, C, form="low-rank", **options)
    if name == "low-rank":
        return solve_dual(X, y, C, form=name, **options)
    if name in CVXOPT:
        return solve_dual(K, y, C, form=name, **options)
    return {"smo": solve_smo, "libsvm": solve_libsvm}[name](K, y, C, **options)


def test_matrices_come_out_as_the_source_prints_them():
    qp = to_cvxopt(FOUR_X @ FOUR_X.T, FOUR_Y, C=7.0)
    assert np.array_equal(qp.P, [[5, 6, 0, -4], [6, 8, 0, -2], [0, 0, 0, 0], [-4, -2, 0, 13]])
    assert np.array_equal(np.ravel(qp.q), [-1, -1, -1, -1])
    signs = np.kron(np.eye(4), [[1], [-1]])
    assert np.array_equal(qp.G, signs)
    assert np.array_equal(np.ravel(qp.h), [7, 0, 7, 0, 7, 0, 7, 0])
    assert np.array_equal(qp.A, [[1, 1, -1, -1]])
    assert np.ravel(qp.b) == 0
    sparse = to_cvxopt(FOUR_X @ FOUR_X.T, FOUR_Y, C=7.0, sparse=True)
    assert np.array_equal(cvxopt.matrix(sparse.G), signs)


@pytest.mark.parametrize("name", [*MEHROTRA, *CVXOPT, "low-rank", "smo", "libsvm"])
def test_four_points_by_hand(name):
    # The nearest points of the two hulls are (1, 2) and, on the segment from (0, 0) to (-2, 3),
    # the point 4/13 of the way. Half their difference over its square: see the chapter.
    result = solve_by(name, FOUR_X, FOUR_X @ FOUR_X.T, FOUR_Y, np.full(4, 10.0))
    np.testing.assert_allclose(result.alpha, np.array([26, 0, 18, 8]) / 49, atol=1e-7)
    assert result.alpha[1] == 0.0
    assert result.intercept == pytest.approx(-1.0, abs=1e-6)
    assert result.dual_objective == pytest.approx(26 / 49, rel=1e-6)


@given(problem=svm_problems(), kernel=st.sampled_from(["linear", "gaussian", "polynomial"]))
def test_interior_points_are_feasible_and_close_the_gap(problem, kernel):
    X, y, C = problem
    K = gram(X, kernel)
    for solver in (solve_dual, solve_interior_point):
        result = solver(K, y, C)
        # Where entries of K times C are huge, no double precision solution proves anything.
        assert result.converged or "rounding leaves the objective uncertain" in result.message
        assert -1e-12 <= result.relative_gap <= 1e-6
        assert (result.alpha >= 0).all() and (result.alpha <= C).all()
        assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()


@given(problem=svm_problems())
def test_low_rank_form_agrees_with_the_dense_one(problem):
    X, y, C = problem
    dense = solve_dual(X @ X.T, y, C)
    for solver in (solve_dual, solve_interior_point):
        low = solver(X, y, C, form="low-rank")
        assert low.converged, low
        assert low.dual_objective == pytest.approx(dense.dual_objective, rel=2e-6)


@given(problem=svm_problems(max_n=6), kernel=st.sampled_from(["linear", "gaussian"]))
def test_no_active_set_is_better(problem, kernel):
    X, y, C = problem
    K = gram(X, kernel)
    C = np.clip(C, 1e-3, 1e3)  # beyond these the oracle's own linear systems lose their digits
    expected = brute_force(K, y, C)
    for solver in (solve_dual, solve_interior_point, solve_smo):
        assert solver(K, y, C).dual_objective == pytest.approx(expected, rel=1e-6), solver


@pytest.mark.parametrize("name", ["Mehrotra", *CVXOPT, "smo", "libsvm"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_all_solvers_find_the_same_machine(name, C):
    X, y = two_clouds(120)
    K = gram(X, "gaussian")
    reference = solve_dual(K, y, C, tol=1e-9)
    result = solve_by(name, X, K, y, np.full(120, C))
    assert result.converged
    assert result.dual_objective == pytest.approx(reference.dual_objective, rel=1e-6)
    np.testing.assert_allclose(
        K @ (y * result.alpha) + result.intercept,
        K @ (y * reference.alpha) + reference.intercept,
        atol=1e-3,
    )


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_agrees_with_libsvm_run_on_its_own(kernel, C):
    X, y = two_clouds(200)
    K = gram(X, kernel)
    svc = SVC(C=C, kernel="precomputed", tol=1e-7).fit(K, y)
    ours = solve_dual(K, y, C)
    beta = np.zeros(200)
    beta[svc.support_] = svc.dual_coef_[0]
    theirs = certify(
        np.abs(beta), svc.intercept_[0], y, np.full(200, C), K @ beta, n_iter=0, tol=1e-6
    )
    assert ours.dual_objective == pytest.approx(theirs.dual_objective, rel=1e-6)
    ours_f = K @ (y * ours.alpha) + ours.intercept
    assert np.array_equal(ours_f > 0, svc.decision_function(K) > 0)
    # P is strongly convex in w: 1/2 |w - w*|^2 <= gap, and |f - f*| <= |w - w*| k(x, x)^1/2;
    # the thresholds of two free vectors differ by no more than that again.
    reach = 2 * np.sqrt(2 * max(theirs.gap, 1e-12) * np.diagonal(K).max())
    np.testing.assert_allclose(ours_f, svc.decision_function(K), atol=reach)


@pytest.mark.parametrize("form", ["dense", "low-rank"])
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
def test_mehrotras_method_takes_as_many_steps_as_cvxopts(form, C):
    # Both predict and correct from the same start: a wrong corrector takes twice as many and more.
    X, y = two_clouds(300)
    K = X if form == "low-rank" else gram(X, "gaussian")
    ours, theirs = (solver(K, y, C, form=form) for solver in (solve_interior_point, solve_dual))
    assert abs(ours.n_iter - theirs.n_iter) <= 2


@pytest.mark.parametrize("solver", [solve_dual, solve_interior_point])
@pytest.mark.parametrize("form", ["dense", "low-rank"])
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
def test_zeros_and_bounds_are_exact(solver, form, C):
    X, y = two_clouds(300)
    K = X @ X.T
    result = solver(X if form == "low-rank" else K, y, C, form=form)
    margins = y * (K @ (y * result.alpha) + result.intercept)
    assert (result.alpha[margins > 1 + 1e-6] == 0.0).all()
    assert (result.alpha[margins < 1 - 1e-6] == C).all()
    # in the plane three points in general position fix the line: no more can be free
    assert ((result.alpha > 0) & (result.alpha < C)).sum() <= 3
    assert kkt_violation(result.alpha, result.intercept, K, y, np.full(300, C)) < 1e-7


@pytest.mark.parametrize("form", ["dense", "low-rank"])
def test_hard_margin_is_the_limit_of_the_soft_one(form):
    X, y = two_clouds(60, distance=12.0)
    Z = X if form == "low-rank" else X @ X.T
    hard = solve_hard_margin(Z, y, form=form)
    soft = solve_dual(Z, y, 1e6, form=form)
    np.testing.assert_allclose(hard.alpha, soft.alpha, atol=1e-6 * hard.alpha.max())
    assert hard.intercept == pytest.approx(soft.intercept, abs=1e-6)
    assert hard.relative_gap < 1e-9
    margins = y * (X @ X.T @ (y * hard.alpha) + hard.intercept)
    assert margins.min() == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("form", ["dense", "low-rank"])
def test_hard_margin_says_where_the_hulls_meet(form):
    X, y = two_clouds(60, distance=0.5)
    with pytest.raises(ValueError, match="hulls meet"):
        solve_hard_margin(X if form == "low-rank" else X @ X.T, y, form=form)


def test_two_points():
    # The hyperplane halves the segment: |w| = 2 / distance, alpha = |w|^2 / 2.
    X, y = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([-1.0, 1.0])
    result = solve_dual(X @ X.T, y, 10.0)
    np.testing.assert_allclose(result.alpha, [2 / 25, 2 / 25], rtol=1e-9)
    assert result.intercept == pytest.approx(-1.0)


def test_intercept_is_the_middle_when_no_vector_is_free():
    # Both points are bounded: any b of an interval is optimal, and the middle is returned.
    X, y = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    C = 0.1
    for solver in (solve_dual, solve_smo):
        result = solver(X @ X.T, y, C)
        assert (result.alpha == C).all()
        # w = 0.2, f = (0, 0.4); margins -b and 0.4 + b must both be at most 1
        low, high = -1.0, 0.6
        assert result.intercept == pytest.approx((low + high) / 2)


def test_interval_closes_at_the_optimum_and_crosses_elsewhere():
    X, y = two_clouds(50)
    K, C = X @ X.T, np.ones(50)
    alpha = solve_dual(K, y, C).alpha
    low, high = intercept_interval(alpha, y, C, K @ (y * alpha))
    assert low == pytest.approx(high, abs=1e-7)
    low, high = intercept_interval(np.zeros(50), y, C, np.zeros(50))
    assert (low, high) == (1.0, -1.0)


@given(st.integers(0, 10_000), st.floats(-3, 3))
def test_the_certificate_brackets_the_optimum(seed, b):
    # Weak duality: whatever the feasible alpha and whatever b, D <= optimum <= P.
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
@pytest.mark.parametrize("form", ["dense", "low-rank"])
def test_scaling_the_data_scales_the_solution(scale, form, solver):
    # X -> sX with C -> C/s^2 leaves f alone and divides alpha by s^2.
    X, y = two_clouds(80)
    plain, scaled = (
        solver(Z if form == "low-rank" else Z @ Z.T, y, C, form=form)
        for Z, C in [(X, 1.0), (scale * X, 1.0 / scale**2)]
    )
    np.testing.assert_allclose(scaled.alpha * scale**2, plain.alpha, atol=1e-6)
    assert scaled.intercept == pytest.approx(plain.intercept, abs=1e-6)


@pytest.mark.parametrize("solver", [solve_dual, solve_interior_point])
def test_a_far_offset_does_not_hurt_the_low_rank_form(solver):
    X, y = two_clouds(100)
    near, far = (solver(X + shift, y, 1.0, form="low-rank") for shift in (0.0, 1e4))
    np.testing.assert_allclose(far.alpha, near.alpha, atol=1e-6)
    assert far.converged


def test_more_iterations_than_allowed_is_said():
    X, y = two_clouds(100)
    for result in (
        solve_dual(X @ X.T, y, 1.0, max_iter=2),
        solve_interior_point(X @ X.T, y, 1.0, max_iter=2),
        solve_smo(X @ X.T, y, 1.0, max_iter=5),
    ):
        assert not result.converged
        assert result.gap > 0
        assert "used up" in result.message
    assert solve_dual(X @ X.T, y, 1.0).message == "cvxopt: optimal"
    assert solve_interior_point(X @ X.T, y, 1.0).message == "interior point: converged"
    assert solve_smo(X @ X.T, y, 1.0).message == "SMO"


def test_an_infeasible_hard_margin_is_not_converged():
    y, C = np.array([1.0, -1.0]), np.full(2, np.inf)
    result = certify(np.ones(2), 0.0, y, C, np.array([-1.0, 1.0]), n_iter=0, tol=1e-6)
    assert not result.converged
    assert result.relative_gap == np.inf


@pytest.mark.parametrize("limit", [1, 2, 5, 1000])
@pytest.mark.parametrize("name", [*MEHROTRA, "dense", "low-rank", "smo", "libsvm"])
def test_the_certificate_belongs_to_the_multipliers_returned(name, limit):
    X, y = two_clouds(60)
    K = X @ X.T
    result = solve_by(name, X, K, y, 1.0, max_iter=limit)
    primal, dual = objectives(result.alpha, result.intercept, K, y, 1.0)
    assert result.dual_objective == pytest.approx(dual, rel=1e-9)
    assert result.objective == pytest.approx(primal, rel=1e-9)
    assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()


@pytest.mark.parametrize(
    ("alpha", "f", "scale"),
    [
        ([1.0, 0.0], [1.0, -1.0], 1.0),  # y'alpha is not zero
        ([1.0, 1.0], [-1.0, 1.0], 1.0),  # |w|^2 is negative
        ([1.0, 1.0], [0.5, -0.5], 1e17),  # the outputs are rounding
    ],
)
def test_what_proves_nothing_is_not_converged(alpha, f, scale):
    result = certify(alpha, 0.0, [1, -1], 1.0, f, n_iter=0, tol=10.0, scale=scale)
    assert not result.converged


def test_equal_points_of_both_classes():
    X, y = np.tile([2.5, 1.4, 0.7], (3, 1)), np.array([1.0, -1, 1])
    for form, K in (("dense", X @ X.T), ("low-rank", X)):
        result = solve_dual(K, y, 1.0, form=form)
        assert result.converged
        assert result.dual_objective == pytest.approx(2.0)


def test_the_hard_margin_says_when_it_ran_out_of_iterations():
    X, y = stdev(1, n=60, random_state=11)
    assert solve_hard_margin(X @ X.T, y).converged
    with pytest.raises(ValueError, match="before it was clear"):
        solve_hard_margin(X @ X.T, y, max_iter=1)


def test_threads_leave_the_number_of_blas_threads_as_it_was():
    X, y = two_clouds(300)
    before = threadpool_info()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: solve_dual(X, y, 1.0, form="low-rank"), range(12)))
    assert threadpool_info() == before


def test_threads_leave_the_filters_of_warnings_as_they_were():
    X, y = two_clouds(100)
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: solve_libsvm(X @ X.T, y, 1.0, max_iter=3), range(12)))
    assert warnings.filters == before
