"""The iterations of the active-set method, and how one kind follows another."""

from types import SimpleNamespace

import numpy as np
import pytest
from svm_problems import overlapping_problem

from svmbook.datasets import stdev
from svmbook.gram import StoredGram
from svmbook.kernels import gaussian
from svmbook.solvers import solve_active_set, svm_path
from svmbook.solvers.dual.active_sets import iterations, primal_dual
from svmbook.solvers.dual.active_sets.faces import FaceSolver
from svmbook.solvers.dual.active_sets.monotone import run_monotone
from svmbook.solvers.dual.active_sets.state import DualState


@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
def test_primal_dual_iterations_suffice_for_ordinary_problems(C):
    # Monotone iterations would correct nearly any error in the primal-dual ones, and hide it.
    K, y = overlapping_problem(450)
    result = solve_active_set(K, y, C)
    assert " 0 monotone" in result.message
    assert result.n_iter <= 25


def test_better_multipliers_are_kept_with_their_errors():
    K, y = overlapping_problem(60)
    solution = y * solve_active_set(K, y, 2.0).alpha
    for initial_beta, last_beta in [(solution, 2.0 * y), (2.0 * y, solution)]:
        state = DualState(StoredGram(K), y, np.full(60, 2.0), last_beta, np.ones(60, bool))
        iterations._choose_better_multipliers(state, initial_beta, y - K @ initial_beta)
        np.testing.assert_allclose(state.beta, solution, atol=1e-12)
        np.testing.assert_allclose(state.e, y - K @ solution, atol=1e-11)
        np.testing.assert_array_equal(state.free, (solution != 0) & (abs(solution) < 2.0))


def test_raised_shift_ends_a_cycle():
    X, y = stdev(2, n=12, random_state=1)
    result = solve_active_set(gaussian(X, gamma=0.5), y, 3.0)
    assert " 0 monotone" in result.message
    assert result.n_iter <= 30


def test_monotone_iterations_need_few_factorisations_to_leave_many_free_points(monkeypatch):
    # At the start all 300 points are free, and fewer than 100 at the solution.
    factor, n_factored = FaceSolver._factor, []
    monkeypatch.setattr(
        FaceSolver, "_factor", lambda self, F: (n_factored.append(len(F)), factor(self, F))
    )
    K, y = overlapping_problem(300)
    state = DualState(StoredGram(K), y, np.full(300, 1.0), 0.5 * y, np.ones(300, bool))
    state.make_feasible()
    assert run_monotone(state, 1000)
    assert state.free.sum() < 100
    assert sum(m > 100 for m in n_factored) <= 10
    np.testing.assert_allclose(y * state.beta, solve_active_set(K, y, 1.0).alpha, atol=1e-9)


def test_primal_dual_iterations_continue_if_no_point_remains_free(monkeypatch):
    step, n_calls = FaceSolver.step, []

    def step_out_of_the_box_at_first(self, F, e_F, imbalance):
        n_calls.append(len(F))
        return (-10.0 * y[F], 0.0) if len(n_calls) == 1 else step(self, F, e_F, imbalance)

    monkeypatch.setattr(FaceSolver, "step", step_out_of_the_box_at_first)
    K, y = overlapping_problem(60)
    state = DualState(StoredGram(K), y, np.full(60, 1.0), np.zeros(60), np.ones(60, bool))
    assert primal_dual.run_primal_dual(state, 100)
    assert n_calls[0] == 60
    np.testing.assert_allclose(y * state.beta, solve_active_set(K, y, 1.0).alpha, atol=1e-9)


def test_primal_dual_iterations_end_if_a_step_overshoots(monkeypatch):
    step, n_calls = FaceSolver.step, []

    def shift_intercept_at_second_call(self, F, e_F, imbalance):
        n_calls.append(len(F))
        delta, b = step(self, F, e_F, imbalance)
        return delta, b + (100.0 if len(n_calls) == 2 else 0.0)

    monkeypatch.setattr(FaceSolver, "step", shift_intercept_at_second_call)
    K, y = overlapping_problem(300)
    alpha = solve_active_set(K, y, 1.0).alpha
    n_calls.clear()
    is_free = (alpha > 0) & (alpha < 1)
    is_free[np.flatnonzero(alpha == 0)[0]] = True  # corrected in the first iteration
    state = DualState(StoredGram(K), y, np.ones(300), y * alpha, is_free)
    assert not primal_dual.run_primal_dual(state, 100)
    assert state.n_iter == 2


@pytest.mark.parametrize("is_last_better", [False, True])
def test_better_of_the_first_and_the_last_multipliers_is_returned(is_last_better, monkeypatch):
    K, y = overlapping_problem(60)
    result = solve_active_set(K, y, 1.0)
    solution, worse = y * result.alpha, 0.1 * y * result.alpha
    first, last = (worse, solution) if is_last_better else (solution, worse)

    def run_in_vain(state, *arguments, **options):
        state.beta = last.copy()
        return False

    monkeypatch.setattr(iterations, "run_primal_dual", run_in_vain)
    state = DualState(StoredGram(K), y, np.ones(60), first.copy(), np.ones(60, bool))
    iterations.run_iterations(state, 0)
    assert state.dual_objective == pytest.approx(result.dual_objective, rel=1e-9)


def test_decomposition_leaves_few_points_to_monotone_iterations(monkeypatch):
    monkeypatch.setattr(iterations, "run_primal_dual", lambda *arguments, **options: False)
    K, y = overlapping_problem(300)
    state = DualState(StoredGram(K), y, np.full(300, 1.0), np.zeros(300), np.zeros(300, bool))
    iterations.run_iterations(state, 1000)
    assert state.solved
    assert state.free.sum() > 20  # monotone iterations alone would free one after another
    assert state.n_iter <= 10
    np.testing.assert_allclose(y * state.beta, solve_active_set(K, y, 1.0).alpha, atol=1e-9)


def test_path_continues_from_unsolved_states():
    K, y = overlapping_problem(150)
    for result in svm_path(K, y, [0.5, 50.0, 5e4], max_iter=1):
        assert "iteration limit reached" in result.message
        assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()


@pytest.mark.parametrize(
    ("x", "y", "C"),
    [
        ([0, 2, 3, 5, 7], [1, -1, 1, -1, 1], 0.5),
        ([3, 4, 5, 6, 8], [1, -1, 1, -1, -1], 1.0),
        ([0, 1, 3, 6, 7, 8], [1, 1, -1, 1, 1, -1], 0.5),
    ],
)
def test_initial_sets_that_are_wrong_at_every_point_are_corrected_in_one_iteration(x, y, C):
    # The first iteration has no predecessor, so it never raises the shift. The second solves the
    # face of the solution, and the third removes the error due to the shift.
    y = np.array(y, dtype=float)
    K = gaussian(np.array(x, dtype=float)[:, None], gamma=0.5)
    exact_result = solve_active_set(K, y, C)
    free = (exact_result.alpha > 0) & (exact_result.alpha < C)
    state = DualState(StoredGram(K), y, np.full(len(y), C), np.zeros(len(y)), ~free)
    primal_dual.run_primal_dual(state, 1, max_idle=1)
    np.testing.assert_array_equal(state.free, free)
    state = DualState(StoredGram(K), y, np.full(len(y), C), np.zeros(len(y)), ~free)
    assert primal_dual.run_primal_dual(state, 3, max_idle=1)
    np.testing.assert_allclose(y * state.beta, exact_result.alpha, atol=1e-12)


@pytest.mark.parametrize("max_idle", [25, 1])
def test_cycle_of_primal_dual_iterations_is_ended(max_idle, monkeypatch):
    # In every iteration the two free points move to zero and the other two become free: always four
    # corrections, so that only the first iteration reaches a new minimum of their number. The
    # iterations end after more than ``max_idle`` without a new minimum
    # (notebooks/notes/active_sets.ipynb).
    y = np.array([1.0, -1.0, 1.0, -1.0])
    cycling_solver = SimpleNamespace(
        step=lambda F, e, imbalance: (-y[F], 0.0),
        lower_shift=list,
        raise_shift=list,
        use_double_precision=lambda gram: False,
    )
    monkeypatch.setattr(primal_dual, "FaceSolver", lambda *arguments, **options: cycling_solver)
    monkeypatch.setattr(iterations, "run_monotone", lambda *arguments: True)
    gram, free_half = StoredGram(np.zeros((4, 4))), np.array([True, True, False, False])
    state = DualState(gram, y, np.ones(4), np.zeros(4), free_half)
    iterations.run_iterations(state, 1000, max_idle=max_idle)
    assert state.message == f"{max_idle + 2} primal-dual and 0 monotone iterations"


def test_primal_dual_iterations_start_without_a_free_point():
    K, y = overlapping_problem(60)
    state = DualState(StoredGram(K), y, np.ones(60), np.zeros(60), np.zeros(60, bool))
    assert primal_dual.run_primal_dual(state, 100)
    np.testing.assert_allclose(y * state.beta, solve_active_set(K, y, 1.0).alpha, atol=1e-9)


def test_damping_ends_when_the_sets_of_a_small_face_are_final():
    # With the damped factor alone, refinement would need more than ten steps.
    K, y = overlapping_problem(600, gamma=2.0)
    alpha = solve_active_set(K, y, 1.0).alpha
    free = (alpha > 0) & (alpha < 1)
    assert 100 < free.sum() < 400
    state = DualState(StoredGram(K), y, np.ones(600), y * np.where(free, 0.5, alpha), free)
    assert primal_dual.run_primal_dual(state, 100, first_shift=0.1)
    assert state.n_iter <= 4
    np.testing.assert_allclose(y * state.beta, alpha, atol=1e-9)
