"""SVMs on many small subsets, each compared with a solver for a single problem."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.datasets import make_moons

from svmbook.solvers import solve_active_set
from svmbook.solvers.batched import members as members_module
from svmbook.solvers.batched.duals import solve_validated_batch
from svmbook.solvers.batched.l1_members import fit_l1_members
from svmbook.solvers.batched.members import fit_linear_members
from svmbook.solvers.dual.active_sets.solver import solve_active_set_on_gram

X, LABELS = make_moons(300, noise=0.3, random_state=0)


def random_subsets(n, size_limit, seed=0):
    """Return n random subsets of each class, of fewer than `size_limit` points, as rows of bool."""
    rng = np.random.default_rng(seed)
    positive, negative = np.zeros((2, n, len(X)), dtype=bool)
    for row in range(n):
        for subset, label in ((positive, 0), (negative, 1)):
            indices = rng.permutation(np.flatnonzero(label == LABELS))
            subset[row, indices[: rng.integers(1, size_limit)]] = True
    return positive, negative


def solve_single(positive, negative, C, positive_weight):
    """Return w and b for one subset, from the solver for a single problem."""
    indices = np.concatenate([np.flatnonzero(positive), np.flatnonzero(negative)])
    y = np.where(positive[indices], 1.0, -1.0)
    bounds = np.where(y > 0, C * positive_weight, C)
    result = solve_active_set(X[indices] @ X[indices].T, y, bounds, tol=1e-12)
    return X[indices].T @ (y * result.alpha), result.intercept


@pytest.mark.parametrize("positive_weight", [1.0, 3.0, "random"])
@pytest.mark.parametrize(("C", "size_limit"), [(0.1, 10), (100.0, 30), (10.0, 90)])
def test_members_agree_with_the_solver_for_a_single_problem(C, size_limit, positive_weight):
    positive, negative = random_subsets(40, size_limit)
    random_weights = 4.0 * np.random.default_rng(1).random(40)
    is_random = positive_weight == "random"
    positive_weights = random_weights if is_random else np.full(40, positive_weight)
    members = fit_linear_members(X, positive, negative, C, positive_weights)
    for row in range(40):
        w, b = solve_single(positive[row], negative[row], C, positive_weights[row])
        np.testing.assert_allclose(members.coef[row], w, atol=1e-7 * max(1.0, np.abs(w).max()))
        assert members.intercept[row] == pytest.approx(b, abs=1e-6)
    assert (members.relative_gap < 1e-7).all()


@pytest.mark.parametrize("fit_members", [fit_linear_members, fit_l1_members])
def test_count_k_is_equivalent_to_k_copies_of_a_point(fit_members):
    points = X[:60]
    counts, negative = np.zeros((2, 60), dtype=int), np.zeros((2, 60), dtype=bool)
    counts[0, [0, 3, 5]], counts[1, [1, 2]] = (1, 3, 2), (2, 1)
    negative[:, 20:40:3] = True
    members = fit_members(points, csr_array(counts), csr_array(negative), 0.7, np.full(2, 1.5))
    for m in range(2):
        rows = np.repeat(np.arange(60), np.where(negative[m], 1, counts[m]))
        is_negative = negative[m, rows][None]
        copies = fit_members(points[rows], ~is_negative, is_negative, 0.7, np.full(1, 1.5))
        np.testing.assert_allclose(members.coef[m], copies.coef[0], atol=1e-8)
        np.testing.assert_allclose(members.intercept[m], copies.intercept[0], atol=1e-8)


def test_members_far_from_the_origin_are_accurate():
    positive, negative = random_subsets(20, 8)
    members = fit_linear_members(X, positive, negative, 10.0, np.ones(20))
    shifted_members = fit_linear_members(X + 2.0**20, positive, negative, 10.0, np.ones(20))
    np.testing.assert_allclose(shifted_members.coef, members.coef, rtol=1e-6, atol=1e-8)


def test_small_batches_do_not_change_the_members(monkeypatch):
    positive, negative = random_subsets(30, 12)
    members_of_large_batches = fit_linear_members(X, positive, negative, 5.0, np.ones(30))
    monkeypatch.setattr(members_module, "MAX_BATCH_ENTRIES", 500)
    members_of_small_batches = fit_linear_members(X, positive, negative, 5.0, np.ones(30))
    np.testing.assert_allclose(
        members_of_small_batches.coef, members_of_large_batches.coef, atol=1e-9
    )


def minimal_l1_objective(positive, negative, C):
    """Return the minimal objective for one subset, by its own linear program."""
    indices = np.flatnonzero(positive | negative)
    y = np.where(positive[indices], 1.0, -1.0)
    Z = y[:, None] * X[indices]
    A = np.hstack([Z, -Z, y[:, None], np.eye(len(y))])
    cost = np.concatenate([np.ones(4), [0.0], np.full(len(y), C)])
    bounds = [(0, None)] * 4 + [(None, None)] + [(0, None)] * len(y)
    return linprog(cost, A_ub=-A, b_ub=-np.ones(len(y)), bounds=bounds).fun


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_l1_members_reach_the_minimal_objective(C, monkeypatch):
    monkeypatch.setattr("svmbook.solvers.batched.l1_members.MAX_MATRIX_ENTRIES", 1000)
    positive, negative = random_subsets(25, 12)
    members = fit_l1_members(X, positive, negative, C, np.ones(25))
    for row in range(25):
        indices = np.flatnonzero(positive[row] | negative[row])
        y = np.where(positive[row, indices], 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - y * (X[indices] @ members.coef[row] + members.intercept[row]))
        objective = np.abs(members.coef[row]).sum() + C * slack.sum()
        expected = minimal_l1_objective(positive[row], negative[row], C)
        assert objective == pytest.approx(expected, rel=1e-7)
    assert (members.relative_gap < 1e-7).all()


def test_l1_members_have_zero_coefficients_for_tiny_C():
    positive, negative = random_subsets(25, 12)
    members = fit_l1_members(X, positive, negative, 1e-9, np.ones(25))
    assert (members.coef == 0).all() and (members.relative_gap < 1e-7).all()


def test_l1_members_do_not_use_uninformative_features():
    rng = np.random.default_rng(0)
    y = np.resize([True, False], 80)
    points = np.hstack([np.where(y, 1.0, -1.0)[:, None], 0.3 * rng.standard_normal((80, 5))])
    members = fit_l1_members(points, y[None], ~y[None], 1.0, np.ones(1))
    assert np.flatnonzero(np.abs(members.coef[0]) > 1e-9).tolist() == [0]


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0])
def test_gap_of_exemplar_svms_is_rounding_error_for_small_C(C):
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, (400, 2))
    positive, negative = np.zeros((2, 400, 400), dtype=bool)
    for row in range(400):
        positive[row, row] = True
        others = rng.permutation(np.delete(np.arange(400), row))[:7]
        negative[row, others] = True
    members = fit_linear_members(points, positive, negative, C, np.ones(400))
    assert np.abs(members.relative_gap).max() < 1e-9


def test_batches_respect_limits_of_memory_and_size_ratio(monkeypatch):
    sizes = np.sort(np.random.default_rng(0).integers(2, 60, 500))
    for d in (7, 500):
        monkeypatch.setattr(members_module, "MAX_BATCH_ENTRIES", 20_000)
        batches = list(members_module._batches_by_subset_size(np.arange(500), sizes, d))
        np.testing.assert_array_equal(np.concatenate(batches), np.arange(500))
        for batch in batches:
            largest_size = sizes[batch].max()
            assert len(batch) == 1 or len(batch) * largest_size * (largest_size + d) <= 20_000
    monkeypatch.setattr(members_module, "MAX_BATCH_ENTRIES", 10**9)
    batches = list(members_module._batches_by_subset_size(np.arange(500), sizes, 7))
    assert all(len(batch) >= 32 for batch in batches[:-1])
    for batch in batches:
        assert len(batch) <= 32 or sizes[batch].max() <= 1.25 * sizes[batch].min()


def test_small_and_large_subsets_are_in_different_batches():
    sizes = np.array([20] * 31 + [70])
    batches = members_module._batches_by_subset_size(np.arange(32), sizes, 2)
    assert [len(batch) for batch in batches] == [31, 1]


def test_only_large_subsets_are_solved_one_by_one(monkeypatch):
    single_sizes, batch_shapes = [], []

    def record_active_set(gram, y, C, **options):
        single_sizes.append(len(y))
        return solve_active_set_on_gram(gram, y, C, **options)

    def record_duals(K, y, C, **options):
        batch_shapes.append(y.shape)
        return solve_validated_batch(K, y, C, **options)

    monkeypatch.setattr(members_module, "solve_active_set_on_gram", record_active_set)
    monkeypatch.setattr(members_module, "solve_validated_batch", record_duals)
    positive, negative = random_subsets(10, 60)
    fit_linear_members(X, positive, negative, 1.0, np.ones(10))
    sizes = (positive | negative).sum(axis=1)
    assert sorted(single_sizes) == sorted(sizes[sizes > members_module.MAX_BATCHED_POINTS])
    assert sum(n for n, _ in batch_shapes) + len(single_sizes) == 10
    assert batch_shapes and single_sizes
