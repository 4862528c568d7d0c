"""Companion package of the book *Support Vector Machines, from the dual up*."""

from importlib.metadata import version

from .logistic import ImportVectorMachine, KernelLogisticRegression
from .svm.dual_svc import DualSVC

__all__ = ["DualSVC", "ImportVectorMachine", "KernelLogisticRegression", "__version__"]

__version__ = version("svmbook")
