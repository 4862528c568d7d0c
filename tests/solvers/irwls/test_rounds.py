"""Iterated weighted least squares: the right answer where it is known, stationary elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmbook import DualSVC
from svmbook.solvers import HINGE, Cost, sigmoidal_cost, solve_irwls, unbiased_cost
from svmbook.solvers.irwls.rounds import irwls, irwls_path
from svmbook.solvers.irwls.starts import (
    best_of,
    least_squares_start,
    random_start,
    svm_start,
)

CONVEX_IN_SQUARES = {"hinge": HINGE, "s = 1": unbiased_cost(1.0), "s = 2": unbiased_cost(2.0)}
BENT = {"s = 4": unbiased_cost(4.0), "s = 8": unbiased_cost(8.0), "sigmoid": sigmoidal_cost(6.0)}
COSTS = CONVEX_IN_SQUARES | BENT
every_cost = pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS.keys())


def problem(seed, separable=False):
    """Draw centred points, labels and a price."""
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
def test_the_hinge_comes_to_the_minimum_of_the_quadratic_program(seeds):
    for seed in seeds:
        Z, y, C = problem(seed)
        exact = DualSVC(C=C).fit(Z, y)
        result = solve_irwls(Z, y, C, HINGE, tol=1e-5)
        assert result.converged
        assert result.objective == pytest.approx(exact.objective_, rel=1e-6), seed
        assert result.objective >= exact.dual_objective_ - 1e-9 * exact.objective_


@pytest.mark.parametrize("name", COSTS)
def test_the_objective_never_rises(name):
    for seed in range(40):
        result = irwls(*problem(seed), COSTS[name], tol=1e-4)
        change = np.diff(result.objectives)
        if name in BENT:  # where a narrower rounding may raise the cost
            change = change[np.diff(result.widths) == 0]
        assert change.max(initial=-1.0) <= 1e-12 * result.objectives[0]


@pytest.mark.parametrize("tol", [1e-5, 1e-15])
def test_as_many_rounds_as_are_needed_are_enough(tol):
    for seed in range(20):
        free = irwls(*problem(seed), COSTS["hinge"], tol=tol)
        limited = irwls(*problem(seed), COSTS["hinge"], tol=tol, max_iter=free.n_iter)
        assert limited.n_iter == free.n_iter
        assert (limited.converged, limited.message) == (free.converged, free.message)


@every_cost
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_end_is_stationary(cost, seed):
    Z, y, C = problem(seed)
    result = irwls(Z, y, C, cost, tol=1e-5, max_iter=20_000)
    assert result.converged
    signed = y * result.alpha
    np.testing.assert_allclose(result.w, Z.T @ signed, atol=1e-7 * np.abs(signed).sum() + 1e-12)
    assert abs(signed.sum()) <= 1e-5 * np.abs(signed).sum() + 1e-12
    m = y * (Z @ result.w + result.intercept)
    kink = np.abs(m - 1.0) < 1e-5
    slopes = -C * cost.slope(m)
    scale = 1e-3 * C * max(1.0, slopes.max() / C)
    assert np.abs(result.alpha - slopes)[~kink].max(initial=0.0) <= scale
    highest = -C * cost.slope(np.array(1.0 - 1e-6))
    assert (result.alpha[kink] >= -scale).all()
    assert (result.alpha[kink] <= highest + scale).all()


@every_cost
def test_no_small_step_goes_down(cost):
    rng = np.random.default_rng(0)
    for seed in range(10):
        Z, y, C = problem(seed)
        result = irwls(Z, y, C, cost, tol=1e-6, max_iter=20_000)
        size = 1e-3 * (1.0 + np.linalg.norm(result.w))
        for _ in range(50):
            dw, db = size * rng.standard_normal(Z.shape[1]), size * rng.standard_normal()
            nearby = objective(cost, Z, y, C, result.w + dw, result.intercept + db)
            # A local minimum, or a saddle from which second-order descent is as small as the step.
            assert nearby >= result.objective * (1 - 1e-4)


def test_rounds_leave_a_cycle_of_equal_objectives():
    # From (0, 1) a full step leads to (0, -1), where J is the same, and from there back.
    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0]]), [1, 1, -1, -1]
    for start in ((np.zeros(1), 1.0), (np.full(1, 10.0), 5.0)):
        result = solve_irwls(X, y, 1.0, unbiased_cost(2.0), start=start)
        assert result.converged and result.w[0] == pytest.approx(2 / 3, abs=1e-3)


def test_printed_weights_solve_the_problem_of_twice_the_price():
    for seed in range(20):
        Z, y, C = problem(seed)
        for cost in (HINGE, unbiased_cost(2.0)):
            printed = solve_irwls(Z, y, C, cost, tol=1e-6, max_iter=20_000, printed_weights=True)
            twice = solve_irwls(Z, y, 2 * C, cost, tol=1e-6, max_iter=20_000)
            np.testing.assert_allclose(printed.w, twice.w, rtol=1e-3, atol=1e-4)
            assert printed.objective == pytest.approx(
                objective(cost, Z, y, C, printed.w, printed.intercept)
            )
    Z, y, C = problem(3)
    stated = solve_irwls(Z, y, C, unbiased_cost(2.0), tol=1e-6)
    pull = -C * unbiased_cost(2.0).slope(y * (Z @ stated.w + stated.intercept)) * y
    ratio = (stated.w @ stated.w) / (stated.w @ (Z.T @ pull))
    assert ratio == pytest.approx(1.0, abs=1e-3)  # not two


@pytest.mark.parametrize("s", [1.0, 2.0, 4.0])
def test_separable_points_get_the_widest_street(s):
    for seed in range(20):
        Z, y, _ = problem(seed, separable=True)
        exact = DualSVC(C=np.inf).fit(Z, y)
        price = 1e4 * exact.alpha_.max() / -unbiased_cost(s).slope(np.array(1.0 - 1e-9))
        start = svm_start(Z, y, 10 * exact.alpha_.max())
        result = irwls(Z, y, float(price), unbiased_cost(s), start=start, tol=1e-4)
        width = np.linalg.norm(result.w) / np.linalg.norm(exact.coef_)
        assert width == pytest.approx(1.0, abs=1e-4), seed


def test_prices_count_points():
    Z, y, C = problem(5)
    times = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
    repeated = np.repeat(np.arange(len(y)), times)
    once = solve_irwls(Z, y, C * times, HINGE, tol=1e-6)
    twice = solve_irwls(Z[repeated], y[repeated], C, HINGE, tol=1e-6)
    assert once.objective == pytest.approx(twice.objective, rel=1e-6)
    np.testing.assert_allclose(once.w, twice.w, rtol=1e-4, atol=1e-5)


def test_points_with_both_labels_and_points_all_alike():
    Z, y = np.repeat([[-1.0], [1.0]], 10, axis=0), np.tile([-1.0, 1.0], 10)
    assert np.abs(solve_irwls(Z, y, 1.0, unbiased_cost(2.0)).w).max() < 1e-6
    assert np.abs(solve_irwls(np.zeros((20, 3)), y, 1.0, HINGE).w).max() == 0.0


def test_a_path_ends_where_its_last_cost_is_stationary():
    Z, y, C = problem(7)
    costs = [unbiased_cost(s) for s in (1.0, 2.0, 4.0)]
    results = irwls_path(Z, y, C, costs, tol=1e-4)
    assert len(results) == 3 and results[-1].kkt_residual <= 1e-4
    again = irwls(Z, y, C, costs[-1], start=(results[1].w, results[1].intercept), tol=1e-4)
    assert again.objective == results[-1].objective


def test_the_best_of_several_starts_is_kept():
    Z, y, C = problem(11)
    rng = np.random.default_rng(0)
    starts = [least_squares_start(Z, y, C), *(random_start(Z, y, C, rng) for _ in range(9))]
    best, objectives = best_of(Z, y, C, unbiased_cost(4.0), starts, tol=1e-4)
    assert len(objectives) == 10 and best.objective == objectives.min()
    assert np.ptp(objectives) > 0  # there are several minima here


def test_least_squares_start_is_ridge_regression():
    Z, y, C = problem(2)
    w, b = least_squares_start(Z, y, C)
    extended = np.column_stack([Z, np.ones(len(y))])
    ridge = np.diag([1.0] * Z.shape[1] + [0.0])
    expected = np.linalg.solve(C * extended.T @ extended + ridge, C * extended.T @ y)
    np.testing.assert_allclose([*w, b], expected, rtol=1e-8, atol=1e-10)


def test_too_few_rounds_are_named():
    Z, y, C = problem(1)
    result = solve_irwls(Z, y, C, HINGE, max_iter=1)
    assert not result.converged and "max_iter" in result.message


@pytest.mark.parametrize("seed", [0, 15, 39])
def test_what_rounding_hides_of_the_gradient_counts_as_solved_at_the_last_round_too(seed):
    # The weights, which reach 1e11, multiply the rounding errors of the outputs.
    rng = np.random.default_rng(seed)
    Z = 100.0 * rng.standard_normal((8, 3))
    y = np.where(rng.random(8) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    result = solve_irwls(Z, y, 1e4, HINGE)
    assert result.kkt_residual > 1e-4
    assert result.converged and "rounding" in result.message
    assert result.objective == pytest.approx(DualSVC(C=1e4).fit(Z, y).objective_, rel=1e-5)
    enough = solve_irwls(Z, y, 1e4, HINGE, max_iter=result.n_iter)
    assert enough.converged and enough.message == result.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 0.0}, "C must be positive"),
        ({"y": [1.0, 1.0, 1.0]}, "y must hold the labels"),
        ({"start": (np.zeros(3), 0.0)}, "start must hold 2 weights"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"Z": np.zeros((2, 2))}, "Z must have shape"),
    ],
)
def test_what_does_not_fit_is_named(change, message):
    arguments = {"Z": np.eye(3, 2), "y": [1.0, -1.0, 1.0], "C": 1.0, "cost": HINGE}
    with pytest.raises(ValueError, match=message):
        solve_irwls(**(arguments | change))


def test_a_cost_of_ones_own_serves():
    # The squared hinge: the rounds are Newton's method, and scikit-learn has it as well.
    squared = Cost(
        lambda m: np.maximum(0, 1 - m) ** 2,
        lambda m: -2 * np.maximum(0.0, 1 - m),
        lambda m: 2.0 * (m < 1),
    )
    Z, y, C = problem(4)
    result = solve_irwls(Z, y, C, squared, tol=1e-8)
    gradient = result.w - C * Z.T @ (
        2 * y * np.maximum(0, 1 - y * (Z @ result.w + result.intercept))
    )
    assert np.abs(gradient).max() < 1e-4 * C * len(y)
    assert result.n_iter < 30


@every_cost
def test_an_early_end_is_no_higher_than_the_way_to_it(cost):
    for seed in range(20):
        Z, y, C = problem(seed)
        for rounds in (1, 2, 5):
            result = irwls(Z, y, C, cost, tol=1e-9, max_iter=rounds)
            assert result.n_iter <= rounds
            highest = result.objectives[-1] * (1 + 1e-7)
            # The rounded cost may lie below the cost itself, by its width at most a point.
            assert result.objective <= highest + len(y) * C * result.widths[-1]


def test_the_origin_does_not_matter():
    for seed in range(10):
        Z, y, C = problem(seed)
        near = solve_irwls(Z, y, C, HINGE, tol=1e-5)
        far = solve_irwls(Z + 1e5, y, C, HINGE, tol=1e-5)
        assert far.objective == pytest.approx(near.objective, rel=1e-5)
        start = far.w, far.intercept
        again = solve_irwls(Z + 1e5, y, C, HINGE, tol=1e-5, start=start)
        assert again.objective == pytest.approx(near.objective, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unbiased_cost(s=0.5), "s must be at least 1"),
        (lambda: unbiased_cost(k=0.0), "k must be positive"),
        (lambda: sigmoidal_cost(-1.0), "slope must be positive"),
        (lambda: solve_irwls([[0.0], [1.0]], [-1, 1], 1.0, "hinge"), "cost must be HINGE"),
        (
            lambda: solve_irwls([[0.0], [1.0]], [-1, 1], 1.0, HINGE, start=([0.0], np.nan)),
            "intercept of start must be finite",
        ),
    ],
)
def test_a_wrong_argument_is_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
