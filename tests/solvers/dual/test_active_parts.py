"""The parts of the active-set solver by themselves: states, faces, primal-dual rounds."""

from types import SimpleNamespace

import numpy as np
import pytest
from problems import kkt_violation, noisy_gram
from sklearn.model_selection import StratifiedKFold

from svmbook.datasets import stdev, twonorm
from svmbook.gram import StoredGram
from svmbook.kernels import gaussian
from svmbook.solvers import certify, intercept_interval, solve_active_set, svm_path
from svmbook.solvers.dual import active_set
from svmbook.solvers.dual.faces import Face
from svmbook.solvers.dual.state import DualState


@pytest.fixture
def state():
    """A state of forty points: a third at zero, a third at the bound, a third free."""
    K, y = noisy_gram(40)
    free = np.arange(40) % 3 == 0
    beta = np.where(np.arange(40) % 3 == 1, y * 2.0, 0.0)
    beta[free] = y[free] * np.linspace(0.1, 1.9, free.sum())
    state = DualState(StoredGram(K), y, np.full(40, 2.0), beta, free)
    state.b = 0.3
    return state


@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
def test_primal_dual_rounds_are_enough_for_ordinary_problems(C):
    # Monotone rounds would mend nearly any mistake of the primal-dual ones, and hide it.
    K, y = noisy_gram(450)
    result = solve_active_set(K, y, C)
    assert " 0 monotone" in result.message
    assert result.n_iter <= 25


def test_the_raised_shift_breaks_a_circle():
    X, y = stdev(2, n=12, random_state=1)
    result = solve_active_set(gaussian(X, gamma=0.5), y, 3.0)
    assert " 0 monotone" in result.message
    assert result.n_iter <= 30


def test_the_wrong_points_are_those_that_violate_the_conditions(state):
    margins = state.y * (state.gram.K @ state.beta + state.b)
    at_zero, at_C = state.beta == 0, np.abs(state.beta) == 2.0
    expected = (at_zero & (margins < 1 - 1e-9)) | (at_C & (margins > 1 + 1e-9))
    assert expected.sum() > 5
    np.testing.assert_array_equal(state.violations_at_bounds(), expected & ~state.free)


def test_the_worst_point_is_the_farthest_on_the_wrong_side(state):
    state.b = state.e[state.free].mean()
    state.e[state.free] = state.b  # as if the face were solved
    (most_violating,) = state.most_violating()
    slope = state.y * (state.e - state.b)
    pull = np.where(np.abs(state.beta) == 2.0, -slope, slope)
    assert most_violating == np.argmax(np.where(state.free, -np.inf, pull))


def test_where_nobody_is_free_a_pair_is():
    K, y = noisy_gram(6)
    y = np.array([1.0, -1, 1, -1, 1, -1])
    state = DualState(StoredGram(K), y, np.ones(6), np.zeros(6), np.zeros(6, bool))
    i, j = state.most_violating()
    assert y[i] == 1.0
    assert y[j] == -1.0
    assert state.b == pytest.approx(0.0)
    state.move(np.array([0, 3]), np.array([1.0, -1.0]))  # both at their bounds
    i, j = state.most_violating()
    assert state.b == pytest.approx(0.5 * (state.e[i] + state.e[j])) != 0.0


def test_a_step_ends_at_the_first_bound(state):
    points = np.flatnonzero(state.free)[:3]
    state.beta[points] = state.lower[points[0]], 0.0, 0.0  # a step of zero from a bound: 0 / 0
    before, room = state.beta[points].copy(), np.abs(state.upper[points[1]])
    state.upper[points], state.lower[points] = 2.0, -2.0
    state.beta[points[0]] = before[0] = 2.0
    assert state.advance(points, np.array([0.0, 10.0 * room, 1.0]))
    np.testing.assert_allclose(state.beta[points], [2.0, 2.0, 2.0 / (10.0 * room)])


def test_a_face_that_errors_hid_is_not_solved(state):
    F = np.flatnonzero(state.free)
    state.e[F] = state.b  # solved, if one believes errors that were not computed afresh
    assert not state.is_optimal_recomputed(F)
    state.b = state.e[F].mean()
    before = state.e.copy()
    assert state.is_optimal_recomputed(F)  # nothing has changed
    np.testing.assert_allclose(state.e, before)


def test_errors_follow_the_multipliers(state):
    points = np.array([1, 4, 7])
    state.move(points, np.array([0.5, -0.5, 0.2]))
    np.testing.assert_allclose(state.e, state.y - state.gram.K @ state.beta, atol=1e-13)


def test_the_box_is_entered_with_the_sum_at_zero(state):
    state.beta = 5.0 * np.random.default_rng(1).standard_normal(40)
    state.project_to_box()
    assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()
    assert abs(state.beta.sum()) <= 1e-14 * np.abs(state.beta).sum()
    np.testing.assert_allclose(state.e, state.y - state.gram.K @ state.beta, atol=1e-13)


def test_a_step_goes_to_the_first_wall_and_never_lowers_the_objective(state):
    state.project_to_box()
    face = Face(state.gram)
    for _ in range(10):
        F = np.flatnonzero(state.free)
        before = state.objective
        step, state.b = face.step(F, state.e[F], state.beta.sum())
        met = state.advance(F, step)
        assert state.objective >= before - 1e-12
        assert ((state.beta >= state.lower) & (state.beta <= state.upper)).all()
        if met:
            assert len(np.flatnonzero(state.free)) < len(F)


def test_shrinking_finds_the_best_point_on_the_way_to_zero(state):
    state.project_to_box()
    state.beta, before = 3.0 * state.beta, 3.0 * state.beta
    state.recompute()
    state.scale_into_box()
    lengths = np.linspace(0.0, 1.0, 1001)
    K = state.gram.K
    objectives = [t * state.y @ before - 0.5 * t**2 * before @ K @ before for t in lengths]
    assert state.objective >= max(objectives) - 1e-9


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("imbalance", [0.0, 0.7])
@pytest.mark.parametrize("shift", [1e-9, 1e-2])
def test_a_face_solves_the_bordered_system(offset, imbalance, shift):
    K, _ = noisy_gram(30)
    e = np.random.default_rng(2).standard_normal(30)
    face = Face(StoredGram(K + offset))
    face.shift = shift
    free = np.arange(0, 30, 2)
    step, b = face.step(free, e[free], imbalance)
    # Each gives its share of the imbalance; the rest of the step is damped and sums to zero. An
    # offset of K changes b only: the oracle solves without it.
    K_F, m = K[np.ix_(free, free)], len(free)
    share = imbalance / m
    P = np.eye(m) - 1.0 / m
    scale = 1.0 + offset
    mu = max(shift * (np.trace(P @ K_F @ P) + scale) / m, 30 * np.finfo(float).eps * m * scale)
    system = np.block([[K_F + mu * np.eye(m), np.ones((m, 1))], [np.ones((1, m)), 0.0]])
    expected = np.linalg.solve(system, np.append(e[free] + share * K_F.sum(axis=1), 0.0))
    accuracy = 1e-15 * scale / min(mu, 1.0) + 1e-10
    assert step.sum() == pytest.approx(-imbalance, abs=1e-12)
    np.testing.assert_allclose(step, expected[:-1] - share, atol=accuracy)
    assert b - offset * imbalance == pytest.approx(expected[-1], abs=1e-9 * scale)


def test_sharpening_ends_and_brings_two_digits_each_time():
    # A well-conditioned face: the shift limits the step, and rounding does not.
    K, y = noisy_gram(30, gamma=1.0)
    face = Face(StoredGram(K + np.eye(30)))
    free = np.arange(30)
    shifts, left = [], []
    for _ in range(20):
        step, b = face.step(free, y, 0.0)
        shifts.append(face.shift)
        left.append(np.abs(y - K @ step - step - b).max())
        if not face.reduce_shift():
            break
    assert 2 <= len(shifts) < 10
    assert (np.diff(shifts) < 0).all()
    assert left[0] == pytest.approx(100.0 * left[1], rel=1e-3)


def test_the_residual_of_the_certificate_sees_both_sides():
    K, y = noisy_gram(40)
    rng = np.random.default_rng(3)
    for b in (-3.0, 0.0, 3.0):
        for scale in (1e-3, 1.0, 10.0):
            alpha = np.clip(scale * rng.standard_normal(40), 0.0, 1.0)
            report = certify(alpha, b, y, 1.0, K @ (y * alpha), n_iter=0, tol=1e-6)
            violation = kkt_violation(alpha, b, K, y, np.ones(40))
            assert report.kkt_residual == pytest.approx(violation)


def test_the_intercept_knows_nothing_of_dust():
    # All multipliers end at a bound, one of them but for the last digit.
    X, labels = twonorm(900, random_state=0)
    train = list(StratifiedKFold(3).split(X, labels))[2][0]
    K, y = gaussian(X[train], gamma=1e-3), np.where(labels[train] == labels.max(), 1.0, -1.0)
    result = solve_active_set(K, y, 0.1)
    assert np.isin(result.alpha, (0.0, 0.1)).all()
    ends = intercept_interval(result.alpha, y, np.full(600, 0.1), K @ (y * result.alpha))
    assert ends[1] - ends[0] > 0.05
    assert result.intercept == pytest.approx(sum(ends) / 2)


def test_a_path_goes_on_from_points_that_rounds_have_not_solved():
    K, y = noisy_gram(150)
    for result in svm_path(K, y, [0.5, 50.0, 5e4], max_iter=1):
        assert not result.converged
        assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()


@pytest.mark.parametrize(
    ("kept", "enough", "is_solved"),
    [(1.0, 0.0, True), (0.95, 0.0, True), (0.5, 0.0, False), (1.0, 1.0, True), (0.5, 1.0, True)],
)
def test_refinement_ends_where_the_residual_hardly_falls_or_is_small(
    kept, enough, is_solved, monkeypatch
):
    monkeypatch.setattr(active_set, "MAX_STALLS", 20)
    residuals = (kept**k for k in range(1000))
    state = SimpleNamespace(
        enough=enough,
        recompute=lambda: None,
        residual=lambda F: next(residuals),
        at_rounding_error=lambda F: False,
    )
    face = SimpleNamespace(reduce_shift=lambda: False)  # the shift is as small as rounding permits
    refinement = active_set._Refinement()
    said = [refinement.is_solved(state, face, None) for _ in range(30)]
    assert any(said) == is_solved
    if not enough and is_solved:
        assert said.index(True) > 20


@pytest.mark.parametrize(
    ("x", "y", "C"),
    [
        ([0, 2, 3, 5, 7], [1, -1, 1, -1, 1], 0.5),
        ([3, 4, 5, 6, 8], [1, -1, 1, -1, -1], 1.0),
        ([0, 1, 3, 6, 7, 8], [1, 1, -1, 1, 1, -1], 0.5),
    ],
)
def test_a_guess_that_is_wrong_at_every_point_is_mended_in_one_round(x, y, C):
    # No round precedes the first, so nothing damps the step after it. The second round solves the
    # face of the solution, and the third removes the error that the shift has left.
    y = np.array(y, dtype=float)
    K = gaussian(np.array(x, dtype=float)[:, None], gamma=0.5)
    exact = solve_active_set(K, y, C)
    free = (exact.alpha > 0) & (exact.alpha < C)
    state = DualState(StoredGram(K), y, np.full(len(y), C), np.zeros(len(y)), ~free)
    active_set._primal_dual(state, Face(state.gram), 1, 1)
    np.testing.assert_array_equal(state.free, free)
    state = DualState(StoredGram(K), y, np.full(len(y), C), np.zeros(len(y)), ~free)
    assert active_set._primal_dual(state, Face(state.gram), 3, 1)
    np.testing.assert_allclose(y * state.beta, exact.alpha, atol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 1.0, 7.0])
def test_orthogonal_points_are_solved_by_one_projected_step(scale):
    # With K = s I a step of 1 / s along the errors ends at the unconstrained maximum, y / s, and
    # the nearest feasible point to that maximum is the solution.
    rng = np.random.default_rng(0)
    y = np.where(np.arange(30) < 9, 1.0, -1.0)
    C = rng.uniform(0.1, 3.0, 30) / scale
    start = y * C * rng.random(30)
    state = DualState(StoredGram(scale * np.eye(30)), y, C, start, np.ones(30, dtype=bool))
    state.project_to_box()
    exact = solve_active_set(scale * np.eye(30), y, C)
    np.testing.assert_allclose(y * state.beta, exact.alpha, atol=1e-12 / scale)


def test_a_guess_is_what_a_quarter_of_the_points_says_of_all():
    K, y = noisy_gram(300)
    C = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    state = active_set.initial_state(StoredGram(K), y, C, 1000)
    quarter = np.sort(np.concatenate([np.flatnonzero(y == label)[::4] for label in (-1, 1)]))
    rest = np.setdiff1d(np.arange(300), quarter)
    share = C[quarter].sum() / C.sum()
    small = solve_active_set(K[np.ix_(quarter, quarter)], y[quarter], C[quarter] / share)
    np.testing.assert_allclose((y * state.beta)[quarter], share * small.alpha, atol=1e-12)
    support = (small.alpha > 0) & (small.alpha < C[quarter] / share)
    np.testing.assert_array_equal(state.free[quarter], support)
    # Of the others the nearest to the margin are free; the margin decides about the rest.
    slack = 1.0 - y * (K[:, quarter] @ (y[quarter] * small.alpha) + small.intercept)
    near, far = rest[state.free[rest]], rest[~state.free[rest]]
    assert 0 < len(near) < support.sum()
    assert np.abs(slack[near]).max() <= np.abs(slack[far]).min()
    np.testing.assert_array_equal((y * state.beta)[far], np.where(slack > 0, C, 0.0)[far])
    assert not state.beta[near].any()


@pytest.mark.parametrize(("nearly_right", "rounds"), [(False, 27), (True, 3)])
def test_a_circle_of_rounds_is_left(nearly_right, rounds, monkeypatch):
    # Each round sends the free half of four points to zero and frees the other half, so that four
    # guesses are wrong whenever they are counted. The first count is a new low. By the chapter's
    # table the rounds end after more than 25 without another; from a guess that is nearly right,
    # after more than one.
    y = np.array([1.0, -1.0, 1.0, -1.0])
    circle = SimpleNamespace(
        step=lambda F, e, imbalance: (-y[F], 0.0), lower_shift=list, raise_shift=list
    )
    monkeypatch.setattr(active_set, "Face", lambda gram: circle)
    monkeypatch.setattr(active_set, "_monotone", lambda *arguments: True)
    gram, half = StoredGram(np.zeros((4, 4))), np.array([True, True, False, False])
    state = DualState(gram, y, np.ones(4), np.zeros(4), half)
    active_set.run_rounds(state, 1000, nearly_right=nearly_right)
    assert state.message == f"{rounds} primal-dual and 0 monotone rounds"
