"""The initial sets of the active-set method: close to the final sets, and valid states."""

import numpy as np
import pytest
from svm_problems import overlapping_problem
from synthetic_data import draw_overlapping_classes

from svmbook.gram import GaussianGram, StoredGram
from svmbook.kernels import gaussian
from svmbook.solvers import solve_active_set
from svmbook.solvers.dual.active_sets import starts
from svmbook.solvers.dual.active_sets.solver import solve_active_set_on_gram, solve_from_scratch
from svmbook.solvers.dual.active_sets.state import DualState


def count_wrong_sets(state, result, C):
    """Return for how many points the set of the state (L, U or F) is not that of the result."""
    final_set = np.where(result.alpha == 0, 0, np.where(result.alpha == C, 2, 1))
    initial_set = np.where(state.free, 1, np.where(state.at_upper_bound, 2, 0))
    return int((initial_set != final_set).sum())


def test_sets_from_all_points_are_nearly_final():
    K, y = overlapping_problem(600)
    C = np.random.default_rng(0).uniform(0.5, 2.0, 600)
    state = starts.initial_state(StoredGram(K), y, C)
    assert count_wrong_sets(state, solve_active_set(K, y, C), C) <= 12


@pytest.mark.parametrize(
    ("max_candidates", "C", "max_wrong"),
    [
        (2000, 1.0, 60),  # candidates
        (2000, 20.0, 120),
        # The sample alone. If all points were in the largest set, 258 and 675 would be wrong.
        (10, 0.1, 200),
        (10, 1.0, 600),
    ],
)
def test_sets_from_a_sample_are_close_to_the_final_ones(max_candidates, C, max_wrong, monkeypatch):
    monkeypatch.setattr(starts, "MIN_SAMPLE_SIZE", 300)
    monkeypatch.setattr(starts, "MAX_CANDIDATES", max_candidates)
    K, y = overlapping_problem(1200)
    gram, bounds, sample = StoredGram(K), np.full(1200, C), starts.stratified_sample(y)
    share = len(sample) / 1200
    assert 300 <= len(sample) <= 302 and abs(y[sample].mean() - y.mean()) <= 0.01
    sample_state = solve_from_scratch(
        gram.submatrix(sample), y[sample], bounds[sample] / share, 1000
    )
    state = starts.state_from_sample(gram, y, bounds, sample, share, sample_state)
    beta = state.beta[~state.free]
    assert ((beta == state.lower[~state.free]) | (beta == state.upper[~state.free])).all()
    result = solve_active_set(K, y, C)
    assert count_wrong_sets(state, result, C) <= max_wrong


def test_points_inside_the_margin_become_free_if_no_point_of_the_sample_is_at_c(monkeypatch):
    monkeypatch.setattr(starts, "MIN_SAMPLE_SIZE", 300)
    monkeypatch.setattr(starts, "MAX_CANDIDATES", 10)
    K, y = overlapping_problem(1200)
    gram, C, sample = StoredGram(K), np.full(1200, 1e4), starts.stratified_sample(y)
    share = len(sample) / 1200
    sample_state = solve_from_scratch(gram.submatrix(sample), y[sample], C[sample] / share, 1000)
    assert not sample_state.at_upper_bound.any()
    state = starts.state_from_sample(gram, y, C, sample, share, sample_state)
    assert not state.at_upper_bound.any() and abs(state.beta.sum()) <= 1e-9 * abs(state.beta).sum()
    np.testing.assert_allclose(state.e, y - K @ state.beta, atol=1e-9 * abs(state.beta).max())
    assert not state.find_violating_at_bounds().any()
    alpha = solve_active_set(K, y, 1e4).alpha
    assert (alpha[~state.free] > 0).sum() <= 0.3 * (alpha > 0).sum()


def test_sets_from_a_problem_of_low_rank_are_final():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (2600, 2))
    y = np.where(np.sin(2 * X[:, 0]) * X[:, 1] + 0.3 * rng.standard_normal(2600) > 0, 1.0, -1.0)
    gram, C = GaussianGram(X, gamma=0.2), np.full(2600, 10.0)
    state = starts.initial_state(gram, y, C)
    assert count_wrong_sets(state, solve_active_set_on_gram(gram, y, C), C) <= 5


def test_high_rank_is_not_taken_for_low():
    X, y = draw_overlapping_classes(3000)
    gram = GaussianGram(X, gamma=0.1)
    assert starts._solve_low_rank_problem(gram, y, np.ones(3000)) is None


def test_balanced_state_is_feasible_and_orders_the_bounded_points_by_their_errors():
    rng = np.random.default_rng(0)
    K, y = overlapping_problem(50)
    C, e = rng.uniform(0.5, 2.0, 50), rng.standard_normal(50)
    free = np.arange(50) < 5
    beta = np.where(free, 0.3 * y * C, 0.0)
    state = starts._balanced_state(StoredGram(K), y, C, beta, free, e)
    assert abs(state.beta.sum()) <= 1e-13
    (added,) = np.flatnonzero(state.free & ~free)
    others = np.flatnonzero(~state.free)
    np.testing.assert_array_equal(state.beta[free], beta[free])
    expected = np.where(e > e[added], state.upper, state.lower)
    np.testing.assert_array_equal(state.beta[others], expected[others])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_balanced_state_without_a_solution_in_the_box_has_all_points_at_one_end(sign):
    # The free points alone exceed what the other points can balance.
    y = np.array([sign, sign, -sign])
    free = np.array([True, True, False])
    beta = np.where(free, 5.0 * y, 0.0)
    C = np.array([5.0, 5.0, 1.0])
    state = starts._balanced_state(StoredGram(np.eye(3)), y, C, beta, free, np.zeros(3))
    assert state.beta[2] == -sign
    np.testing.assert_array_equal(state.free, free)


def test_libsvm_at_the_limit_of_double_precision_gives_finite_numbers():
    K = 1e300 * np.eye(4)
    y = np.array([1.0, -1, 1, -1])
    alpha, intercept, _ = starts._solve_loosely(StoredGram(K), y, np.ones(4))
    assert np.isfinite(alpha).all() and np.isfinite(intercept)


def test_libsvm_without_a_finite_solution_gives_zeros(monkeypatch):
    def fail(*arguments):
        raise ValueError("The dual coefficients or intercepts are not finite.")

    monkeypatch.setattr(starts, "fit_multipliers", fail)
    gram, y = StoredGram(np.eye(2)), np.array([1.0, -1])
    alpha, intercept, is_solved = starts._solve_loosely(gram, y, np.ones(2))
    assert not alpha.any() and intercept == 0.0 and not is_solved


def test_problem_of_low_rank_is_approximated_if_libsvm_needs_too_many_iterations(monkeypatch):
    X = np.random.default_rng(0).uniform(-2, 2, (400, 2))
    y = np.where(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] > 0, 1.0, -1.0)
    gram, C = StoredGram(gaussian(X, gamma=0.1)), np.full(400, 1e4)
    result = solve_active_set(gram.K, y, C)
    monkeypatch.setattr(starts, "MAX_LIBSVM_ITER_PER_POINT", 1)
    assert count_wrong_sets(starts.initial_state(gram, y, C), result, C) <= 2
    monkeypatch.setattr(starts, "MAX_RANK_PER_ROOT", 0.1)  # no problem is of low rank
    assert count_wrong_sets(starts.initial_state(gram, y, C), result, C) >= 10


def test_small_problems_start_with_all_points_free():
    K, y = overlapping_problem(40)
    state = starts.initial_state(StoredGram(K), y, np.ones(40))
    assert state.free.all() and not state.beta.any()
    assert isinstance(state, DualState)
