r"""Base class of the kernel machines: validation, choice of the kernel, fitted attributes.

A fitted kernel machine is :math:`F(x) = \sum_j A_j k(x_j, x) + b`, with one output for two classes
and one output per class for more. Only the points with :math:`A_j \ne 0` are stored.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from .base import BaseClassifier, apply_in_blocks, relative_gap
from .kernels.checks import IndefiniteKernelError
from .kernels.kernel import Kernel, resolve_kernel, select_points
from .kernels.registry import KERNELS
from .labels import encode_binary_labels

__all__ = ["MAX_STORED_POINTS", "KernelMachine", "Problem"]

MAX_STORED_POINTS = 10_000  # up to this many points the Gram matrix is stored, in 800 MB


class Problem(NamedTuple):
    """Validated training data: points of positive weight, and encoded labels."""

    X: np.ndarray  # all points, perhaps sparse, or for a precomputed kernel their Gram matrix
    classes: np.ndarray  # the distinct labels, sorted
    targets: np.ndarray  # of all points: -1.0 and +1.0 for two classes, 0 to k - 1 for more
    indices: np.ndarray  # indices of the points of positive weight, which the next fields describe
    points: np.ndarray  # the points of positive weight
    y: np.ndarray  # their targets
    weights: np.ndarray  # their class weights times sample weights
    kernel: Kernel

    @property
    def n_classes(self):
        """The argument ``n_classes`` of the solvers: None for two classes."""
        return len(self.classes) if len(self.classes) > 2 else None


class KernelMachine(BaseClassifier):
    """Base of the kernel estimators: validation, decision values, fitted attributes.

    A subclass has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``, ``class_weight`` and
    ``tol``. Its `fit` calls `_training_problem`, one solver, and `_set_fitted_attributes`, or only
    `_set_diagnostics` if the model is not an expansion in kernels at training points.
    """

    _parameter_constraints: ClassVar[dict] = {
        "kernel": [StrOptions({*KERNELS, "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = self._accepts_sparse
        return tags

    _linear_accepts_sparse = False  # whether the linear kernel accepts sparse matrices

    @property
    def _is_linear(self):
        """Whether ``kernel`` is "linear"."""
        return isinstance(self.kernel, str) and self.kernel == "linear"

    @property
    def _accepts_sparse(self):
        return self._linear_accepts_sparse and self._is_linear

    @property
    def _sparse_advice(self):
        return 'kernel="linear" accepts it; otherwise ' if self._linear_accepts_sparse else ""

    def _decision_values(self, X):
        """Return the decision values of validated points."""
        if self._kernel.name == "linear":
            # Points far from the origin are centred, since X @ coef_ would lose digits.
            origin, output_at_origin, fitted_coef, fitted_intercept = self._centred_model
            if issparse(X):
                F = X @ self.coef_.T + self.intercept_
            else:
                F = (X - origin) @ self.coef_.T + output_at_origin
                # Account for changes of the attributes after the fit, for instance by pruning.
                F += self.intercept_ - fitted_intercept + (self.coef_ - fitted_coef) @ origin
        else:
            F = apply_in_blocks(self._expansion, X, self.dual_coef_.shape[1]) + self.intercept_
        return F[:, 0] if len(self.intercept_) == 1 else F

    def _expansion(self, X):
        r"""Return :math:`\sum_j A_j k(x_j, x)` for validated points."""
        return self._kernel.support_vector_values(X, self) @ self.dual_coef_.T

    def _training_problem(self, X, y, sample_weight, encode=encode_binary_labels):
        """Validate the training data, choose the kernel, and return the `Problem`."""
        X, classes, targets, weights, indices = self._begin_fit(X, y, sample_weight, encode)
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        points = select_points(X, indices, pairwise=pairwise)
        y, weights = targets[indices], weights[indices]
        kernel = self._resolve_kernel(points, weights)
        return Problem(X, classes, targets, indices, points, y, weights, kernel)

    def _resolve_kernel(self, points, weights):
        """Return the kernel that the parameters specify, given the points and their weights."""
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return resolve_kernel(self.kernel, points, weights, **params)

    def _apply_with_definite_kernel(self, problem, function):
        """Return the problem and ``function(problem)``; shift the kernel if it is indefinite.

        In models with an unpenalised intercept the coefficients sum to zero. For such coefficients
        a conditionally definite kernel suffices, and the shift makes it definite.
        """
        try:
            return problem, function(problem)
        except IndefiniteKernelError as error:
            shifted = problem._replace(kernel=problem.kernel.with_shift(problem.points))
            try:
                return shifted, function(shifted)
            except IndefiniteKernelError:
                raise error from None

    def _set_fitted_attributes(self, problem, result, A, coef_and_origin=None, *, stacklevel=4):
        """Set the attributes that all kernel machines share; return the coefficients of all points.

        ``A`` holds the coefficients of the points of positive weight. For the linear kernel,
        ``coef_and_origin`` holds the feature weights, and the origin that was subtracted from the
        points; the intercept of the result refers to these centred points. The default
        ``stacklevel`` lets a warning point at the caller of `fit`.
        """
        self._set_diagnostics(problem, result, stacklevel=stacklevel + 1)
        A, intercept = problem.kernel.unshifted_coefficients(A, result.intercept, problem.points)
        n = problem.X.shape[0]
        coefficients = np.zeros((n, *A.shape[1:]))
        coefficients[problem.indices] = A
        coefficients_2d = coefficients.reshape(n, -1)
        self.support_ = np.flatnonzero((coefficients_2d != 0.0).any(axis=1))
        is_precomputed = self._kernel.name == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if is_precomputed else problem.X[self.support_]
        self.dual_coef_ = coefficients_2d[self.support_].T
        self.intercept_ = np.array(intercept, dtype=float).reshape(-1)
        if coef_and_origin is not None:
            self._set_linear_function(coef_and_origin[0], intercept, coef_and_origin[1])
        return coefficients

    def _set_linear_function(self, coef, intercept, origin):
        """Set the attributes of a linear function of the points minus an origin."""
        self.coef_ = coef.reshape(len(coef), -1).T
        output_at_origin = np.array(intercept, dtype=float).reshape(-1)
        origin = np.broadcast_to(origin, len(coef))
        self.intercept_ = output_at_origin - self.coef_ @ origin
        fitted_coef, fitted_intercept = self.coef_.copy(), self.intercept_.copy()
        self._centred_model = origin, output_at_origin, fitted_coef, fitted_intercept

    def _set_diagnostics(self, problem, result, *, stacklevel):
        """Set the kernel, the classes and the diagnostics, and warn if it is not certified."""
        self._kernel = problem.kernel.without_shift()
        if "gamma" in self._kernel.params:
            self.gamma_ = self._kernel.params["gamma"]
        self._set_certificate(problem.classes, result, stacklevel=stacklevel + 1)

    def _set_certificate(self, classes, result, *, stacklevel):
        """Set the classes and the diagnostics of the fit, and warn if it is not certified."""
        self.classes_ = classes
        self.objective_, self.kkt_residual_ = result.objective, result.kkt_residual
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        gap_text = ""
        if result.gap is not None:  # None if the objective is not convex
            self.relative_gap_ = relative_gap(result.gap, result.objective)
            gap_text = f" and a relative duality gap of {self.relative_gap_:.1e}"
        if not result.converged:
            solver_text = f" with solver={self.solver_!r}" if hasattr(self, "solver_") else ""
            warnings.warn(
                f"{type(self).__name__}{solver_text} stopped after {result.n_iter} iterations at a "
                f"KKT residual of {result.kkt_residual:.1e}{gap_text} "
                f"(objective {result.objective:.1e}), not certified to tol={self.tol:g} "
                f"({result.message}). {self._convergence_advice}",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
