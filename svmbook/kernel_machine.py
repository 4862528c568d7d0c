r"""What every kernel machine does before and after its solver.

A fitted kernel machine is :math:`F(x) = \sum_j A_j k(x_j, x) + b`, with one output for two classes
and, if it can tell more than two, one a class. The points with :math:`A_j \ne 0` are kept.
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
from .kernels.choice import KernelChoice, choose_kernel, rows_of_kernel
from .kernels.names import KERNELS
from .labels import encode_labels

__all__ = ["KernelMachine", "Problem"]


class Problem(NamedTuple):
    """Training data as a solver wants them: points that count, and numbers for labels."""

    X: np.ndarray  # all points, perhaps sparse, or for a precomputed kernel their Gram matrix
    classes: np.ndarray  # the labels, sorted
    targets: np.ndarray  # of all points: -1.0 and +1.0 for two classes, 0 to k - 1 for more
    present: np.ndarray  # indices of the points of positive weight, which the rest is about
    points: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    kernel: KernelChoice

    @property
    def n_classes(self):
        """Number of classes where a solver has to know it: more than two."""
        return len(self.classes) if len(self.classes) > 2 else None


class KernelMachine(BaseClassifier):
    """Base of the kernel estimators: checks of the data, outputs, labels.

    An estimator has the parameters ``kernel``, ``gamma``, ``degree``, ``coef0``, ``class_weight``
    and ``tol``, and a `fit` that calls `_prepare`, one solver, and `_store`, or `_certify` where it
    keeps no kernel.
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
        tags.input_tags.sparse = self._sparse
        return tags

    @property
    def _linear(self):
        """Whether the kernel is the linear one by its name."""
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _outputs(self, X):
        """Return the outputs for points that have been checked."""
        if self._kernel.name == "linear":
            # Far from the origin X @ coef_ has fewer digits.
            origin, at_origin, coef, intercept = self._centred
            if issparse(X):
                F = X @ self.coef_.T + self.intercept_
            else:
                F = (X - origin) @ self.coef_.T + at_origin
                # Attributes that were replaced after the fit, for instance by pruning.
                F += self.intercept_ - intercept + (self.coef_ - coef) @ origin
        else:
            F = apply_in_blocks(self._expansion, X, self.dual_coef_.shape[1]) + self.intercept_
        return F[:, 0] if len(self.intercept_) == 1 else F

    def _expansion(self, X):
        r"""Return :math:`\sum_j A_j k(x_j, x)` for points that have been checked."""
        return self._kernel.with_support(X, self) @ self.dual_coef_.T

    def _prepare(self, X, y, sample_weight, encode=encode_labels):
        """Check training data, and return the `Problem`."""
        X, classes, targets, weights, present = self._training_data(X, y, sample_weight, encode)
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        points = rows_of_kernel(X, present, pairwise=pairwise)
        y, weights = targets[present], weights[present]
        kernel = self._choose_kernel(points, weights)
        return Problem(X, classes, targets, present, points, y, weights, kernel)

    def _choose_kernel(self, points, weights):
        """Return the kernel of the parameters for points with their weights."""
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return choose_kernel(self.kernel, points, weights, **params)

    def _with_definite_kernel(self, problem, attempt):
        """Return the problem and ``attempt(problem)``, with the kernel shifted if only that helps.

        This serves models whose coefficients sum to zero, as a free intercept demands: for them a
        conditionally definite kernel is as good as a definite one.
        """
        try:
            return problem, attempt(problem)
        except IndefiniteKernelError as indefinite:
            shifted = problem._replace(kernel=problem.kernel.shifted(problem.points))
            try:
                return shifted, attempt(shifted)
            except IndefiniteKernelError:
                raise indefinite from None

    def _store(self, problem, result, A, intercept, coef=None, origin=0.0, *, stacklevel=4):
        """Set the fitted attributes that all machines have; return coefficients of all points.

        ``A`` are those of the points that count, ``intercept`` belongs to points from which
        ``origin`` is taken, and ``coef`` are the weights of the features, for the linear kernel.
        A warning goes past `_store`, fit and its validating wrapper by its ``stacklevel``.
        """
        self._certify(problem, result, stacklevel=stacklevel + 1)
        A, intercept = problem.kernel.unshifted_coefficients(A, intercept, problem.points)
        n = problem.X.shape[0]
        coefficients = np.zeros((n, *A.shape[1:]))
        coefficients[problem.present] = A
        columns = coefficients.reshape(n, -1)
        self.support_ = np.flatnonzero((columns != 0.0).any(axis=1))
        precomputed = self._kernel.name == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if precomputed else problem.X[self.support_]
        self.dual_coef_ = columns[self.support_].T
        self.intercept_ = np.array(intercept, dtype=float).reshape(-1)
        if coef is not None:
            self.coef_ = coef.reshape(len(coef), -1).T
            at_origin, origin = self.intercept_, np.broadcast_to(origin, len(coef))
            self.intercept_ = at_origin - self.coef_ @ origin
            self._centred = origin, at_origin, self.coef_.copy(), self.intercept_.copy()
        return coefficients

    def _certify(self, problem, result, *, stacklevel):
        """Set what every machine says of its fit, and warn where that is no certificate."""
        self._kernel, self.classes_ = problem.kernel.unshifted(), problem.classes
        if "gamma" in self._kernel.params:
            self.gamma_ = self._kernel.params["gamma"]
        self.objective_, self.kkt_residual_ = result.objective, result.kkt_residual
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        gap = ""
        if result.gap is not None:  # None where the objective is not convex
            self.relative_gap_ = relative_gap(result.gap, result.objective)
            gap = f" and a relative duality gap of {self.relative_gap_:.1e}"
        if not result.converged:
            by = f" by {self.solver_}" if hasattr(self, "solver_") else ""
            warnings.warn(
                f"{type(self).__name__}{by} stopped after {result.n_iter} iterations at a KKT "
                f"residual of {result.kkt_residual:.1e}{gap} "
                f"(objective {result.objective:.1e}), not certified to tol={self.tol:g} "
                f"({result.message}). {self._remedy}",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
