"""Machines of many small sets: each against a solver of one problem."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_moons

from svmbook.solvers import solve_active_set
from svmbook.solvers.batched import members as batches
from svmbook.solvers.batched.duals import duals
from svmbook.solvers.batched.members import linear_members
from svmbook.solvers.batched.sparse import sparse_members
from svmbook.solvers.dual.active_set import active_set

X, LABELS = make_moons(300, noise=0.3, random_state=0)


def sets(n, most, seed=0):
    """Return random sets of both classes, as rows of bool."""
    rng = np.random.default_rng(seed)
    positive, negative = np.zeros((2, n, len(X)), dtype=bool)
    for row in range(n):
        for part, label in ((positive, 0), (negative, 1)):
            part[row, rng.permutation(np.flatnonzero(label == LABELS))[: rng.integers(1, most)]] = 1
    return positive, negative


def alone(positive, negative, C, weight):
    """Return w and b of one set, by the solver of one problem."""
    points = np.concatenate([np.flatnonzero(positive), np.flatnonzero(negative)])
    y = np.where(positive[points], 1.0, -1.0)
    prices = np.where(y > 0, C * weight, C)
    result = solve_active_set(X[points] @ X[points].T, y, prices, tol=1e-12)
    return X[points].T @ (y * result.alpha), result.intercept


@pytest.mark.parametrize("weight", [1.0, 3.0, "drawn"])
@pytest.mark.parametrize(("C", "most"), [(0.1, 10), (100.0, 30), (10.0, 90)])
def test_members_are_those_of_one_problem_each(C, most, weight):
    positive, negative = sets(40, most)
    weights = (
        4.0 * np.random.default_rng(1).random(40) if weight == "drawn" else np.full(40, weight)
    )
    members = linear_members(X, positive, negative, C, weights)
    for row in range(40):
        w, b = alone(positive[row], negative[row], C, weights[row])
        np.testing.assert_allclose(members.coef[row], w, atol=1e-7 * max(1.0, np.abs(w).max()))
        assert members.intercept[row] == pytest.approx(b, abs=1e-6)
    assert (members.gap < 1e-7).all()


def test_no_digits_are_lost_far_from_the_origin():
    positive, negative = sets(20, 8)
    here = linear_members(X, positive, negative, 10.0, np.ones(20))
    there = linear_members(X + 2.0**20, positive, negative, 10.0, np.ones(20))
    np.testing.assert_allclose(there.coef, here.coef, rtol=1e-6, atol=1e-8)


def test_little_memory_at_once_changes_nothing(monkeypatch):
    positive, negative = sets(30, 12)
    whole = linear_members(X, positive, negative, 5.0, np.ones(30))
    monkeypatch.setattr("svmbook.solvers.batched.members.BATCH_NUMBERS", 500)
    parts = linear_members(X, positive, negative, 5.0, np.ones(30))
    np.testing.assert_allclose(parts.coef, whole.coef, atol=1e-9)


def one_norm(positive, negative, C):
    """Return the least objective of one set, by a linear program of its own."""
    points = np.flatnonzero(positive | negative)
    y = np.where(positive[points], 1.0, -1.0)
    Z = y[:, None] * X[points]
    A = np.hstack([Z, -Z, y[:, None], np.eye(len(y))])
    cost = np.concatenate([np.ones(4), [0.0], np.full(len(y), C)])
    bounds = [(0, None)] * 4 + [(None, None)] + [(0, None)] * len(y)
    return linprog(cost, A_ub=-A, b_ub=-np.ones(len(y)), bounds=bounds).fun


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_sparse_members_reach_the_least_objective(C, monkeypatch):
    monkeypatch.setattr("svmbook.solvers.batched.sparse.MATRIX_NUMBERS", 1000)
    positive, negative = sets(25, 12)
    members = sparse_members(X, positive, negative, C, np.ones(25))
    for row in range(25):
        points = np.flatnonzero(positive[row] | negative[row])
        y = np.where(positive[row, points], 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - y * (X[points] @ members.coef[row] + members.intercept[row]))
        objective = np.abs(members.coef[row]).sum() + C * slack.sum()
        assert objective == pytest.approx(one_norm(positive[row], negative[row], C), rel=1e-7)
    assert (members.gap < 1e-7).all()


def test_sparse_members_of_a_tiny_price_are_no_worse_than_a_threshold_alone():
    positive, negative = sets(25, 12)
    members = sparse_members(X, positive, negative, 1e-9, np.ones(25))
    assert (members.coef == 0).all() and (members.gap < 1e-7).all()


def test_sparse_members_leave_out_what_tells_nothing():
    rng = np.random.default_rng(0)
    y = np.resize([True, False], 80)
    wide = np.hstack([np.where(y, 1.0, -1.0)[:, None], 0.3 * rng.standard_normal((80, 5))])
    members = sparse_members(wide, y[None], ~y[None], 1.0, np.ones(1))
    assert np.flatnonzero(np.abs(members.coef[0]) > 1e-9).tolist() == [0]


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0])
def test_cheap_members_end_where_rounding_allows_no_better(C):
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, (400, 2))
    positive, negative = np.zeros((2, 400, 400), dtype=bool)
    for row in range(400):
        positive[row, row] = True
        others = rng.permutation(np.delete(np.arange(400), row))[:7]
        negative[row, others] = True
    members = linear_members(points, positive, negative, C, np.ones(400))
    assert np.abs(members.gap).max() < 1e-9


def test_portions_are_neither_large_nor_few(monkeypatch):
    sizes = np.sort(np.random.default_rng(0).integers(2, 60, 500))
    for d in (7, 500):
        monkeypatch.setattr(batches, "BATCH_NUMBERS", 20_000)
        parts = list(batches._batches_of_similar_size(np.arange(500), sizes, d))
        np.testing.assert_array_equal(np.concatenate(parts), np.arange(500))
        for part in parts:
            widest = sizes[part].max()
            assert len(part) == 1 or len(part) * widest * (widest + d) <= 20_000
    monkeypatch.setattr(batches, "BATCH_NUMBERS", 10**9)
    parts = list(batches._batches_of_similar_size(np.arange(500), sizes, 7))
    assert all(len(part) >= 32 for part in parts[:-1])
    for part in parts:
        assert len(part) <= 32 or sizes[part].max() <= 1.25 * sizes[part].min()


def test_a_large_set_takes_no_small_ones_with_it():
    parts = list(batches._batches_of_similar_size(np.arange(32), np.array([20] * 31 + [70]), 2))
    assert [len(part) for part in parts] == [31, 1]


def test_only_sets_that_are_not_small_are_solved_one_by_one(monkeypatch):
    alone, together = [], []

    def one(gram, y, C, **options):
        alone.append(len(y))
        return active_set(gram, y, C, **options)

    def many(K, y, C, **options):
        together.append(y.shape)
        return duals(K, y, C, **options)

    monkeypatch.setattr(batches, "active_set", one)
    monkeypatch.setattr(batches, "duals", many)
    positive, negative = sets(10, 60)
    linear_members(X, positive, negative, 1.0, np.ones(10))
    sizes = (positive | negative).sum(axis=1)
    assert sorted(alone) == sorted(sizes[sizes > batches.MAX_BATCHED])
    assert sum(n for n, _ in together) + len(alone) == 10
    assert together and alone
