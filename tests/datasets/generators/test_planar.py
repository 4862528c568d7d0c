"""The data of the USVC paper and of the prototype thesis against their descriptions."""

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
from svmbook.datasets.generators.planar import CENTRES, CLUSTER, WIDEST

MANY = 100_000


@pytest.mark.parametrize(("case", "draw"), [("a", usvc_case_a), ("b", usvc_case_b)])
@pytest.mark.parametrize("threshold", [0.17, 0.21, 0.4, 0.5, 0.6])
def test_thresholds_err_as_often_as_theory_says(case, draw, threshold):
    X, y = draw(MANY, random_state=0)
    error = (np.where(X[:, 0] > threshold, 1, -1) != y).mean()
    expected = usvc_threshold_error(case, threshold)
    assert error == pytest.approx(expected, abs=4 * np.sqrt(expected / MANY))


@pytest.mark.parametrize(
    ("case", "minima"), [("a", {0.16: 23.0, 0.5: 19.1}), ("b", {0.21: 17.9, 0.5: 20.0})]
)
def test_both_cases_have_the_two_minima_of_the_paper(case, minima):
    t = np.linspace(0.01, 0.69, 6801)
    error = usvc_threshold_error(case, t)
    inner = (
        np.flatnonzero((error[1:-1] < error[:-2] - 1e-12) & (error[1:-1] <= error[2:] + 1e-12)) + 1
    )
    found = {round(float(t[i]), 2): round(100 * float(error[i]), 1) for i in inner}
    assert found == minima


def test_the_positive_points_of_case_b_lie_where_the_paper_draws_them():
    X, y = usvc_case_b(MANY, random_state=0)
    positive = X[y > 0, 0]
    wide = positive > 0.5
    assert wide.mean() == pytest.approx(1 / 1.4, abs=0.005)
    assert positive[wide].min() == pytest.approx(0.7, abs=1e-3)
    assert positive[wide].max() == pytest.approx(0.95, abs=1e-3)
    assert positive[wide].mean() == pytest.approx(0.825, abs=1e-3)


def test_an_unknown_case_is_named():
    with pytest.raises(ValueError, match="'c'"):
        usvc_threshold_error("c", 0.5)


@pytest.mark.parametrize("draw", [usvc_case_a, usvc_case_b])
def test_both_classes_are_present(draw):
    for seed in range(50):
        assert set(draw(2, random_state=seed)[1]) == {-1.0, 1.0}


def test_isolated_is_empty_around_its_clusters():
    X, y = isolated(MANY, random_state=0)
    distance = np.linalg.norm(X[:, None] - CENTRES, axis=2).min(axis=1) / CLUSTER
    assert distance[y < 0].min() > 3
    error = (np.where(distance < 3, 1, -1) != y).mean()
    expected = isolated_bayes_error()
    assert error == pytest.approx(expected, abs=4 * np.sqrt(expected / MANY))
    assert (y > 0).mean() == 0.375


def test_the_clusters_of_isolated_are_equally_large_and_round():
    X, y = isolated(MANY, random_state=0)
    inside = X[y > 0]
    nearest = np.linalg.norm(inside[:, None] - CENTRES, axis=2).argmin(axis=1)
    assert np.bincount(nearest) / len(inside) == pytest.approx(np.full(3, 1 / 3), abs=0.001)
    assert (inside - CENTRES[nearest]).std(axis=0) == pytest.approx([0.05, 0.05], rel=0.01)
    assert (y[: MANY // 10] > 0).mean() == pytest.approx(0.375, abs=0.02)  # in random order


def test_the_background_of_isolated_is_uniform():
    X, y = isolated(MANY, random_state=0)
    strip = X[(y < 0) & (X[:, 1] < 0.09)][:, 0]  # below all clusters
    assert np.histogram(strip, 5, (0, 1))[0] / len(strip) == pytest.approx(
        np.full(5, 0.2), abs=0.03
    )
    assert X[y < 0].max(axis=0) == pytest.approx([1, 1], abs=0.001)


def test_stripes_are_equally_likely_and_long():
    X, y = striated(MANY, stripes=6, width=0.1, random_state=0)
    stripe = np.round(X[:, 0]).astype(int)
    assert np.bincount(stripe) / MANY == pytest.approx(np.full(6, 1 / 6), abs=0.01)
    assert np.array_equal(y > 0, stripe % 2 == 0)
    assert X[:, 1].std() == pytest.approx(2, rel=0.01)


def test_the_clusters_of_isolated_lie_inside_the_square():
    reach = 3 * CLUSTER
    assert (reach < CENTRES).all() and (1 - reach > CENTRES).all()
    apart = np.linalg.norm(CENTRES[:, None] - CENTRES, axis=2)[np.triu_indices(3, 1)]
    assert apart.min() > 2 * reach


def test_wider_clusters_keep_their_distance_too():
    X, y = isolated(MANY, spread=0.07, random_state=0)
    distance = np.linalg.norm(X[:, None] - CENTRES, axis=2).min(axis=1) / 0.07
    assert distance[y < 0].min() > 3
    error = (np.where(distance < 3, 1, -1) != y).mean()
    assert error == pytest.approx(isolated_bayes_error(), rel=0.2)
    apart = np.linalg.norm(CENTRES[:, None] - CENTRES, axis=2)[np.triu_indices(3, 1)]
    assert min(apart.min() / 2, CENTRES.min(), (1 - CENTRES).min()) >= 3 * WIDEST
    for spread in (0.08, 0.0, float("nan")):
        with pytest.raises(ValueError, match="spread"):
            isolated(spread=spread)
    for tilt in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="tilt"):
            striated(tilt=tilt)


def test_tilted_stripes_are_the_straight_ones_turned():
    straight, y = striated(MANY, stripes=4, length=8.0, random_state=0)
    tilted, same = striated(MANY, stripes=4, length=8.0, tilt=30.0, random_state=0)
    np.testing.assert_array_equal(y, same)
    middle = np.array([1.5, 0.0])
    back = (tilted - middle) @ [[np.sqrt(3) / 2, -0.5], [0.5, np.sqrt(3) / 2]] + middle
    np.testing.assert_allclose(back, straight, atol=1e-9)
    assert straight[:, 1].std() == pytest.approx(8, rel=0.01)
    # Turned against the clock: the far end of a stripe leans to the left.
    assert np.corrcoef(tilted.T)[0, 1] < 0


@pytest.mark.parametrize(("stripes", "width"), [(2, 0.01), (2, 0.12), (8, 0.12)])
def test_narrow_stripes_overlap_with_their_neighbours_alone(stripes, width):
    beyond = norm.sf(0.5 / width) * 2 * (stripes - 1) / stripes
    assert striated_bayes_error(stripes, width) == pytest.approx(beyond, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize(("stripes", "width"), [(2, 0.2), (8, 0.2), (6, 0.6)])
def test_the_nearest_stripe_errs_as_often_as_theory_says(stripes, width):
    X, y = striated(MANY, stripes=stripes, width=width, random_state=0)
    nearest = np.clip(np.round(X[:, 0]), 0, stripes - 1)
    error = (np.where(nearest % 2 == 0, 1, -1) != y).mean()
    expected = striated_bayes_error(stripes, width)
    assert error == pytest.approx(expected, abs=4 * np.sqrt(expected / MANY))


def test_wide_stripes_have_a_better_rule_than_the_nearest_stripe():
    X, y = striated(200_000, stripes=4, width=1.5, random_state=0)
    density = np.exp(-0.5 * ((X[:, :1] - np.arange(4)) / 1.5) ** 2)
    best = np.where(density[:, ::2].sum(axis=1) > density[:, 1::2].sum(axis=1), 1.0, -1.0)
    error = striated_bayes_error(stripes=4, width=1.5)
    assert (best != y).mean() == pytest.approx(error, abs=4 * np.sqrt(0.25 / len(y)))


def test_spirals_are_exact():
    X, y = spirals()
    assert X.shape == (194, 2) and y.sum() == 0
    arm = X[y > 0]
    np.testing.assert_array_equal(X[y < 0], -arm)
    radius = np.linalg.norm(arm, axis=1)
    np.testing.assert_allclose(radius, 6.5 * (104 - np.arange(97)) / 104)
    turned = np.unwrap(np.arctan2(arm[:, 0], arm[:, 1]))
    np.testing.assert_allclose(turned, np.arange(97) * np.pi / 16, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: isolated(2), "n == 2"),
        (lambda: striated(1), "n == 1"),
        (lambda: striated(stripes=3), "even"),
        (lambda: striated(width=0.0), "width must be positive"),
        (lambda: striated(width=np.nan), "finite"),
        (lambda: usvc_case_a(1), "n == 1"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("draw", [isolated, striated, usvc_case_a])
def test_seeds(draw):
    X, _ = draw(random_state=3)
    np.testing.assert_array_equal(X, draw(random_state=3)[0])
    assert not np.array_equal(X, draw(random_state=4)[0])
