"""Plain data as JSON: numbers, strings, arrays, random generators, and containers of these.

Tests and answers run in different processes and exchange values in this form. Unlike unpickling,
decoding runs no code of the sender.
"""

from base64 import b64decode, b64encode
from collections.abc import ItemsView, KeysView, ValuesView

import numpy as np

__all__ = ["decode", "encode", "set_generator_state"]

DTYPE_KINDS = "biufcUSmM"  # kinds of NumPy data types: all but objects and records
BIT_GENERATOR_NAMES = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
CONTAINER_TYPES = {"tuple": tuple, "set": set, "frozenset": frozenset}


def encode(value, encode_other):
    """Return a value as a tree that can be written as JSON.

    Instances of subclasses of numbers, strings and containers are sent as the base class,
    bytearrays as bytes, and the views of a dict as lists.

    Parameters
    ----------
    value : object
        The value to send.
    encode_other : callable
        Returns a tree for an object that is not plain data, or raises TypeError.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Examples
    --------
    >>> from svmbook.course.execution.plain_data import decode, encode
    >>> decode(encode((1, [2.5, "x"]), encode_other=repr), decode_other=eval)
    (1, [2.5, 'x'])
    """
    if isinstance(value, int) and abs(value) >= 2**63:  # Python limits the number of decimal digits
        return {"kind": "int", "hex": f"{int(value):x}"}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in DTYPE_KINDS:
        return {"kind": "scalar", **_encode_array(np.asarray(value))}
    if type(value) is np.ndarray and value.dtype.kind in DTYPE_KINDS:
        return {"kind": "array", **_encode_array(value)}
    for plain_type in (bool, int, float, str):
        if isinstance(value, plain_type):
            return plain_type(value)
    if isinstance(value, complex):
        return {"kind": "complex", "parts": [value.real, value.imag]}
    if isinstance(value, bytes | bytearray):
        return {"kind": "bytes", "data": b64encode(value).decode()}
    if isinstance(value, range | slice):
        parts = [encode(part, encode_other) for part in (value.start, value.stop, value.step)]
        return {"kind": type(value).__name__, "parts": parts}
    if isinstance(value, list | KeysView | ValuesView | ItemsView):
        return [encode(item, encode_other) for item in value]
    for kind, container_type in CONTAINER_TYPES.items():
        if isinstance(value, container_type):
            return {"kind": kind, "items": [encode(item, encode_other) for item in value]}
    if isinstance(value, dict):
        return {
            "kind": "dict",
            "items": [encode(list(item), encode_other) for item in value.items()],
        }
    if isinstance(value, np.random.Generator):
        return {"kind": "generator", "state": encode(value.bit_generator.state, encode_other)}
    return encode_other(value)


def _encode_array(array):
    data = b64encode(array.tobytes()).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def decode(tree, decode_other):
    """Return the value that a tree represents.

    Parameters
    ----------
    tree : object
        A tree that `encode` returned, after a round trip through JSON.
    decode_other : callable
        Returns the object for a tree that does not represent plain data.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        The tree was not produced by `encode`.
    """
    match tree:
        case None | bool() | int() | float() | str():
            return tree
        case list():
            return [decode(item, decode_other) for item in tree]
        case {"kind": "array", "dtype": str(dtype), "shape": [*shape], "data": str(data)}:
            return _decode_array(dtype, shape, data)
        case {"kind": "scalar", "dtype": str(dtype), "shape": [], "data": str(data)}:
            return _decode_array(dtype, [], data)[()]
        case {"kind": "int", "hex": str(digits)}:
            return int(digits, 16)
        case {"kind": "complex", "parts": [int() | float() as real, int() | float() as imaginary]}:
            return complex(real, imaginary)
        case {"kind": "bytes", "data": str(data)}:
            return b64decode(data, validate=True)
        case {"kind": "range", "parts": [int(start), int(stop), int(step)]} if step:
            return range(start, stop, step)
        case {"kind": "slice", "parts": [start, stop, step]}:
            return slice(*(decode(part, decode_other) for part in (start, stop, step)))
        case {"kind": "tuple" | "set" | "frozenset" as kind, "items": [*items]}:
            decoded = (decode(item, decode_other) for item in items)
            return CONTAINER_TYPES[kind](_check_item(item, kind) for item in decoded)
        case {"kind": "dict", "items": [*items]}:
            pairs = [decode(item, decode_other) for item in items]
            if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
                return {_check_item(key, "dict"): value for key, value in pairs}
        case {"kind": "generator", "state": state}:
            return _decode_generator(decode(state, decode_other))
        case {"kind": "object"}:
            return decode_other(tree)
    raise ValueError("this is not plain data")


def _check_item(item, container_kind):
    """Return an item after checking that it is hashable, unless the container is a tuple."""
    if container_kind != "tuple":
        try:
            hash(item)
        except TypeError as error:
            raise ValueError(f"a {container_kind} cannot hold this: {error}") from None
    return item


def _decode_array(dtype, shape, data):
    try:
        dtype = np.dtype(dtype)
        if dtype.kind not in DTYPE_KINDS or dtype.subdtype is not None:
            raise ValueError(f"arrays of type {dtype} cannot be sent")
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError(f"{shape} is not a shape")
        return np.frombuffer(b64decode(data, validate=True), dtype).reshape(shape).copy()
    except TypeError as error:  # raised by NumPy if the string is not a data type
        raise ValueError(str(error)) from None


def _decode_generator(state):
    """Return a random generator in a given state."""
    name = state.get("bit_generator") if isinstance(state, dict) else None
    if name not in BIT_GENERATOR_NAMES:
        raise ValueError(f"{name!r} is not a known bit generator")
    generator = np.random.Generator(getattr(np.random, name)())
    set_generator_state(generator, state)
    return generator


def set_generator_state(generator, state):
    """Set the state of a random generator, or raise ValueError."""
    try:
        generator.bit_generator.state = state
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"not a state of a random generator: {error!r}") from None
