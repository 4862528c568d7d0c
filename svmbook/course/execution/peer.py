"""Remote procedure calls between two processes over a socket: one line of JSON per message.

Each side may call functions that the other side has sent. While a side waits for the reply to a
request, it serves the requests of the other side.
"""

import builtins
import json
import traceback
import weakref
from contextlib import suppress
from socket import SHUT_RDWR
from threading import RLock

import numpy as np

from .plain_data import decode, encode, set_generator_state

__all__ = ["Connection", "Peer", "RemoteError", "RemoteFunction", "RemoteObject", "ReplyError"]

MAX_MESSAGE_BYTES = 2**26
MAX_TEXT_LENGTH = 10_000  # characters of an error's message, and of each line of its traceback


# Built-in exceptions that are raised again on the other side, where tests can catch them.
BUILTIN_ERROR_NAMES = {
    name
    for name, cls in vars(builtins).items()
    if isinstance(cls, type)
    and issubclass(cls, Exception)
    # Some of these cannot be constructed from a single string; StopIteration would silently end a
    # loop in the test.
    and not issubclass(cls, UnicodeError | ExceptionGroup | StopIteration | StopAsyncIteration)
}


class RemoteError(Exception):
    """An exception of the other process whose class is not one of `BUILTIN_ERROR_NAMES`."""


class ReplyError(ConnectionError):
    """The other process does not reply, or its reply is invalid."""


class Connection:
    """Messages over a socket, one line of JSON each.

    Parameters
    ----------
    socket : socket.socket
        The connected socket.
    """

    def __init__(self, socket):
        self._socket, self._file = socket, socket.makefile("rb")

    def send(self, tree):
        """Send one message."""
        try:
            self._socket.sendall(json.dumps(tree).encode() + b"\n")
        except (OSError, ValueError) as error:
            raise ConnectionError(f"the connection is lost ({error})") from None

    def receive(self):
        """Return the next message, or raise ConnectionError."""
        try:
            line = self._file.readline(MAX_MESSAGE_BYTES)
        except (OSError, ValueError) as error:  # ValueError: the file was closed
            raise ConnectionError(f"the connection is lost ({error})") from None
        if not line:
            raise ConnectionError("the other process has closed the connection")
        if not line.endswith(b"\n"):
            raise ConnectionError(
                f"a message has more than {MAX_MESSAGE_BYTES >> 20} MiB; send less"
            )
        try:
            tree = json.loads(line)
        except (ValueError, RecursionError):
            tree = None
        if not isinstance(tree, dict):
            raise ConnectionError("the other process sent something that is not a message")
        return tree

    def close(self):
        """Close the socket, and wake another thread that waits for a message."""
        with suppress(OSError):
            self._socket.shutdown(SHUT_RDWR)
        self._file.close()
        self._socket.close()


class RemoteObject:
    """Proxy for an object in the other process; its attributes are read there."""

    def __init__(self, peer, number):
        self.__dict__.update(_peer=peer, _number=number)
        weakref.finalize(self, peer.unused_numbers.append, number)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(
                f"the special attribute {name} of an object in another process cannot be read"
            )
        return self._peer.request("get", target=self._number, name=name)

    def __deepcopy__(self, memo):
        """Refuse to copy, since the object is in another process."""
        raise TypeError("an object of another process cannot be copied")

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} of an object in another process cannot be set")


class RemoteFunction(RemoteObject):
    """Proxy for a callable of the other process, where the call is executed."""

    def __call__(self, *args, **kwargs):
        """Call the function in the other process, and return its result."""
        return self._peer.request("call", target=self._number, args=args, kwargs=kwargs)


class Peer:
    """One side of a connection.

    Parameters
    ----------
    shared_objects : list
        Objects that were sent by reference. The other side refers to each by its number, which is
        its index in this list.
    """

    def __init__(self, shared_objects):
        self.shared_objects, self.connection = shared_objects, None
        self.unused_numbers = []  # of the other side's objects whose proxies were deleted
        self._lock = RLock()

    def request(self, action, *, args=(), kwargs=None, **fields):
        """Request an action of the other side; return the result, or raise its error."""
        kwargs = dict(kwargs or {})
        request = {"action": action, "args": self._encode(list(args)), **fields}
        request["kwargs"] = self._encode(kwargs)
        with self._lock:  # several threads may send requests
            if self.connection is None:
                raise ReplyError("there is no connection to the other process")
            request["unused_numbers"] = [
                self.unused_numbers.pop() for _ in range(len(self.unused_numbers))
            ]
            try:
                self.connection.send(request)
                while "action" in (message := self.connection.receive()):
                    self.reply(message)
            except ConnectionError as error:
                raise ReplyError(str(error)) from None
        if message.get("error") is not None:
            raise _decode_error(message["error"])
        try:
            generators = _random_generators(args, kwargs)
            for generator, state in zip(generators, message.get("states", []), strict=True):
                set_generator_state(generator, decode(state, self._refuse))
            return decode(message.get("value"), self._decode_object)
        except (ValueError, TypeError, RecursionError) as error:
            raise ReplyError(f"the reply cannot be read: {error}") from None

    def reply(self, message):
        """Perform an action for the other side, and send the result or the error.

        The states of random generators among the arguments are sent back as well.
        """
        generators = []
        try:
            for number in message.get("unused_numbers", []):
                self.shared_objects[number] = None
            args, kwargs = (
                decode(message.get(part), self._decode_object) for part in ("args", "kwargs")
            )
            generators = _random_generators(args, kwargs)
            reply = {"value": self._encode(self.perform(message, args, kwargs))}
        except BaseException as error:
            reply = {"error": _encode_error(error)}
            if isinstance(error, KeyboardInterrupt):
                self.connection.send(reply)
                raise
        reply["states"] = [
            encode(generator.bit_generator.state, self._refuse) for generator in generators
        ]
        self.connection.send(reply)

    def perform(self, message, args, kwargs):
        """Call a shared function, or read an attribute of a shared object."""
        number = message.get("target")
        if isinstance(number, int) and 0 <= number < len(self.shared_objects):
            match message:
                case {"action": "call"}:
                    return self.shared_objects[number](*args, **kwargs)
                case {"action": "get", "name": str(name)}:
                    return self.read_attribute(self.shared_objects[number], name)
        raise TypeError("this request is not allowed")

    def read_attribute(self, value, name):
        """Return an attribute of a shared object."""
        return getattr(value, name)

    def may_share(self, value):
        """Return whether an object may be sent by reference."""
        return True

    def _encode(self, value):
        try:
            return encode(value, self._encode_object)
        except RecursionError:
            raise TypeError("a value that contains itself cannot be sent") from None

    def _encode_object(self, value):
        if isinstance(value, RemoteObject) and value._peer is self:
            return {"kind": "object", "number_at_receiver": value._number}
        name = "array of objects" if type(value) is np.ndarray else type(value).__name__
        if not self.may_share(value):
            raise TypeError(
                f"an object of type {name} cannot be sent to another process. These can be sent: "
                "numbers, strings, arrays, functions, random generators "
                "(numpy.random.default_rng), unfitted estimators, objects of classes that the "
                "notebook defines, and containers of these."
            )
        self.shared_objects.append(value)
        description = {"type": name, "callable": callable(value)}
        return {"kind": "object", "number_at_sender": len(self.shared_objects) - 1, **description}

    def _decode_object(self, tree):
        match tree:
            case {"number_at_receiver": int(number)} if 0 <= number < len(self.shared_objects):
                return self.shared_objects[number]
            case {
                "number_at_sender": int(number),
                "type": str(name),
                "callable": bool(is_callable),
            }:
                proxy_class = RemoteFunction if is_callable else RemoteObject
                return type(name, (proxy_class,), {})(self, number)
        raise ValueError("no such object")

    def _refuse(self, value):
        raise ValueError("this is not plain data")


def _random_generators(args, kwargs):
    """Return the random generators among the arguments of a call."""
    return [
        generator
        for generator in (*args, *kwargs.values())
        if isinstance(generator, np.random.Generator)
    ]


def _encode_error(error):
    """Return an error as plain data, with a traceback without the frames of this folder."""
    cls = type(error)
    base = next(parent for parent in cls.__mro__ if parent.__module__ == "builtins")
    try:
        text = str(error.args[0] if cls is KeyError and error.args else error)[:MAX_TEXT_LENGTH]
        frames = traceback.extract_tb(error.__traceback__)
        frames = [frame for frame in frames if not frame.filename.startswith(_FOLDER)]
        lines = traceback.format_list(frames) + traceback.format_exception_only(error)
    except Exception:  # for instance, the error's own __str__ fails
        text, lines = "", []
    lines = [line[:MAX_TEXT_LENGTH] for line in lines]
    return {"name": cls.__name__, "base": base.__name__, "text": text, "lines": lines}


def _decode_error(error):
    """Return an exception that tests can catch by its built-in class, if it has one."""
    match error:
        case {"name": str(name), "base": str(base), "text": str(text), "lines": [*lines]}:
            if base not in BUILTIN_ERROR_NAMES:
                decoded = RemoteError(f"{name}: {text}" if text else name)
            else:
                cls = getattr(builtins, base)
                decoded = (cls if name == base else type(name, (RemoteError, cls), {}))(text)
            decoded.traceback_lines = [line for line in lines if isinstance(line, str)]
            return decoded
    return RemoteError("the error of the other process cannot be decoded")


_FOLDER = __file__.rpartition("peer")[0]
