"""Base class of infinite ensembles of decision stumps: exact fits, and fits with few knots."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import clear_fitted_attributes
from ..dask_input import block_problem, fits_in_workers, is_dask, running_cluster
from ..gram import StoredGram, StumpGram, quantile_knots
from ..gram.block_knots import block_quantile_knots
from ..gram.blocks import BlockGram
from ..gram.many_knots import knot_kernel, values_at_knots
from ..gram.stumps import MAX_DENSE_POINTS_PER_WEIGHT, map_from_weights_to_values
from ..kernel_machine import MAX_STORED_POINTS, KernelMachine
from ..labels import is_multiclass
from ..moments import Moments
from ..ties import round_significand
from ..weights import normalise_weights
from .additive import AdditiveModel, PiecewiseLinear, piecewise_linear_from_kernel_expansion

__all__ = ["StumpEnsemble"]

HAT_MEMORY_RATIO = 3  # per number of a point: two values of hat functions, and their indices


def _varies(moments):
    """Return the mask of the features with two knots or more: values that differ when rounded."""
    return round_significand(moments.largest) > round_significand(moments.smallest)


class StumpEnsemble(AdditiveModel, KernelMachine):
    """Base class of kernel machines with the stump kernel, exact or with few knots."""

    _parameter_constraints: ClassVar[dict] = {
        "feature_scale": [StrOptions({"std"}), None],
        "n_knots": [Interval(Integral, 2, None, closed="left"), None],
        "class_weight": KernelMachine._parameter_constraints["class_weight"],
        "tol": KernelMachine._parameter_constraints["tol"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    # Parameters of `KernelMachine` that are fixed here.
    kernel, gamma, degree, coef0 = "stump", "scale", 3, 1.0
    _memory_advice = (
        "Set n_knots, for instance to 32: memory is then linear in the number of points."
    )

    def _n_stored_numbers(self, n, d):
        if self.n_knots is None:
            return 3.1 * n * n
        n_intervals = d * (min(self.n_knots, n) - 1)
        if self._uses_gram_of_points(n, n_intervals):
            return 3.1 * n * n
        n_dense_rows = min(n, MAX_DENSE_POINTS_PER_WEIGHT * n_intervals)
        return 8 * n * d + (n_dense_rows + 4 * n_intervals) * n_intervals

    def _uses_gram_of_points(self, n, n_intervals):
        """Return whether the coefficients of the points are fewer unknowns, or cheaper ones."""
        return n <= min(self._max_points_per_interval * n_intervals, MAX_STORED_POINTS)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the shape functions to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points. With ``n_knots``, ``X`` may be a Dask array or data frame, like the
            other arguments. The knots are then the same up to 200,000 points, and for more points
            quantiles of t-digests; there must be two classes.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative factors of the loss of each point. Points of weight zero are ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        if is_dask(X):
            return self._fit_in_blocks(X, y, sample_weight)
        if is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        problem = self._training_problem(X, y, sample_weight)
        points, weights = problem.points, normalise_weights(problem.weights)
        moments = Moments.of_points(points, weights)
        self.feature_scale_ = self._feature_scales(moments)
        scaled_points = points / self.feature_scale_
        problem = problem._replace(kernel=self._resolve_kernel(scaled_points, problem.weights))
        is_exact = self.n_knots is None or not _varies(moments).any()  # else there are intervals
        solve = self._solve_exactly if is_exact else self._solve_at_knots
        result, shape_functions, constant = solve(problem, scaled_points)
        self._set_additive_attributes(shape_functions, constant, points, weights)
        self._set_diagnostics(problem, result, stacklevel=4)
        del self._kernel  # the shape functions are the model; only the solver needs the kernel
        return self

    def _fit_in_blocks(self, X, y, sample_weight):
        """Fit the shape functions to Dask collections."""
        clear_fitted_attributes(self)
        if self.n_knots is None:
            raise ValueError(
                f"for Dask collections {type(self).__name__} needs n_knots, for instance 32: "
                "without knots the Gram matrix of all points would be needed."
            )
        with running_cluster():
            problem = block_problem(self, X, y, sample_weight)
            self.feature_scale_ = self._feature_scales(problem.moments)
            if not _varies(problem.moments).any():
                raise ValueError("all features of X are constant; there is nothing to learn.")
            n_knots, n = int(self.n_knots), sum(problem.block_sizes)
            knots = block_quantile_knots(
                problem.points, problem.weights, n, problem.moments, n_knots
            )
            scaled_knots = self._scaled(knots)
            values_map = map_from_weights_to_values(scaled_knots)
            make_gram = partial(_gram_of_block, scale=self.feature_scale_, knots=scaled_knots, n=n)
            blocks = problem.points, problem.block_sizes
            keep = fits_in_workers(n, (1 + HAT_MEMORY_RATIO) * X.shape[1])
            gram = BlockGram(*blocks, make_gram, values_map.shape[1], keep=keep)
            result, weights = self._solve(gram, problem)
            shape_functions = _shape_functions(knots, values_map @ weights)
            self._set_additive_attributes(
                shape_functions, result.intercept, problem.points, problem.weights
            )
        self._set_certificate(problem.classes, result, stacklevel=5)
        return self

    def _feature_scales(self, moments):
        """Return the scale of each feature: its standard deviation, or 1."""
        if self.feature_scale is None:
            return np.ones(len(moments.mean))
        scales = np.where(_varies(moments), moments.deviations, 1.0)
        is_invalid = ~(np.isfinite(scales) & (scales > 0))
        if is_invalid.any():
            feature = np.flatnonzero(is_invalid)[0]
            raise ValueError(
                f"the standard deviation of feature {feature}, whose values are between "
                f"{moments.smallest[feature]:.0e} and {moments.largest[feature]:.0e}, overflows or "
                "underflows; scale the features (for instance with StandardScaler)."
            )
        return scales

    def _scaled(self, knots):
        return [t / scale for t, scale in zip(knots, self.feature_scale_, strict=True)]

    def _solve_exactly(self, problem, scaled_points):
        """Solve for the kernel expansion in the points, and write it as shape functions."""
        kernel = problem.kernel
        result, A = self._solve(self._gram(kernel, scaled_points), problem)
        A, intercept = kernel.unshifted_coefficients(A, result.intercept, scaled_points)
        # A is zero if the solver failed in its first iteration.
        support = np.flatnonzero(A) if A.any() else np.arange(1)
        columns_and_scales = zip(problem.points[support].T, self.feature_scale_, strict=True)
        shape_functions = [
            piecewise_linear_from_kernel_expansion(x, A[support] / scale)
            for x, scale in columns_and_scales
        ]
        # Both forms have the same output at the first point, which gives the constant term.
        kernel_row = kernel.without_shift().values(scaled_points[:1], scaled_points[support])[0]
        kernel_sum = float(kernel_row @ A[support])
        shape_sum = sum(
            float(g(x[:1])[0]) for g, x in zip(shape_functions, problem.points.T, strict=True)
        )
        return result, shape_functions, kernel_sum + intercept - shape_sum

    def _gram(self, kernel, scaled_points):
        """Return the Gram matrix of the points."""
        return StoredGram(kernel.gram(scaled_points))

    def _solve_at_knots(self, problem, scaled_points):
        """Solve for the values of the shape functions at the knots.

        The unknowns are the weights of the intervals or, if there are many knots, the coefficients
        of the points.
        """
        knots = quantile_knots(problem.points, int(self.n_knots), problem.weights)
        scaled_knots = self._scaled(knots)
        n, n_intervals = len(scaled_points), sum(len(t) - 1 for t in knots)
        if self._uses_gram_of_points(n, n_intervals):
            gram = StoredGram(knot_kernel(scaled_points, scaled_knots))
            result, A = self._solve(gram, problem)
            values = np.concatenate(values_at_knots(scaled_points, scaled_knots, A))
        else:
            gram = StumpGram.from_knots(scaled_points, scaled_knots)
            result, weights = self._solve(gram, problem)
            values = gram.weights_to_values @ weights
        return result, _shape_functions(knots, values), result.intercept


def _shape_functions(knots, values):
    """Return a function per feature, given its knots and the values at the knots of all."""
    offsets = np.cumsum([len(t) for t in knots])[:-1]
    return [PiecewiseLinear(t, v) for t, v in zip(knots, np.split(values, offsets), strict=True)]


def _gram_of_block(points, scale, knots, n):
    share = len(points) / n
    return StumpGram.from_knots(points / scale, knots, hessian_sample_share=share)
