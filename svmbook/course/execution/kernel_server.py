"""The side of the Jupyter kernel in a test: serve the requests of the process of the tests."""

import socket
import sys
from importlib import import_module

import numpy as np

from .peer import Connection, Peer
from .plain_data import decode

__all__ = ["serve"]

MAX_ARRAY_BYTES = 2**25


class UnsendableValue:
    """Placeholder for a value that cannot be sent to the tests."""

    def __init__(self, reason):
        self.reason = reason


class EncodedValue:
    """A value that has already been encoded, with the tree that represents it."""

    def __init__(self, tree):
        self.tree = tree


class SubmissionPeer(Peer):
    """The submission's side: it looks up names, calls functions and reads attributes."""

    def perform(self, message, args, kwargs):
        """Perform an action that a test requests."""
        if message["action"] == "look_up":
            namespace = sys.modules["__main__"].__dict__
            return {
                name: self._encode_or_explain(namespace[name]) for name in args if name in namespace
            }
        return super().perform(message, args, kwargs)

    def _encode_or_explain(self, value):
        """Return an encoded value, or a placeholder with the reason why it cannot be sent."""
        if isinstance(value, np.ndarray) and value.nbytes > MAX_ARRAY_BYTES:
            return UnsendableValue(f"an array has more than {MAX_ARRAY_BYTES >> 20} MiB")
        try:
            return EncodedValue(self._encode(value))
        except TypeError as error:
            return UnsendableValue(str(error))

    def _encode_object(self, value):
        return value.tree if isinstance(value, EncodedValue) else super()._encode_object(value)

    def _decode_object(self, tree):
        match tree:
            case {"estimator": str(qualified_name)}:
                module, _, name = qualified_name.rpartition(".")
                cls = getattr(import_module(module), name)
                if "params" not in tree:
                    return cls
                return cls(**decode(tree["params"], self._decode_object))
        return super()._decode_object(tree)


_SHARED_OBJECTS = []  # objects that tests may refer to; they persist between calls of `serve`


def serve(port, key):
    """Connect to the process of the tests, and serve its requests until it ends the connection.

    Parameters
    ----------
    port : int
        The port on this computer where the process of the tests listens.
    key : str
        Secret that authenticates the connection.
    """
    peer = SubmissionPeer(_SHARED_OBJECTS)
    client_socket = socket.create_connection(("127.0.0.1", port))
    client_socket.settimeout(None)  # a submission may have changed the default timeout
    peer.connection = Connection(client_socket)
    try:
        peer.connection.send({"key": key, "serving": True})
        while "action" in (message := peer.connection.receive()):
            peer.reply(message)
    finally:
        peer.connection.close()
