"""Base class of infinite ensembles of decision stumps: exact fits, and fits with few knots."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ..gram import StoredGram, StumpGram, quantile_knots
from ..gram.many_knots import knot_kernel, values_at_knots
from ..gram.stumps import MAX_DENSE_POINTS_PER_WEIGHT
from ..kernel_machine import MAX_STORED_POINTS, KernelMachine
from ..labels import is_multiclass
from ..ties import round_significand
from ..weights import normalise_weights
from .additive import AdditiveModel, PiecewiseLinear, piecewise_linear_from_kernel_expansion

__all__ = ["StumpEnsemble"]


def _varies(points):
    """Return the mask of the features with two knots or more: values that differ when rounded."""
    smallest, largest = (round_significand(ends(axis=0)) for ends in (points.min, points.max))
    return largest > smallest


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
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative factors of the loss of each point. Points of weight zero are ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        if is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        problem = self._training_problem(X, y, sample_weight)
        points = problem.points
        varies = _varies(points)
        self.feature_scale_ = self._feature_scales(problem, varies)
        scaled_points = points / self.feature_scale_
        problem = problem._replace(kernel=self._resolve_kernel(scaled_points, problem.weights))
        is_exact = self.n_knots is None or not varies.any()  # without intervals between knots
        solve = self._solve_exactly if is_exact else self._solve_at_knots
        result, shape_functions, constant = solve(problem, scaled_points)
        self._set_additive_attributes(shape_functions, constant, points, problem.weights)
        self._set_diagnostics(problem, result, stacklevel=4)
        del self._kernel  # the shape functions are the model; only the solver needs the kernel
        return self

    def _feature_scales(self, problem, varies):
        """Return the scale of each feature: its standard deviation, or 1."""
        points, weights = problem.points, normalise_weights(problem.weights)
        if self.feature_scale is None:
            return np.ones(points.shape[1])
        deviations = np.sqrt(weights @ (points - weights @ points) ** 2)
        return np.where(varies, deviations, 1.0)

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
        scaled_knots = [t / scale for t, scale in zip(knots, self.feature_scale_, strict=True)]
        n, n_intervals = len(scaled_points), sum(len(t) - 1 for t in knots)
        if self._uses_gram_of_points(n, n_intervals):
            gram = StoredGram(knot_kernel(scaled_points, scaled_knots))
            result, A = self._solve(gram, problem)
            values = values_at_knots(scaled_points, scaled_knots, A)
        else:
            gram = StumpGram.from_knots(scaled_points, scaled_knots)
            result, weights = self._solve(gram, problem)
            offsets = np.cumsum([len(t) for t in knots])[:-1]
            values = np.split(gram.weights_to_values @ weights, offsets)
        shape_functions = [PiecewiseLinear(t, v) for t, v in zip(knots, values, strict=True)]
        return result, shape_functions, result.intercept
