"""Training data in Dask collections: their blocks, labels, weights and moments.

A block is a chunk of rows of a Dask array, or a partition of a Dask data frame. The data are read
once for the labels. The features are then read once if the workers can keep them
(`fits_in_workers`), and otherwise once for their moments and once per step of the solver.
Summaries of the blocks reach the caller, and the rows that solvers collect: a random sample, and
the points near the margin boundary.
"""

from __future__ import annotations

import copy
import warnings
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import _check_feature_names, _check_n_features

from .dask_labels import LabelSummary, as_labels, encode_labels
from .moments import Moments
from .rows import Blocks, add_chunks, map_rows, release_at_end, sum_rows
from .weights import point_weights

__all__ = [
    "BlockProblem",
    "block_problem",
    "fits_in_workers",
    "is_dask",
    "predict_lazily",
    "running_cluster",
]

KEPT_SHARE = 0.25  # of the workers' memory; the rest is for the caller's data and the passes
HAS_PACKAGE = "__import__('importlib.util').util.find_spec('svmbook') is not None"


class BlockProblem(NamedTuple):
    """Validated training data in blocks of rows."""

    classes: np.ndarray  # the two labels, sorted
    points: Blocks  # arrays of shape (n_k, d)
    y: Blocks  # signs of the labels
    weights: Blocks  # class weights times sample weights
    block_sizes: list  # numbers of points
    moments: Moments  # of the features


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection; Dask is imported only if it may be one."""
    if not hasattr(X, "__dask_graph__"):
        return False
    from dask import is_dask_collection

    return is_dask_collection(X)


@contextmanager
def running_cluster():
    """Run the block on the scheduler of the caller, or else on a cluster in this process.

    At the end of the block, also after an error, the workers keep nothing of it.
    """
    from dask.base import get_scheduler

    if get_scheduler() is not None:  # for instance, that of a distributed.Client
        with _explained_failures(), release_at_end():
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            'dask.distributed is missing; install it with: pip install "svmbook[cluster]"'
        ) from error
    with Client(processes=False, dashboard_address="127.0.0.1:0"), release_at_end():
        yield


@contextmanager
def _explained_failures():
    """Report workers without this package, and blocks that end their workers."""
    try:
        from distributed import KilledWorker
    except ImportError:  # another scheduler of Dask
        yield
        return
    _check_workers()
    try:
        yield
    except KilledWorker as error:
        raise MemoryError(
            "several workers ended while they computed the same block, probably because it does "
            "not fit into their memory; use smaller blocks, fewer threads per worker, or a larger "
            "memory_limit."
        ) from error


def _check_workers():
    """Report workers of the current client, if there is one, that lack this package."""
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:  # there is none
        return
    # A worker that ends in this moment does not answer.
    has_package = client.run(eval, HAS_PACKAGE, on_error="ignore")
    missing = [address for address, is_installed in has_package.items() if not is_installed]
    if missing:
        raise ModuleNotFoundError(
            f"svmbook is not installed on {len(missing)} of {len(has_package)} workers, for "
            f"instance {missing[0]}; install the same version there."
        )


def fits_in_workers(n_points, n_numbers):
    """Return whether the workers can keep so many numbers per point between the passes.

    Workers without a known memory limit keep nothing.
    """
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):  # another scheduler of Dask
        return False
    workers = client.scheduler_info()["workers"].values()
    return 8 * n_points * n_numbers <= KEPT_SHARE * sum(
        worker["memory_limit"] for worker in workers
    )


def block_problem(estimator, X, y, sample_weight):
    """Validate training data in Dask collections and return the `BlockProblem`.

    Parameters
    ----------
    estimator : BaseClassifier
        Its feature names and number of features are set, and its ``class_weight`` is used.
    X : dask.array.Array or dask.dataframe.DataFrame
        Points.
    y : dask.array.Array or dask.dataframe.Series
        Labels of two classes, in blocks that correspond to those of X.
    sample_weight : dask.array.Array, dask.dataframe.Series or None
        Nonnegative weights.
    """
    _set_features(estimator, X, reset=True)
    _check_dimensions(y)
    parts, sizes = _split(X, "X")
    labels = map_rows(as_labels, Blocks(_split(y, "y", sizes)[0]))
    numbers = Blocks(list(range(len(parts))))
    if sample_weight is None:
        weights = map_rows(_ones, labels, keep=False)
    else:
        weight_parts, _ = _split(sample_weight, "sample_weight", sizes)
        weights = map_rows(_checked_weights, Blocks(weight_parts), labels, numbers)
    summary = sum_rows(LabelSummary.of_block, labels, weights, numbers)
    classes, class_sums = summary.classes, summary.class_sums
    factors = point_weights(estimator.class_weight, classes, classes, class_sums) / class_sums
    y_signs = map_rows(partial(encode_labels, classes=classes), labels)
    weights = map_rows(partial(_scale_classes, factors=factors), weights, y_signs)
    columns = list(X.columns) if hasattr(X, "columns") else None
    as_points = partial(_as_points, n_features=estimator.n_features_in_, columns=columns)
    keep = fits_in_workers(sum(summary.sizes), estimator.n_features_in_)
    points = map_rows(as_points, Blocks(parts), numbers, keep=keep)
    moments = sum_rows(_checked_moments, points, weights, numbers)
    has_rows = [size > 0 for size in summary.sizes]
    points, y_signs, weights = (blocks.select(has_rows) for blocks in (points, y_signs, weights))
    block_sizes = [size for size in summary.sizes if size]
    return BlockProblem(classes, points, y_signs, weights, block_sizes, moments)


def predict_lazily(model, method, X, n_columns=None, dtype=float):
    """Return the Dask array of the results of a model's method for the rows of X.

    Parameters
    ----------
    model : BaseClassifier
        A fitted classifier of two classes.
    method : str
        Name of a method that takes an array or a data frame with at least one row.
    X : Dask array or Dask data frame
        Points.
    n_columns : int, default=None
        Number of columns of the result; None for a vector.
    dtype : numpy.dtype
        Of the result.
    """
    import dask.array as da
    from dask import delayed

    _set_features(model, X, reset=False)
    parts, sizes = _split(X, "X")
    trailing_shape = () if n_columns is None else (n_columns,)
    apply = partial(_apply, method=method, trailing_shape=trailing_shape, dtype=dtype)
    # The predictions remain those of this model if it is fitted again before they are computed.
    model = delayed(copy.copy(model), pure=False, traverse=False)
    apply = delayed(apply, pure=False)
    blocks = [
        da.from_delayed(apply(model, part), (n, *trailing_shape), dtype)
        for part, n in zip(parts, sizes, strict=True)
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _set_features(estimator, X, *, reset):
    """Set the number and the names of the features, or compare them with those of the fit."""
    if len(X.shape) != 2:
        raise ValueError(f"X must have two dimensions, but its shape is {X.shape}.")
    n_features = X.shape[1]
    if n_features == 0:
        raise ValueError("X has no features.")
    frame = getattr(X, "_meta", None) if hasattr(X, "columns") else np.empty((1, n_features))
    _check_feature_names(estimator, frame, reset=reset)
    _check_n_features(estimator, np.empty((1, n_features)), reset=reset)


def _check_dimensions(y):
    """Report labels in more than one dimension; one column is accepted with a warning."""
    if getattr(y, "ndim", 1) == 1:
        return
    if y.ndim > 2 or y.shape[1] != 1:
        raise ValueError(f"y must have one dimension, but its shape is {y.shape}.")
    warnings.warn(
        "y is a column; a Dask array of one dimension is expected, for instance y[:, 0].",
        DataConversionWarning,
        stacklevel=7,
    )


def _split(collection, name, sizes_of_X=None):
    """Return the blocks of a collection as delayed objects, and their sizes; NaN if unknown."""
    if not is_dask(collection):
        raise TypeError(
            f"X is a Dask collection, but {name} is a {type(collection).__name__}; convert it to a "
            "Dask array with the same blocks, for instance by dask.array.from_array."
        )
    if hasattr(collection, "chunks"):
        if collection.ndim > 1 and collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})  # all features of a point in one block
        sizes = list(collection.chunks[0])
        if sizes_of_X is not None and not np.isnan([*sizes, *sizes_of_X]).any():
            if sum(sizes) != sum(sizes_of_X):
                raise ValueError(f"X has {sum(sizes_of_X):,} rows, but {name} has {sum(sizes):,}.")
            collection = collection.rechunk({0: tuple(sizes_of_X)})
        parts = list(collection.to_delayed().ravel())
    else:
        sizes = [np.nan] * collection.npartitions
        # The optimisation of one column of a file may join partitions.
        parts = collection.to_delayed(optimize_graph=False)
    if sizes_of_X is not None and len(parts) != len(sizes_of_X):
        raise ValueError(
            f"X has {len(sizes_of_X)} blocks, but {name} has {len(parts)}, and not all of their "
            "sizes are known. Take both from the same data frame, or call compute_chunk_sizes()."
        )
    return parts, sizes if sizes_of_X is None else sizes_of_X


# These functions are applied to each block.
def _ones(y):
    return np.ones(len(y))


def _scale_classes(weights, y, factors):
    return weights * factors[(y > 0).astype(int)]


def _checked_weights(weights, y, number):
    weights = np.asarray(weights, dtype=float).ravel()
    if len(weights) != len(y):
        raise ValueError(
            f"block {number} of sample_weight has {len(weights):,} rows, but that of y {len(y):,}."
        )
    is_invalid = ~(np.isfinite(weights) & (weights >= 0))
    if is_invalid.any():
        row = int(np.flatnonzero(is_invalid)[0])
        raise ValueError(
            f"sample_weight must be finite and not negative: block {number}, row {row} of the "
            f"block, is {weights[row]}."
        )
    return weights


def _as_points(part, number, n_features, columns):
    if columns is not None and list(part.columns) != columns:
        raise ValueError(
            f"block {number} of X has the columns {list(part.columns)}, but X has {columns}."
        )
    if np.iscomplexobj(part):
        raise ValueError(f"block {number} of X has complex numbers, which are not supported.")
    try:
        is_frame = hasattr(part, "to_numpy")
        points = part.to_numpy(float, na_value=np.nan) if is_frame else np.asarray(part, float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"block {number} of X is not numeric: {error}") from error
    if points.ndim != 2 or points.shape[1] != n_features:
        raise ValueError(
            f"block {number} of X has the shape {points.shape}, but X has {n_features} features."
        )
    return points


def _checked_moments(points, weights, number):
    if len(points) != len(weights):
        raise ValueError(
            f"block {number} of X has {len(points):,} rows, but that of y {len(weights):,}."
        )
    with np.errstate(invalid="ignore", over="ignore"):
        may_be_finite = np.isfinite(points.sum())
    if not (may_be_finite or np.isfinite(points).all()):
        row, feature = (int(index) for index in np.argwhere(~np.isfinite(points))[0])
        raise ValueError(
            f"X is not finite: block {number}, row {row} of the block, feature {feature}, is "
            f"{points[row, feature]}."
        )
    return add_chunks(Moments.of_points, points, weights)


def _apply(model, part, method, trailing_shape, dtype):
    return getattr(model, method)(part) if len(part) else np.empty((0, *trailing_shape), dtype)
