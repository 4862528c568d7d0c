"""A face that differs by few points from a factored one is solved with the earlier factor."""

import numpy as np
import pytest

from svmbook.gram import StoredGram
from svmbook.kernels import gaussian
from svmbook.solvers.dual.active_sets.face_updates import changed_face_solver
from svmbook.solvers.dual.active_sets.faces import FaceSolver

G = np.arange(450)


@pytest.mark.parametrize("removed", [[], [0], [3, 17, 29]])
@pytest.mark.parametrize("added", [[], [31], [30, 35, 39]])
def test_changed_face_is_solved_as_by_a_new_factorisation(added, removed):
    rng = np.random.default_rng(0)
    B = rng.standard_normal((40, 50))
    A, r = B @ B.T, rng.standard_normal(40)
    old, N = np.arange(30), np.array(added, dtype=int)
    F = np.setdiff1d(np.append(old, N), removed)
    inverse = np.linalg.inv(A[:30, :30])
    blocks = A[np.ix_(old, N)], A[np.ix_(N, N)]
    solve = changed_face_solver(lambda b: inverse @ b, old, F, np.isin(F, N), *blocks, 5e-6)
    np.testing.assert_allclose(solve(r[F]), np.linalg.solve(A[np.ix_(F, F)], r[F]), rtol=1e-9)


@pytest.fixture(params=[0.0, 1000.0])
def K(request):
    """A Gram matrix whose entries are nearly equal if the constant is large."""
    X = np.random.default_rng(0).standard_normal((500, 6))
    return gaussian(X, gamma=0.3) + request.param


@pytest.mark.parametrize("imbalance", [0.0, 2.0])
@pytest.mark.parametrize("F", [G[2:], np.append(G, 460), np.append(G[5:], [451, 499])])
def test_step_on_a_changed_face_solves_its_equations(K, F, imbalance):
    e = np.random.default_rng(1).standard_normal(500)
    face_solver = FaceSolver(StoredGram(K), first_shift=1e-3, use_single_precision=False)
    face_solver.step(G, e[G], 0.0)
    shift = face_solver._earlier_factor.shift
    step, b = face_solver.step(F, e[F], imbalance)
    assert face_solver._is_updated
    residual = K[np.ix_(F, F)] @ step + shift * step + b - e[F]
    assert np.abs(residual).max() <= 1e-13 * np.abs(step).sum() * K.max()
    assert abs(step.sum() + imbalance) <= 1e-12 * np.abs(step).sum()


def test_step_in_single_precision_on_a_changed_face():
    X = np.random.default_rng(0).standard_normal((500, 6))
    K, e, F = (
        gaussian(X, gamma=0.3),
        np.random.default_rng(1).standard_normal(500),
        np.arange(5, 460),
    )
    face_solver = FaceSolver(StoredGram(K), first_shift=1e-2)
    face_solver.step(G, e[G], 0.0)
    step, b = face_solver.step(F, e[F], 1.0)
    assert face_solver._is_updated and face_solver._is_factor_single
    expected_step, expected_b = FaceSolver(StoredGram(K), first_shift=1e-2).step(F, e[F], 1.0)
    np.testing.assert_allclose(step, expected_step, atol=1e-4 * np.abs(expected_step).max())
    assert b == pytest.approx(expected_b, abs=1e-4)


def test_factor_is_used_only_for_similar_faces_and_the_same_shift(K):
    face_solver = FaceSolver(StoredGram(K), first_shift=1e-3)
    lengths = [(450, False), (440, True), (400, False), (399, True), (370, False), (369, False)]
    for m, is_updated in lengths:
        face_solver.step(G[:m], np.ones(m), 0.0)
        assert face_solver._is_updated == is_updated
    face_solver.step(G, np.ones(450), 0.0)
    face_solver.raise_shift()
    face_solver.step(G[1:], np.ones(449), 0.0)
    assert not face_solver._is_updated


def test_face_is_factored_anew_if_the_updated_factor_is_too_inaccurate(K):
    face_solver = FaceSolver(StoredGram(K), first_shift=1e-3, use_single_precision=False)
    face_solver.step(G, np.ones(450), 0.0)
    face_solver.step(G[1:], np.ones(449), 0.0)
    assert face_solver._is_updated and face_solver.refactor_with_smaller_shift()
    face_solver.step(G[1:], np.ones(449), 0.0)
    assert not face_solver._is_updated
    assert face_solver.relative_shift == 1e-3


@pytest.mark.parametrize("use_single_precision", [True, False])
@pytest.mark.parametrize("F", [np.append(G, 460), G[:-1]])
def test_duplicates_are_not_updated(F, use_single_precision):
    # Rounding errors exceed the Schur complement, which is about as small as the shift.
    X = np.random.default_rng(0).standard_normal((500, 6))
    X[[460, 449]] = X[0]
    face_solver = FaceSolver(
        StoredGram(gaussian(X, gamma=0.3)), use_single_precision=use_single_precision
    )
    face_solver.step(G, np.ones(450), 0.0)
    face_solver.step(F, np.ones(len(F)), 0.0)
    assert not face_solver._is_updated
