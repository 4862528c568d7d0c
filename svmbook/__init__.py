"""Companion package of the book *Support Vector Machines, from the dual up*."""

from importlib.metadata import version

from .svc import DualSVC

__all__ = ["DualSVC", "__version__"]

__version__ = version("svmbook")
