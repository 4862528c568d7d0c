"""Data: seeded synthetic generators."""

from .generators import (
    Parts,
    forest_like,
    non_separable,
    non_separable_bayes_error,
    stdev,
    stdev_bayes_error,
    three_parts,
    xor,
)

__all__ = [
    "Parts",
    "forest_like",
    "non_separable",
    "non_separable_bayes_error",
    "stdev",
    "stdev_bayes_error",
    "three_parts",
    "xor",
]
