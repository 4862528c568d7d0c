"""Encoding of labels, the second in sorted order as positive, and decoding of decision values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbook.labels import decode_labels, encode_binary_labels, encode_targets

LABEL_PAIRS = st.one_of(
    st.tuples(st.integers(-99, 99), st.integers(-99, 99)),
    st.tuples(st.text("abc", min_size=1), st.text("abc", min_size=1)),
    st.just((False, True)),
).filter(lambda pair: pair[0] != pair[1])


@given(
    pair=LABEL_PAIRS,
    codes=st.lists(st.integers(0, 1), min_size=2).filter(lambda c: 0 < sum(c) < len(c)),
)
def test_decoding_inverts_encoding(pair, codes):
    y = np.array([pair[code] for code in codes])
    classes, signs = encode_binary_labels(y)
    assert classes[0] < classes[1]
    np.testing.assert_array_equal(signs, np.where(y == max(pair), 1.0, -1.0))
    np.testing.assert_array_equal(decode_labels(classes, signs), y)


def test_two_classes_are_encoded_as_signs_and_more_as_integers():
    classes, codes = encode_targets(["b", "c", "a", "b"])
    np.testing.assert_array_equal(classes[codes], ["b", "c", "a", "b"])
    np.testing.assert_array_equal(encode_targets(["b", "a"])[1], [1, -1])


def test_largest_decision_value_decides_and_ties_go_to_the_first_class():
    scores = np.array([[0.1, 0.9, 0.2], [3.0, 3.0, -1.0]])
    np.testing.assert_array_equal(decode_labels(np.array(["a", "b", "c"]), scores), ["b", "a"])


def test_decision_value_of_zero_means_the_first_class():
    assert decode_labels(np.array(["a", "b"]), np.zeros(1)) == ["a"]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 1, 1], "one class only: 1"),
        ([0, 1, 2], "exactly two classes are needed; found 3"),
        ([0.5, 1.5, 0.2], "Unknown label type"),
        (np.array(["b", 1, 1], dtype=object), r"different types \(int, str\)"),
        (np.array(["b", None], dtype=object), "different types"),
        (np.array([None, "b"], dtype=object), "different types"),
    ],
    ids=["one class", "three classes", "continuous", "mixed", "missing", "missing first"],
)
def test_invalid_labels_raise_an_error_with_the_reason(y, message):
    with pytest.raises(ValueError, match=message):
        encode_binary_labels(y)
