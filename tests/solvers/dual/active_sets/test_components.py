"""The parts of the active-set solver: states, faces and refinement."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from svm_problems import kkt_violation, overlapping_problem

from svmbook.datasets import twonorm
from svmbook.gram import GaussianGram, StoredGram
from svmbook.kernels import gaussian
from svmbook.solvers import certify, intercept_interval, solve_active_set
from svmbook.solvers.dual.active_sets import faces
from svmbook.solvers.dual.active_sets import state as state_module
from svmbook.solvers.dual.active_sets.faces import FaceSolver, IndefiniteFaceError, Refinement
from svmbook.solvers.dual.active_sets.state import DualState


@pytest.fixture
def state():
    """Return a state of forty points: a third at zero, a third at the bound, a third free."""
    K, y = overlapping_problem(40)
    free = np.arange(40) % 3 == 0
    beta = np.where(np.arange(40) % 3 == 1, y * 2.0, 0.0)
    beta[free] = y[free] * np.linspace(0.1, 1.9, free.sum())
    state = DualState(StoredGram(K), y, np.full(40, 2.0), beta, free)
    state.b = 0.3
    return state


def test_find_violating_at_bounds_returns_the_kkt_violations(state):
    margins = state.y * (state.gram.K @ state.beta + state.b)
    at_zero, at_C = state.beta == 0, np.abs(state.beta) == 2.0
    expected = (at_zero & (margins < 1 - 1e-9)) | (at_C & (margins > 1 + 1e-9))
    assert expected.sum() > 5
    np.testing.assert_array_equal(state.find_violating_at_bounds(), expected & ~state.free)


def test_most_violating_point_has_the_largest_kkt_violation(state):
    state.b = state.e[state.free].mean()
    state.e[state.free] = state.b  # as if the face were solved
    (most_violating,) = state.choose_entering_points()
    gradient = state.y * (state.e - state.b)
    violation = np.where(np.abs(state.beta) == 2.0, -gradient, gradient)
    assert most_violating == np.argmax(np.where(state.free, -np.inf, violation))


def test_most_violating_is_a_pair_if_no_point_is_free():
    K, y = overlapping_problem(6)[0], np.array([1.0, -1, 1, -1, 1, -1])
    state = DualState(StoredGram(K), y, np.ones(6), np.zeros(6), np.zeros(6, bool))
    i, j = state.choose_entering_points()
    assert y[i] == 1.0
    assert y[j] == -1.0
    assert state.b == pytest.approx(0.0)
    state.set_multipliers(np.array([0, 3]), np.array([1.0, -1.0]))  # both at their bounds
    i, j = state.choose_entering_points()
    assert state.b == pytest.approx(0.5 * (state.e[i] + state.e[j])) != 0.0


def test_step_ends_at_the_first_bound_if_no_projection_increases_the_objective(state, monkeypatch):
    monkeypatch.setattr(state_module, "_project", lambda z, lower, upper, total: state.beta[F])
    F = np.flatnonzero(state.free)[:3]
    state.lower[F], state.upper[F] = -2.0, 2.0
    state.beta[F] = -2.0, 0.0, 0.0  # a step of zero at a bound: 0 / 0
    assert state.take_projected_step(F, np.array([0.0, 20.0, 1.0]))
    np.testing.assert_allclose(state.beta[F], [-2.0, 2.0, 0.1])


def test_projected_step_ends_at_the_solution_with_many_points_at_bounds():
    # With K = I the step to the unconstrained maximum, projected, ends at the solution, although it
    # leaves the box at several points; a step that ends at the first bound stops short of it.
    n, C = 30, np.linspace(0.05, 1.5, 30)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    state = DualState(StoredGram(np.eye(n)), y, C, np.zeros(n), np.ones(n, bool))
    state.beta = 1e-3 * y * np.where(y > 0, 2.0, 1.0)
    state.recompute_errors()
    F = np.arange(n)
    step, state.b = FaceSolver(state.gram).step(F, state.e, 0.0)
    assert state.take_projected_step(F, step)
    assert abs(state.beta.sum()) <= 1e-14 * np.abs(state.beta).sum()
    exact_result = solve_active_set(np.eye(n), y, C)
    assert (exact_result.alpha == C).sum() > 5
    np.testing.assert_allclose(y * state.beta, exact_result.alpha, atol=1e-7)


def test_optimality_is_checked_with_recomputed_errors(state):
    F = np.flatnonzero(state.free)
    state.e[F] = state.b  # looks solved until the errors are recomputed
    state.total_change = np.inf
    assert not state.recheck_solved(F)
    state.b = state.e[F].mean()
    e_before = state.e.copy()
    assert state.recheck_solved(F)  # the errors were correct already
    np.testing.assert_allclose(state.e, e_before)


def test_errors_are_recomputed_only_after_large_changes(state):
    F = np.flatnonzero(state.free)
    state.set_multipliers(F, state.beta[F] + 1e-9)
    state.e[F] = state.b  # not noticed: the change is small
    assert state.recheck_solved(F)
    state.set_multipliers(F, state.beta[F] + 1.0)
    state.set_multipliers(F, state.beta[F] - 1.0)
    state.total_change *= 100.0
    state.e[F] = state.b
    assert not state.recheck_solved(F)


def test_set_multipliers_updates_all_errors(state):
    indices = np.array([1, 4, 7])
    state.set_multipliers(indices, np.array([0.5, -0.5, 0.2]))
    np.testing.assert_allclose(state.e, state.y - state.gram.K @ state.beta, atol=1e-13)


def test_projection_is_feasible_with_correct_errors(state):
    state.beta = 5.0 * np.random.default_rng(1).standard_normal(40)
    state.make_feasible()
    assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()
    assert abs(state.beta.sum()) <= 1e-14 * np.abs(state.beta).sum()
    np.testing.assert_allclose(state.e, state.y - state.gram.K @ state.beta, atol=1e-13)


@pytest.mark.parametrize("excess", [1e-17, -1e-17])
def test_projection_leaves_multipliers_at_bounds_if_their_sum_is_zero_up_to_rounding(excess):
    K, _ = overlapping_problem(40)
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    beta = np.where(np.arange(40) < 20, y, 0.0)
    state = DualState(StoredGram(K), y, np.ones(40), beta, np.zeros(40, bool), beta_sum=excess)
    state.make_feasible()
    np.testing.assert_array_equal(state.beta, beta)


def test_shortened_steps_stay_in_the_box_and_never_lower_the_dual_objective(state):
    state.make_feasible()
    face_solver = FaceSolver(state.gram)
    for _ in range(10):
        F = np.flatnonzero(state.free)
        objective_before = state.dual_objective
        step, state.b = face_solver.step(F, state.e[F], state.beta.sum())
        reached_bound = state.take_projected_step(F, step)
        assert state.dual_objective >= objective_before - 1e-12
        assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()
        if reached_bound:
            assert state.free.sum() < len(F)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("imbalance", [0.0, 0.7])
@pytest.mark.parametrize("shift", [1e-9, 1e-2])
def test_step_solves_the_bordered_system(offset, imbalance, shift):
    K, _ = overlapping_problem(30)
    e = np.random.default_rng(2).standard_normal(30)
    face_solver = FaceSolver(StoredGram(K + offset))
    face_solver.relative_shift = shift
    F = np.arange(0, 30, 2)
    step, b = face_solver.step(F, e[F], imbalance)
    # Each free point absorbs an equal share of the imbalance; the rest of the step is damped and
    # sums to zero. An offset of K changes only b, so the expected step is computed without it.
    K_FF, m = K[np.ix_(F, F)], len(F)
    share = imbalance / m
    P = np.eye(m) - 1.0 / m
    scale = 1.0 + offset
    mu = max(shift * (np.trace(P @ K_FF @ P) + scale) / m, 30 * np.finfo(float).eps * m * scale)
    system = np.block([[K_FF + mu * np.eye(m), np.ones((m, 1))], [np.ones((1, m)), 0.0]])
    expected = np.linalg.solve(system, np.append(e[F] + share * K_FF.sum(axis=1), 0.0))
    atol = 1e-15 * scale / min(mu, 1.0) + 1e-10
    assert step.sum() == pytest.approx(-imbalance, abs=1e-12)
    np.testing.assert_allclose(step, expected[:-1] - share, atol=atol)
    assert b - offset * imbalance == pytest.approx(expected[-1], abs=1e-9 * scale)


def test_shift_is_reduced_to_its_minimum_and_first_reduction_gains_two_digits():
    # On a well-conditioned face the shift limits the accuracy of the step, and rounding does not.
    K, y = overlapping_problem(30, gamma=1.0)
    face_solver = FaceSolver(StoredGram(K + np.eye(30)))
    F = np.arange(30)
    shifts, residuals = [], []
    for _ in range(20):
        step, b = face_solver.step(F, y, 0.0)
        shifts.append(face_solver.relative_shift)
        residuals.append(np.abs(y - K @ step - step - b).max())
        if not face_solver.refactor_with_smaller_shift():
            break
    assert 2 <= len(shifts) < 10
    assert (np.diff(shifts) < 0).all()
    assert residuals[0] == pytest.approx(100.0 * residuals[1], rel=1e-3)


def test_kkt_residual_includes_violations_at_both_bounds():
    K, y = overlapping_problem(40)
    rng = np.random.default_rng(3)
    for b in (-3.0, 0.0, 3.0):
        for scale in (1e-3, 1.0, 10.0):
            alpha = np.clip(scale * rng.standard_normal(40), 0.0, 1.0)
            result = certify(alpha, b, y, 1.0, K @ (y * alpha), n_iter=0, tol=1e-6)
            violation = kkt_violation(alpha, b, K, y, np.ones(40))
            assert result.kkt_residual == pytest.approx(violation)


def test_multiplier_at_a_bound_up_to_rounding_does_not_set_the_intercept():
    # At the solution all multipliers are at a bound. Before it is rounded to its bound, one of them
    # differs from it in the last digit.
    X, labels = twonorm(900, random_state=0)
    train = list(StratifiedKFold(3).split(X, labels))[2][0]
    K = gaussian(X[train], gamma=1e-3)
    y = np.where(labels[train] == labels.max(), 1.0, -1.0)
    result = solve_active_set(K, y, 0.1)
    assert np.isin(result.alpha, (0.0, 0.1)).all()
    interval = intercept_interval(result.alpha, y, np.full(600, 0.1), K @ (y * result.alpha))
    assert interval[1] - interval[0] > 0.05
    assert result.intercept == pytest.approx(sum(interval) / 2)


@pytest.mark.parametrize(
    ("ratio", "stall_tol", "should_end"),
    [(1.0, 0.0, True), (0.95, 0.0, True), (0.5, 0.0, False), (1.0, 1.0, True), (0.5, 1.0, True)],
)
def test_refinement_ends_if_the_residual_stalls_or_is_small(
    ratio, stall_tol, should_end, monkeypatch
):
    monkeypatch.setattr(faces, "MAX_STALLS", 20)
    residuals = (ratio**k for k in range(1000))
    state = SimpleNamespace(
        stall_tol=stall_tol,
        recompute_errors=lambda: None,
        residual=lambda F: next(residuals),
        at_rounding_error=lambda F: False,
    )
    face_solver = SimpleNamespace(
        refactor_with_smaller_shift=lambda: False
    )  # the shift is the smallest one
    refinement = Refinement()
    is_solved = [refinement.confirm_solved_or_refactor(state, face_solver, None) for _ in range(30)]
    assert any(is_solved) == should_end
    if not stall_tol and should_end:
        assert is_solved.index(True) > 20


@pytest.mark.parametrize("scale", [0.1, 1.0, 7.0])
def test_one_projected_gradient_step_solves_a_scaled_identity(scale):
    # With K = s I a gradient step of length 1 / s ends at the unconstrained maximum, y / s, and the
    # nearest feasible point to it is the solution. The step is taken because no point is inside
    # the box and the multipliers do not sum to zero.
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) < 9, 1.0, -1.0)
    C = rng.uniform(0.1, 3.0, 30) / scale
    start = y * C * rng.integers(0, 2, 30)
    state = DualState(StoredGram(scale * np.eye(30)), y, C, start, np.ones(30, dtype=bool))
    state.make_feasible()
    exact_result = solve_active_set(scale * np.eye(30), y, C)
    np.testing.assert_allclose(y * state.beta, exact_result.alpha, atol=1e-12 / scale)


def test_steps_in_single_and_double_precision_agree():
    K, y = overlapping_problem(900, gamma=0.5)
    state = DualState(StoredGram(K), y, np.full(900, 1.0), np.zeros(900), np.ones(900, bool))
    F = np.arange(900)
    single, double = (
        FaceSolver(state.gram, 1e-3, use_single_precision=is_single) for is_single in (True, False)
    )
    step, b = single.step(F, state.e, 0.5)
    double_step, double_b = double.step(F, state.e, 0.5)
    # The shift is relative to slightly different means of the diagonal.
    np.testing.assert_allclose(step, double_step, atol=1e-2 * np.abs(double_step).max())
    assert b == pytest.approx(double_b, abs=1e-2)
    assert step.sum() == pytest.approx(-0.5, abs=1e-3) and double_step.sum() == pytest.approx(-0.5)
    assert single.use_double_precision(state.gram) and not double.use_double_precision(state.gram)
    # The shift is back at its smallest value.
    double.end_damping()
    exact_step, _ = double.step(F, state.e, 0.5)
    np.testing.assert_allclose(single.step(F, state.e, 0.5)[0], exact_step, atol=1e-12)


@pytest.mark.parametrize("n", [60, 500])  # double precision only, and single precision first
def test_indefinite_face_raises(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    face_solver = FaceSolver(StoredGram(np.tanh(X @ X.T - 1.0) + 2.0 * np.eye(n)))
    with pytest.raises(IndefiniteFaceError, match=r"not positive semi-definite.*free points"):
        face_solver.step(np.arange(n), np.ones(n), 0.0)


def test_small_faces_are_not_factored_in_single_precision():
    K, y = overlapping_problem(100)
    face_solver = FaceSolver(StoredGram(K))
    face_solver.step(np.arange(100), y, 0.0)
    assert not face_solver.use_double_precision(face_solver.gram)


def test_face_that_is_not_definite_in_single_precision_is_left_to_double():
    K = 2.0 * np.ones((500, 500)) - 0.1 * np.eye(500)
    face_solver = FaceSolver(StoredGram(K))
    assert not face_solver._factor_in_single_precision(np.arange(500))


def test_small_faces_of_a_gram_matrix_in_single_precision_are_solved_in_double():
    X = np.random.default_rng(0).standard_normal((60, 3))
    single = GaussianGram(X, gamma=0.05, single_precision=True)
    F, e = np.arange(60), np.linspace(-1.0, 1.0, 60)
    step, b = FaceSolver(single, first_shift=1e-9).step(F, e, 0.0)
    expected_step, expected_b = FaceSolver(GaussianGram(X, gamma=0.05), 1e-9).step(F, e, 0.0)
    np.testing.assert_allclose(step, expected_step, rtol=1e-6)
    assert b == pytest.approx(expected_b)
