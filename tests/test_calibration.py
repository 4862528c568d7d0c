"""Platt scaling, compared with scikit-learn, and invalid arguments of both calibrations."""

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
def test_probabilities_agree_with_scikit_learn(seed, scale, offset):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(50) < 0.4, 1, 0)
    y[:2] = 0, 1
    scores = scale * (rng.standard_normal(50) + y + offset)
    sigmoid = fit_sigmoid(scores, y)
    A, B = _sigmoid_calibration(scores, y)  # 1 / (1 + exp(A f + B))
    np.testing.assert_allclose(sigmoid.probability(scores), expit(-(A * scores + B)), atol=1e-3)


def cross_entropy(sigmoid, scores, y):
    """Return the loss that Platt scaling minimises, with targets slightly inside (0, 1)."""
    n_positive, n_negative = (y > 0).sum(), (y <= 0).sum()
    targets = np.where(y > 0, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    logits = sigmoid.slope * scores + sigmoid.intercept
    return np.sum(targets * np.logaddexp(0, -logits) + (1 - targets) * np.logaddexp(0, logits))


@given(SEEDS)
def test_perturbed_sigmoids_have_larger_loss(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(40) < 0.3, 1.0, -1.0)
    y[:2] = -1, 1
    scores = rng.standard_normal(40) + 0.5 * y
    sigmoid = fit_sigmoid(scores, y)
    minimal_loss = cross_entropy(sigmoid, scores, y)
    for perturbation in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
        perturbed = Sigmoid(*np.add(sigmoid, perturbation))
        assert cross_entropy(perturbed, scores, y) > minimal_loss


def test_true_sigmoid_is_recovered():
    rng = np.random.default_rng(0)
    scores = rng.uniform(-3, 3, 100_000)
    labels = np.where(rng.random(100_000) < expit(1.5 * scores - 0.5), "yes", "no")
    sigmoid = fit_sigmoid(scores, labels)
    assert sigmoid.slope == pytest.approx(1.5, abs=0.05)
    assert sigmoid.intercept == pytest.approx(-0.5, abs=0.05)


def test_warning_points_at_the_caller(monkeypatch):
    monkeypatch.setattr("svmbook.calibration.DECREMENT_TOL", 1e-300)
    with pytest.warns(ConvergenceWarning, match="check the scores for outliers") as caught:
        fit_sigmoid([-1.0, 2.0, 0.5, 0.1], [-1, 1, -1, 1])
    assert caught[0].filename == __file__


def test_slope_is_finite_for_separable_scores():
    sigmoid = fit_sigmoid([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    assert 0 < sigmoid.slope < 10
    assert 0.5 < sigmoid.probability(2.0) < 1


@pytest.mark.parametrize("scale", [1e-170, 1e160])
def test_probabilities_are_the_same_for_tiny_and_huge_scores(scale):
    scores, y = np.array([-2.0, -1.0, 0.5, 1.0, 3.0]), [0, 0, 1, 0, 1]
    expected = fit_sigmoid(scores, y).probability(scores)
    probabilities = fit_sigmoid(scale * scores, y).probability(scale * scores)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-9)


@pytest.mark.parametrize("score", [0.0, 5.0])
def test_equal_scores_give_the_mean_target(score):
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
def test_invalid_scores_or_labels_are_reported(scores, y, message):
    with pytest.raises(ValueError, match=message):
        fit_sigmoid(scores, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scores", [np.nan] * 100),
        ("scores", np.zeros((50, 2))),
        ("rate", 0.0),
        ("rate", 1.5),
        ("confidence", 1.0),
    ],
)
def test_invalid_arguments_of_a_threshold_are_reported(name, value):
    with pytest.raises(ValueError, match=name):
        false_alarm_threshold(**{"scores": np.arange(100.0), "rate": 0.1} | {name: value})


@given(SEEDS)
def test_joint_fit_equals_separate_fits(seed):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((30, 6)) * 10.0 ** rng.integers(-4, 5, 6)
    is_positive = scores + np.abs(scores).max(axis=0) * rng.standard_normal(scores.shape) > 0
    is_positive[:2] = [[True], [False]]
    is_positive[:, 0] = scores[:, 0] > np.median(scores[:, 0])  # separable
    scores[:, 1] = 3.0  # constant
    joint_probabilities = fit_sigmoids(scores, is_positive).probability(scores)
    for column, expected in enumerate(joint_probabilities.T):
        single = fit_sigmoid(scores[:, column], is_positive[:, column])
        np.testing.assert_allclose(single.probability(scores[:, column]), expected, atol=1e-6)


@pytest.mark.parametrize("seed", [2556, 3099, 3835])
def test_joint_and_separate_fits_agree_if_steps_are_halved(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    scores = rng.standard_normal(n) * 10 ** rng.uniform(0, 4, n) ** rng.integers(0, 2)
    is_positive = rng.random(n) < rng.random()
    joint_probabilities = fit_sigmoids(scores[:, None], is_positive[:, None]).probability(
        scores[:, None]
    )[:, 0]
    np.testing.assert_allclose(
        joint_probabilities, fit_sigmoid(scores, is_positive).probability(scores), atol=1e-6
    )


def test_classifier_without_positive_points_gets_the_target_of_negative_points():
    scores = np.array([[1.0], [1.0], [1.0]])
    sigmoid = fit_sigmoids(scores, np.zeros((3, 1), dtype=bool))
    assert sigmoid.probability(scores)[0, 0] == pytest.approx(1 / 5)


def test_probabilities_do_not_depend_on_unit_and_origin_of_scores():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((60, 5))
    is_positive = scores + rng.standard_normal((60, 5)) > 0
    expected = fit_sigmoids(scores, is_positive).probability(scores)
    transformed_scores = 1e6 + 3.0 * scores
    probabilities = fit_sigmoids(transformed_scores, is_positive).probability(transformed_scores)
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)


def test_unconverged_sigmoid_is_reported(monkeypatch):
    monkeypatch.setattr("svmbook.calibration.MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="1 Newton steps"):
        fit_sigmoid([-3.0, -1.0, 0.5, 2.0, 4.0], [0, 0, 1, 0, 1])


def test_each_sigmoid_is_fitted_on_the_points_of_its_mask():
    rng = np.random.default_rng(0)
    scores, is_positive = rng.normal(size=(30, 4)), rng.random((30, 4)) < 0.4
    scores += is_positive
    mask = np.arange(30)[:, None] < [30, 20, 12, 25]
    scores[~mask] = np.nan
    joint = fit_sigmoids(scores, is_positive, mask)
    for k, is_used in enumerate(mask.T):
        single = fit_sigmoid(scores[is_used, k], is_positive[is_used, k])
        assert joint.slope[k] == pytest.approx(single.slope, abs=1e-6)
        assert joint.intercept[k] == pytest.approx(single.intercept, abs=1e-6)
