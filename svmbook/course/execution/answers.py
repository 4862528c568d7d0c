"""In the kernel of a submission: call its answers for the tests, which run in another process."""

import socket
import sys
from importlib import import_module

import numpy as np

from .peer import Connection, Peer
from .plain_data import decode

__all__ = ["serve"]

LARGEST_ARRAY = 2**25  # bytes


class NotSent:
    """Stands for a value that cannot be sent to the tests."""

    def __init__(self, reason):
        self.reason = reason


class Encoded:
    """A value as it is sent."""

    def __init__(self, tree):
        self.tree = tree


class Answers(Peer):
    """The side of the submission: names are looked up here, functions called, attributes read."""

    def perform(self, message, args, kwargs):
        """Do what a test asks for."""
        if message["action"] == "look":
            names = sys.modules["__main__"].__dict__
            return {name: self._sendable(names[name]) for name in args if name in names}
        return super().perform(message, args, kwargs)

    def _sendable(self, value):
        """Return an encoded value, or an object with the reason why it cannot be sent."""
        if isinstance(value, np.ndarray) and value.nbytes > LARGEST_ARRAY:
            return NotSent(f"an array has more than {LARGEST_ARRAY >> 20} MiB")
        try:
            return Encoded(self._encoded(value))
        except TypeError as error:
            return NotSent(str(error))

    def _reference(self, value):
        return value.tree if isinstance(value, Encoded) else super()._reference(value)

    def _stand_in(self, tree):
        match tree:
            case {"estimator": str(path)}:
                module, _, name = path.rpartition(".")
                made = getattr(import_module(module), name)
                return made(**decode(tree["params"], self._stand_in)) if "params" in tree else made
        return super()._stand_in(tree)


_SHARED = []  # what tests may still refer to, from one run of `serve` to the next


def serve(port, key):
    """Connect to the process of the tests, and do what it asks for until it ends.

    Parameters
    ----------
    port : int
        Where it listens on this computer.
    key : str
        Authenticates the connection.
    """
    answers = Answers(_SHARED)
    connected = socket.create_connection(("127.0.0.1", port))
    connected.settimeout(None)  # whatever a submission has set as default
    answers.connection = Connection(connected)
    try:
        answers.connection.send({"key": key, "wanted": True})
        while "action" in (message := answers.connection.receive()):
            answers.reply(message)
    finally:
        answers.connection.close()
