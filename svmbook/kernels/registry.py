"""The named kernels, which the parameter ``kernel`` of the estimators accepts."""

from .ensembles import perceptron, stump, stump_regions, stump_tree
from .functions import exponential, gaussian, laplacian, linear, polynomial

__all__ = ["CONDITIONALLY_DEFINITE", "KERNELS"]

#: Kernel functions by name, each with the names of its parameters. The estimators set ``box`` to
#: the smallest box that contains the training points.
KERNELS = {
    "linear": (linear, ()),
    "poly": (polynomial, ("gamma", "coef0", "degree")),
    "rbf": (gaussian, ("gamma",)),
    "laplacian": (laplacian, ("gamma",)),
    "exponential": (exponential, ("gamma",)),
    "stump": (stump, ()),
    "perceptron": (perceptron, ()),
    "stump_regions": (stump_regions, ("box", "degree")),
    "stump_tree": (stump_tree, ("box", "degree")),
}
#: Names of the kernels that are only conditionally definite: on vectors that sum to zero.
CONDITIONALLY_DEFINITE = ("stump", "perceptron")
