"""Decomposition into working sets: each step is optimal for its set, and the objective rises."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from svm_problems import overlapping_problem

from svmbook.gram import GaussianGram, StoredGram
from svmbook.losses import hinge
from svmbook.solvers import solve_active_set
from svmbook.solvers.dual.active_sets import decomposition, iterations, solver, starts
from svmbook.solvers.dual.active_sets.state import DualState


def draw_state(n=200, C=2.0, seed=0):
    """Return a feasible state with random multipliers, a third of them free."""
    rng = np.random.default_rng(seed)
    K, y = overlapping_problem(n)
    alpha = C * np.clip(rng.uniform(-1.0, 2.0, n), 0.0, 1.0)
    state = DualState(StoredGram(K), y, np.full(n, C), y * alpha, np.ones(n, dtype=bool))
    state.make_feasible()
    return state


def test_restricted_state_has_the_errors_and_the_gradient_of_the_whole():
    state, points = draw_state(), np.arange(0, 200, 3)
    part = state.restrict(points)
    np.testing.assert_allclose(part.e, state.e[points], atol=1e-12)
    assert abs(part.imbalance) <= 1e-12
    # A change within the subset changes both dual objectives by the same number.
    rng = np.random.default_rng(1)
    changed_beta = rng.uniform(part.lower, part.upper)
    objectives = part.dual_objective, state.dual_objective
    part.set_multipliers(np.arange(len(points)), changed_beta)
    state.set_multipliers(points, changed_beta)
    np.testing.assert_allclose(part.e, state.e[points], atol=1e-12)
    change = state.dual_objective - objectives[1]
    assert part.dual_objective - objectives[0] == pytest.approx(change, rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_step_is_optimal_for_the_working_set(seed):
    state = draw_state(seed=seed)
    previous_beta, previous_objective = state.beta.copy(), state.dual_objective
    working_set = np.sort(np.random.default_rng(seed).permutation(200)[:80])
    decomposition._solve_working_set(state, working_set)
    fixed = np.setdiff1d(np.arange(200), working_set)
    np.testing.assert_array_equal(state.beta[fixed], previous_beta[fixed])
    assert abs(state.beta.sum()) <= 1e-11
    assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()
    assert state.dual_objective > previous_objective
    # The optimality conditions hold for each pair of the working set, up to the damping.
    e, beta = state.e[working_set], state.beta[working_set]
    can_increase, can_decrease = beta < state.upper[working_set], beta > state.lower[working_set]
    assert e[can_increase].max() - e[can_decrease].min() <= 5e-3


def test_single_free_point_does_not_end_the_decomposition():
    # A step of one multiplier must be zero, since the multipliers sum to a constant.
    K, y = overlapping_problem(200)
    state = DualState(StoredGram(K), y, np.full(200, 2.0), np.zeros(200), np.arange(200) == 7)
    decomposition.improve_by_decomposition(state, until_solved=True)
    solution = solve_active_set(K, y, 2.0)
    assert state.dual_objective == pytest.approx(solution.dual_objective, rel=1e-3)


def test_objective_does_not_fall_if_the_iterations_fail(monkeypatch):
    monkeypatch.setattr(decomposition, "MAX_PRIMAL_DUAL_ITER", 1)
    for seed in range(5):
        state = draw_state(seed=seed)
        for _ in range(3):
            previous_objective = state.dual_objective
            decomposition._solve_working_set(state, np.arange(seed, 200, 2))
            assert state.dual_objective >= previous_objective - 1e-9 * abs(previous_objective)
            assert abs(state.beta.sum()) <= 1e-11
            assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()


@pytest.mark.parametrize("seed", range(3))
def test_intercept_minimises_the_sum_of_the_hinge_losses(seed):
    rng = np.random.default_rng(seed)
    state = draw_state(seed=seed)
    state.C = rng.uniform(0.5, 2.0, 200)

    def loss(b):
        return state.C @ hinge(state.y * (state.y - state.e + b))

    best = minimize_scalar(loss, bounds=(-10, 10), method="bounded").fun
    assert loss(state.optimal_intercept()) <= best + 1e-6


@pytest.mark.parametrize("C", [0.5, 5.0, 100.0])
def test_decomposition_improves_the_start_from_a_sample(C, monkeypatch):
    monkeypatch.setattr(decomposition, "MIN_ADDED_POINTS", 50)
    monkeypatch.setattr(solver, "MAX_VIOLATING_RATIO", 0.0)  # decomposition is never omitted
    for name, value in {"MAX_LIBSVM_POINTS": 200, "MIN_SAMPLE_SIZE": 100}.items():
        monkeypatch.setattr(starts, name, value)
    monkeypatch.setattr(starts, "MAX_CANDIDATES", 0)
    monkeypatch.setattr(starts, "MAX_BOUNDED_RATIO", -1.0)
    objectives = []
    improve = decomposition.improve_by_decomposition

    def improve_and_record(state):
        objectives.append(state.dual_objective)
        improve(state)
        objectives.append(state.dual_objective)

    monkeypatch.setattr(solver, "improve_by_decomposition", improve_and_record)
    K, y = overlapping_problem(1200)
    result = solver.solve_active_set_on_gram(StoredGram(K), y, np.full(1200, C))
    assert len(objectives) == 4  # the sample has a sample of its own
    before, after = objectives[2:]
    assert before < after <= result.dual_objective * (1 + 1e-9)
    assert result.dual_objective - after < 0.1 * (result.dual_objective - before)
    assert result.kkt_residual <= 1e-9
    np.testing.assert_allclose(result.alpha, solve_active_set(K, y, C).alpha, atol=1e-6 * C)


@pytest.mark.parametrize("n_positive", [500, 400])
def test_solution_without_free_points_is_found(n_positive, monkeypatch):
    # With so small a C, every point of the smaller class is at its upper bound.
    monkeypatch.setattr(starts, "MAX_LIBSVM_POINTS", 300)
    monkeypatch.setattr(starts, "MIN_SAMPLE_SIZE", 200)
    X = np.random.default_rng(0).standard_normal((1000, 5))
    y = np.where(np.arange(1000) < n_positive, 1.0, -1.0)
    result = solver.solve_active_set_on_gram(GaussianGram(X, 0.2), y, np.full(1000, 1e-5))
    assert result.converged
    np.testing.assert_array_equal(result.alpha[:n_positive], 1e-5)


def test_errors_of_single_precision_do_not_change_the_solution(monkeypatch):
    monkeypatch.setattr(starts, "MAX_LIBSVM_POINTS", 300)
    monkeypatch.setattr(starts, "MIN_SAMPLE_SIZE", 200)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(1000) > 0, 1.0, -1.0)
    gram, C = GaussianGram(X, gamma=0.2), np.full(1000, 3.0)
    result = solver.solve_active_set_on_gram(gram, y, C)
    assert result.gap <= 1e-10 * result.objective and result.kkt_residual <= 1e-10
    monkeypatch.setattr(GaussianGram, "in_single_precision", lambda self: self)
    double_result = solver.solve_active_set_on_gram(gram, y, C)
    np.testing.assert_allclose(result.alpha, double_result.alpha, atol=1e-9)


def test_iterations_that_stall_in_single_precision_continue_in_double_precision(monkeypatch):
    # Errors far above their estimate make single precision useless.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(600) > 0, 1.0, -1.0)
    gram, C = GaussianGram(X, gamma=0.3), np.full(600, 1.0)
    product = GaussianGram.dot_columns

    def inaccurate_product(self, indices, values):
        noise = 1e-3 * rng.standard_normal(self.n) if self.dtype == np.float32 else 0.0
        return product(self, indices, values) + noise

    monkeypatch.setattr(GaussianGram, "dot_columns", inaccurate_product)
    monkeypatch.setattr(iterations, "run_monotone", lambda *arguments: False)
    result = solver.solve_active_set_on_gram(gram, y, C)
    assert result.kkt_residual <= 1e-10


def test_objective_does_not_fall_if_a_damped_iteration_corrects_nothing(monkeypatch):
    def end_at_a_worse_point(part, *arguments, **options):
        part.set_multipliers(np.arange(part.n), 0.5 * part.beta)
        return True

    state = draw_state(seed=0)
    decomposition._solve_working_set(state, np.arange(0, 200, 2))
    objective = state.dual_objective
    monkeypatch.setattr(decomposition, "run_primal_dual", end_at_a_worse_point)
    decomposition._solve_working_set(state, np.arange(0, 200, 2))
    assert state.dual_objective >= objective - 1e-12 * abs(objective)


@pytest.mark.parametrize("C", [1.0, 3.0])
def test_points_on_a_grid_are_solved_in_single_precision_at_first(C, monkeypatch):
    # Neighbours are so close that their Gram matrix is singular in single precision.
    monkeypatch.setattr(starts, "MAX_LIBSVM_POINTS", 300)
    monkeypatch.setattr(starts, "MIN_SAMPLE_SIZE", 200)
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 30, (1200, 2))
    y = np.where(rng.random(1200) < rng.random((30, 30))[tuple(cells.T)], 1.0, -1.0)
    gram = GaussianGram(cells.astype(float), 0.1)
    result = solver.solve_active_set_on_gram(gram, y, np.full(1200, C))
    assert result.gap <= 1e-8 * result.objective
