"""Kernel machines that answer with probabilities."""

from .import_vectors import ImportVectorMachine
from .regression import KernelLogisticRegression

__all__ = ["ImportVectorMachine", "KernelLogisticRegression"]
