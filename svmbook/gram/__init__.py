"""The Gram matrix, in some form: stored, of low rank, or computed as it is asked for.

A new form is one class in one file: see `svmbook.gram.matrix.GramMatrix` for what it offers.
"""

from .computed import ComputedGram
from .low_rank import LowRankGram, centred_factor, pivoted_factor
from .matrix import GramMatrix
from .stored import StoredGram
from .stumps import StumpGram, quantile_knots

__all__ = [
    "ComputedGram",
    "GramMatrix",
    "LowRankGram",
    "StoredGram",
    "StumpGram",
    "centred_factor",
    "pivoted_factor",
    "quantile_knots",
]
