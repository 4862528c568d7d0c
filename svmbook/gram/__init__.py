"""Forms of the Gram matrix: stored, of low rank, of the stump kernel, or computed on demand.

To add a form, write one class in a new file; `GramMatrix` documents the methods that it needs.
"""

from .computed import ComputedGram
from .factors import centred_gram, pivoted_cholesky
from .gaussian import GaussianGram
from .low_rank import LowRankGram
from .matrix import GramMatrix
from .stored import StoredGram
from .stumps import StumpGram, quantile_knots

__all__ = [
    "ComputedGram",
    "GaussianGram",
    "GramMatrix",
    "LowRankGram",
    "StoredGram",
    "StumpGram",
    "centred_gram",
    "pivoted_cholesky",
    "quantile_knots",
]
