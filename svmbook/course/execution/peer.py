"""Calls between two processes, over a socket: requests and replies, one line of JSON each.

Either side may call what the other has sent it. While it waits for the reply to a call, a side
answers the calls of the other.
"""

from __future__ import annotations

import builtins
import json
import traceback
from contextlib import suppress
from socket import SHUT_RDWR

import numpy as np

from .plain_data import decode, encode, set_state

__all__ = ["AnswerError", "Connection", "NoAnswer", "Peer", "Remote", "RemoteFunction"]

LONGEST_LINE = 2**26  # bytes
LONGEST_TEXT = 10_000  # characters of an error's message


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
        self._socket.sendall(json.dumps(tree).encode() + b"\n")

    def receive(self):
        """Return the next line, or raise ConnectionError."""
        line = self._file.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise ConnectionError("too long a value" if line else "the other side has closed")
        try:
            tree = json.loads(line)
        except (ValueError, RecursionError):
            raise ConnectionError("no JSON") from None
        if not isinstance(tree, dict):
            raise ConnectionError("no message")
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

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"{name} of an answer cannot be read: it is in another process")
        return self._peer.ask("get", of=self._number, name=name)

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

    def ask(self, action, *, args=(), kwargs=None, **more):
        """Let the other side do something; return the result, or raise its error."""
        if self.connection is None:
            raise NoAnswer("nothing of the other process can be called here")
        trees = [self._encoded(value) for value in (list(args), dict(kwargs or {}))]
        try:
            self.connection.send({"action": action, "args": trees[0], "kwargs": trees[1], **more})
            while "action" in (message := self.connection.receive()):
                self.reply(message)
        except ConnectionError as problem:
            raise NoAnswer(str(problem)) from None
        states = message.get("states", [])
        given = [one for one in [*args, *(kwargs or {}).values()] if _is_generator(one)]
        try:
            for one, state in zip(given, states, strict=True):
                set_state(one, decode(state, self._refused))
            error, value = message.get("error"), decode(message.get("value"), self._stand_in)
        except (ValueError, RecursionError) as problem:
            raise NoAnswer(f"no reply: {problem}") from None
        if error is not None:
            raise _rebuilt(error)
        return value

    def reply(self, message):
        """Do what the other side asks for, and send the result or the error."""
        given = []
        try:
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
        raise TypeError("this cannot be asked for")

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
        name = type(value).__name__
        if not self.may_share(value):
            raise TypeError(
                f"an object of type {name} cannot be sent to another process. Numbers, texts, "
                "arrays, functions, estimators that are not fitted, objects of classes that the "
                "notebook defines, and containers of these can."
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
                return type(name if name.isidentifier() else "object", (base,), {})(self, number)
        raise ValueError("no such object")

    def _refused(self, value):
        raise ValueError("no plain data")


def _is_generator(value):
    return isinstance(value, np.random.Generator)


def _described(error):
    """Return an error as plain data; its traceback begins where the call left our code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_FOLDER)]
    lines = traceback.format_list(own) + traceback.format_exception_only(error)
    says = error.args[0] if isinstance(error, KeyError) and error.args else error
    lines = [line[:LONGEST_TEXT] for line in lines]
    return {"name": type(error).__name__, "says": str(says)[:LONGEST_TEXT], "lines": lines}


def _rebuilt(error):
    """Return an exception of the same name if that is a built-in one."""
    match error:
        case {"name": str(name), "says": str(says), "lines": [*lines]}:
            kind = getattr(builtins, name, None)
            if isinstance(kind, type) and issubclass(kind, Exception):
                made = kind(says) if not issubclass(kind, UnicodeError) else AnswerError(says)
            else:
                made = AnswerError(f"{name}: {says}" if says else name)
            made.lines = [line for line in lines if isinstance(line, str)]
            return made
    return AnswerError("an error that cannot be read")


_FOLDER = __file__.rpartition("peer")[0]
