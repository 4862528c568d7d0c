"""Purification leaves few points free, keeps the outputs, and never lowers the dual objective."""

import numpy as np
import pytest

from svmbook.gram import StoredGram
from svmbook.kernels import gaussian, linear
from svmbook.solvers import solve_active_set
from svmbook.solvers.dual.active_sets.purification import purify
from svmbook.solvers.dual.active_sets.state import DualState


def draw_state(K, seed):
    """Return a state in which all points are free, at random multipliers whose sum is zero."""
    rng, n = np.random.default_rng(seed), len(K)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    state = DualState(StoredGram(K), y, rng.uniform(0.5, 2.0, n), np.zeros(n), np.ones(n, bool))
    state.beta = y * rng.uniform(0.0, state.C)
    state.make_feasible()
    return state


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [1, 2, 5])
def test_at_most_rank_plus_one_points_stay_free(d, seed):
    X = np.random.default_rng(seed).standard_normal((300, d))
    state = draw_state(linear(X), seed)
    objective, outputs = state.dual_objective, state.gram.K @ state.beta
    assert purify(state)
    assert state.free.sum() <= d + 1
    assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()
    assert abs(state.beta.sum()) <= 1e-10
    np.testing.assert_allclose(state.gram.K @ state.beta, outputs, atol=1e-9)
    np.testing.assert_allclose(state.e, state.y - outputs, atol=1e-9)
    assert state.dual_objective >= objective - 1e-12 * abs(objective)


def test_objective_of_a_solved_face_does_not_change():
    X = np.random.default_rng(0).standard_normal((300, 3))
    state = draw_state(linear(X), 0)
    state.targets = state.gram.K @ state.beta + 0.4  # so that every error is 0.4
    state.recompute_errors()
    objective = state.dual_objective
    assert purify(state)
    assert state.dual_objective == pytest.approx(objective, rel=1e-10)
    np.testing.assert_allclose(state.e, 0.4, atol=1e-10)


def test_duplicates_are_a_face_of_low_rank():
    X = np.random.default_rng(0).standard_normal((20, 6))
    state = draw_state(gaussian(np.repeat(X, 30, axis=0), gamma=0.2), 0)
    assert purify(state)
    assert state.free.sum() <= 20


def test_few_points_and_faces_of_high_rank_do_not_change():
    X = np.random.default_rng(0).standard_normal((300, 10))
    for K in (gaussian(X, gamma=0.5), linear(X[:90])):
        state = draw_state(K, 0)
        beta = state.beta.copy()
        assert not purify(state)
        np.testing.assert_array_equal(state.beta, beta)


def test_labels_without_signal_leave_few_points_free():
    # Nearly all points of the larger class are on its margin boundary.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1500, 2))
    y = np.where(rng.random(1500) < 0.2, 1.0, -1.0)
    result = solve_active_set(gaussian(X, gamma=0.1), y, 0.1)
    assert result.gap <= 1e-10 * result.objective
    assert result.kkt_residual <= 1e-9
    n_free = ((result.alpha > 0) & (result.alpha < 0.1)).sum()
    assert n_free <= 60
    # Primal-dual iterations end soon: every one factors many free points.
    assert int(result.message.split()[0]) <= 25
