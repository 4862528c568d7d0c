"""Data sets: random generators, classical tables by name, and text messages."""

from .generators import breiman, exploring, planar, usvc_cases
from .generators.breiman import *
from .generators.exploring import *
from .generators.planar import *
from .generators.sentiment import messages
from .generators.usvc_cases import *
from .tables.loaders import find_table_file, manifest
from .tables.preparation import PREPARATIONS, load
from .tables.tweets import load_lexicon, load_semeval, message_features

__all__ = ["PREPARATIONS", "find_table_file", "load", "load_lexicon", "load_semeval", "manifest"]
__all__ += ["message_features", "messages"]
__all__ += breiman.__all__ + exploring.__all__ + planar.__all__ + usvc_cases.__all__
