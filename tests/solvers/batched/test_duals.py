"""Batches of small duals: certificates, agreement with other solvers, independence of problems."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from svm_problems import kkt_violation, svm_problems

from svmbook.solvers import certify, solve_active_set, solve_dual_batch
from svmbook.solvers.batched.duals import _UnfinishedProblems

SEEDS = st.integers(0, 2**32 - 1)


def padded_batch(problems, n_points, rng):
    """Return problems of several sizes as arrays, padded by random points with C = 0."""
    K, y, C = (np.zeros((len(problems), n_points, *shape)) for shape in ([n_points], [], []))
    for row, (X, signs, bounds) in enumerate(problems):
        n = len(signs)
        Z = np.vstack([X, rng.standard_normal((n_points - n, X.shape[1]))])
        K[row], y[row] = Z @ Z.T, np.concatenate([signs, np.resize([1.0, -1.0], n_points - n)])
        C[row, :n] = bounds
    return K, y, C


@given(st.lists(svm_problems(max_n=12), min_size=1, max_size=5), SEEDS)
def test_each_problem_is_solved_and_certified(problems, seed):
    K, y, C = padded_batch(problems, 14, np.random.default_rng(seed))
    batch = solve_dual_batch(K, y, C)
    assert batch.converged.all()
    for row, (X, signs, bounds) in enumerate(problems):
        n = len(signs)
        alpha = batch.alpha[row, :n]
        assert (batch.alpha[row, n:] == 0).all()
        assert (alpha >= 0).all() and (alpha <= bounds).all()
        f = X @ (X.T @ (signs * alpha))
        certified = certify(alpha, batch.intercept[row], signs, bounds, f, n_iter=0, tol=1e-6)
        assert batch.objective[row] == pytest.approx(certified.objective, rel=1e-9)
        expected = pytest.approx(certified.dual_objective, rel=1e-9, abs=1e-12)
        assert batch.dual_objective[row] == expected
        single_result = solve_active_set(X @ X.T, signs, bounds, tol=1e-9)
        tolerance = 1e-6 * single_result.objective
        assert batch.dual_objective[row] <= single_result.objective + tolerance
        assert batch.objective[row] >= single_result.dual_objective - tolerance
        assert batch.gap[row] <= tolerance + bounds.sum() * 10 * batch.kkt_residual[row]


@pytest.mark.parametrize(
    ("kind", "C"),
    [
        *itertools.product(["one positive", "several positives", "duplicates"], [1e-3, 1.0, 1e3]),
        # If several positives overlap the negatives, LIBSVM needs more than a million iterations.
        ("one positive", 1e6),
    ],
)
def test_weights_agree_with_libsvm(C, kind):
    # Integers, because LIBSVM stores its Gram matrix in single precision.
    rng = np.random.default_rng(3)
    X = rng.integers(-9, 10, (60, 8, 3)).astype(float)
    y = np.where(rng.random((60, 8)) < 0.4, 1.0, -1.0)
    if kind == "one positive":
        y[:] = -1.0
    y[:, 0], y[:, 1] = 1.0, -1.0
    if kind == "duplicates":
        X[:, 4:6], X[:, 6] = X[:, 2:4], X[:, 0]
        y[:, 6] = -1.0
    K = X @ X.transpose(0, 2, 1)
    batch = solve_dual_batch(K, y, C)
    w = np.einsum("bn,bnd->bd", y * batch.alpha, X)
    n_compared = 0
    for row in range(60):
        svc = SVC(kernel="linear", C=C, tol=1e-8, max_iter=200_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            svc.fit(X[row], y[row])
        alpha = np.zeros(8)
        alpha[svc.support_] = np.abs(svc.dual_coef_[0])
        b = svc.intercept_[0]
        if kkt_violation(alpha, b, K[row], y[row], C) < 1e-7:
            n_compared += 1
            scale = max(1.0, np.abs(svc.coef_).max())
            np.testing.assert_allclose(w[row], svc.coef_[0], atol=1e-6 * scale)
            assert batch.intercept[row] == pytest.approx(b, abs=1e-5)
    assert n_compared >= 30


@pytest.mark.parametrize("has_repeated_points", [False, True])
def test_solutions_do_not_depend_on_the_other_problems_of_the_batch(has_repeated_points):
    # Among repeated points the first is freed first, independently of the batch.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 30, 5))
    X[:, 15:29] = X[:, 1:15] if has_repeated_points else X[:, 15:29]
    y = np.tile(np.resize([-1.0, 1.0], 30), (20, 1))
    C = np.tile(10.0 ** rng.uniform(-2, 3, (20, 1)), 30)  # so that faces of all sizes occur
    K = X @ X.transpose(0, 2, 1)
    batch = solve_dual_batch(K, y, C)
    single_batches = [solve_dual_batch(K[[row]], y[[row]], C[[row]]) for row in range(20)]
    for row, single_batch in enumerate(single_batches):
        np.testing.assert_allclose(single_batch.alpha[0], batch.alpha[row], atol=1e-10 * C[row, 0])
        assert single_batch.intercept[0] == pytest.approx(batch.intercept[row], abs=1e-9)
    n_iter = sum(single_batch.n_iter[0] for single_batch in single_batches)
    assert batch.converged.all() and abs(batch.n_iter.sum() - n_iter) < 0.02 * n_iter


def test_intercept_is_the_middle_of_its_interval_if_no_multiplier_is_free():
    X = np.array([[[2.0], [0.0]]])
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), np.array([[1.0, -1.0]]), 0.1)
    # w = 0.2: b may lie between -1 + 0 and 1 - 0.4.
    np.testing.assert_array_equal(batch.alpha, [[0.1, 0.1]])
    assert batch.intercept[0] == pytest.approx((-1.0 + 0.6) / 2)


def test_reaching_max_iter_is_reported():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((5, 12, 2))
    y = np.resize([1.0, -1.0], (5, 12))
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), y, 100.0, max_iter=2)
    assert not batch.converged.any()
    assert (batch.n_iter == 2).all()
    assert (batch.gap > 0).all()


@pytest.mark.parametrize(
    ("invalid_arguments", "message"),
    [
        ({"K": np.zeros((2, 2))}, "must have shapes"),
        ({"K": np.full((1, 2, 2), np.nan)}, "must be finite"),
        ({"K": np.array([[[1.0, 0.0], [0.5, 1.0]]])}, "must be symmetric"),
        (
            {
                "K": np.array([[[1.0, 0.0], [0.5, 1.0]], 1e9 * np.eye(2)]),
                "y": np.array([[1.0, -1.0], [1.0, -1.0]]),
            },
            "must be symmetric",
        ),
        ({"tol": -1.0}, "tol must be positive"),
        ({"tol": np.nan}, "tol must be positive"),
        ({"max_iter": 0}, "max_iter"),
        ({"y": np.array([[1.0, 0.0]])}, r"labels -1 and \+1; found"),
        ({"y": np.array([[1.0, 1.0]])}, "problem 0 has no point of label -1"),
        ({"C": np.array([[1.0, 0.0]])}, "problem 0 has no point of label -1"),
        ({"C": -1.0}, "not negative"),
        ({"C": np.ones(3)}, "must be a number or have the shape of y"),
    ],
)
def test_invalid_arguments_are_reported(invalid_arguments, message):
    valid_arguments = {"K": np.eye(2)[None], "y": np.array([[1.0, -1.0]]), "C": 1.0}
    with pytest.raises(ValueError, match=message):
        solve_dual_batch(**(valid_arguments | invalid_arguments))


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_equality_constraint_holds_at_every_scale(scale):
    rng = np.random.default_rng(0)
    X = scale * rng.standard_normal((40, 8, 3))
    y = np.where(rng.random((40, 8)) < 0.4, 1.0, -1.0)
    y[:, 0], y[:, 1] = 1.0, -1.0
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), y, 10.0 / scale**2)
    violation = np.abs((y * batch.alpha).sum(axis=1)) / batch.alpha.sum(axis=1)
    assert violation.max() < 1e-14
    assert batch.converged.all()
    assert (batch.gap <= 1e-10 * batch.objective).all()
    assert (batch.gap >= -1e-12 * batch.objective).all()


def test_pair_of_points_is_solved_by_one_linear_system():
    # Neither multiplier can change alone, so both are freed at once, and one step suffices.
    X = np.random.default_rng(0).standard_normal((20, 2, 3))
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), np.tile([1.0, -1.0], (20, 1)), 100.0)
    assert batch.converged.all()
    np.testing.assert_array_equal(batch.n_iter, 1)


def test_each_solved_face_frees_one_point_or_a_pair_if_none_is_free():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 9, 2))
    y = np.where(rng.random((30, 9)) < 0.5, 1.0, -1.0)
    y[:, 0], y[:, 1] = 1.0, -1.0
    K = X @ X.transpose(0, 2, 1)
    unfinished = _UnfinishedProblems(K, y, np.ones((30, 9)), np.ones(30), 1e-11)
    numbers_of_freed_points = set()
    for _ in range(100):
        unfinished.drop(unfinished.check_optimality())
        if not len(unfinished.problem_indices):
            break
        n_free = unfinished.free.sum(axis=1)
        expected = np.where(unfinished.face_solved, np.where(n_free == 0, 2, 1), 0)
        unfinished.free_most_violating()
        np.testing.assert_array_equal(unfinished.free.sum(axis=1) - n_free, expected)
        numbers_of_freed_points.update(expected)
        unfinished.take_step()
    assert not len(unfinished.problem_indices) and numbers_of_freed_points == {0, 1, 2}
