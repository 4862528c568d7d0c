"""Plain data are unchanged by encoding and decoding; everything else is refused."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from svmbook.course.execution.plain_data import decode, encode


def raise_type_error(value):
    raise TypeError(type(value).__name__)


def round_trip(value):
    return decode(json.loads(json.dumps(encode(value, raise_type_error))), raise_type_error)


NUMBERS = st.integers() | st.floats() | st.booleans() | st.complex_numbers()
LEAVES = st.none() | NUMBERS | st.text() | st.binary()
PLAIN_DATA = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=8,
)


@given(PLAIN_DATA)
def test_round_trip_preserves_plain_data(value):
    assert repr(round_trip(value)) == repr(value)


@given(hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(min_dims=0, min_side=0)))
def test_round_trip_preserves_every_bit_of_arrays(value):
    decoded = round_trip(value)
    assert decoded.dtype == value.dtype and decoded.shape == value.shape
    assert decoded.tobytes() == value.tobytes()


JSON_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "items", "parts", "shape", "dtype", "data", "state"]),
            inner
            | st.sampled_from(["array", "scalar", "set", "dict", "range", "<f8", "O", "AAAA"]),
        )
    ),
    max_leaves=10,
)


@given(JSON_TREES)
def test_any_tree_is_decoded_or_raises_value_error(tree):
    with contextlib.suppress(ValueError):
        decode(tree, raise_type_error)


@pytest.mark.parametrize(
    "tree",
    [
        {"kind": "array", "dtype": "O", "shape": [1], "data": "AAAAAAAAAAA="},
        {"kind": "array", "dtype": "f8,i4", "shape": [1], "data": "AAAAAAAAAAAAAAAA"},
        {"kind": "array", "dtype": "<f8", "shape": [-1], "data": "AAAAAAAAAAA="},
        {"kind": "array", "dtype": "<f8", "shape": [2**40], "data": ""},
        {"kind": "set", "items": [[1]]},
        {"kind": "range", "parts": [0, 1, 0]},
        {"kind": "generator", "state": {"kind": "dict", "items": [["bit_generator", "os"]]}},
        {"kind": "dict", "items": [[["a"], 1]]},
    ],
)
def test_hostile_trees_are_refused(tree):
    with pytest.raises(ValueError):
        decode(tree, raise_type_error)


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_decoded_generators_continue_with_the_same_numbers(name):
    rng = np.random.Generator(getattr(np.random, name)(5))
    rng.normal(size=3)
    decoded = round_trip(rng)
    assert decoded.integers(2**60, size=4).tolist() == rng.integers(2**60, size=4).tolist()


def test_instances_of_subclasses_are_sent_as_the_base_class():
    class Number(float):
        def __eq__(self, other):
            return True

    class Point(tuple):
        pass

    decoded = round_trip([Number(7), Point((1, 2))])
    assert [*map(type, decoded)] == [float, tuple] and decoded == [7.0, (1, 2)]


def test_object_masked_and_record_arrays_are_not_plain_data():
    for value in (np.array([object()]), np.ma.array([1]), np.rec.array([(1, 2.0)])):
        with pytest.raises(TypeError):
            encode(value, raise_type_error)
