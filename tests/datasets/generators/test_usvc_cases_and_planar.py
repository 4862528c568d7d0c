"""Data of the USVC paper and planar data of the prototype thesis, compared with theory."""

import numpy as np
import pytest
from scipy.stats import norm

from svmbook.datasets import (
    isolated,
    isolated_bayes_error,
    spirals,
    striated,
    striated_bayes_error,
    usvc_case_a,
    usvc_case_b,
    usvc_threshold_error,
)
from svmbook.datasets.generators.planar import CLUSTER_CENTRES, DEFAULT_SPREAD, MAX_SPREAD

N_POINTS = 100_000


def check_error(error, expected):
    """Assert that an error on N_POINTS points is within four standard errors of a probability."""
    assert error == pytest.approx(expected, abs=4 * np.sqrt(expected / N_POINTS))


@pytest.mark.parametrize(("case", "draw"), [("a", usvc_case_a), ("b", usvc_case_b)])
@pytest.mark.parametrize("threshold", [0.17, 0.21, 0.4, 0.5, 0.6])
def test_errors_of_thresholds_agree_with_theory(case, draw, threshold):
    X, y = draw(N_POINTS, random_state=0)
    error = (np.where(X[:, 0] > threshold, 1, -1) != y).mean()
    check_error(error, usvc_threshold_error(case, threshold))


@pytest.mark.parametrize(
    ("case", "minima"), [("a", {0.16: 23.0, 0.5: 19.1}), ("b", {0.21: 17.9, 0.5: 20.0})]
)
def test_both_cases_have_the_two_minima_of_the_paper(case, minima):
    thresholds = np.linspace(0.01, 0.69, 6801)
    errors = usvc_threshold_error(case, thresholds)
    is_minimum = (errors[1:-1] < errors[:-2] - 1e-12) & (errors[1:-1] <= errors[2:] + 1e-12)
    minimum_points = zip(thresholds[1:-1][is_minimum], errors[1:-1][is_minimum], strict=True)
    assert {round(float(t), 2): round(100 * float(e), 1) for t, e in minimum_points} == minima


def test_positive_points_of_case_b_are_distributed_as_in_the_paper():
    X, y = usvc_case_b(N_POINTS, random_state=0)
    positive = X[y > 0, 0]
    uniform_part = positive[positive > 0.5]
    assert len(uniform_part) / len(positive) == pytest.approx(1 / 1.4, abs=0.005)
    assert uniform_part.min() == pytest.approx(0.7, abs=1e-3)
    assert uniform_part.max() == pytest.approx(0.95, abs=1e-3)
    assert uniform_part.mean() == pytest.approx(0.825, abs=1e-3)


@pytest.mark.parametrize("draw", [usvc_case_a, usvc_case_b])
def test_both_classes_are_present(draw):
    for seed in range(50):
        assert set(draw(2, random_state=seed)[1]) == {-1.0, 1.0}


@pytest.mark.parametrize("spread", [DEFAULT_SPREAD, 0.07])
def test_isolated_has_gaussian_clusters_and_background_outside_their_circles(spread):
    X, y = isolated(N_POINTS, spread=spread, random_state=0)
    distances = np.linalg.norm(X[:, None] - CLUSTER_CENTRES, axis=2)
    relative_distance, nearest = distances.min(axis=1) / spread, distances.argmin(axis=1)
    assert relative_distance[y < 0].min() > 3
    check_error((np.where(relative_distance < 3, 1, -1) != y).mean(), isolated_bayes_error())
    assert (y > 0).mean() == 0.375
    assert (y[: N_POINTS // 10] > 0).mean() == pytest.approx(0.375, abs=0.02)  # in random order
    positive, cluster = X[y > 0], nearest[y > 0]
    assert np.bincount(cluster) / len(cluster) == pytest.approx(np.full(3, 1 / 3), abs=0.002)
    deviations = (positive - CLUSTER_CENTRES[cluster]).std(axis=0)
    assert deviations == pytest.approx([spread, spread], rel=0.01)


def test_background_of_isolated_is_uniform():
    X, y = isolated(N_POINTS, random_state=0)
    x_below_clusters = X[(y < 0) & (X[:, 1] < 0.09)][:, 0]  # below all clusters
    frequencies = np.histogram(x_below_clusters, 5, (0, 1))[0] / len(x_below_clusters)
    assert frequencies == pytest.approx(np.full(5, 0.2), abs=0.03)
    assert X[y < 0].max(axis=0) == pytest.approx([1, 1], abs=0.001)


def test_circles_of_isolated_are_disjoint_and_inside_the_square():
    pairwise_distances = np.linalg.norm(CLUSTER_CENTRES[:, None] - CLUSTER_CENTRES, axis=2)
    centre_distances = pairwise_distances[np.triu_indices(3, 1)]
    border_distances = np.minimum(CLUSTER_CENTRES, 1 - CLUSTER_CENTRES)
    assert min(centre_distances.min() / 2, border_distances.min()) >= 3 * MAX_SPREAD


def test_stripes_alternate_in_class_are_equally_likely_and_have_the_default_length():
    X, y = striated(N_POINTS, n_stripes=6, width=0.1, random_state=0)
    stripe = np.round(X[:, 0]).astype(int)
    assert np.bincount(stripe) / N_POINTS == pytest.approx(np.full(6, 1 / 6), abs=0.01)
    assert np.array_equal(y > 0, stripe % 2 == 0)
    assert X[:, 1].std() == pytest.approx(2, rel=0.01)


def test_tilt_rotates_the_stripes():
    upright, y = striated(N_POINTS, n_stripes=4, length=8.0, random_state=0)
    tilted, y_tilted = striated(N_POINTS, n_stripes=4, length=8.0, tilt=30.0, random_state=0)
    np.testing.assert_array_equal(y, y_tilted)
    centre = np.array([1.5, 0.0])
    rotated_back = (tilted - centre) @ [[np.sqrt(3) / 2, -0.5], [0.5, np.sqrt(3) / 2]] + centre
    np.testing.assert_allclose(rotated_back, upright, atol=1e-9)
    assert upright[:, 1].std() == pytest.approx(8, rel=0.01)
    # The rotation is anticlockwise: the upper end of a stripe moves to the left.
    assert np.corrcoef(tilted.T)[0, 1] < 0


@pytest.mark.parametrize(("n_stripes", "width"), [(2, 0.01), (2, 0.12), (8, 0.12)])
def test_bayes_error_of_narrow_stripes_is_due_to_neighbours(n_stripes, width):
    expected = norm.sf(0.5 / width) * 2 * (n_stripes - 1) / n_stripes
    assert striated_bayes_error(n_stripes, width) == pytest.approx(expected, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize(("n_stripes", "width"), [(2, 0.2), (8, 0.2), (6, 0.6)])
def test_error_of_nearest_stripe_agrees_with_theory(n_stripes, width):
    X, y = striated(N_POINTS, n_stripes=n_stripes, width=width, random_state=0)
    nearest = np.clip(np.round(X[:, 0]), 0, n_stripes - 1)
    error = (np.where(nearest % 2 == 0, 1, -1) != y).mean()
    check_error(error, striated_bayes_error(n_stripes, width))


def test_bayes_error_of_wide_stripes_agrees_with_simulation():
    X, y = striated(200_000, n_stripes=4, width=1.5, random_state=0)
    density = np.exp(-0.5 * ((X[:, :1] - np.arange(4)) / 1.5) ** 2)
    predicted = np.where(density[:, ::2].sum(axis=1) > density[:, 1::2].sum(axis=1), 1.0, -1.0)
    expected = striated_bayes_error(n_stripes=4, width=1.5)
    assert (predicted != y).mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / len(y)))


def test_spirals_follow_their_formula():
    X, y = spirals()
    assert X.shape == (194, 2) and y.sum() == 0
    arm = X[y > 0]
    np.testing.assert_array_equal(X[y < 0], -arm)
    radius = np.linalg.norm(arm, axis=1)
    np.testing.assert_allclose(radius, 6.5 * (104 - np.arange(97)) / 104)
    angle = np.unwrap(np.arctan2(arm[:, 0], arm[:, 1]))
    np.testing.assert_allclose(angle, np.arange(97) * np.pi / 16, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: isolated(2), "n == 2"),
        (lambda: isolated(spread=0.08), "spread"),
        (lambda: isolated(spread=0.0), "spread"),
        (lambda: isolated(spread=np.nan), "spread"),
        (lambda: striated(1), "n == 1"),
        (lambda: striated(n_stripes=3), "even"),
        (lambda: striated(width=0.0), "width must be positive"),
        (lambda: striated(width=np.nan), "finite"),
        (lambda: striated(tilt=np.nan), "tilt"),
        (lambda: striated(tilt=np.inf), "tilt"),
        (lambda: usvc_case_a(1), "n == 1"),
        (lambda: usvc_threshold_error("c", 0.5), "'c'"),
    ],
)
def test_invalid_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("draw", [isolated, striated, usvc_case_a])
def test_data_depend_on_seed(draw):
    X, _ = draw(random_state=3)
    np.testing.assert_array_equal(X, draw(random_state=3)[0])
    assert not np.array_equal(X, draw(random_state=4)[0])
