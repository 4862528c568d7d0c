"""Platt's sigmoid, against scikit-learn's and against what is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.calibration import _sigmoid_calibration
from sklearn.exceptions import ConvergenceWarning

from svmbook.calibration import Sigmoid, false_alarm_threshold, fit_sigmoid, fit_sigmoids

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.sampled_from([1e-3, 1.0, 1e5]), st.floats(-10, 10))
def test_scikit_learn_finds_the_same(seed, scale, offset):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(50) < 0.4, 1, 0)
    y[:2] = 0, 1
    scores = scale * (rng.standard_normal(50) + y + offset)
    ours = fit_sigmoid(scores, y)
    slope, intercept = _sigmoid_calibration(scores, y)  # of 1 / (1 + exp(A f + B))
    theirs = expit(-(slope * scores + intercept))
    np.testing.assert_allclose(ours.probability(scores), theirs, atol=1e-3)


def cross_entropy(sigmoid, scores, y):
    positive, negative = (y > 0).sum(), (y <= 0).sum()
    t = np.where(y > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    f = sigmoid.slope * scores + sigmoid.intercept
    return np.sum(t * np.logaddexp(0, -f) + (1 - t) * np.logaddexp(0, f))


@given(SEEDS)
def test_no_other_sigmoid_is_better(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(40) < 0.3, 1.0, -1.0)
    y[:2] = -1, 1
    scores = rng.standard_normal(40) + 0.5 * y
    sigmoid = fit_sigmoid(scores, y)
    best = cross_entropy(sigmoid, scores, y)
    for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
        other = Sigmoid(sigmoid.slope + step[0], sigmoid.intercept + step[1])
        assert cross_entropy(other, scores, y) > best


def test_a_true_sigmoid_is_found_again():
    rng = np.random.default_rng(0)
    scores = rng.uniform(-3, 3, 100_000)
    labels = np.where(rng.random(100_000) < expit(1.5 * scores - 0.5), "yes", "no")
    sigmoid = fit_sigmoid(scores, labels)
    assert sigmoid.slope == pytest.approx(1.5, abs=0.05)
    assert sigmoid.intercept == pytest.approx(-0.5, abs=0.05)


def test_a_fit_that_fails_is_blamed_on_its_caller(monkeypatch):
    monkeypatch.setattr("svmbook.calibration.DECREMENT_TOL", 1e-300)
    with pytest.warns(ConvergenceWarning, match="check the scores for outliers") as caught:
        fit_sigmoid([-1.0, 2.0, 0.5, 0.1], [-1, 1, -1, 1])
    assert caught[0].filename == __file__


def test_separated_scores_keep_a_finite_slope():
    sigmoid = fit_sigmoid([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    assert 0 < sigmoid.slope < 10
    assert 0.5 < sigmoid.probability(2.0) < 1


@pytest.mark.parametrize("scale", [1e-170, 1e160])
def test_scores_may_have_any_size(scale):
    scores, y = np.array([-2.0, -1.0, 0.5, 1.0, 3.0]), [0, 0, 1, 0, 1]
    plain, scaled = fit_sigmoid(scores, y), fit_sigmoid(scale * scores, y)
    np.testing.assert_allclose(
        scaled.probability(scale * scores), plain.probability(scores), rtol=1e-9
    )


@pytest.mark.parametrize("score", [0.0, 5.0])
def test_equal_scores_say_nothing(score):
    sigmoid = fit_sigmoid([score] * 8, [1, 1, 1, 0, 0, 0, 0, 0])
    assert sigmoid.slope == 0.0
    targets = np.array([4 / 5] * 3 + [1 / 7] * 5)
    assert sigmoid.probability(score) == pytest.approx(targets.mean())


@pytest.mark.parametrize(
    ("scores", "y", "message"),
    [
        ([1.0, np.nan], [0, 1], "scores contains NaN"),
        ([[1.0], [2.0]], [0, 1], "one number per point"),
        ([1.0, 2.0, 3.0], [0, 1], "inconsistent numbers of samples"),
        ([1.0, 2.0], [1, 1], "one class only"),
        ([1.0, 2.0, 3.0], [1, 2, 3], "exactly two classes are needed; found 3"),
    ],
)
def test_what_does_not_fit_is_named(scores, y, message):
    with pytest.raises(ValueError, match=message):
        fit_sigmoid(scores, y)


@pytest.mark.parametrize(
    "wrong",
    [
        {"scores": [np.nan] * 100},
        {"scores": np.zeros((50, 2))},
        {"rate": 0.0},
        {"rate": 1.5},
        {"confidence": 1.0},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_threshold_from_wrong_numbers_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        false_alarm_threshold(**{"scores": np.arange(100.0), "rate": 0.1} | wrong)


@given(SEEDS)
def test_many_sigmoids_at_once_are_those_of_one_each(seed):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((30, 6)) * 10.0 ** rng.integers(-4, 5, 6)
    positive = scores + np.abs(scores).max(axis=0) * rng.standard_normal(scores.shape) > 0
    positive[:2] = [[True], [False]]
    positive[:, 0] = scores[:, 0] > np.median(scores[:, 0])  # separable
    scores[:, 1] = 3.0  # without any information
    together = fit_sigmoids(scores, positive)
    for column in range(6):
        alone = fit_sigmoid(scores[:, column], positive[:, column])
        ours = together.probability(scores)[:, column]
        np.testing.assert_allclose(ours, alone.probability(scores[:, column]), atol=1e-6)


@pytest.mark.parametrize("seed", [2556, 3099, 3835])
def test_steps_that_would_go_too_far_are_halved(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    scores = rng.standard_normal(n) * 10 ** rng.uniform(0, 4, n) ** rng.integers(0, 2)
    positive = rng.random(n) < rng.random()
    together = fit_sigmoids(scores[:, None], positive[:, None])
    alone = fit_sigmoid(scores, positive)
    ours = together.probability(scores[:, None])[:, 0]
    np.testing.assert_allclose(ours, alone.probability(scores), atol=1e-6)


def test_a_machine_without_positives_gets_the_prior_of_platt():
    scores = np.array([[1.0], [1.0], [1.0]])
    sigmoid = fit_sigmoids(scores, np.zeros((3, 1), dtype=bool))
    assert sigmoid.probability(scores)[0, 0] == pytest.approx(1 / 5)


def test_many_sigmoids_do_not_mind_the_unit_or_the_origin_of_scores():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((60, 5))
    yes = scores + rng.standard_normal((60, 5)) > 0
    here = fit_sigmoids(scores, yes)
    there = fit_sigmoids(1e6 + 3.0 * scores, yes)
    np.testing.assert_allclose(
        there.probability(1e6 + 3.0 * scores), here.probability(scores), atol=1e-6
    )
    flat = fit_sigmoids(np.full((60, 1), 2.0), yes[:, :1])
    assert flat.slope[0] == 0
    soft = (yes[:, 0].sum() + 1) / (yes[:, 0].sum() + 2), 1 / ((~yes[:, 0]).sum() + 2)
    share = np.where(yes[:, 0], *soft).mean()
    assert flat.probability(2.0)[0] == pytest.approx(share)


def test_a_sigmoid_that_is_not_fitted_is_admitted(monkeypatch):
    monkeypatch.setattr("svmbook.calibration.MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="1 Newton steps"):
        fit_sigmoid([-3.0, -1.0, 0.5, 2.0, 4.0], [0, 0, 1, 0, 1])


def test_each_sigmoid_is_fitted_on_the_points_that_are_present():
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=(30, 4)), rng.random((30, 4)) < 0.4
    scores += positive
    present = np.arange(30)[:, None] < [30, 20, 12, 25]
    scores[~present] = np.nan
    together = fit_sigmoids(scores, positive, present)
    for k, own in enumerate(present.T):
        single = fit_sigmoid(scores[own, k], positive[own, k])
        assert together.slope[k] == pytest.approx(single.slope, abs=1e-6)
        assert together.intercept[k] == pytest.approx(single.intercept, abs=1e-6)
