"""restricted_program: the sparse dual program has the optimum of the primal program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from svmbook.datasets import twonorm
from svmbook.solvers.boosting.restricted_program import RestrictedProgram
from svmbook.solvers.boosting.stumps import MidpointStumps


def random_columns(seed, n=25, k=12):
    """Return columns of -1 and +1; the second half consists of noisy copies of the first."""
    rng = np.random.default_rng(seed)
    columns = np.where(rng.random((n, k)) < 0.6, 1.0, -1.0)
    noise = np.where(rng.random((n, k)) < 0.1, -1.0, 1.0)
    return np.column_stack([columns, columns * noise * np.where(np.arange(k) % 2 == 0, 1.0, -1.0)])


def largest_margin(columns):
    """Return the margin of the primal program over weights that sum to one."""
    n, k = columns.shape
    solution = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=np.column_stack([-columns, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(k), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0, None)] * k, (None, None)],
    )
    return -solution.fun


@pytest.mark.parametrize("seed", range(5))
def test_soft_margin_is_optimal_for_all_added_hypotheses(seed):
    columns, C = random_columns(seed), np.random.default_rng(seed).uniform(0.1, 0.5, 25)
    program = RestrictedProgram(C)
    for part in np.array_split(columns, 5, axis=1):
        program.add(part)
        weights, u, beta = program.solve()
    edges = u @ columns
    assert beta == 1.0 and edges.max() <= 1 + 1e-9 and (u >= 0).all() and (u <= C).all()
    slack = np.maximum(0.0, 1.0 - program.columns @ weights)
    assert (weights >= 0).all() and weights.any()
    assert weights.sum() + C @ slack == pytest.approx(u.sum(), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_hard_margin_is_the_largest_margin(seed):
    columns = random_columns(seed)
    program = RestrictedProgram(np.full(25, np.inf))
    for part in np.array_split(columns, 5, axis=1):
        program.add(part)
        weights, u, beta = program.solve()
    assert weights.sum() == pytest.approx(1.0) and u.sum() == pytest.approx(1.0)
    assert beta == pytest.approx(largest_margin(columns), abs=1e-9)
    assert (program.columns @ weights).min() == pytest.approx(beta, abs=1e-9)
    assert (u @ columns).max() == pytest.approx(beta, abs=1e-9)


def test_hypotheses_with_equal_outputs_are_added_once():
    columns = random_columns(0)[:, :4]
    program = RestrictedProgram(np.ones(25))
    assert program.add(columns[:, [0, 1, 0]]).tolist() == [0, 1]
    assert program.add(columns[:, [1, 2, 0, 3, 3]]).tolist() == [1, 3]
    assert program.add(columns).tolist() == [] and program.add(-columns).tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(program.columns, np.column_stack([columns, -columns]))


def test_coefficients_of_stumps_are_sparse():
    # With all stumps of a feature, consecutive thresholds differ in the output at one point.
    n, d = 50, 4
    X, y = twonorm(n, d=d, random_state=0)
    stumps = MidpointStumps(X)
    outputs = [np.where(X[:, [j]] > stumps.thresholds[j], 1.0, -1.0) for j in range(d)]
    program = RestrictedProgram(np.ones(n))
    program.add(y[:, None] * np.column_stack(outputs))
    assert program.columns.shape == (n, d * (n - 1) + 1)
    assert program._differences.nnz <= n + d * (n - 1)
