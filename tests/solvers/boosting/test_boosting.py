"""Stumps against brute force, AdaBoost against its definition, LPBoost against one program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from svmbook.solvers.boosting.adaboost import adaboost
from svmbook.solvers.boosting.lpboost import lpboost
from svmbook.solvers.boosting.stumps import MiddleStumps, Stumps


def problem(seed, n=30, d=3, levels=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if levels:  # many ties
        X = np.round(levels * X) / levels
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.standard_normal(n) > 0.5, 1.0, -1.0)
    return X, y


def all_answers(X):
    """Return what every stump says, by trying each threshold of each feature; one a column."""
    answers = [np.ones(len(X))]
    for column in X.T:
        values = np.unique(column)
        answers += [np.where(column > a, 1.0, -1.0) for a in values[:-1]]
    answers = np.column_stack(answers)
    return np.column_stack([answers, -answers])


@pytest.mark.parametrize("levels", [None, 1])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_stump_is_that_of_brute_force(seed, levels):
    X, y = problem(seed, levels=levels)
    g = y * np.random.default_rng(seed).random(len(y))
    largest = (g @ all_answers(X)).max()
    stump, edge = MiddleStumps(X).best(g)
    assert edge == pytest.approx(largest)
    assert g @ stump(X)[:, 0] == pytest.approx(edge)
    stumps, edges = MiddleStumps(X).candidates(g, 0.3 * largest)
    np.testing.assert_allclose(g @ stumps(X), edges)
    assert edges.max() == pytest.approx(largest) and (edges > 0.3 * largest).all()


def test_thresholds_lie_in_the_middle_of_values_that_differ_by_more_than_rounding():
    stump, _ = MiddleStumps(np.array([[0.0], [1.0], [5.0]])).best(np.array([-1.0, -1.0, 1.0]))
    assert stump.thresholds == 3.0
    for apart, largest in ((1e-9, 1.0), (1e-13, 0.0)):
        stumps = MiddleStumps(np.array([[1.0], [1.0 + apart]]))
        assert stumps.best(np.array([-0.5, 0.5]))[1] == largest
    stump, _ = MiddleStumps(np.array([[-1.7e308], [1.7e308]])).best(np.array([-0.5, 0.5]))
    assert stump.thresholds == 0.0


def test_weights_of_adaboost_are_the_exponentials_of_its_margins():
    X, y = problem(3)
    result = adaboost(MiddleStumps(X), X, y, 12, np.ones(len(y)))
    F = np.zeros(len(y))
    for hypothesis, weight in zip(result.hypotheses, result.weights, strict=True):
        u = np.exp(-y * F)
        u /= u.sum()
        says = hypothesis(X)[:, 0]
        error = u[says != y].sum()
        answers = all_answers(X)
        assert error == pytest.approx((u @ (answers != y[:, None])).min())
        assert weight == pytest.approx(0.5 * np.log((1 - error) / error))
        F += weight * says


def test_adaboost_ends_where_nothing_is_left_to_do():
    square = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    nothing = adaboost(MiddleStumps(square), square, labels, 10, np.ones(4))
    assert not nothing.hypotheses and "beats chance" in nothing.message
    line = np.arange(6.0)[:, None]
    perfect = adaboost(MiddleStumps(line), line, np.sign(line[:, 0] - 2.5), 10, np.ones(6))
    assert len(perfect.hypotheses) == 1 and "no error" in perfect.message


def by_one_program(X, y, C):
    """Return the optimum over all stumps at once."""
    columns = y[:, None] * all_answers(X)
    n, k = columns.shape
    hard = np.isinf(C)
    program = linprog(
        np.concatenate([np.ones(k), np.zeros(n) if hard else np.full(n, C)]),
        A_ub=-np.column_stack([columns, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * k + [(0, 0 if hard else None)] * n,
    )
    return program.fun if program.status == 0 else np.inf


@pytest.mark.parametrize("C", [0.05, 0.3, 5.0, np.inf])
@pytest.mark.parametrize("levels", [None, 2])
@pytest.mark.parametrize("seed", range(4))
def test_column_generation_reaches_the_optimum_over_all_stumps(seed, levels, C):
    X, y = problem(seed, levels=levels)
    optimum = by_one_program(X, y, C)
    prices = np.full(len(y), C)
    if np.isinf(optimum):
        with pytest.raises(ValueError, match="no ensemble of these hypotheses separates"):
            lpboost(MiddleStumps(X), X, y, prices)
        return
    result = lpboost(MiddleStumps(X), X, y, prices)
    assert result.converged and result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.gap + 1e-9 >= 0 and result.gap <= 1e-6 * result.objective
    # The certificate by another route: prices in their box, and no stump of a larger edge.
    assert (result.prices >= 0).all() and (result.prices <= C * (1 + 1e-9)).all()
    assert ((result.prices * y) @ all_answers(X)).max() <= 1 + 1e-9
    assert result.prices.sum() == pytest.approx(result.dual_objective)
    F = sum(w * h(X)[:, 0] for w, h in zip(result.weights, result.hypotheses, strict=True))
    slack = np.maximum(0.0, 1.0 - y * F)
    total = result.weights.sum() + (0.0 if np.isinf(C) else C * slack.sum())
    assert total == pytest.approx(optimum, rel=1e-6)
    if np.isinf(C):
        assert slack.max() < 1e-6 and result.margin == pytest.approx(1 / optimum, rel=1e-6)


def test_points_that_no_ensemble_tells_apart_are_named():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [4.0, 5.0]])
    y = np.array([1.0, -1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match="points 0 and 2 are equal and have different labels"):
        lpboost(MiddleStumps(X), X, y, np.full(4, np.inf))
    square = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="some mixture of points"):
        lpboost(MiddleStumps(square), square, np.array([1.0, 1, -1, -1]), np.full(4, np.inf))


def test_no_ensemble_pays_where_slack_is_cheap():
    X, y = problem(0)
    result = lpboost(MiddleStumps(X), X, y, np.full(30, 0.01))
    assert result.converged and not len(result.weights)
    assert result.objective == pytest.approx(0.3)


def test_a_constant_stump_says_the_same_of_all():
    constant = Stumps(np.array([0]), np.array([np.inf]), np.array([-1.0]))
    assert (constant(np.array([[-5.0], [5.0]])) == 1.0).all()
