"""Stumps agree with brute force, AdaBoost with its definition, LPBoost with a linear program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from svmbook.solvers.boosting.adaboost import run_adaboost
from svmbook.solvers.boosting.lpboost import run_lpboost
from svmbook.solvers.boosting.stumps import MidpointStumps, StumpArray

XOR_X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR_Y = np.array([1.0, 1.0, -1.0, -1.0])


def labelled_points(seed, n=30, d=3, steps_per_unit=None):
    """Return random labelled points, rounded to multiples of 1 / steps_per_unit if it is given."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if steps_per_unit:  # many ties
        X = np.round(steps_per_unit * X) / steps_per_unit
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.standard_normal(n) > 0.5, 1.0, -1.0)
    return X, y


def outputs_of_all_stumps(X):
    """Return the outputs for each threshold of each feature, one stump per column."""
    outputs = [np.ones(len(X))]
    for feature in X.T:
        outputs += [np.where(feature > a, 1.0, -1.0) for a in np.unique(feature)[:-1]]
    outputs = np.column_stack(outputs)
    return np.column_stack([outputs, -outputs])


@pytest.mark.parametrize("steps_per_unit", [None, 1])
@pytest.mark.parametrize("seed", range(5))
def test_best_and_candidate_stumps_agree_with_brute_force(seed, steps_per_unit):
    X, y = labelled_points(seed, steps_per_unit=steps_per_unit)
    g = y * np.random.default_rng(seed).random(len(y))
    edge_of_best = (g @ outputs_of_all_stumps(X)).max()
    stump, edge = MidpointStumps(X).best(g)
    assert edge == pytest.approx(edge_of_best)
    assert g @ stump(X)[:, 0] == pytest.approx(edge)
    stumps, largest_edge = MidpointStumps(X).candidates(g, 0.3 * edge_of_best)
    edges = g @ stumps(X)
    assert largest_edge == pytest.approx(edge_of_best) == edges.max()
    assert (edges > 0.3 * edge_of_best).all()
    stumps, largest_edge = MidpointStumps(X).candidates(g, edge)
    assert largest_edge == edge and not len(stumps.signs)


def test_candidates_are_the_largest_local_maxima_of_each_feature():
    X, y = labelled_points(1, n=60, d=30)
    g = y * np.random.default_rng(1).random(60)
    min_edge = 0.2 * np.abs(g).sum()
    stumps, _ = MidpointStumps(X).candidates(g, min_edge)
    numbers = []
    for j, feature in enumerate(X.T):
        edges = [abs(g @ np.where(feature > a, 1.0, -1.0)) for a in np.sort(feature)]
        padded = [0.0, *edges, 0.0]
        maxima = [e for i, e in enumerate(edges) if padded[i] < e > max(padded[i + 2], min_edge)]
        found = g @ stumps(X)[:, stumps.features == j]
        np.testing.assert_allclose(np.sort(found), np.sort(maxima)[-3:])
        numbers.append(len(maxima))
    assert min(numbers) < 3 < max(numbers)


def test_thresholds_are_midpoints_of_values_that_differ_by_more_than_rounding():
    stump, _ = MidpointStumps(np.array([[0.0], [1.0], [5.0]])).best(np.array([-1.0, -1.0, 1.0]))
    assert stump.thresholds == 3.0
    for difference, largest_edge in ((1e-9, 1.0), (1e-13, 0.0)):
        stumps = MidpointStumps(np.array([[1.0], [1.0 + difference]]))
        assert stumps.best(np.array([-0.5, 0.5]))[1] == largest_edge
    stump, _ = MidpointStumps(np.array([[-1.7e308], [1.7e308]])).best(np.array([-0.5, 0.5]))
    assert stump.thresholds == 0.0


def test_adaboost_weights_points_by_the_exponentials_of_their_negative_margins():
    X, y = labelled_points(3)
    result = run_adaboost(MidpointStumps(X), X, y, 12, np.ones(len(y)))
    F, outputs = np.zeros(len(y)), outputs_of_all_stumps(X)
    for hypothesis, weight in zip(result.hypotheses, result.weights, strict=True):
        u = np.exp(-y * F)
        u /= u.sum()
        h = hypothesis(X)[:, 0]
        error = u[h != y].sum()
        assert error == pytest.approx((u @ (outputs != y[:, None])).min())
        assert weight == pytest.approx(0.5 * np.log((1 - error) / error))
        F += weight * h


def test_adaboost_stops_if_no_stump_beats_chance_or_one_makes_no_error():
    empty_ensemble = run_adaboost(MidpointStumps(XOR_X), XOR_X, XOR_Y, 10, np.ones(4))
    assert not empty_ensemble.hypotheses and "beats chance" in empty_ensemble.message
    points_on_a_line = np.arange(6.0)[:, None]
    perfect_ensemble = run_adaboost(
        MidpointStumps(points_on_a_line),
        points_on_a_line,
        np.sign(points_on_a_line[:, 0] - 2.5),
        10,
        np.ones(6),
    )
    assert len(perfect_ensemble.hypotheses) == 1 and "no error" in perfect_ensemble.message


def test_stump_without_errors_is_the_ensemble_even_if_another_stump_came_first():
    # The first feature errs on a point of negligible weight, so the stumps are tied in round 1.
    y, u = np.array([1.0, 1, -1, -1]), np.array([1.0, 1, 1, 1e-12])
    X = np.stack([[1.0, 1, 0, 1], [1.0, 1, 0, 0]], axis=1)
    ensemble = run_adaboost(MidpointStumps(X), X, y, 10, u)
    (stump,) = ensemble.hypotheses
    np.testing.assert_array_equal(np.sign(stump(X)[:, 0]), y)


def optimum_over_all_stumps(X, y, C):
    """Return the optimum of the linear program with all columns."""
    columns = y[:, None] * outputs_of_all_stumps(X)
    n, k = columns.shape
    hard_margin = np.isinf(C)
    solution = linprog(
        np.concatenate([np.ones(k), np.zeros(n) if hard_margin else np.full(n, C)]),
        A_ub=-np.column_stack([columns, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * k + [(0, 0 if hard_margin else None)] * n,
    )
    return solution.fun if solution.status == 0 else np.inf


@pytest.mark.parametrize("C", [0.05, 0.3, 5.0, np.inf])
@pytest.mark.parametrize("steps_per_unit", [None, 2])
@pytest.mark.parametrize("seed", range(4))
def test_column_generation_reaches_the_optimum_over_all_stumps(seed, steps_per_unit, C):
    X, y = labelled_points(seed, steps_per_unit=steps_per_unit)
    optimum = optimum_over_all_stumps(X, y, C)
    bounds = np.full(len(y), C)
    if np.isinf(optimum):
        with pytest.raises(ValueError, match="no ensemble of these hypotheses separates"):
            run_lpboost(MidpointStumps(X), X, y, bounds)
        return
    result = run_lpboost(MidpointStumps(X), X, y, bounds)
    assert result.converged and result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.gap + 1e-9 >= 0 and result.gap <= 1e-6 * result.objective
    # The dual variables are feasible: within their bounds, and no stump has an edge above one.
    u = result.multipliers
    assert (u >= 0).all() and (u <= C * (1 + 1e-9)).all()
    assert ((u * y) @ outputs_of_all_stumps(X)).max() <= 1 + 1e-9
    assert u.sum() == pytest.approx(result.dual_objective)
    F = sum(w * h(X)[:, 0] for w, h in zip(result.weights, result.hypotheses, strict=True))
    slack = np.maximum(0.0, 1.0 - y * F)
    objective = result.weights.sum() + (0.0 if np.isinf(C) else C * slack.sum())
    assert objective == pytest.approx(optimum, rel=1e-6)
    if np.isinf(C):
        assert slack.max() < 1e-6 and result.margin == pytest.approx(1 / optimum, rel=1e-6)


def test_inseparable_points_are_reported():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [4.0, 5.0]])
    y = np.array([1.0, -1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match="points 0 and 2 are equal and have different labels"):
        run_lpboost(MidpointStumps(X), X, y, np.full(4, np.inf))
    with pytest.raises(ValueError, match="the same mean output on both classes"):
        run_lpboost(MidpointStumps(XOR_X), XOR_X, XOR_Y, np.full(4, np.inf))


def test_ensemble_is_empty_for_small_C():
    X, y = labelled_points(0)
    result = run_lpboost(MidpointStumps(X), X, y, np.full(30, 0.01))
    assert result.converged and not len(result.weights)
    assert result.objective == pytest.approx(0.3)


def test_stump_with_infinite_threshold_is_constant():
    constant = StumpArray(np.array([0]), np.array([np.inf]), np.array([-1.0]))
    assert (constant(np.array([[-5.0], [5.0]])) == 1.0).all()
