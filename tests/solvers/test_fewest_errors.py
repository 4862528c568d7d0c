"""The smallest number of errors of a line agrees with a search over lines through two points."""

from itertools import combinations

import numpy as np
import pytest

from svmbook import DualSVC
from svmbook.solvers import solve_fewest_errors


def brute_force_fewest_errors(X, y):
    """Return the smallest number of errors, found by trying all lines through two points.

    A small rotation and shift puts the two points of such a line on their correct sides. Every
    other line makes at least as many errors as one of these or as a constant prediction.
    """
    fewest = min((y > 0).sum(), (y < 0).sum())
    for i, j in combinations(range(len(y)), 2):
        normal = np.array([X[i, 1] - X[j, 1], X[j, 0] - X[i, 0]])
        margins = y * ((X - X[i]) @ normal)
        margins[[i, j]] = 0.0
        fewest = min(fewest, (margins < 0).sum(), (margins > 0).sum())
    return fewest


def draw_points(seed, n):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return rng.standard_normal((n, 2)) + np.outer(y, [rng.uniform(0, 1.5), 0.0]), y


@pytest.mark.parametrize("seed", range(12))
def test_result_agrees_with_search_over_lines_through_two_points(seed):
    X, y = draw_points(seed, 15 + 2 * seed)
    result = solve_fewest_errors(X, y)
    assert result.n_errors == result.lower_bound == brute_force_fewest_errors(X, y)
    assert result.converged
    assert (y * (X @ result.w + result.intercept) <= 0).sum() == result.n_errors


def test_scale_and_origin_of_features_do_not_matter():
    X, y = draw_points(3, 20)
    transformed = X * [1e-6, 1e5] + [3.0, -2e6]
    assert solve_fewest_errors(transformed, y).n_errors == solve_fewest_errors(X, y).n_errors


def test_no_svm_makes_fewer_errors():
    for seed in range(5):
        X, y = draw_points(seed, 30)
        fewest = min((DualSVC(C=C).fit(X, y).predict(X) != y).sum() for C in (0.1, 1.0, 100.0))
        assert solve_fewest_errors(X, y).n_errors <= fewest


def test_equal_points_of_both_labels_cause_one_error():
    X = np.array([[0.0, 7.0], [0.0, 7.0], [1.0, 7.0]])
    assert solve_fewest_errors(X, [1, -1, 1]).n_errors == 1


def test_bound_holds_after_the_time_limit():
    X, y = draw_points(0, 60)
    result = solve_fewest_errors(X, y, time_limit=1e-3)
    assert result.lower_bound <= brute_force_fewest_errors(X, y) <= result.n_errors


@pytest.mark.parametrize(
    "invalid_option", [{"min_output": 0.0}, {"min_output": 1e-6}, {"time_limit": -1.0}]
)
def test_numbers_out_of_range_are_reported(invalid_option):
    with pytest.raises(ValueError, match=next(iter(invalid_option))):
        solve_fewest_errors([[0.0], [1.0]], [-1, 1], **invalid_option)
