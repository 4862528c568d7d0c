"""Base class of the classifiers fitted by iteratively reweighted least squares."""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from ..gram import pivoted_cholesky
from ..kernel_machine import KernelMachine
from ..weights import point_penalties

__all__ = ["IRWLSClassifier"]


class IRWLSClassifier(KernelMachine):
    """Base class: parameter constraints, features, and fitted attributes."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    _convergence_advice = "Scale the features, lower C, or raise max_iter or tol."

    _memory_advice = "Use fewer points, or USVC, which uses few kernels."

    def _n_stored_numbers(self, n, d):
        if not self._is_linear:
            return 6.4 * n * n
        return 5 * n * d if d <= n else n * d + 6 * n * n

    def _penalties(self, problem):
        """Return :math:`C_i`, the factor of the cost of each point in the objective."""
        return point_penalties(float(self.C), problem.weights)

    def _features_and_origin(self, problem):
        """Return features whose inner products are kernel values, and the subtracted origin."""
        if problem.kernel.name == "linear":
            origin = problem.points.mean(axis=0)
            Z = problem.points - origin
            is_wide = Z.shape[1] > len(Z)  # iterations are then cheaper in the span of the points
            return pivoted_cholesky(Z @ Z.T).Z if is_wide else Z, origin
        return pivoted_cholesky(problem.kernel.gram(problem.points)).Z, 0.0

    def _solver_options(self):
        return {"tol": float(self.tol), "max_iter": int(self.max_iter)}

    def _set_support_attributes(self, problem, result, origin):
        """Set the fitted attributes of an expansion in the points with a nonzero multiplier."""
        signed_alpha = problem.y * result.alpha
        coef_and_origin = None
        if problem.kernel.name == "linear":
            is_wide = len(result.w) != problem.points.shape[1]
            coef = (problem.points - origin).T @ signed_alpha if is_wide else result.w
            coef_and_origin = coef, origin
        coefficients = self._set_fitted_attributes(
            problem, result, signed_alpha, coef_and_origin, stacklevel=5
        )
        self.alpha_ = np.abs(coefficients)
