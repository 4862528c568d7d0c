"""Companion package of the book *Support Vector Machines, from the dual up*."""

from importlib.metadata import version

from .klr import ImportVectorMachine, KernelLogisticRegression
from .svc import DualSVC

__all__ = ["DualSVC", "ImportVectorMachine", "KernelLogisticRegression", "__version__"]

__version__ = version("svmbook")
