"""Breiman's data compared with theory: Bayes errors, means and densities."""

import numpy as np
import pytest
from scipy.special import logsumexp

from svmbook.datasets import (
    ringnorm,
    ringnorm_bayes_error,
    threenorm,
    threenorm_bayes_error,
    twonorm,
    twonorm_bayes_error,
    waveform,
    waveform_bayes_rule,
)
from svmbook.datasets.generators.breiman import WAVES

N_POINTS = 100_000


def frequency_agrees(events, probability):
    """Return whether a relative frequency is within four standard errors of a probability."""
    standard_error = np.sqrt(probability * (1 - probability) / len(events))
    return np.mean(events) == pytest.approx(probability, abs=4 * standard_error)


def twonorm_rule(X):
    return np.sign(X.sum(axis=1))


def threenorm_rule(X):
    root = np.sqrt(X.shape[1])
    s, t = X.sum(axis=1) / root, (X[:, ::2].sum(axis=1) - X[:, 1::2].sum(axis=1)) / root
    return np.sign(np.log(np.cosh(2 * s)) - 2 * t)


def ringnorm_rule(X):
    d = X.shape[1]
    a = 2 / np.sqrt(d)
    squared_radius = 8 / 3 * d * np.log(2) + 16 / 9
    return np.where(((X - 4 / 3 * a) ** 2).sum(axis=1) < squared_radius, -1.0, 1.0)


def density_rule(X, name):
    """Return the class with the larger density: an independent check of the rules above."""
    d = X.shape[1]
    a = 2 / np.sqrt(d)

    def log_gaussian(mean, variance):
        return -0.5 * ((X - mean) ** 2).sum(axis=1) / variance - 0.5 * d * np.log(variance)

    alternating = a * np.where(np.arange(d) % 2 == 0, 1.0, -1.0)
    positive, negative = {
        "twonorm": (log_gaussian(a, 1), log_gaussian(-a, 1)),
        "threenorm": (
            np.logaddexp(log_gaussian(a, 1), log_gaussian(-a, 1)) - np.log(2),
            log_gaussian(alternating, 1),
        ),
        "ringnorm": (log_gaussian(0, 4), log_gaussian(a, 1)),
    }[name]
    return np.where(positive > negative, 1.0, -1.0)


CASES = {
    "twonorm": (twonorm, twonorm_rule, lambda d: twonorm_bayes_error()),
    "threenorm": (threenorm, threenorm_rule, lambda d: threenorm_bayes_error()),
    "ringnorm": (ringnorm, ringnorm_rule, ringnorm_bayes_error),
}


@pytest.mark.parametrize("d", [2, 6, 20])
@pytest.mark.parametrize("name", CASES)
def test_error_of_bayes_rule_agrees_with_theory(name, d):
    draw, rule, bayes_error = CASES[name]
    X, y = draw(N_POINTS, d=d, random_state=d)
    assert X.shape == (N_POINTS, d) and y.sum() == 0
    predicted = rule(X)
    assert frequency_agrees(predicted != y, bayes_error(d))
    assert (predicted == density_rule(X, name)).all()


@pytest.mark.parametrize("d", [2, 20])
def test_gaussians_of_threenorm_are_equally_likely(d):
    X, y = threenorm(N_POINTS, d=d, random_state=0)
    assert frequency_agrees(X[y > 0].sum(axis=1) > 0, 0.5)


def test_waves_are_those_of_the_source():
    assert WAVES.shape == (3, 21)
    assert WAVES.max(axis=1).tolist() == [6.0, 6.0, 6.0]
    assert WAVES.argmax(axis=1).tolist() == [10, 14, 6]  # peaks at 11, 15 and 7, starting from 1
    np.testing.assert_array_equal(np.diff(WAVES[0])[4:16], [1] * 6 + [-1] * 6)


def test_waveform_classes_have_the_means_noise_and_frequency_of_the_source():
    X, y = waveform(N_POINTS, random_state=0)
    h1, h2, h3 = WAVES
    np.testing.assert_allclose(X[y > 0].mean(axis=0), (h1 + h2) / 2, atol=0.06)
    np.testing.assert_allclose(X[y < 0].mean(axis=0), (h1 + h2 + 2 * h3) / 4, atol=0.06)
    assert X[:, [0, 20]].std() == pytest.approx(1, abs=0.01)  # where all three waves are zero
    assert (y > 0).sum() == N_POINTS // 3
    assert frequency_agrees(y[: N_POINTS // 10] > 0, 1 / 3)  # in random order
    assert set(waveform(2, random_state=0)[1]) == {-1.0, 1.0}


@pytest.mark.parametrize("is_far", [False, True])
def test_bayes_rule_of_waveform_agrees_with_numerical_integration(is_far):
    X = waveform(300, random_state=1)[0]
    if is_far:
        X = 30.0 * np.random.default_rng(0).standard_normal((300, 21))
    # Far from the data an integrand changes by a factor of at most e from one grid point to the
    # next. The three sums differ by many orders of magnitude, so this grid is fine enough.
    u = np.linspace(0, 1, 2001)[:, None]

    def log_density(a, b, x):
        means = u * WAVES[a] + (1 - u) * WAVES[b]
        return logsumexp(-0.5 * ((x - means) ** 2).sum(axis=1))

    expected = [
        log_density(0, 1, x) > np.logaddexp(log_density(0, 2, x), log_density(1, 2, x)) for x in X
    ]
    assert ((waveform_bayes_rule(X) > 0) == expected).mean() > 0.99


@pytest.mark.parametrize("draw", [twonorm, threenorm, ringnorm, waveform])
def test_data_depend_on_seed_and_invalid_arguments_are_refused(draw):
    X, _ = draw(50, random_state=3)
    np.testing.assert_array_equal(X, draw(50, random_state=3)[0])
    assert not np.array_equal(X, draw(50, random_state=4)[0])
    with pytest.raises(ValueError, match="n == 1"):
        draw(1)
    with pytest.raises(TypeError, match="n must be"):
        draw(2.5)


@pytest.mark.parametrize("distance", [0.0, 1.0, 3.5])
def test_error_of_bayes_rule_of_ringnorm_agrees_with_theory_at_any_distance(distance):
    X, y = ringnorm(N_POINTS, distance=distance, random_state=0)
    wide_log_density = -0.5 * (X**2).sum(axis=1) / 4 - 20 * np.log(2)
    narrow_log_density = -0.5 * ((X - distance / np.sqrt(20)) ** 2).sum(axis=1)
    predicted = np.where(wide_log_density > narrow_log_density, 1.0, -1.0)
    assert frequency_agrees(predicted != y, ringnorm_bayes_error(distance=distance))
    with pytest.raises(ValueError, match="distance must be"):
        ringnorm(distance=-1.0)
    with pytest.raises(ValueError, match="distance must be nonnegative and finite"):
        ringnorm_bayes_error(distance=np.inf)


def test_threenorm_needs_an_even_dimension():
    with pytest.raises(ValueError, match="even dimension"):
        threenorm(10, d=3)
