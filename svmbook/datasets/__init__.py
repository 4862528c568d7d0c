"""Data sets: random generators, classical tables by name, and text messages."""

from .generators import breiman, clouds, intervals, planar
from .generators.breiman import *
from .generators.clouds import *
from .generators.intervals import *
from .generators.planar import *
from .generators.sentiment import messages
from .tables.loaders import find, manifest
from .tables.preparation import SOURCES, load
from .tables.tweets import load_lexicon, load_semeval, message_features

__all__ = ["SOURCES", "find", "load", "load_lexicon", "load_semeval", "manifest"]
__all__ += ["message_features", "messages"]
__all__ += breiman.__all__ + clouds.__all__ + intervals.__all__ + planar.__all__
