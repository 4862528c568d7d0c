r"""The linear support vector machine of points in Dask collections.

``DualSVC().fit(X, y)`` accepts Dask arrays and data frames of more points than fit into memory. The
solver is Newton's method on smoothed hinge losses (`svmbook.solvers.smoothed_hinge`), whose steps
are sums over blocks of rows. Attributes that have one entry per training point, such as ``alpha_``
and ``support_``, are not set; ``coef_``, ``intercept_`` and the certificate are. There must be
two classes. Predictions for Dask collections are Dask arrays.

The computation runs on the scheduler that the caller has chosen, usually a
``dask.distributed.Client``, or else on a cluster in this process. Points that take at most a
quarter of the workers' memory are kept there; more points are read again for each Newton step. Each
thread of a worker needs at most ten times the memory of a block, and the worker three numbers per
point of its share.

Examples
--------
>>> import dask.array as da
>>> from svmbook import DualSVC
>>> from svmbook.datasets import stdev
>>> X, y = stdev(2, n=100, random_state=0)
>>> X_blocks = da.from_array(X, chunks=(50, 2))
>>> y_blocks = da.from_array(y, chunks=50)
>>> model = DualSVC().fit(X_blocks, y_blocks)
>>> model.converged_, model.predict(X_blocks).shape
(True, (100,))
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..base import clear_fitted_attributes
from ..dask_input import block_problem, running_cluster
from ..gram import LowRankGram
from ..gram.blocks import BlockGram
from ..rows import map_rows
from ..solvers.smoothed_hinge import solve_smoothed_hinge
from ..weights import point_penalties

__all__ = ["fit_linear_in_blocks", "linear_gram", "linear_problem", "newton_options"]


def fit_linear_in_blocks(model, X, y, sample_weight):
    """Fit a `DualSVC` with the linear kernel to Dask collections; set its attributes."""
    clear_fitted_attributes(model)
    with running_cluster():
        problem = linear_problem(model, X, y, sample_weight)
        penalties = partial(point_penalties, float(model.C))
        C = map_rows(penalties, problem.weights, keep=False, by_row=True)
        result, w = solve_smoothed_hinge(
            linear_gram(problem), problem.y, C, **newton_options(model)
        )
    model.solver_ = "smoothed-hinge"
    model._kernel = model._resolve_kernel(None, None)
    model._set_linear_function(w, result.intercept, problem.moments.mean)
    model.geometric_margin_ = 1.0 / np.sqrt(result.w_squared) if result.w_squared > 0 else np.inf
    model.dual_objective_ = result.dual_objective
    model._set_certificate(problem.classes, result, stacklevel=5)
    return model


def newton_options(model):
    """Return the tolerance, and the maximum number of steps if there is one."""
    options = {"tol": float(model.tol)}
    return options if model.max_iter == -1 else options | {"max_iter": int(model.max_iter)}


def linear_problem(model, X, y, sample_weight):
    """Return the validated problem of Dask collections, with centred points."""
    if not (model._is_linear and model.solver == "auto" and np.isfinite(model.C)):
        raise ValueError(
            "for Dask collections DualSVC needs kernel='linear', solver='auto' and a finite C; "
            f"found kernel={model.kernel!r}, solver={model.solver!r} and C={model.C}."
        )
    problem = block_problem(model, X, y, sample_weight)
    centre = partial(_centred, origin=problem.moments.mean)
    return problem._replace(points=map_rows(centre, problem.points, keep=False, by_row=True))


def linear_gram(problem):
    """Return the Gram matrix of centred points."""
    n_features = len(problem.moments.mean)
    return BlockGram(problem.points, problem.block_sizes, LowRankGram, n_features, by_row=True)


def _centred(points, origin):
    return np.subtract(points, origin, order="C")
