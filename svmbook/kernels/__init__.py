"""Kernels: functions of two arrays, what a Gram matrix must be, and the estimators' choice."""

from .checks import check_gram, check_square
from .functions import (
    DISTANCES,
    KERNELS,
    exponential,
    gaussian,
    laplacian,
    linear,
    polynomial,
)

__all__ = [
    "DISTANCES",
    "KERNELS",
    "check_gram",
    "check_square",
    "exponential",
    "gaussian",
    "laplacian",
    "linear",
    "polynomial",
]
