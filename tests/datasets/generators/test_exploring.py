"""Gaussian clouds, XOR and forest-like data compared with theory, and invalid arguments."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

from svmbook.datasets import (
    draw_split,
    forest_like,
    non_separable,
    non_separable_bayes_error,
    stdev,
    stdev_bayes_error,
    xor,
)

N_POINTS = 200_000
GENERATORS = [lambda n=400, **k: stdev(2, n, **k), non_separable, forest_like]


@pytest.mark.parametrize("sd", [1, 2, 4])
def test_bayes_error_of_stdev_agrees_with_simulation(sd):
    X, y = stdev(sd, n=N_POINTS, random_state=0)
    error = (np.sign(X.sum(axis=1)) != y).mean()
    expected = stdev_bayes_error(sd)
    assert error == pytest.approx(expected, abs=4 * np.sqrt(expected / N_POINTS))
    means = [X[y == sign].mean(axis=0) for sign in (-1, 1)]
    assert np.linalg.norm(means[1] - means[0]) == pytest.approx(5.4, abs=0.02 * sd)
    assert X[y > 0].std(axis=0) == pytest.approx([sd, sd], rel=0.02)


def test_bayes_error_of_non_separable_agrees_with_simulation():
    X, y = non_separable(n=N_POINTS, random_state=0)
    error = (np.sign(X.prod(axis=1)) != y).mean()
    assert error == pytest.approx(non_separable_bayes_error(), abs=0.002)
    assert non_separable_bayes_error() == pytest.approx(0.05, abs=5e-4)


@pytest.mark.parametrize("n", [2, 3, 40, 401])
@pytest.mark.parametrize("draw", [lambda n, **k: stdev(2, n, **k), non_separable])
def test_half_of_the_points_are_positive(draw, n):
    X, y = draw(n, random_state=0)
    assert X.shape == (n, 2)
    assert ((y == 1).sum(), (y == -1).sum()) == (n // 2, n - n // 2)


def test_numbers_of_points_in_clouds_of_non_separable_are_random():
    X, y = non_separable(n=N_POINTS, random_state=0)
    frequencies = [(y[X[:, 0] > 0] == sign).mean() for sign in (-1, 1)]
    assert frequencies == pytest.approx([0.5, 0.5], abs=0.01)
    far_points = X[np.abs(X).min(axis=1) > 0.5]  # almost all in the quadrant of their cloud
    counts = np.unique(np.sign(far_points), axis=0, return_counts=True)[1]
    assert counts / len(far_points) == pytest.approx(np.full(4, 0.25), abs=0.01)
    # If the numbers of points in the clouds were equal, this count would vary only because 2.6 % of
    # the points lie across the vertical axis from their centre. Its standard deviation would be 3
    # instead of 10.
    right_half_counts = [
        (non_separable(random_state=seed)[0][:, 0] > 0).sum() for seed in range(50)
    ]
    assert np.std(right_half_counts) == pytest.approx(10, abs=3)


def test_best_line_for_non_separable_has_error_of_31_percent():
    X, y = non_separable(n=N_POINTS, random_state=0)
    accuracies = []
    for angle in np.linspace(0, np.pi, 24, endpoint=False):
        projection = X @ [np.cos(angle), np.sin(angle)]
        accuracies += [((projection > t) == (y > 0)).mean() for t in np.linspace(-4, 4, 17)]
    best_error = 0.5 - np.abs(np.array(accuracies) - 0.5).max()  # of both orientations
    assert best_error == pytest.approx(0.31, abs=0.005)
    assert ((X.sum(axis=1) > 0) == (y > 0)).mean() == pytest.approx(0.5, abs=0.005)


@pytest.mark.parametrize("draw", GENERATORS)
def test_data_depend_on_seed_and_classes_are_balanced_and_shuffled(draw):
    X, y = draw(n=400, random_state=3)
    assert np.array_equal(X, draw(n=400, random_state=3)[0])
    assert not np.array_equal(X, draw(n=400, random_state=4)[0])
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert abs(y.sum()) <= 60
    assert abs(y[:200].sum()) < 100


def test_three_parts_differ_and_are_reproducible():
    parts = draw_split(non_separable, random_state=0)
    repeated_parts = draw_split(non_separable, random_state=0)
    assert len({tuple(X[0]) for X, _ in parts}) == 3
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(parts, repeated_parts, strict=True))


def test_xor_labels_are_products():
    X, y = xor(5)
    assert np.array_equal(y, X.prod(axis=1))
    assert len(X) == 20


def test_xor_noise_is_standard_deviation_and_does_not_change_labels():
    corners, y = xor(20_000)
    X, y_noisy = xor(20_000, noise=0.3, random_state=0)
    assert (X - corners).std(axis=0) == pytest.approx([0.3, 0.3], rel=0.02)
    assert np.array_equal(y, y_noisy)


def test_forest_like_has_correlated_measurements_and_two_groups_of_indicators():
    X, _ = forest_like(5040, random_state=0)
    assert X.shape == (5040, 54)
    assert X[:, :10].std(axis=0) == pytest.approx(np.ones(10))
    assert np.abs(X[:, :10].mean(axis=0)).max() < 0.1
    assert np.abs(np.corrcoef(X[:, :10].T) - np.eye(10)).max() > 0.3
    # The indicators depend on the measurements, and both groups of indicators sum to one.
    assert np.abs(np.corrcoef(X.T)[:10, 10:]).max() > 0.1
    assert np.array_equal(X[:, 10:14].sum(axis=1), np.ones(5040))
    assert np.array_equal(X[:, 14:].sum(axis=1), np.ones(5040))
    assert np.linalg.matrix_rank(X) == 53


@pytest.mark.parametrize("seed", range(3))
def test_linear_classifier_has_error_of_20_percent_on_forest_like(seed):
    X, y = forest_like(20_000, random_state=seed)
    model = RidgeClassifier().fit(X[:10_000], y[:10_000])
    assert 1 - model.score(X[10_000:], y[10_000:]) == pytest.approx(0.2, abs=0.02)
    assert (y > 0).mean() == pytest.approx(0.5, abs=0.02)


def test_seed_of_forest_like_changes_the_problem():
    X, y = forest_like(5000, random_state=0)
    assert RidgeClassifier().fit(X, y).score(*forest_like(5000, random_state=1)) < 0.7


@pytest.mark.parametrize(
    ("n", "exception"), [(-1, ValueError), (0, ValueError), (1, ValueError), (4.0, TypeError)]
)
@pytest.mark.parametrize("draw", GENERATORS)
def test_invalid_number_of_points_is_refused(draw, n, exception):
    with pytest.raises(exception, match=r"n == .*, must be >= 2|n must be an instance of int"):
        draw(n)


@pytest.mark.parametrize(
    ("sd", "message"),
    [(0, "positive"), (-1, "positive"), (np.nan, "positive and finite"), (np.inf, "finite")],
)
@pytest.mark.parametrize("function", [stdev, stdev_bayes_error])
def test_invalid_standard_deviation_is_refused(function, sd, message):
    with pytest.raises(ValueError, match=f"sd must be .*{message}"):
        function(sd)
    with pytest.raises(TypeError, match="sd must be a number"):
        function("wide")


def test_invalid_arguments_of_xor_are_refused():
    with pytest.raises(ValueError, match="n_per_corner == 0, must be >= 1"):
        xor(0)
    with pytest.raises(TypeError, match="n_per_corner must be an instance of int"):
        xor(1.5)
    for noise in (-0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"noise must be nonnegative and finite"):
            xor(noise=noise)


def test_three_parts_refuses_invalid_seeds():
    with pytest.raises(ValueError, match="random_state == -1, must be >= 0"):
        draw_split(non_separable, random_state=-1)
    with pytest.raises(TypeError, match="random_state must be an instance of int"):
        draw_split(non_separable, random_state=np.random.RandomState(0))
