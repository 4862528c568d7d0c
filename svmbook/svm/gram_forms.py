"""The form of the Gram matrix in which each solver of the dual is fastest."""

from __future__ import annotations

from scipy.sparse import issparse

from ..gram import ComputedGram, GaussianGram, StoredGram, centred_gram
from ..gram.computed import DEFAULT_CACHE_MEGABYTES
from ..kernel_machine import MAX_STORED_POINTS
from ..kernels.registry import KERNELS
from ..solvers.dual.libsvm import NATIVE_KERNELS

__all__ = ["gram_and_mean", "is_low_rank", "n_stored_numbers"]

MAX_LOW_RANK_RATIO = 0.25  # linear kernel: low rank is faster up to this many features per point
MAX_STORED_GAUSSIAN_POINTS = 4000  # beyond, computing blocks twice is faster than storing K
# Numbers that a fit stores, for the estimate of memory. If the Gram matrix is not stored: for a
# Gaussian, a system of 10,000 free points; for other kernels, a full cache of rows.
GAUSSIAN_NUMBERS, CACHE_NUMBERS = 1e8, DEFAULT_CACHE_MEGABYTES * 1e6 / 8


def gram_and_mean(solver, kernel, points):
    """Return the Gram matrix in the best form for the solver, and a subtracted mean or None."""
    form = _choose_form(solver, kernel.name, kernel.is_known_definite, *points.shape)
    if form == "low-rank":
        # Dense columns need less memory than the Gram matrix. They are centred once more, since
        # the mean that `fit` subtracted was rounded.
        return centred_gram(points.toarray() if issparse(points) else points)
    if form == "gaussian":
        return GaussianGram(points, **kernel.params), None
    if form == "computed":
        return ComputedGram(kernel.block_function(points), points.shape[0]), None
    return StoredGram(kernel.gram(points, require_definite=False)), None


def n_stored_numbers(solver, kernel, n, d):
    """Estimate how many numbers a fit stores, for the name of a kernel.

    A centred copy of the points is counted only for a Gaussian kernel and for low rank.
    """
    form = _choose_form(solver, kernel, kernel in KERNELS, n, d)
    stores_factors = solver in ("interior-point", "cvxopt")
    return {
        "low-rank": 2.0 * n * d,
        "gaussian": GAUSSIAN_NUMBERS + 3.0 * n * d,
        "computed": min(n * n, CACHE_NUMBERS),
        "stored": (2.3 if stores_factors else 1.1) * n * n,
    }[form]


def _choose_form(solver, kernel, is_known_definite, n, d):
    """Return "low-rank", "gaussian", "computed" or "stored", for the name of a kernel."""
    if solver in ("interior-point", "cvxopt") and is_low_rank(kernel, n, d):
        return "low-rank"
    max_stored = MAX_STORED_GAUSSIAN_POINTS if kernel == "rbf" else MAX_STORED_POINTS
    is_native = solver == "libsvm" and kernel in NATIVE_KERNELS
    is_large = solver == "active-set" and n > max_stored
    if is_known_definite and (is_native or is_large):
        return "gaussian" if kernel == "rbf" else "computed"
    return "stored"


def is_low_rank(kernel, n, d):
    """Return whether the rank of the Gram matrix is low enough to use the points as its factor.

    ``kernel`` is the name of the kernel.
    """
    return kernel == "linear" and d <= MAX_LOW_RANK_RATIO * n
