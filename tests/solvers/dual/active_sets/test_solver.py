"""The active-set solver: exactness, by the optimality conditions and against other solvers."""

import numpy as np
import pytest
from bench_small import draw_dual_problem
from hypothesis import given
from hypothesis import strategies as st
from svm_problems import gram, kkt_violation, objectives, overlapping_problem, svm_problems

from svmbook.gram import StoredGram
from svmbook.kernels import gaussian
from svmbook.solvers import solve_active_set, solve_dual, solve_libsvm, svm_path
from svmbook.solvers.dual.active_sets.state import DualState

KERNELS = ["linear", "gaussian", "polynomial", "laplacian"]


def assert_exact(result, K, y, C):
    """Assert that alpha is feasible and exact up to rounding, with a correct KKT residual."""
    C = np.broadcast_to(C, y.shape)
    scale = np.diagonal(K).mean()
    assert result.converged, result
    assert ((result.alpha >= 0) & (result.alpha <= C)).all()
    assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()
    violation = kkt_violation(result.alpha, result.intercept, K, y, C)
    assert violation <= 1e-9 * max(1.0, scale * C.min())
    rounding = 1e-13 * (1.0 + np.abs(K).max() * result.alpha.sum())
    assert result.kkt_residual == pytest.approx(violation, abs=rounding)


@given(problem=svm_problems(), kernel=st.sampled_from(KERNELS))
def test_solution_is_exact_and_no_worse_than_that_of_the_interior_point_method(problem, kernel):
    X, y, C = problem
    K = gram(X, kernel)
    K = K / (np.diagonal(K).mean() or 1.0)
    result = solve_active_set(K, y, C)
    assert_exact(result, K, y, C)
    interior_point_result = solve_dual(K, y, C, tol=1e-8)
    rounding = 1e-15 * result.alpha.sum() * max(10.0, result.alpha.sum())
    assert result.dual_objective >= interior_point_result.dual_objective - rounding


@pytest.mark.parametrize("C", [1e-4, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("gamma", [2.0**-9, 0.1, 2.0])
def test_problem_with_start_from_a_quarter_of_the_points_is_solved(gamma, C):
    K, y = overlapping_problem(450, gamma=gamma)
    result = solve_active_set(K, y, C)
    assert_exact(result, K, y, C)
    if C <= 100:
        libsvm_result = solve_libsvm(K, y, C)
        assert result.dual_objective >= libsvm_result.dual_objective * (1 - 1e-12)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_rank_deficient_faces_are_solved(rank, C):
    # During the iterations the number of free points exceeds the rank.
    rng = np.random.default_rng(rank)
    X = np.repeat(rng.standard_normal((60, rank)), 4, axis=0)
    y = np.where(rng.random(240) < 0.5, 1.0, -1.0)
    K = X @ X.T
    assert_exact(solve_active_set(K, y, C), K, y, C)


@pytest.mark.parametrize("gamma", [1e-8, 1e-7])
@pytest.mark.parametrize("seed", range(10))
def test_nearly_constant_kernel_is_solved_to_rounding_error(gamma, seed):
    # The matrix has numerical rank two, so steps on its faces are mostly rounding errors.
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((50, 1)), np.where(rng.random(50) < 0.5, 1.0, -1.0)
    C = 1e4 * rng.uniform(0.2, 5.0, 50)
    K = gaussian(X, gamma=gamma)
    result = solve_active_set(K, y, C)
    assert_exact(result, K, y, C)
    assert kkt_violation(result.alpha, result.intercept, K, y, C) <= 1e-12 * C.min()
    assert result.n_iter <= 3 * len(y)


@pytest.mark.parametrize("seed", range(40))
def test_faces_of_indicator_features_are_factored(seed):
    # On a face of indicator features some columns are constant up to rounding.
    rng = np.random.default_rng(seed)
    n_groups = rng.integers(3, 15)
    X = np.eye(n_groups)[rng.integers(0, n_groups, 150)]
    y = np.where(rng.random(150) < rng.random(n_groups)[X.argmax(axis=1)], 1.0, -1.0)
    y[:2] = 1.0, -1.0
    result = solve_dual(X, y, 1.0, form="low-rank")
    assert_exact(result, X @ X.T, y, 1.0)


@pytest.mark.parametrize("order", ["sorted", "alternating"])
def test_order_of_the_points_does_not_matter(order):
    K, y = overlapping_problem(400)
    permutation = np.argsort(y, kind="stable")
    if order == "alternating":
        permutation = permutation.reshape(2, 200).T.ravel()
    result = solve_active_set(K, y, 10.0)
    permuted_result = solve_active_set(K[np.ix_(permutation, permutation)], y[permutation], 10.0)
    np.testing.assert_allclose(permuted_result.alpha, result.alpha[permutation], atol=1e-9)


def test_multipliers_at_bounds_up_to_rounding_are_not_free():
    K, _ = overlapping_problem(500, gamma=1e-3)
    y = np.where(np.arange(500) % 2 == 0, 1.0, -1.0)
    result = solve_active_set(K, y, 1e-3)
    free = (result.alpha > 0) & (result.alpha < 1e-3)
    assert not (free & ((result.alpha < 1e-16) | (result.alpha > 1e-3 - 1e-16))).any()
    beta = np.where(np.arange(500) < 498, y * 1.0, 0.0)
    beta[0], beta[499] = 1.0 - 1e-16, -7e-17
    state = DualState(StoredGram(K), y, np.ones(500), beta, np.arange(500) == 0)
    state.snap_to_bounds()
    assert state.beta[0] == 1.0
    assert state.beta[499] == 0.0
    assert not state.free.any()


def test_multiplier_at_a_tiny_upper_bound_stays_there():
    K, _ = overlapping_problem(500)
    y, C = np.where(np.arange(500) % 2 == 0, 1.0, -1.0), np.ones(500)
    C[:2] = 1e-14
    state = DualState(StoredGram(K), y, C, y * C, np.zeros(500, dtype=bool))
    state.snap_to_bounds()
    np.testing.assert_array_equal(state.beta, y * C)


@pytest.mark.parametrize("dtype", [np.float32, int, bool])
def test_blocks_may_have_any_real_dtype(dtype):
    groups = np.random.default_rng(0).permutation(260) % 7
    K = (groups[:, None] == groups).astype(float)
    y = np.where(np.arange(260) % 3 == 0, 1.0, -1.0)
    stored_result = solve_active_set(K, y, 1.0)

    def block(rows, columns):
        values = K[np.ix_(rows, columns)].astype(dtype)
        rows[:] = 0  # harmless, because the solver passes copies of its indices
        return values

    computed_result = solve_active_set(block, y, 1.0)
    assert computed_result.converged
    assert computed_result.dual_objective == pytest.approx(stored_result.dual_objective, rel=1e-12)


def test_blocks_with_a_negative_diagonal_raise():
    with pytest.raises(ValueError, match=r"some K\(i, i\) is negative"):
        solve_active_set(lambda r, c: -1.0 * (r[:, None] == c), np.array([1.0, -1.0]), 1.0)


def test_points_may_have_different_upper_bounds():
    K, y = overlapping_problem(240)
    C = np.random.default_rng(1).uniform(0.2, 5.0, 240)
    result = solve_active_set(K, y, C)
    assert_exact(result, K, y, C)
    assert (result.alpha[result.alpha > 0.999 * C] == C[result.alpha > 0.999 * C]).all()


@pytest.mark.parametrize("max_iter", [1, 2, 5, 30])
def test_result_at_the_iteration_limit_is_feasible_and_reports_its_gap(max_iter):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.7 * rng.standard_normal(300) > 0, 1.0, -1.0)
    K, C = gaussian(X, gamma=0.05), 1e4  # some 300 iterations are needed
    result = solve_active_set(K, y, C, max_iter=max_iter)
    assert not result.converged
    assert "iteration limit reached" in result.message
    assert ((result.alpha >= 0) & (result.alpha <= C)).all()
    assert abs(y @ result.alpha) <= 1e-12 * result.alpha.sum()
    primal, dual = objectives(result.alpha, result.intercept, K, y, C)
    assert primal - dual == pytest.approx(result.gap, rel=1e-9)
    assert 0.0 <= result.dual_objective <= solve_active_set(K, y, C).dual_objective


def test_indefinite_kernel_raises():
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"not positive semi-definite.*free points"):
        solve_active_set(np.tanh(X @ X.T - 1.0) + 2.0 * np.eye(60), y, 10.0)


@pytest.mark.parametrize("n", [80, 500])
def test_computed_blocks_give_the_same_solution_as_a_stored_matrix(n):
    K, y = overlapping_problem(n)
    stored_result = solve_active_set(K, y, 10.0)
    computed_result = solve_active_set(lambda rows, columns: K[np.ix_(rows, columns)], y, 10.0)
    np.testing.assert_allclose(computed_result.alpha, stored_result.alpha, atol=1e-9)
    assert computed_result.kkt_residual < 1e-11


@pytest.mark.parametrize(
    "invalid_block",
    [
        lambda r, c: np.ones((len(r), 1)),
        lambda r, c: np.full((len(r), len(c)), 1j),
        lambda r, c: np.full((len(r), len(c)), "1"),
    ],
)
def test_blocks_of_wrong_shape_or_type_raise(invalid_block):
    with pytest.raises(ValueError, match=r"must return real numbers of shape \(3, 3\)"):
        solve_active_set(invalid_block, np.array([1.0, -1.0, 1.0]), 1.0)


def test_blocks_that_are_not_finite_raise():
    with pytest.raises(ValueError, match=r"K\(rows, columns\) returned values that are not finite"):
        solve_active_set(
            lambda r, c: np.full((len(r), len(c)), np.nan), np.array([1.0, -1.0, 1.0]), 1.0
        )


@pytest.mark.parametrize("gamma", [2.0**-7, 2.0**-3, 0.5])
def test_path_has_the_solution_for_each_C(gamma):
    K, y = overlapping_problem(250, gamma=gamma)
    Cs = [2.0**k for k in range(-5, 16, 2)]
    for C, result in zip(Cs, svm_path(K, y, Cs), strict=True):
        assert_exact(result, K, y, C)
        separate_result = solve_active_set(K, y, C)
        assert result.dual_objective == pytest.approx(separate_result.dual_objective, rel=1e-10)


def test_path_keeps_the_order_of_Cs():
    K, y = overlapping_problem(120)
    Cs = [10.0, 0.1, 10.0, 1.0]
    for C, result in zip(Cs, svm_path(K, y, Cs), strict=True):
        assert result.alpha.max() == pytest.approx(C) or C == 10.0
        assert_exact(result, K, y, C)


def test_path_multiplies_C_by_the_weights():
    K, y = overlapping_problem(150)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 150)
    for C, result in zip([0.5, 5.0], svm_path(K, y, [0.5, 5.0], weights=weights), strict=True):
        assert_exact(result, K, y, C * weights)


def test_path_needs_no_iteration_once_no_multiplier_is_at_its_bound():
    K, y = overlapping_problem(150, gamma=2.0)
    first, second, third = svm_path(K, y, (C for C in (1e3, 1e6, 1e6)))
    assert third.alpha is not second.alpha
    np.testing.assert_array_equal(first.alpha, second.alpha)
    assert second.n_iter == 0
    assert second.converged


@pytest.mark.parametrize(
    ("Cs", "message"),
    [
        ([], "list of values of C"),
        (1.0, "list of values of C"),
        (["a"], "list of values of C"),
        ([1.0, 0.0], "Cs must be positive"),
        ([[1.0, 2.0]], "list of values of C"),
    ],
)
def test_invalid_Cs_raise(Cs, message):
    with pytest.raises(ValueError, match=message):
        svm_path(np.eye(2), [1, -1], Cs)


def test_overflowing_bounds_of_a_path_raise():
    with pytest.raises(ValueError, match="Cs times weights must be positive and finite"):
        svm_path(np.eye(2), [1, -1], [1.0, 1e200], weights=[1e200, 1.0])


def test_multipliers_that_are_tiny_relative_to_a_huge_C_are_kept():
    # One multiplier is 3e-8 and C is 1e5. Without this multiplier, the gap would be 1e-5.
    _, K, y, C = draw_dual_problem(2814)
    result = solve_active_set(K, y, C)
    assert result.relative_gap <= 1e-9
    assert 0 < result.alpha[result.alpha > 0].min() < 1e-12 * C.min()
