"""Ten small data sets of two classes, and ways to cut their rows into blocks."""

import dask.array as da
import numpy as np

from svmbook.datasets import (
    isolated,
    non_separable,
    ringnorm,
    stdev,
    striated,
    threenorm,
    twonorm,
    xor,
)


def uneven_classes_far_from_the_origin():
    X, y = twonorm(300, random_state=0)
    keep = (y == y[0]) | (np.arange(300) % 4 == 0)
    return 30.0 * X[keep] + 1e4, y[keep]


def dependent_columns():
    X, y = stdev(2, 150, random_state=0)
    return np.column_stack([X, X[:, 0], np.full(len(X), 5.0)]), y


def repeated_rows_with_string_labels():
    X, y = stdev(2, 50, random_state=1)
    return np.repeat(X, 3, axis=0), np.repeat(np.where(y == y[0], "rose", "iris"), 3)


DATA_SETS = {
    "stdev": lambda: stdev(2, 150, random_state=0),
    "non_separable": lambda: non_separable(150, random_state=0),
    "xor": lambda: xor(150, random_state=0),
    "twonorm": lambda: twonorm(150, random_state=0),
    "threenorm": lambda: threenorm(150, random_state=0),
    "ringnorm": lambda: ringnorm(150, random_state=0),
    "isolated": lambda: isolated(150, random_state=0),
    "striated": lambda: striated(150, random_state=0),
    "uneven classes": uneven_classes_far_from_the_origin,
    "dependent columns": dependent_columns,
}


def row_chunks(n):
    """Return the chunkings to test: one block, uneven blocks, an empty one, single rows."""
    return {
        "one block": (n,),
        "uneven": (1, n // 2, 2, n - n // 2 - 3),
        "an empty block": (n // 3, 0, n - n // 3),
        "single rows": (1,) * n,
    }


def in_blocks(values, chunks):
    """Return a Dask array of these numbers of rows, with one feature per block if there are any."""
    return da.from_array(values, chunks=(chunks, *((1,) * k for k in values.shape[1:])))
