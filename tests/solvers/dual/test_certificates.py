"""Certificates away from the optimum, crossover, starting points, and the active-set state."""

import gc
from dataclasses import replace

import bench_linear
import numpy as np
import pytest
from bench_small import draw_dual_problem
from sklearn.datasets import make_classification
from svm_problems import objectives, overlapping_problem

from svmbook.gram import GramMatrix, LowRankGram, StoredGram
from svmbook.solvers import (
    certify,
    solve_active_set,
    solve_dual,
    solve_hard_margin,
    solve_smo,
)
from svmbook.solvers.dual import cvxopt_coneqp, libsvm
from svmbook.solvers.dual.active_sets import crossover
from svmbook.solvers.dual.active_sets.crossover import cross_over
from svmbook.solvers.dual.active_sets.iterations import run_iterations
from svmbook.solvers.dual.active_sets.state import DualState
from svmbook.solvers.dual.mehrotra import equalise_class_sums


@pytest.mark.parametrize("factor", [0.3, 0.9, 1.0, 1.1, 7.0])
@pytest.mark.parametrize("b", [-1.5, -1.0, -0.8])
def test_hard_margin_certificate_scales_the_margin_to_one(factor, b):
    X, y = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]]), np.array([1.0, 1, -1, -1])
    alpha = factor * np.array([26, 0, 18, 8]) / 49
    w = X.T @ (y * alpha)
    result = certify(alpha, b * factor, y, np.inf, X @ w, n_iter=0, tol=1e-6)
    margin = (y * (X @ w + b * factor)).min()
    assert margin > 0
    feasible_w = w / margin
    assert result.objective == pytest.approx(0.5 * feasible_w @ feasible_w)
    assert result.dual_objective == pytest.approx(alpha.sum() - 0.5 * w @ w)
    assert result.gap >= -1e-15
    assert result.converged == (factor == 1.0 and b == -1.0)


@pytest.mark.parametrize(
    ("relative_imbalance", "converged"), [(1e-12, True), (1e-7, False), (1e-3, False)]
)
def test_only_multipliers_balanced_up_to_rounding_are_converged(relative_imbalance, converged):
    # If y'alpha = r, the dual bound is wrong by b r.
    K, y = overlapping_problem(60)
    exact_result = solve_dual(K, y, 1.0)
    alpha = exact_result.alpha.copy()
    alpha[np.argmax(alpha)] -= relative_imbalance * alpha.sum()
    f = K @ (y * alpha)
    assert (
        certify(alpha, exact_result.intercept, y, 1.0, f, n_iter=0, tol=0.5).converged == converged
    )


@pytest.mark.parametrize("max_iter", [50, 500, 5000])
def test_smo_certificate_is_free_of_accumulated_rounding_errors(max_iter):
    # Outputs of order 1e6 lose digits when they are updated thousands of times.
    rng = np.random.default_rng(0)
    X = 1e3 * rng.standard_normal((40, 2))
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    K = X @ X.T
    result = solve_smo(K, y, 1e2, max_iter=max_iter)
    primal, dual = objectives(result.alpha, result.intercept, K, y, 1e2)
    assert result.dual_objective == pytest.approx(dual, rel=5e-12)
    # Without recomputed outputs the relative error would be 5e-11.
    assert result.objective == pytest.approx(primal, rel=5e-12)


def test_feastol_of_cvxopt_exceeds_rounding_error_and_its_reltol_is_below_tol():
    small_feastol, large_feastol = (
        cvxopt_coneqp.cvxopt_options(1e-6, 100, h)["feastol"] for h in (1.0, 1e12)
    )
    eps = np.finfo(float).eps
    assert small_feastol < 1e-8
    assert eps * 1e12 < large_feastol < 1e3 * eps * 1e12
    assert cvxopt_coneqp.cvxopt_options(1e-6, 100, 1.0)["reltol"] < 1e-6


def test_starting_point_is_inside_the_box_and_balanced():
    upper = np.random.default_rng(0).uniform(0.1, 9.0, 30)
    y = np.where(np.arange(30) < 4, 1.0, -1.0)
    u = equalise_class_sums(0.5 * upper, y)
    assert abs(y @ u) <= 1e-14 * u.sum()
    assert (u > 0).all() and (u < upper).all()


@pytest.mark.parametrize(("tol", "scale"), [(1e-6, 1.0), (1e-2, 1.0), (1e-9, 1e8), (1e-9, 1e14)])
def test_tolerance_of_libsvm_is_its_default_and_then_tol_or_the_rounding_error(
    tol, scale, monkeypatch
):
    tols = []

    class RecordingSVC(libsvm.SilentSVC):
        def fit(self, *args, **kwargs):
            tols.append(self.tol)
            return super().fit(*args, **kwargs)

    def cross_over_without_convergence(*args, tol, **options):
        return cross_over(*args, tol=0.0, **options)

    monkeypatch.setattr(libsvm, "SilentSVC", RecordingSVC)
    monkeypatch.setattr(libsvm, "cross_over", cross_over_without_convergence)
    K, y = overlapping_problem(40)
    libsvm.solve_libsvm(scale * K, y, 1.0, tol=tol)
    first_tol, last_tol = tols[0], tols[-1]
    rounding_error = np.finfo(float).eps * scale * 40  # below it LIBSVM may not terminate
    assert first_tol == max(tol, 1e-3)
    assert len(tols) == (1 if last_tol == first_tol else 2)
    assert min(rounding_error, 1e-3) <= last_tol and tol <= last_tol <= first_tol
    assert last_tol == tol or rounding_error > 0.1 * tol


def test_libsvm_and_crossover_solve_a_slow_problem_within_a_million_iterations():
    # With the tolerance 1e-6 LIBSVM takes 10 million iterations, more than a minute.
    X, y = make_classification(
        *(3000, 15), n_informative=6, flip_y=0.15, weights=[0.8], class_sep=0.7, random_state=3
    )
    result = libsvm.solve_libsvm(X, 2.0 * y - 1, 1.0, kernel="linear")
    assert result.converged and result.n_iter < 1_000_000


CROSSOVER_OPTIONS = {"tol": 1e-6, "n_iter": 7, "message": ""}


@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
def test_crossover_makes_an_approximate_solution_exact(C):
    K, y = overlapping_problem(250)
    exact_result = solve_dual(K, y, C)
    rng = np.random.default_rng(1)
    alpha = np.clip(exact_result.alpha + 1e-5 * C * rng.standard_normal(250), 0.0, C)
    result = cross_over(
        StoredGram(K), y, np.full(250, C), alpha, exact_result.intercept + 1e-5, **CROSSOVER_OPTIONS
    )
    assert result.converged and result.n_iter == 7
    assert result.kkt_residual < 1e-10 * max(1.0, C)
    np.testing.assert_allclose(result.alpha, exact_result.alpha, atol=1e-8 * C)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_crossover_predicts_the_free_points_in_any_unit(C, unit, monkeypatch):
    # Dividing the kernel by a number and multiplying C by it multiplies alpha by the same number.
    predicted_free_points = []

    def record_free_points(state, *arguments, **options):
        predicted_free_points.append(state.free.copy())
        return run_iterations(state, *arguments, **options)

    monkeypatch.setattr(crossover, "run_iterations", record_free_points)
    K, y = overlapping_problem(250)
    exact_result = solve_active_set(K, y, C)
    rng = np.random.default_rng(1)
    alpha = unit * np.clip(exact_result.alpha + 1e-6 * C * rng.standard_normal(250), 0.0, C)
    cross_over(
        StoredGram(K / unit),
        y,
        np.full(250, C * unit),
        alpha,
        exact_result.intercept,
        **CROSSOVER_OPTIONS,
    )
    np.testing.assert_array_equal(
        predicted_free_points, [(exact_result.alpha > 0) & (exact_result.alpha < C)]
    )


def test_large_face_of_low_rank_needs_no_large_block(monkeypatch):
    # No line separates the middle cluster, so the output is -1 everywhere and all points of the
    # larger class lie on its margin boundary: thousands are free, and K has rank two.
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 3, 3000)
    X = np.column_stack([cluster - 1.0, np.zeros(3000)]) + 0.1 * rng.standard_normal((3000, 2))
    y = np.where(cluster == 1, 1.0, -1.0)
    block_sizes = []
    block = LowRankGram.block

    def record_block(self, rows, columns):
        block_sizes.append(len(rows))
        return block(self, rows, columns)

    monkeypatch.setattr(LowRankGram, "block", record_block)
    result = solve_dual(X, y, 10.0, form="low-rank")
    assert result.converged and result.gap < 1e-8 * result.objective
    free = (result.alpha > 0) & (result.alpha < 10.0)
    assert free.sum() > 1000 and max(block_sizes, default=0) < 10
    np.testing.assert_allclose(result.alpha[y > 0], 10.0)


@pytest.mark.parametrize("seed", [10, 122, 127, 141, 169, 281, 477])
def test_interior_point_has_no_spurious_support_vectors(seed):
    # Without crossover, cvxopt's solution of these problems has up to twenty of them.
    _, K, y, C = draw_dual_problem(seed)
    interior_point_result, exact_result = solve_dual(K, y, C), solve_active_set(K, y, C)
    assert interior_point_result.kkt_residual <= 1e-9 * max(1.0, C.min())
    assert interior_point_result.dual_objective == pytest.approx(
        exact_result.dual_objective, rel=1e-9
    )


def test_hard_margin_has_exact_zeros():
    X = np.random.default_rng(0).standard_normal((80, 2))
    y = np.where(np.arange(80) % 2, 1.0, -1.0)
    X += 5.0 * y[:, None]
    result = solve_hard_margin(X @ X.T, y)
    assert 2 <= np.count_nonzero(result.alpha) <= 3  # three support vectors suffice in the plane
    assert result.kkt_residual < 1e-12


# --- DualState --------------------------------------------------------------------------


def make_state(beta, C=1.0):
    K, y = overlapping_problem(len(beta))
    beta = np.asarray(beta, dtype=float)
    free = (np.abs(beta) > 0) & (np.abs(beta) < C)
    return DualState(StoredGram(K), y, np.full(len(beta), C), beta, free)


def test_rounding_error_bounds_the_true_error_and_is_at_most_20_eps_times_the_terms():
    rng = np.random.default_rng(0)
    K, y = overlapping_problem(200)
    for scale in (1e-3, 1.0, 1e6):
        state = make_state(y * scale * rng.uniform(0, 1, 200), C=2 * scale)
        exact_e = y - K.astype(np.longdouble) @ state.beta.astype(np.longdouble)
        assert (np.abs(state.e - exact_e) <= state.rounding_error).all()
        sum_of_terms = 1.0 + np.abs(state.beta).sum()  # of |y_i| and |K_ij beta_j|, as |K_ij| <= 1
        assert (state.rounding_error <= 20 * np.finfo(float).eps * sum_of_terms).all()


def test_best_scaling_stays_in_the_box():
    K, y = overlapping_problem(40)
    balanced_alpha = np.where(y > 0, 1.0 / (y > 0).sum(), 1.0 / (y < 0).sum())
    state = make_state(y * 1e-3 * balanced_alpha, C=1e-3)
    beta_before = state.beta.copy()
    state.scale_optimally()  # the optimal factor is far above 1, but at most 1 is allowed
    np.testing.assert_array_equal(state.beta, beta_before)
    state = make_state(y * 1e3 * balanced_alpha, C=1e3)
    state.scale_optimally()
    assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()
    # The derivative of the objective with respect to the scaling factor is zero.
    assert y @ state.beta == pytest.approx(state.beta @ K @ state.beta)


def test_zero_gram_matrix_is_solved():
    for max_iter in (1, 100):
        result = solve_active_set(np.zeros((30, 30)), [1, -1, -1] * 10, 1.0, max_iter=max_iter)
        assert np.isfinite(result.objective)
    assert result.converged and result.objective == 20.0


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_crossover_from_the_low_rank_form_converges_from_a_nearly_correct_prediction(C):
    # K has rank 50, because only 50 of the 54 columns of X are linearly independent. With one more
    # free point the active-set iterations would diverge.
    X, y, _ = bench_linear.make_problem({"n": 5040, "features": "scaled", "C": C})
    result = solve_dual(X, y, C, form="low-rank")
    assert result.converged and result.kkt_residual <= 1e-8
    free = (result.alpha > 0) & (result.alpha < C)
    assert free.sum() <= 54


def test_projection_keeps_multipliers_at_their_bounds():
    y = np.repeat([1.0, -1.0], 20)
    alpha = np.tile([0.0, 1.0, 0.3, 0.7, 0.0], 8)
    state = DualState(StoredGram(np.eye(40)), y, np.ones(40), y * alpha, np.ones(40, dtype=bool))
    state.beta[2] += 1e-9  # an imbalance, which the points inside the box absorb
    state.make_feasible()
    assert abs(state.beta.sum()) <= 1e-15
    at_bounds = (alpha == 0) | (alpha == 1)
    np.testing.assert_array_equal(state.beta[at_bounds], (y * alpha)[at_bounds])
    np.testing.assert_allclose(state.beta, y * alpha, atol=1e-9)


@pytest.mark.parametrize("form", ["dense", "low-rank"])
def test_solver_leaves_no_reference_to_the_matrix(form):
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.tile([1.0, -1.0], 30)

    def existing_ids():
        return {id(obj) for obj in gc.get_objects() if isinstance(obj, GramMatrix | DualState)}

    gc.collect()
    gc.disable()
    try:
        ids_before = existing_ids()
        result = solve_dual(X if form == "low-rank" else X @ X.T, y, 1.0, form=form)
        assert result.converged and existing_ids() <= ids_before
    finally:
        gc.enable()


def test_results_are_immutable_and_compare_by_identity():
    result = certify([0.1, 0.1], 0.0, [1, -1], 1.0, [0.2, -0.2], n_iter=0, tol=1e-6)
    with pytest.raises(AttributeError):
        result.converged = True
    assert result in {result} and replace(result) not in {result}


def cross_over_with_gaps(approximate_gap, exact_gap, converged, monkeypatch, **options):
    """Cross over from a solution without exact zeros, with prescribed gaps in the certificates.

    Return the result and the exact solution.
    """
    K, y = overlapping_problem(40)
    exact_result = solve_active_set(K, y, 1.0)
    alpha = exact_result.alpha + 1e-9 * (exact_result.alpha == 0)
    to_result = DualState.to_result

    def to_result_with_prescribed_gap(self, *args, **report):
        result = to_result(self, *args, **report)
        # The state of the approximate solution has made no iterations.
        gap = exact_gap if self.n_iter else approximate_gap
        objective = result.dual_objective + gap
        return replace(result, objective=objective, converged=converged and bool(self.n_iter))

    monkeypatch.setattr(DualState, "to_result", to_result_with_prescribed_gap)
    start = alpha, exact_result.intercept + 0.01
    return cross_over(
        StoredGram(K), y, np.ones(40), *start, **CROSSOVER_OPTIONS, **options
    ), exact_result


def test_crossover_prefers_exact_zeros_to_a_gap_smaller_by_rounding(monkeypatch):
    result, exact_result = cross_over_with_gaps(0.0, 1e-9, True, monkeypatch)
    np.testing.assert_array_equal(result.alpha == 0, exact_result.alpha == 0)


@pytest.mark.parametrize("gaps", [(1e-3, 2e-3), (2e-3, 1e-3), (-1e-3, 2e-3), (2e-3, -1e-3)])
def test_crossover_that_does_not_converge_returns_the_smaller_gap(gaps, monkeypatch):
    result, exact_result = cross_over_with_gaps(*gaps, False, monkeypatch)
    approximate_is_better = abs(gaps[0]) < abs(gaps[1])
    assert (result.alpha > 0).all() == approximate_is_better
    expected = exact_result.intercept + 0.01 * approximate_is_better
    assert result.intercept == pytest.approx(expected, abs=1e-9)


def test_crossover_keeps_the_solution_of_a_stopped_solver(monkeypatch):
    result, exact_result = cross_over_with_gaps(2e-3, 0.0, True, monkeypatch, finished=False)
    assert (result.alpha > 0).all()
    assert result.intercept == pytest.approx(exact_result.intercept + 0.01, abs=1e-12)
