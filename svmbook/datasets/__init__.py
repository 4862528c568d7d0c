"""Data: seeded generators, and classical tables by name."""

from .generators import breiman, clouds, intervals, planar
from .generators.breiman import *
from .generators.clouds import *
from .generators.intervals import *
from .generators.planar import *
from .tables.loaders import find, manifest
from .tables.treatments import SOURCES, load

__all__ = ["SOURCES", "find", "load", "manifest"]
__all__ += breiman.__all__ + clouds.__all__ + intervals.__all__ + planar.__all__
