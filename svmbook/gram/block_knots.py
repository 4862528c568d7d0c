"""Quantile knots of points in blocks, from t-digests that the workers merge.

A t-digest (Dunning 2021, "The t-digest: efficient estimates of distributions", Software Impacts 7)
summarises a distribution by some hundred weighted means of neighbouring values, small ones at both
ends. Two digests are merged into one of the same size.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

from ..moments import Moments
from ..rows import Blocks, Terms, sum_rows
from ..ties import unique_up_to_rounding
from .stumps import QUANTILE_SAMPLE_SIZE, quantile_knots

__all__ = ["block_quantile_knots"]

DIGEST_SIZE = 1000  # the compression of the digests: their number of means is about this
PROBE_SIZE = 1000  # values of a block that tell whether a feature has more values than knots


def block_quantile_knots(
    points: Blocks, weights: Blocks, n: int, moments: Moments, n_knots: int
) -> list[np.ndarray]:
    """Return the knots of `svmbook.gram.quantile_knots` for points in blocks.

    Up to 200,000 points are collected, and the knots are the same. For more points they are
    estimated by t-digests, unless a feature has at most ``n_knots`` values.

    Parameters
    ----------
    points, weights : Blocks
        Arrays of points, and their weights.
    n : int
        Number of points.
    moments : Moments
        Their moments, for the smallest and the largest value.
    n_knots : int
        Maximum number of knots per feature.

    Returns
    -------
    list of ndarray
        Increasing knots of each feature.
    """
    if n > QUANTILE_SAMPLE_SIZE and find_spec("crick") is None:
        raise ImportError(
            f"crick is missing, which estimates quantiles of more than {QUANTILE_SAMPLE_SIZE:,} "
            'points; install it with: pip install "svmbook[cluster]"'
        )
    if n <= QUANTILE_SAMPLE_SIZE:
        X, weights = np.concatenate(points.gather()), np.concatenate(weights.gather())
        return quantile_knots(X[weights > 0], n_knots, weights[weights > 0])
    summary = sum_rows(partial(FeatureSummary.of_points, max_values=n_knots), points, weights)
    levels, knots = np.linspace(0, 1, n_knots)[1:-1], []
    ends = zip(moments.smallest, moments.largest, strict=True)
    for digest, values, (smallest, largest) in zip(
        summary.digests, summary.values, ends, strict=True
    ):
        if values is None:
            inner_knots = np.clip(digest.quantile(levels), smallest, largest)
            values, _ = unique_up_to_rounding(np.array([smallest, *inner_knots, largest]))
        knots.append(values)
    return knots


@dataclass(frozen=True, eq=False)
class FeatureSummary(Terms):
    """A t-digest of each feature, and its distinct values if there are few."""

    digests: list
    values: list
    max_values: int

    def __add__(self, other):
        digests = deepcopy(self.digests)  # a task must not change the results of others
        for digest, other_digest in zip(digests, other.digests, strict=True):
            digest.merge(other_digest)
        values = [
            None if a is None or b is None else _few_values(np.append(a, b), self.max_values)
            for a, b in zip(self.values, other.values, strict=True)
        ]
        return FeatureSummary(digests, values, self.max_values)

    @classmethod
    def of_points(cls, points, weights, max_values):
        """Return the summary of an array of points."""
        digests, values, has_weight = [], [], weights > 0
        for column in points[has_weight].T:
            digests.append(_digest(column, weights[has_weight]))
            probe = _few_values(column[:PROBE_SIZE], max_values)
            values.append(None if probe is None else _few_values(column, max_values))
        return cls(digests, values, max_values)


def _digest(values, weights):
    """Return the t-digest of values, computed from means of neighbouring ones.

    Sorting the values and adding groups of them takes a fifth of the time that a digest needs to
    read them one by one. Like the means of a digest, the groups are small at both ends.
    """
    from crick import TDigest  # an optional dependency

    digest = TDigest(DIGEST_SIZE)
    if len(values):
        order = np.argsort(values)
        values, weights = values[order], weights[order]
        cum_weight, angles = np.cumsum(weights), np.linspace(-0.5 * np.pi, 0.5 * np.pi, DIGEST_SIZE)
        levels = 0.5 * (1.0 + np.sin(angles[:-1])) * cum_weight[-1]
        starts = np.unique(np.searchsorted(cum_weight, levels))
        group_weights = np.add.reduceat(weights, starts)
        digest.update(np.add.reduceat(weights * values, starts) / group_weights, group_weights)
    return digest


def _few_values(values, max_values):
    """Return the distinct values, sorted, or None if there are more than ``max_values``."""
    distinct_values, _ = unique_up_to_rounding(values)
    return distinct_values if len(distinct_values) <= max_values else None
