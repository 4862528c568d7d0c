"""Weights of the points, and penalties: C times the weights."""

import numpy as np
import pytest

from svmbook.weights import point_penalties, point_weights

CLASSES = np.array(["a", "b"])
Y = np.array(["a", "b", "b", "b"])
ONES = np.ones(4)


def penalties_for(C, class_weight, sample_weight):
    return point_penalties(C, point_weights(class_weight, CLASSES, Y, sample_weight))


def test_penalties_are_products_of_three_factors():
    penalties = penalties_for(2.0, {"b": 5.0}, np.array([1.0, 2.0, 3.0, 0.0]))
    np.testing.assert_allclose(penalties, [2.0, 20.0, 30.0, 0.0])


def test_balanced_penalties_have_equal_sums_in_both_classes():
    sample_weight = np.array([0.3, 2.0, 1.0, 4.0])
    penalties = penalties_for(1.0, "balanced", sample_weight)
    assert penalties[:1].sum() == pytest.approx(penalties[1:].sum())
    assert penalties.sum() == pytest.approx(sample_weight.sum())


def test_balanced_weights_are_inverse_to_class_sizes():
    y = np.array(["a", "b", "b", "c", "c", "c"])
    weights = point_weights("balanced", np.array(["a", "b", "c"]), y, np.ones(6))
    np.testing.assert_allclose(weights, 6 / 3 / np.array([1, 2, 2, 3, 3, 3]))


def test_negligible_weight_is_zero():
    weights = point_weights(None, CLASSES, Y, np.array([1.0, 1.0, 1e-17, 1e-15]))
    np.testing.assert_array_equal(weights > 0, [True, True, False, True])


def test_class_of_negligible_weight_is_reported():
    with pytest.raises(ValueError, match="leaves one class only"):
        point_weights(None, CLASSES, Y, np.array([1e-20, 1.0, 1.0, 1.0]))


def test_class_without_weight_among_three_classes_is_reported():
    y = np.array(["a", "b", "c"])
    with pytest.raises(ValueError, match="leaves no point of the class"):
        point_weights(None, y, y, np.array([1.0, 0.0, 1.0]))


def test_balanced_weights_do_not_overflow():
    penalties = penalties_for(1.0, "balanced", 1e307 * ONES)
    np.testing.assert_allclose(penalties / 1e307, penalties_for(1.0, "balanced", ONES))


def test_hard_margin_has_infinite_penalties():
    penalties = penalties_for(np.inf, {"a": 3.0}, np.array([0.1, 1.0, 2.0, 9.0]))
    np.testing.assert_array_equal(penalties, np.full(4, np.inf))


@pytest.mark.parametrize(
    ("C", "class_weight", "sample_weight", "message"),
    [
        (1.0, None, -ONES, "sample_weight has negative"),
        (1.0, {"c": 2.0}, ONES, "not in class_weight"),
        (1.0, None, np.zeros(4), "one class only, or none"),
        (1.0, "balanced", np.zeros(4), "one class only, or none"),
        (1.0, "balanced", np.array([0.0, 1, 1, 1]), "one class only, or none"),
        (1e200, None, 1e200 * ONES, "too large for double precision"),
        (1.0, {"a": 1e300}, 1e300 * ONES, "too large for double precision"),
    ],
)
def test_invalid_weights_are_reported(C, class_weight, sample_weight, message):
    with pytest.raises(ValueError, match=message):
        penalties_for(C, class_weight, sample_weight)


def test_invalid_class_weights_are_reported():
    for factor in (-1.0, 0.0, np.nan, np.inf, None, "two"):
        with pytest.raises(ValueError, match="class_weight must hold positive"):
            point_weights({"a": factor}, CLASSES, Y, ONES)
