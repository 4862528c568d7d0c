"""Calls between two processes, over a socket: requests and replies, one line of JSON each.

Either side may call what the other has sent it. While it waits for the reply to a call, a side
answers the calls of the other.
"""

import builtins
import json
import traceback
import weakref
from contextlib import suppress
from socket import SHUT_RDWR
from threading import RLock

import numpy as np

from .plain_data import decode, encode, set_state

__all__ = ["AnswerError", "Connection", "NoAnswer", "Peer", "Remote", "RemoteFunction"]

LONGEST_LINE = 2**26  # bytes
LONGEST_TEXT = 10_000  # characters of an error's message


# Exceptions that take one text: tests catch errors of answers under these names.
CAUGHT = {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, Exception)
    # Of these some take no text, and others would end a loop of the test.
    and not issubclass(kind, UnicodeError | ExceptionGroup | StopIteration | StopAsyncIteration)
}


class AnswerError(Exception):
    """An answer failed with an error that is not built in."""


class NoAnswer(ConnectionError):
    """The other process does not answer, or not as it should."""


class Connection:
    """Lines of JSON over a socket.

    Parameters
    ----------
    socket : socket.socket
        The connected socket.
    """

    def __init__(self, socket):
        self._socket, self._file = socket, socket.makefile("rb")

    def send(self, tree):
        """Send one line."""
        try:
            self._socket.sendall(json.dumps(tree).encode() + b"\n")
        except (OSError, ValueError) as error:  # ValueError: of a file that was closed
            raise ConnectionError(f"the connection is lost ({error})") from None

    def receive(self):
        """Return the next line, or raise ConnectionError."""
        try:
            line = self._file.readline(LONGEST_LINE)
        except (OSError, ValueError) as error:
            raise ConnectionError(f"the connection is lost ({error})") from None
        if not line:
            raise ConnectionError("the other process has closed the connection")
        if not line.endswith(b"\n"):
            raise ConnectionError(f"a value has more than {LONGEST_LINE >> 20} MiB; return less")
        try:
            tree = json.loads(line)
        except (ValueError, RecursionError):
            tree = None
        if not isinstance(tree, dict):
            raise ConnectionError("the other process sent something that is not a message")
        return tree

    def close(self):
        """Close the socket, also for another thread that waits for it."""
        with suppress(OSError):
            self._socket.shutdown(SHUT_RDWR)
        self._file.close()
        self._socket.close()


class Remote:
    """Stands for an object of the other process; its attributes are read there."""

    def __init__(self, peer, number):
        self.__dict__.update(_peer=peer, _number=number)
        weakref.finalize(self, peer.unused.append, number)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"{name} of an answer cannot be read: it is in another process")
        return self._peer.ask("get", of=self._number, name=name)

    def __deepcopy__(self, memo):
        """Refuse."""
        raise TypeError("an object of another process cannot be copied")

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} of an answer cannot be set: it is in another process")


class RemoteFunction(Remote):
    """Stands for a function of the other process, which runs there."""

    def __call__(self, *args, **kwargs):
        """Call it, and return its result."""
        return self._peer.ask("call", of=self._number, args=args, kwargs=kwargs)


class Peer:
    """One of the two sides.

    Parameters
    ----------
    shared : list
        Objects that were sent by reference; the other side names them by their place.
    """

    def __init__(self, shared):
        self.shared, self.connection = shared, None
        self.unused = []  # numbers of objects of the other side that nothing here refers to
        self._one_at_a_time = RLock()

    def ask(self, action, *, args=(), kwargs=None, **more):
        """Let the other side do something; return the result, or raise its error."""
        kwargs = dict(kwargs or {})
        request = {"action": action, "args": self._encoded(list(args)), **more}
        request["kwargs"] = self._encoded(kwargs)
        with self._one_at_a_time:  # an answer may have several threads
            if self.connection is None:
                raise NoAnswer("the kernel is not connected")
            request["unused"] = [self.unused.pop() for _ in range(len(self.unused))]
            try:
                self.connection.send(request)
                while "action" in (message := self.connection.receive()):
                    self.reply(message)
            except ConnectionError as problem:
                raise NoAnswer(str(problem)) from None
        if message.get("error") is not None:
            raise _rebuilt(message["error"])
        given = [one for one in [*args, *kwargs.values()] if _is_generator(one)]
        try:
            for one, state in zip(given, message.get("states", []), strict=True):
                set_state(one, decode(state, self._refused))
            return decode(message.get("value"), self._stand_in)
        except (ValueError, TypeError, RecursionError) as problem:
            raise NoAnswer(f"the reply cannot be read: {problem}") from None

    def reply(self, message):
        """Do what the other side asks for, and send the result or the error."""
        given = []
        try:
            for number in message.get("unused", []):
                self.shared[number] = None
            args, kwargs = (
                decode(message.get(part), self._stand_in) for part in ("args", "kwargs")
            )
            given = [one for one in [*args, *kwargs.values()] if _is_generator(one)]
            value = self._encoded(self.perform(message, args, kwargs))
            told = {"value": value}
        except BaseException as error:
            told = {"error": _described(error)}
            if isinstance(error, KeyboardInterrupt):
                self.connection.send(told)
                raise
        told["states"] = [encode(one.bit_generator.state, self._refused) for one in given]
        self.connection.send(told)

    def perform(self, message, args, kwargs):
        """Call a function that was sent, or read an attribute of an object that was sent."""
        number = message.get("of")
        if isinstance(number, int) and 0 <= number < len(self.shared):
            match message:
                case {"action": "call"}:
                    return self.shared[number](*args, **kwargs)
                case {"action": "get", "name": str(name)}:
                    return self.attribute(self.shared[number], name)
        raise TypeError("this request is not accessible")

    def attribute(self, value, name):
        """Return an attribute of an object that was sent."""
        return getattr(value, name)

    def may_share(self, value):
        """Return whether an object may be sent by reference."""
        return True

    def _encoded(self, value):
        try:
            return encode(value, self._reference)
        except RecursionError:
            raise TypeError("a value that contains itself cannot be sent") from None

    def _reference(self, value):
        if isinstance(value, Remote) and value._peer is self:
            return {"kind": "object", "yours": value._number}
        name = "array of objects" if type(value) is np.ndarray else type(value).__name__
        if not self.may_share(value):
            raise TypeError(
                f"an object of type {name} cannot be sent to another process. Numbers, texts, "
                "arrays, functions, random generators (numpy.random.default_rng), estimators that "
                "are not fitted, objects of classes that the notebook defines, and containers of "
                "these can."
            )
        self.shared.append(value)
        about = {"type": name, "callable": callable(value)}
        return {"kind": "object", "mine": len(self.shared) - 1, **about}

    def _stand_in(self, tree):
        match tree:
            case {"yours": int(number)} if 0 <= number < len(self.shared):
                return self.shared[number]
            case {"mine": int(number), "type": str(name), "callable": bool(can_be_called)}:
                base = RemoteFunction if can_be_called else Remote
                return type(name, (base,), {})(self, number)
        raise ValueError("no such object")

    def _refused(self, value):
        raise ValueError("this is not plain data")


def _is_generator(value):
    return isinstance(value, np.random.Generator)


def _described(error):
    """Return an error as plain data; its traceback begins where the call left our code."""
    kind = type(error)
    base = next(one for one in kind.__mro__ if one.__module__ == "builtins")
    try:
        says = str(error.args[0] if kind is KeyError and error.args else error)[:LONGEST_TEXT]
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(_FOLDER)]
        lines = traceback.format_list(own) + traceback.format_exception_only(error)
    except Exception:  # of an error that cannot even be shown
        says, lines = "", []
    lines = [line[:LONGEST_TEXT] for line in lines]
    return {"name": kind.__name__, "base": base.__name__, "says": says, "lines": lines}


def _rebuilt(error):
    """Return an exception that tests can catch as the built-in one that it is, or is made of."""
    match error:
        case {"name": str(name), "base": str(base), "says": str(says), "lines": [*lines]}:
            kind = getattr(builtins, base, None)
            if base not in CAUGHT:
                made = AnswerError(f"{name}: {says}" if says else name)
            else:
                made = (kind if name == base else type(name, (AnswerError, kind), {}))(says)
            made.lines = [line for line in lines if isinstance(line, str)]
            return made
    return AnswerError("an error that cannot be read")


_FOLDER = __file__.rpartition("peer")[0]
