"""Kernel functions of two arrays, checks of Gram matrices, and the parameter ``kernel``."""

from .checks import check_gram, check_square
from .ensembles import perceptron, stump, stump_regions, stump_tree
from .functions import DISTANCE_FUNCTIONS, exponential, gaussian, laplacian, linear, polynomial
from .registry import CONDITIONALLY_DEFINITE, KERNELS

__all__ = [
    "CONDITIONALLY_DEFINITE",
    "DISTANCE_FUNCTIONS",
    "KERNELS",
    "check_gram",
    "check_square",
    "exponential",
    "gaussian",
    "laplacian",
    "linear",
    "perceptron",
    "polynomial",
    "stump",
    "stump_regions",
    "stump_tree",
]
