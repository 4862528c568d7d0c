"""The form of the Gram matrix in which each solver of the dual is fastest."""

from __future__ import annotations

from scipy.sparse import issparse

from ..gram import ComputedGram, GaussianGram, StoredGram, centred_gram
from ..kernel_machine import MAX_STORED_POINTS
from ..solvers.dual.libsvm import NATIVE_KERNELS

__all__ = ["MAX_STORED_GAUSSIAN_POINTS", "gram_and_mean", "is_low_rank"]

MAX_LOW_RANK_RATIO = 0.25  # linear kernel: low rank is faster up to this many features per point
MAX_STORED_GAUSSIAN_POINTS = 4000  # beyond, computing blocks twice is faster than storing K


def gram_and_mean(solver, kernel, points):
    """Return the Gram matrix in the best form for the solver, and a subtracted mean or None."""
    n, d = points.shape
    if solver in ("interior-point", "cvxopt") and is_low_rank(kernel.name == "linear", n, d):
        # Dense columns need less memory than the Gram matrix. They are centred once more, since
        # the mean that `fit` subtracted was rounded.
        return centred_gram(points.toarray() if issparse(points) else points)
    is_native = solver == "libsvm" and kernel.name in NATIVE_KERNELS
    max_stored = MAX_STORED_GAUSSIAN_POINTS if kernel.name == "rbf" else MAX_STORED_POINTS
    if kernel.is_known_definite and (is_native or (solver == "active-set" and n > max_stored)):
        if kernel.name == "rbf":
            return GaussianGram(points, **kernel.params), None
        return ComputedGram(kernel.block_function(points), n), None
    return StoredGram(kernel.gram(points, require_definite=False)), None


def is_low_rank(is_linear, n, d):
    """Return whether the rank of the Gram matrix is low enough to use the points as its factor."""
    return is_linear and d <= MAX_LOW_RANK_RATIO * n
