"""What the machines over all stumps share: the fit, on the points themselves or between knots."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ..gram import StoredGram, StumpGram, quantile_knots
from ..kernel_machine import KernelMachine
from ..labels import several_classes
from ..weights import shares
from .additive import AdditiveModel, Line, line_of_kernels

__all__ = ["STORED_POINTS", "StumpEnsemble"]

STORED_POINTS = 10_000  # number of points up to which a Gram matrix is stored


class StumpEnsemble(AdditiveModel, KernelMachine):
    """Base: the stump kernel, on the points themselves or between knots."""

    _parameter_constraints: ClassVar[dict] = {
        "feature_scale": [StrOptions({"std"}), None],
        "n_knots": [Interval(Integral, 2, None, closed="left"), None],
        "class_weight": KernelMachine._parameter_constraints["class_weight"],
        "tol": KernelMachine._parameter_constraints["tol"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    # Read by `KernelMachine`; these are fixed here.
    kernel, gamma, degree, coef0 = "stump", "scale", 3, 1.0
    _memory_advice = (
        "Set n_knots, for instance to 32: time and memory are then linear in the points."
    )

    def _stored_numbers(self, n, d):
        return 3.1 * n * n if self.n_knots is None else 8 * n * d

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the price of each point, not negative. A point of weight zero counts as
            absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        if several_classes(y):
            return self._fit_pairs(X, y, sample_weight)
        problem = self._prepare(X, y, sample_weight)
        points, self.feature_scale_ = problem.points, self._scale(problem)
        scaled = points / self.feature_scale_
        problem = problem._replace(kernel=self._choose_kernel(scaled, problem.weights))
        constant = not np.ptp(points, axis=0).any()  # then there are no knots
        exact = self.n_knots is None or constant
        solve = self._on_points if exact else self._between_knots
        result, shapes, intercept = solve(problem, scaled)
        self._keep_shapes(shapes, intercept, points, problem.weights)
        self._certify(problem, result, stacklevel=4)
        del self._kernel  # only the solver needs it: the model is its shape functions
        return self

    def _scale(self, problem):
        """Return the unit of each feature: its standard deviation, or 1."""
        points, share = problem.points, shares(problem.weights)
        if self.feature_scale is None:
            return np.ones(points.shape[1])
        deviations = np.sqrt(share @ (points - share @ points) ** 2)
        return np.where(np.ptp(points, axis=0) > 0.0, deviations, 1.0)

    def _on_points(self, problem, scaled):
        """Solve with a kernel on each point, and sum the kernels into shape functions."""
        kernel = problem.kernel
        result, A = self._solve(self._gram(kernel, scaled), problem)
        A, intercept = kernel.unshifted_coefficients(A, result.intercept, scaled)
        # A is zero if the first step failed.
        support = np.flatnonzero(A) if A.any() else np.arange(1)
        columns = zip(problem.points[support].T, self.feature_scale_, strict=True)
        shapes = [line_of_kernels(x, A[support] / unit) for x, unit in columns]
        output = float((kernel.unshifted().between(scaled[:1], scaled[support]) @ A[support])[0])
        rest = sum(float(g(x[:1])[0]) for g, x in zip(shapes, problem.points.T, strict=True))
        return result, shapes, output + intercept - rest

    def _gram(self, kernel, scaled):
        """Return the Gram matrix of the points."""
        return StoredGram(kernel.gram(scaled))

    def _between_knots(self, problem, scaled):
        """Solve for the values at the knots."""
        knots = quantile_knots(problem.points, int(self.n_knots), problem.weights)
        units = zip(knots, self.feature_scale_, strict=True)
        gram = StumpGram.at_knots(scaled, [t / unit for t, unit in units])
        result, weights = self._solve(gram, problem)
        ends = np.cumsum([len(t) for t in knots])
        values = np.split(gram.T @ weights, ends[:-1])
        shapes = [Line(t, v) for t, v in zip(knots, values, strict=True)]
        return result, shapes, result.intercept
