"""Batches of small duals: certified, equal to other solvers, and independent of each other."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import kkt_violation, svm_problems
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from svmbook.solvers import certify, solve_active_set, solve_dual_batch
from svmbook.solvers.batched.duals import _Faces

SEEDS = st.integers(0, 2**32 - 1)


def filled(problems, width, rng):
    """Return problems of several sizes as arrays, filled up with nonsense of price zero."""
    K, y, C = (np.zeros((len(problems), width, *more)) for more in ([width], [], []))
    for row, (X, signs, prices) in enumerate(problems):
        n = len(signs)
        Z = np.vstack([X, rng.standard_normal((width - n, X.shape[1]))])
        K[row], y[row] = Z @ Z.T, np.concatenate([signs, np.resize([1.0, -1.0], width - n)])
        C[row, :n] = prices
    return K, y, C


@given(st.lists(svm_problems(max_n=12), min_size=1, max_size=5), SEEDS)
def test_each_problem_is_solved_and_proved(problems, seed):
    K, y, C = filled(problems, 14, np.random.default_rng(seed))
    batch = solve_dual_batch(K, y, C)
    assert batch.converged.all()
    for row, (X, signs, prices) in enumerate(problems):
        n = len(signs)
        alpha = batch.alpha[row, :n]
        assert (batch.alpha[row, n:] == 0).all()
        assert (alpha >= 0).all()
        assert (alpha <= prices).all()
        f = X @ (X.T @ (signs * alpha))
        proof = certify(alpha, batch.intercept[row], signs, prices, f, n_iter=0, tol=1e-6)
        assert batch.objective[row] == pytest.approx(proof.objective, rel=1e-9)
        assert batch.dual_objective[row] == pytest.approx(proof.dual_objective, rel=1e-9, abs=1e-12)
        other = solve_active_set(X @ X.T, signs, prices, tol=1e-9)
        slack = 1e-6 * other.objective
        assert batch.dual_objective[row] <= other.objective + slack
        assert batch.objective[row] >= other.dual_objective - slack
        assert batch.gap[row] <= slack + prices.sum() * 10 * batch.kkt_residual[row]


@pytest.mark.parametrize(
    ("kind", "C"),
    [
        *itertools.product(["one positive", "several", "duplicates"], [1e-3, 1.0, 1e3]),
        # Where more than one positive overlaps the negatives, a million steps do not suffice it.
        ("one positive", 1e6),
    ],
)
def test_libsvm_finds_the_same_weights(C, kind):
    # Whole numbers: LIBSVM keeps its Gram matrix in single precision, which holds these exactly.
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
    ours = np.einsum("bn,bnd->bd", y * batch.alpha, X)
    finished = 0
    for row in range(60):
        theirs = SVC(kernel="linear", C=C, tol=1e-8, max_iter=200_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs.fit(X[row], y[row])
        theirs_alpha = np.zeros(8)
        theirs_alpha[theirs.support_] = np.abs(theirs.dual_coef_[0])
        b = theirs.intercept_[0]
        if kkt_violation(theirs_alpha, b, K[row], y[row], C) < 1e-7:
            finished += 1
            size = max(1.0, np.abs(theirs.coef_).max())
            np.testing.assert_allclose(ours[row], theirs.coef_[0], atol=1e-6 * size)
            assert batch.intercept[row] == pytest.approx(b, abs=1e-5)
    assert finished >= 30


@pytest.mark.parametrize("repeated", [False, True])
def test_a_problem_does_not_know_its_neighbours(repeated):
    # Of points that repeat, the first is freed first, whatever else is in the batch.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 30, 5))
    X[:, 15:29] = X[:, 1:15] if repeated else X[:, 15:29]
    y = np.tile(np.resize([-1.0, 1.0], 30), (20, 1))
    C = np.tile(10.0 ** rng.uniform(-2, 3, (20, 1)), 30)  # so faces are of all sizes
    K = X @ X.transpose(0, 2, 1)
    together = solve_dual_batch(K, y, C)
    alone = [solve_dual_batch(K[[row]], y[[row]], C[[row]]) for row in range(20)]
    for row, one in enumerate(alone):
        np.testing.assert_allclose(one.alpha[0], together.alpha[row], atol=1e-10 * C[row, 0])
        assert one.intercept[0] == pytest.approx(together.intercept[row], abs=1e-9)
    rounds = sum(one.n_iter[0] for one in alone)
    assert together.converged.all() and abs(together.n_iter.sum() - rounds) < 0.02 * rounds


def test_where_no_multiplier_is_free_the_intercept_is_in_the_middle():
    X = np.array([[[2.0], [0.0]]])
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), np.array([[1.0, -1.0]]), 0.1)
    # w = 0.2: b may lie between -1 + 0 and 1 - 0.4.
    np.testing.assert_array_equal(batch.alpha, [[0.1, 0.1]])
    assert batch.intercept[0] == pytest.approx((-1.0 + 0.6) / 2)


def test_too_few_rounds_are_admitted():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((5, 12, 2))
    y = np.resize([1.0, -1.0], (5, 12))
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), y, 100.0, max_iter=2)
    assert not batch.converged.any()
    assert (batch.n_iter == 2).all()
    assert (batch.gap > 0).all()


@pytest.mark.parametrize(
    ("change", "message"),
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
def test_bad_input_is_named(change, message):
    good = {"K": np.eye(2)[None], "y": np.array([[1.0, -1.0]]), "C": 1.0}
    with pytest.raises(ValueError, match=message):
        solve_dual_batch(**{**good, **change})


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_multipliers_balance_whatever_the_unit(scale):
    rng = np.random.default_rng(0)
    X = scale * rng.standard_normal((40, 8, 3))
    y = np.where(rng.random((40, 8)) < 0.4, 1.0, -1.0)
    y[:, 0], y[:, 1] = 1.0, -1.0
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), y, 10.0 / scale**2)
    unbalanced = np.abs((y * batch.alpha).sum(axis=1)) / batch.alpha.sum(axis=1)
    assert unbalanced.max() < 1e-14
    assert batch.converged.all()
    assert (batch.gap <= 1e-10 * batch.objective).all()
    assert (batch.gap >= -1e-12 * batch.objective).all()


def test_a_pair_of_points_takes_one_linear_system():
    # Neither multiplier can move alone, so both are freed at once, and one step is enough.
    X = np.random.default_rng(0).standard_normal((20, 2, 3))
    batch = solve_dual_batch(X @ X.transpose(0, 2, 1), np.tile([1.0, -1.0], (20, 1)), 100.0)
    assert batch.converged.all()
    np.testing.assert_array_equal(batch.n_iter, 1)


def test_one_point_is_freed_where_a_face_is_solved_and_a_pair_where_none_is_free():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 9, 2))
    y = np.where(rng.random((30, 9)) < 0.5, 1.0, -1.0)
    y[:, 0], y[:, 1] = 1.0, -1.0
    faces = _Faces(X @ X.transpose(0, 2, 1), y, np.ones((30, 9)), np.ones(30), 1e-11)
    met = set()
    for _ in range(100):
        faces.drop(faces.find_most_violating())
        if not len(faces.problem):
            break
        before = faces.free.sum(axis=1)
        expected = np.where(faces.solved, np.where(before == 0, 2, 1), 0)
        faces.free_most_violating()
        np.testing.assert_array_equal(faces.free.sum(axis=1) - before, expected)
        met.update(expected)
        faces.step()
    assert not len(faces.problem) and met == {0, 1, 2}
