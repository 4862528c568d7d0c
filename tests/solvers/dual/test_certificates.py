"""Certificates where they are not zero: away from the optimum, unbalanced, without bounds."""

import gc
from dataclasses import replace

import bench_linear
import numpy as np
import pytest
from bench_small import problem
from problems import noisy_gram, objectives

from svmbook.gram import GramMatrix, LowRankGram, StoredGram
from svmbook.solvers import (
    certify,
    solve_active_set,
    solve_dual,
    solve_hard_margin,
    solve_smo,
)
from svmbook.solvers.dual import crossover, cvxopt_system, libsvm
from svmbook.solvers.dual.active_set import run_rounds
from svmbook.solvers.dual.crossover import cross_over
from svmbook.solvers.dual.mehrotra import balanced
from svmbook.solvers.dual.state import DualState


@pytest.mark.parametrize("factor", [0.3, 0.9, 1.1, 7.0])
@pytest.mark.parametrize("b", [-1.5, -1.0, -0.8])
def test_the_hard_margin_scales_its_hyperplane_to_a_margin_of_one(factor, b):
    X, y = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]]), np.array([1.0, 1, -1, -1])
    alpha = factor * np.array([26, 0, 18, 8]) / 49
    w = X.T @ (y * alpha)
    result = certify(alpha, b * factor, y, np.inf, X @ w, n_iter=0, tol=1e-6)
    margin = (y * (X @ w + b * factor)).min()
    assert margin > 0
    scaled = w / margin  # feasible: what its length is, is an upper bound
    assert result.objective == pytest.approx(0.5 * scaled @ scaled)
    assert result.dual_objective == pytest.approx(alpha.sum() - 0.5 * w @ w)
    assert result.gap >= -1e-15
    assert result.converged == (factor == 1.0 and b == -1.0)


@pytest.mark.parametrize(("share", "proves"), [(1e-12, True), (1e-7, False), (1e-3, False)])
def test_what_is_not_balanced_proves_nothing(share, proves):
    # With y'alpha = r the dual bound is off by b r: a certificate without balance may lie.
    K, y = noisy_gram(60)
    exact = solve_dual(K, y, 1.0)
    alpha = exact.alpha.copy()
    heaviest = np.argmax(alpha)
    alpha[heaviest] -= share * alpha.sum()
    f = K @ (y * alpha)
    assert certify(alpha, exact.intercept, y, 1.0, f, n_iter=0, tol=0.5).converged == proves


@pytest.mark.parametrize("limit", [50, 500, 5000])
def test_smo_inherits_no_drift_of_its_updates(limit):
    # Outputs of the size 1e6, updated thousands of times, lose a digit after the other.
    rng = np.random.default_rng(0)
    X = 1e3 * rng.standard_normal((40, 2))
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    K = X @ X.T
    result = solve_smo(K, y, 1e2, max_iter=limit)
    primal, dual = objectives(result.alpha, result.intercept, K, y, 1e2)
    assert result.dual_objective == pytest.approx(dual, rel=5e-12)
    assert result.objective == pytest.approx(primal, rel=5e-12)  # with the drift 5e-11


def test_cvxopt_is_not_asked_for_less_than_rounding_leaves():
    small, large = (cvxopt_system.options(1e-6, 100, h)["feastol"] for h in (1.0, 1e12))
    eps = np.finfo(float).eps
    assert small < 1e-8
    assert eps * 1e12 < large < 1e3 * eps * 1e12
    assert cvxopt_system.options(1e-6, 100, 1.0)["reltol"] < 1e-6  # several digits to spare


def test_interior_points_start_inside_and_balanced():
    upper = np.random.default_rng(0).uniform(0.1, 9.0, 30)
    y = np.where(np.arange(30) < 4, 1.0, -1.0)
    u = balanced(0.5 * upper, y)
    assert abs(y @ u) <= 1e-14 * u.sum()
    assert (u > 0).all() and (u < upper).all()


@pytest.mark.parametrize(("tol", "size"), [(1e-6, 1.0), (1e-2, 1.0), (1e-9, 1e8), (1e-9, 1e14)])
def test_libsvm_is_asked_for_what_it_can_reach(tol, size, monkeypatch):
    asked = {}

    class Recorded(libsvm._SilentSVC):
        def fit(self, *args, **kwargs):
            asked["tol"] = self.tol
            return super().fit(*args, **kwargs)

    monkeypatch.setattr(libsvm, "_SilentSVC", Recorded)
    K, y = noisy_gram(40)
    libsvm.solve_libsvm(size * K, y, 1.0, tol=tol, max_iter=100)
    reachable = np.finfo(float).eps * size * 40  # below it LIBSVM may never end
    assert tol <= asked["tol"] <= max(tol, 1e-3)
    assert asked["tol"] >= min(reachable, 1e-3)
    assert asked["tol"] == tol or reachable > 0.1 * tol


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_a_solver_that_was_stopped_is_not_crossed_over(limit):
    # What is returned is the point where it was: feasible, with the gap that it has.
    K, y = noisy_gram(200)
    result = solve_dual(K, y, 1.0, max_iter=limit)
    assert not result.converged
    assert ((result.alpha >= 0) & (result.alpha <= 1)).all()
    assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()
    assert result.n_iter == limit
    primal, dual = objectives(result.alpha, result.intercept, K, y, 1.0)
    assert result.gap == pytest.approx(primal - dual, rel=1e-8)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
def test_crossing_over_makes_an_inexact_solution_exact(C):
    K, y = noisy_gram(250)
    exact = solve_dual(K, y, C)
    rng = np.random.default_rng(1)
    near = np.clip(exact.alpha + 1e-5 * C * rng.standard_normal(250), 0.0, C)
    result = cross_over(StoredGram(K), y, np.full(250, C), near, exact.intercept + 1e-5, tol=1e-6,
                        n_iter=7, message="")  # fmt: skip
    assert result.converged and result.n_iter == 7
    assert result.kkt_residual < 1e-10 * max(1.0, C)
    np.testing.assert_allclose(result.alpha, exact.alpha, atol=1e-8 * C)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_crossing_over_guesses_right_near_the_solution_in_any_unit(C, unit, monkeypatch):
    # A kernel that is divided by a unit, and C in that unit: the multipliers come in it as well.
    guesses = []

    def watched(state, *arguments, **options):
        guesses.append(state.free.copy())
        return run_rounds(state, *arguments, **options)

    monkeypatch.setattr(crossover, "run_rounds", watched)
    K, y = noisy_gram(250)
    exact = solve_active_set(K, y, C)
    rng = np.random.default_rng(1)
    near = np.clip(exact.alpha + 1e-6 * C * rng.standard_normal(250), 0.0, C)
    cross_over(StoredGram(K / unit), y, np.full(250, C * unit), near * unit, exact.intercept,
               tol=1e-6, n_iter=7, message="")  # fmt: skip
    np.testing.assert_array_equal(guesses, [(exact.alpha > 0) & (exact.alpha < C)])


def test_a_face_full_of_solutions_is_not_factored(monkeypatch):
    # No line sets the middle class apart, so its machine says -1 to everybody, and all points of
    # the larger class stand on the kerb: thousands are free where K has rank two.
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 3000)
    X = np.column_stack([kind - 1.0, np.zeros(3000)]) + 0.1 * rng.standard_normal((3000, 2))
    y = np.where(kind == 1, 1.0, -1.0)
    largest = []
    block = LowRankGram.block

    def watched(self, points, others):
        largest.append(len(points))
        return block(self, points, others)

    monkeypatch.setattr(LowRankGram, "block", watched)
    result = solve_dual(X, y, 10.0, form="low-rank")
    assert result.converged and result.gap < 1e-8 * result.objective
    free = (result.alpha > 0) & (result.alpha < 10.0)
    assert free.sum() > 1000 and max(largest, default=0) < 10
    np.testing.assert_allclose(result.alpha[y > 0], 10.0)


@pytest.mark.parametrize("seed", [10, 122, 127, 141, 169, 281, 477])
def test_the_interior_point_leaves_no_small_numbers_for_support_vectors(seed):
    # Problems at which cvxopt's own answer has up to twenty multipliers too many.
    _, K, y, C = problem(seed)
    interior, exact = solve_dual(K, y, C), solve_active_set(K, y, C)
    assert interior.kkt_residual <= 1e-9 * max(1.0, C.min())
    assert interior.dual_objective == pytest.approx(exact.dual_objective, rel=1e-9)


def test_the_hard_margin_has_exact_zeros():
    X = np.random.default_rng(0).standard_normal((80, 2))
    y = np.where(np.arange(80) % 2, 1.0, -1.0)
    X += 5.0 * y[:, None]
    result = solve_hard_margin(X @ X.T, y)
    assert 2 <= np.count_nonzero(result.alpha) <= 3  # in the plane
    assert result.kkt_residual < 1e-12


# --- the state of the active sets --------------------------------------------------------


def state_of(beta, C=1.0):
    K, y = noisy_gram(len(beta))
    beta = np.asarray(beta, dtype=float)
    free = (np.abs(beta) > 0) & (np.abs(beta) < C)
    return DualState(StoredGram(K), y, np.full(len(beta), C), beta, free)


def test_noise_is_what_rounding_may_do_and_no_more():
    rng = np.random.default_rng(0)
    K, y = noisy_gram(200)
    for size in (1e-3, 1.0, 1e6):
        state = state_of(y * size * rng.uniform(0, 1, 200), C=2 * size)
        beta, exact = state.beta, K.astype(np.longdouble)
        error = np.abs(state.e - (y - exact @ beta.astype(np.longdouble))).astype(float)
        assert (error <= state.rounding_error).all()
        terms = 1.0 + np.abs(beta).sum()  # of which an output is a sum, k(x, x) = 1
        assert (state.rounding_error <= 20 * np.finfo(float).eps * terms).all()


def test_shrinking_never_leaves_the_box():
    K, y = noisy_gram(40)
    balanced = np.where(y > 0, 1.0 / (y > 0).sum(), 1.0 / (y < 0).sum())
    state = state_of(y * 1e-3 * balanced, C=1e-3)
    before = state.beta.copy()
    state.scale_into_box()  # the objective rises with the length far beyond the box
    np.testing.assert_array_equal(state.beta, before)
    state = state_of(y * 1e3 * balanced, C=1e3)
    state.scale_into_box()
    assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()
    f = K @ state.beta
    assert y @ state.beta == pytest.approx(state.beta @ f)  # the best length: the slope is zero


def test_a_result_cannot_be_changed():
    result = certify([0.1, 0.1], 0.0, [1, -1], 1.0, [0.2, -0.2], n_iter=0, tol=1e-6)
    with pytest.raises(AttributeError):
        result.converged = True


def test_points_without_any_length_are_solved():
    for max_iter in (1, 100):
        result = solve_active_set(np.zeros((30, 30)), [1, -1, -1] * 10, 1.0, max_iter=max_iter)
        assert np.isfinite(result.objective)
    assert result.converged and result.objective == 20.0


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_a_crossing_from_the_low_rank_form_keeps_a_guess_that_is_nearly_right(C):
    # Fifty columns of full rank among 54: one more free point than they hold leads far astray.
    X, y, _ = bench_linear.problem({"n": 5040, "features": "scaled", "C": C})
    result = solve_dual(X, y, C, form="low-rank")
    assert result.converged and result.kkt_residual <= 1e-8
    free = (result.alpha > 0) & (result.alpha < C)
    assert free.sum() <= 54


def test_what_is_feasible_enters_the_box_as_it_is():
    y = np.repeat([1.0, -1.0], 20)
    alpha = np.tile([0.0, 1.0, 0.3, 0.7, 0.0], 8)
    state = DualState(StoredGram(np.eye(40)), y, np.ones(40), y * alpha, np.ones(40, dtype=bool))
    state.beta[2] += 1e-9  # out of balance: those inside the box mend it
    state.project_to_box(ascend=False)
    assert abs(state.beta.sum()) <= 1e-15
    at_bounds = (alpha == 0) | (alpha == 1)
    np.testing.assert_array_equal(state.beta[at_bounds], (y * alpha)[at_bounds])
    np.testing.assert_allclose(state.beta, y * alpha, atol=1e-9)


@pytest.mark.parametrize("form", ["dense", "low-rank"])
def test_a_solution_leaves_no_matrix_behind(form):
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.tile([1.0, -1.0], 30)

    def living():
        return {
            id(thing) for thing in gc.get_objects() if isinstance(thing, GramMatrix | DualState)
        }

    gc.collect()
    gc.disable()
    try:
        before = living()
        result = solve_dual(X if form == "low-rank" else X @ X.T, y, 1.0, form=form)
        assert result.converged and living() <= before
    finally:
        gc.enable()


def test_a_result_is_equal_to_itself_alone():
    K, y = noisy_gram(20)
    result = solve_active_set(K, y, 1.0)
    assert result in {result} and replace(result) not in {result}


def crossed_with_gaps(given_gap, exact_gap, converged, monkeypatch, **options):
    """Cross over from a solution without exact zeros, with gaps that certificates then claim."""
    K, y = noisy_gram(40)
    exact = solve_active_set(K, y, 1.0)
    alpha = exact.alpha + 1e-9 * (exact.alpha == 0)
    certified = DualState.certified

    def claimed(self, *args, **report):
        result = certified(self, *args, **report)
        gap = exact_gap if self.n_iter else given_gap  # no round began at what was given
        objective = result.dual_objective + gap
        return replace(result, objective=objective, converged=converged and bool(self.n_iter))

    monkeypatch.setattr(DualState, "certified", claimed)
    report = {"tol": 1e-6, "n_iter": 1, "message": ""} | options
    start = alpha, exact.intercept + 0.01
    return cross_over(StoredGram(K), y, np.ones(40), *start, **report), exact


def test_exact_zeros_are_preferred_to_a_gap_that_is_smaller_by_rounding(monkeypatch):
    crossed, exact = crossed_with_gaps(0.0, 1e-9, True, monkeypatch)
    np.testing.assert_array_equal(crossed.alpha == 0, exact.alpha == 0)


@pytest.mark.parametrize("gaps", [(1e-3, 2e-3), (2e-3, 1e-3), (-1e-3, 2e-3), (2e-3, -1e-3)])
def test_where_crossing_over_does_not_converge_the_smaller_gap_wins(gaps, monkeypatch):
    crossed, exact = crossed_with_gaps(*gaps, False, monkeypatch)
    given = abs(gaps[0]) < abs(gaps[1])
    assert (crossed.alpha > 0).all() == given
    expected = exact.intercept + 0.01 * given
    assert crossed.intercept == pytest.approx(expected, abs=1e-9)


def test_a_solver_that_was_stopped_keeps_its_solution(monkeypatch):
    crossed, exact = crossed_with_gaps(2e-3, 0.0, True, monkeypatch, finished=False)
    assert (crossed.alpha > 0).all()
    assert crossed.intercept == pytest.approx(exact.intercept + 0.01, abs=1e-12)
