"""The labels of points in blocks: their classes and weights, without collecting them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .labels import distinct_labels, encode_binary_labels, encode_classes
from .rows import Terms

__all__ = ["LabelSummary", "as_labels", "encode_labels"]

MAX_LABELS = 10  # distinct labels of a block that are reported; two are expected


@dataclass(frozen=True, eq=False)
class LabelSummary(Terms):
    """Numbers of points in the blocks, distinct labels, and the sum of the weights of each."""

    sizes: list
    labels: np.ndarray
    class_sums: np.ndarray

    def __add__(self, other):
        if len(self.labels) and len(other.labels):
            are_text = [summary.labels.dtype.kind in "SU" for summary in (self, other)]
            if are_text[0] != are_text[1]:
                examples = self.labels[0].item(), other.labels[0].item()
                raise ValueError(
                    "the labels of different blocks have different types, for instance "
                    f"{examples[0]!r} and {examples[1]!r}; convert all of them to strings or all "
                    "of them to numbers."
                )
        parts = [summary for summary in (self, other) if len(summary.labels)] or [self]
        labels, codes = distinct_labels(np.concatenate([part.labels for part in parts]))
        sums = np.bincount(codes, np.concatenate([part.class_sums for part in parts]))
        return LabelSummary(self.sizes + other.sizes, labels[:MAX_LABELS], sums[:MAX_LABELS])

    @classmethod
    def of_block(cls, y, weights, number):
        """Return the summary of one block."""
        is_missing = y != y
        if y.dtype == object:
            is_missing |= np.array([label is None for label in y], dtype=bool)
        if is_missing.any():
            row = int(np.flatnonzero(is_missing)[0])
            raise ValueError(f"y has a missing label: block {number}, row {row} of the block.")
        labels, codes = distinct_labels(y)
        sums = np.bincount(codes, weights, minlength=len(labels))
        return cls([len(y)], labels[:MAX_LABELS], sums[:MAX_LABELS])

    @property
    def classes(self):
        """The two labels, sorted; an error if there are fewer or more."""
        if len(self.labels) >= MAX_LABELS:
            encode_classes(self.labels)  # reports a continuous target
            raise ValueError(
                f"y has {MAX_LABELS} different labels or more, but for Dask collections exactly "
                "two classes are needed."
            )
        return encode_binary_labels(self.labels)[0]


# These functions are applied to each block.
def as_labels(y):
    """Return the labels of a block as an array."""
    values = y.to_numpy(na_value=np.nan) if hasattr(y, "to_numpy") else np.asarray(y)
    return values[:, 0] if values.ndim > 1 else values


def encode_labels(y, classes):
    """Return the signs of labels."""
    return np.where(y == classes[1], 1.0, -1.0)
