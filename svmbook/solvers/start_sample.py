"""A random sample whose solution is the warm start of a problem with many points."""

from __future__ import annotations

import numpy as np

from ..rows import sum_rows

__all__ = ["draw_start_sample"]

START_SAMPLE_SIZE = 20_000  # a problem of more than twice as many points gets a warm start
SAMPLE_SHARE = 0.02  # of the points, if that is more
MAX_SAMPLE_SIZE = 200_000


def draw_start_sample(gram, y, weights):
    """Return a random sample of a problem, or None if it has too few points or only one class.

    Parameters
    ----------
    gram : LowRankGram
        Gram matrix of the points.
    y, weights : ndarray of shape (n,), or Blocks
        Labels -1 and +1, and factors of the losses.

    Returns
    -------
    gram : LowRankGram
        Gram matrix of the sample, in memory.
    y, weights : ndarray
        Its labels and its weights, scaled to the sum of all weights, so that losses and penalty
        have the same proportion.
    """
    if gram.n <= 2 * START_SAMPLE_SIZE:
        return None
    size = max(START_SAMPLE_SIZE, min(round(SAMPLE_SHARE * gram.n), MAX_SAMPLE_SIZE))
    sample_gram, sample_y, sample_weights = gram.sample(size, y, weights)
    if len(np.unique(sample_y[sample_weights > 0])) < 2:
        return None
    scale = sum_rows(np.sum, weights) / sample_weights.sum()
    return sample_gram, sample_y, scale * sample_weights
