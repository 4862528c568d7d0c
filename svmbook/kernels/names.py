"""The kernels by the names that the estimators take."""

from .ensembles import perceptron, stump, stump_regions, stump_tree
from .functions import exponential, gaussian, laplacian, linear, polynomial

__all__ = ["CONDITIONAL", "KERNELS"]

#: Kernel functions by name, each with the parameters it reads; ``box`` is the smallest that holds
#: the training points.
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
#: Those that are definite on vectors that sum to zero alone.
CONDITIONAL = ("stump", "perceptron")
