"""IRWLS: known solutions for convex costs, stationary points for others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmbook import DualSVC
from svmbook.solvers import HINGE, Cost, sigmoidal_cost, solve_irwls, usvc_cost
from svmbook.solvers.irwls.iterations import irwls_path, run_irwls
from svmbook.solvers.irwls.starts import (
    least_squares_start,
    minimise_from_starts,
    random_start,
    svm_start,
)

# Costs that lie below their parabolas everywhere, and costs that do not.
MAJORISED_COSTS = {"hinge": HINGE, "s = 1": usvc_cost(1.0), "s = 2": usvc_cost(2.0)}
OTHER_COSTS = {"s = 4": usvc_cost(4.0), "s = 8": usvc_cost(8.0), "sigmoid": sigmoidal_cost(6.0)}
COSTS = MAJORISED_COSTS | OTHER_COSTS
every_cost = pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS.keys())


def draw_problem(seed, separable=False):
    """Draw centred points, labels and C."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(10, 150)), int(rng.integers(1, 8))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    Z = rng.standard_normal((n, d)) + np.outer(y * rng.uniform(0, 1.5), rng.standard_normal(d))
    if separable:
        Z[:, 0] = y * (rng.uniform(0.3, 1.0) + rng.exponential(size=n))
    return Z - Z.mean(axis=0), y, 10.0 ** rng.uniform(-2, 2)


def objective(cost, Z, y, C, w, b):
    return 0.5 * w @ w + np.sum(C * cost.value(y * (Z @ w + b)))


@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 200), marks=pytest.mark.nightly)]
)
def test_hinge_reaches_the_minimum_of_the_quadratic_program(seeds):
    for seed in seeds:
        Z, y, C = draw_problem(seed)
        exact_model = DualSVC(C=C).fit(Z, y)
        result = solve_irwls(Z, y, C, HINGE, tol=1e-5)
        assert result.converged
        assert result.objective == pytest.approx(exact_model.objective_, rel=1e-6), seed
        assert result.objective >= exact_model.dual_objective_ - 1e-9 * exact_model.objective_


@pytest.mark.parametrize("name", COSTS)
def test_objective_never_increases(name):
    for seed in range(40):
        result = run_irwls(*draw_problem(seed), COSTS[name], tol=1e-4)
        changes = np.diff(result.smoothed_objectives)
        if name in OTHER_COSTS:  # a smaller smoothing width may raise the cost
            changes = changes[np.diff(result.smoothing_widths) == 0]
        assert changes.max(initial=-1.0) <= 1e-12 * result.smoothed_objectives[0]


@pytest.mark.parametrize("tol", [1e-5, 1e-15])
def test_max_iter_equal_to_the_iterations_needed_suffices(tol):
    for seed in range(20):
        unlimited_result = run_irwls(*draw_problem(seed), HINGE, tol=tol)
        limited_result = run_irwls(
            *draw_problem(seed), HINGE, tol=tol, max_iter=unlimited_result.n_iter
        )
        assert limited_result.n_iter == unlimited_result.n_iter
        assert (limited_result.converged, limited_result.message) == (
            unlimited_result.converged,
            unlimited_result.message,
        )


@every_cost
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_solution_is_stationary(cost, seed):
    Z, y, C = draw_problem(seed)
    result = run_irwls(Z, y, C, cost, tol=1e-5, max_iter=20_000)
    assert result.converged
    signed_alpha = y * result.alpha
    np.testing.assert_allclose(
        result.w, Z.T @ signed_alpha, atol=1e-7 * np.abs(signed_alpha).sum() + 1e-12
    )
    assert abs(signed_alpha.sum()) <= 1e-5 * np.abs(signed_alpha).sum() + 1e-12
    m = y * (Z @ result.w + result.intercept)
    is_at_kink = np.abs(m - 1.0) < 1e-5
    expected_alpha = -C * cost.slope(m)
    tolerance = 1e-3 * C * max(1.0, expected_alpha.max() / C)
    assert np.abs(result.alpha - expected_alpha)[~is_at_kink].max(initial=0.0) <= tolerance
    max_alpha_at_kink = -C * cost.slope(np.array(1.0 - 1e-6))
    assert (result.alpha[is_at_kink] >= -tolerance).all()
    assert (result.alpha[is_at_kink] <= max_alpha_at_kink + tolerance).all()


@every_cost
def test_no_small_step_lowers_the_objective(cost):
    rng = np.random.default_rng(0)
    for seed in range(10):
        Z, y, C = draw_problem(seed)
        result = run_irwls(Z, y, C, cost, tol=1e-6, max_iter=20_000)
        step_size = 1e-3 * (1.0 + np.linalg.norm(result.w))
        for _ in range(50):
            dw, db = step_size * rng.standard_normal(Z.shape[1]), step_size * rng.standard_normal()
            nearby_objective = objective(cost, Z, y, C, result.w + dw, result.intercept + db)
            # The tolerance allows for saddle points, where the decrease is of second order.
            assert nearby_objective >= result.objective * (1 - 1e-4)


def test_iterations_leave_a_cycle_of_equal_objectives():
    # From (0, 1) a full step leads to (0, -1), where J is the same, and back.
    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0]]), [1, 1, -1, -1]
    for start in ((np.zeros(1), 1.0), (np.full(1, 10.0), 5.0)):
        result = solve_irwls(X, y, 1.0, usvc_cost(2.0), start=start)
        assert result.converged and result.w[0] == pytest.approx(2 / 3, abs=1e-3)


def test_printed_weights_solve_the_problem_for_twice_C():
    for seed in range(20):
        Z, y, C = draw_problem(seed)
        for cost in (HINGE, usvc_cost(2.0)):
            printed_result = solve_irwls(
                Z, y, C, cost, tol=1e-6, max_iter=20_000, use_printed_weights=True
            )
            doubled_result = solve_irwls(Z, y, 2 * C, cost, tol=1e-6, max_iter=20_000)
            np.testing.assert_allclose(printed_result.w, doubled_result.w, rtol=1e-3, atol=1e-4)
            assert printed_result.objective == pytest.approx(
                objective(cost, Z, y, C, printed_result.w, printed_result.intercept)
            )
    Z, y, C = draw_problem(3)
    result = solve_irwls(Z, y, C, usvc_cost(2.0), tol=1e-6)
    dual_coef = -C * usvc_cost(2.0).slope(y * (Z @ result.w + result.intercept)) * y
    ratio = (result.w @ result.w) / (result.w @ (Z.T @ dual_coef))
    assert ratio == pytest.approx(1.0, abs=1e-3)  # with the printed weights it would be two


@pytest.mark.parametrize("s", [1.0, 2.0, 4.0])
def test_separable_points_get_the_maximum_margin(s):
    for seed in range(20):
        Z, y, _ = draw_problem(seed, separable=True)
        exact_model = DualSVC(C=np.inf).fit(Z, y)
        C = 1e4 * exact_model.alpha_.max() / -usvc_cost(s).slope(np.array(1.0 - 1e-9))
        start = svm_start(Z, y, 10 * exact_model.alpha_.max())
        result = run_irwls(Z, y, float(C), usvc_cost(s), start=start, tol=1e-4)
        ratio = np.linalg.norm(result.w) / np.linalg.norm(exact_model.coef_)
        assert ratio == pytest.approx(1.0, abs=1e-4), seed


def test_doubling_C_of_a_point_equals_repeating_it():
    Z, y, C = draw_problem(5)
    n_copies = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
    repeated_indices = np.repeat(np.arange(len(y)), n_copies)
    weighted_result = solve_irwls(Z, y, C * n_copies, HINGE, tol=1e-6)
    repeated_result = solve_irwls(Z[repeated_indices], y[repeated_indices], C, HINGE, tol=1e-6)
    assert weighted_result.objective == pytest.approx(repeated_result.objective, rel=1e-6)
    np.testing.assert_allclose(weighted_result.w, repeated_result.w, rtol=1e-4, atol=1e-5)


def test_weights_are_zero_if_features_carry_no_information():
    Z, y = np.repeat([[-1.0], [1.0]], 10, axis=0), np.tile([-1.0, 1.0], 10)
    assert np.abs(solve_irwls(Z, y, 1.0, usvc_cost(2.0)).w).max() < 1e-6
    assert np.abs(solve_irwls(np.zeros((20, 3)), y, 1.0, HINGE).w).max() == 0.0


def test_path_ends_at_a_stationary_point_of_its_last_cost():
    Z, y, C = draw_problem(7)
    costs = [usvc_cost(s) for s in (1.0, 2.0, 4.0)]
    results = irwls_path(Z, y, C, costs, tol=1e-4)
    assert len(results) == 3 and results[-1].kkt_residual <= 1e-4
    repeated_result = run_irwls(
        Z, y, C, costs[-1], start=(results[1].w, results[1].intercept), tol=1e-4
    )
    assert repeated_result.objective == results[-1].objective


def test_best_of_several_starts_is_returned():
    Z, y, C = draw_problem(11)
    rng = np.random.default_rng(0)
    starts = [least_squares_start(Z, y, C), *(random_start(Z, y, C, rng) for _ in range(9))]
    best_result, objectives = minimise_from_starts(Z, y, C, usvc_cost(4.0), starts, tol=1e-4)
    assert len(objectives) == 10 and best_result.objective == objectives.min()
    assert np.ptp(objectives) > 0  # the problem has several minima


def test_least_squares_start_is_ridge_regression():
    Z, y, C = draw_problem(2)
    w, b = least_squares_start(Z, y, C)
    design = np.column_stack([Z, np.ones(len(y))])
    penalty = np.diag([1.0] * Z.shape[1] + [0.0])
    expected = np.linalg.solve(C * design.T @ design + penalty, C * design.T @ y)
    np.testing.assert_allclose([*w, b], expected, rtol=1e-8, atol=1e-10)


def test_reaching_max_iter_is_reported():
    Z, y, C = draw_problem(1)
    result = solve_irwls(Z, y, C, HINGE, max_iter=1)
    assert not result.converged and "max_iter" in result.message


@pytest.mark.parametrize("seed", [0, 15, 39])
def test_result_with_gradient_at_rounding_error_is_converged_even_at_max_iter(seed):
    # Weights of up to 1e11 multiply the rounding errors of the outputs.
    rng = np.random.default_rng(seed)
    Z = 100.0 * rng.standard_normal((8, 3))
    y = np.where(rng.random(8) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    result = solve_irwls(Z, y, 1e4, HINGE)
    assert result.kkt_residual > 1e-4
    assert result.converged and "rounding" in result.message
    assert result.objective == pytest.approx(DualSVC(C=1e4).fit(Z, y).objective_, rel=1e-5)
    limited_result = solve_irwls(Z, y, 1e4, HINGE, max_iter=result.n_iter)
    assert limited_result.converged and limited_result.message == result.message


@pytest.mark.parametrize(
    ("invalid_arguments", "message"),
    [
        ({"C": 0.0}, "C must be positive"),
        ({"y": [1.0, 1.0, 1.0]}, "y must contain both labels"),
        ({"start": (np.zeros(3), 0.0)}, "start must have 2 weights"),
        ({"start": (np.zeros(2), np.nan)}, "intercept of start must be finite"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"Z": np.zeros((2, 2))}, "Z must have shape"),
        ({"cost": "hinge"}, "cost must be HINGE"),
    ],
)
def test_invalid_arguments_are_reported(invalid_arguments, message):
    arguments = {"Z": np.eye(3, 2), "y": [1.0, -1.0, 1.0], "C": 1.0, "cost": HINGE}
    with pytest.raises((TypeError, ValueError), match=message):
        solve_irwls(**(arguments | invalid_arguments))


@pytest.mark.parametrize(
    ("cost", "options", "message"),
    [
        (usvc_cost, {"s": 0.5}, "s must be at least 1"),
        (usvc_cost, {"k": 0.0}, "k must be positive"),
        (sigmoidal_cost, {"steepness": -1.0}, "steepness must be positive"),
    ],
)
def test_invalid_parameters_of_costs_are_reported(cost, options, message):
    with pytest.raises(ValueError, match=message):
        cost(**options)


def test_user_defined_cost_is_minimised():
    # For the squared hinge, the iterations are Newton's method.
    squared_hinge = Cost(
        lambda m: np.maximum(0, 1 - m) ** 2,
        lambda m: -2 * np.maximum(0.0, 1 - m),
        lambda m: 2.0 * (m < 1),
    )
    Z, y, C = draw_problem(4)
    result = solve_irwls(Z, y, C, squared_hinge, tol=1e-8)
    slack = np.maximum(0, 1 - y * (Z @ result.w + result.intercept))
    assert np.abs(result.w - C * Z.T @ (2 * y * slack)).max() < 1e-4 * C * len(y)
    assert result.n_iter < 30


@every_cost
def test_final_step_does_not_raise_the_objective_at_max_iter(cost):
    for seed in range(20):
        Z, y, C = draw_problem(seed)
        for max_iter in (1, 2, 5):
            result = run_irwls(Z, y, C, cost, tol=1e-9, max_iter=max_iter)
            assert result.n_iter <= max_iter
            objective_bound = result.smoothed_objectives[-1] * (1 + 1e-7)
            # The smoothed cost of a point may be below its cost, by at most the width.
            assert result.objective <= objective_bound + len(y) * C * result.smoothing_widths[-1]


def test_translation_does_not_change_the_objective():
    for seed in range(10):
        Z, y, C = draw_problem(seed)
        result = solve_irwls(Z, y, C, HINGE, tol=1e-5)
        shifted_result = solve_irwls(Z + 1e5, y, C, HINGE, tol=1e-5)
        assert shifted_result.objective == pytest.approx(result.objective, rel=1e-5)
        start = shifted_result.w, shifted_result.intercept
        restarted_result = solve_irwls(Z + 1e5, y, C, HINGE, tol=1e-5, start=start)
        assert restarted_result.objective == pytest.approx(result.objective, rel=1e-5)
