"""Kernel logistic regression and the import vector machine."""

from .import_vectors import ImportVectorMachine
from .regression import KernelLogisticRegression

__all__ = ["ImportVectorMachine", "KernelLogisticRegression"]
