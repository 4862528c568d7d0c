"""Kernels with fixed parameters, resolved from the parameter ``kernel`` of the estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..weights import normalise_weights
from .checks import check_finite, check_gram, check_square
from .ensembles import bounding_box
from .registry import CONDITIONALLY_DEFINITE, KERNELS

__all__ = [
    "Kernel",
    "kernel_name",
    "resolve_gamma",
    "resolve_kernel",
    "select_points",
    "shift_values",
]

SUM_ROUNDING = 8 * np.finfo(float).eps  # relative rounding error of a mean or a sum


@dataclass(frozen=True, eq=False)
class Kernel:
    r"""A kernel with fixed parameters: ``function(X, Z)``, or None for a precomputed kernel.

    ``name`` is a key of `svmbook.kernels.KERNELS`, "callable" or "precomputed"; ``params`` are the
    parameters of a named kernel. A conditionally definite kernel (definite on vectors that sum to
    zero) is shifted at one of the training points, o:

    .. math:: k_o(x, z) = k(x, z) - k(x, o) - k(o, z) + k(o, o).

    The shifted kernel is positive semi-definite and agrees with k on vectors that sum to zero.
    Solvers get the shifted kernel; `unshifted_coefficients` writes their solution in terms of k.
    ``shift_index`` is the index of o among the training points, and ``shift_point`` is o as an
    array of one row (None for a precomputed kernel).
    """

    name: str
    function: Callable | None = None
    params: dict = field(default_factory=dict)
    shift_index: int | None = None
    shift_point: np.ndarray | None = None

    @property
    def is_known_definite(self):
        """Whether the kernel is known to be positive semi-definite, so that no check is needed.

        `resolve_kernel` shifts the named kernels that are only conditionally definite.
        """
        return self.name in KERNELS and self.params.get("coef0", 0.0) >= 0

    def gram(self, X, *, require_definite=True):
        """Return the checked Gram matrix of training points.

        For a precomputed kernel ``X`` is that matrix. With ``require_definite=False``
        positive semi-definiteness is not checked.
        """
        if self.is_known_definite:  # then K is also square and symmetric
            return check_finite(self.values(X, X, require_finite=False))
        K = X if self.name == "precomputed" else self._unshifted_values(X, X)
        if self.shift_index is not None:
            o = self.shift_index
            K = shift_values(K, K[:, o], K[o], K[o, o])
        return check_gram(K, require_definite=require_definite)

    def with_shift(self, X):
        """Return the kernel shifted at one of these training points.

        This is the point nearest to the mean in feature space, where the shift loses the fewest
        digits. For a precomputed kernel ``X`` is the Gram matrix of the points.
        """
        K = X if self.name == "precomputed" else self._unshifted_values(X, X)
        return self._with_shift_at(X, np.argmax(2.0 * K.mean(axis=1) - np.diagonal(K)))

    def _with_shift_at(self, X, index):
        point = None if self.name == "precomputed" else X[[index]]
        return replace(self, shift_index=int(index), shift_point=point)

    def without_shift(self):
        """Return the kernel without its shift."""
        return replace(self, shift_index=None, shift_point=None)

    def unshifted_coefficients(self, A, intercept, X):
        r"""Return the coefficients and the intercept of the same function in the unshifted kernel.

        In :math:`k_o` the function is :math:`\sum_j A_j k_o(x, x_j) + b`. In k its coefficients
        sum to zero: :math:`A'_o = A_o - \sum_j A_j`, other coefficients stay, and
        :math:`b' = b - \sum_j A'_j\,k(o, x_j)`.
        """
        if self.shift_index is None:
            return A, intercept
        A, coefficient_sum, o = A.copy(), A.sum(axis=0), self.shift_index
        A[o] -= np.where(
            np.abs(coefficient_sum) > SUM_ROUNDING * np.abs(A).sum(axis=0), coefficient_sum, 0.0
        )
        K_o = X[o] if self.name == "precomputed" else self._unshifted_values(self.shift_point, X)[0]
        return A, intercept - K_o @ A

    def block_function(self, X):
        """Return a function from two index arrays to the kernel values of these training points."""
        return lambda rows, columns: self.values(X[rows], X[columns])

    def values(self, X, Z, *, require_finite=True):
        """Return the kernel values of two arrays of points; with ``require_finite``, check them."""
        K = self._unshifted_values(X, Z)
        if self.shift_point is not None:
            o = self.shift_point
            K_xo, K_zo = (self._unshifted_values(points, o)[:, 0] for points in (X, Z))
            K = shift_values(K, K_xo, K_zo, self._unshifted_values(o, o)[0, 0])
        if require_finite and not np.isfinite(K).all():
            raise ValueError(
                f"the kernel ({self.name}) has values that are not finite on these points; "
                "scale them like the training points."
            )
        return K

    def support_vector_values(self, X, model):
        """Return the kernel values of new points with the support vectors of a fitted model."""
        if self.name == "precomputed":
            return X[:, model.support_]
        # A model may have no support vectors, after an early stop or with a large penalty.
        if not model.support_vectors_.shape[0]:
            return np.empty((X.shape[0], 0))
        return self.values(X, model.support_vectors_)

    def _unshifted_values(self, X, Z):
        with np.errstate(over="ignore", invalid="ignore"):  # callers report overflow
            K = np.asarray(self.function(X, Z))
        n, m = X.shape[0], Z.shape[0]
        if K.shape != (n, m):
            raise ValueError(
                f"the kernel returned shape {K.shape} for {n} points against {m}; it must return "
                f"shape ({n}, {m})."
            )
        if K.dtype.kind not in "fiub":
            raise ValueError(f"the kernel returned values of type {K.dtype}, not real numbers.")
        return K.astype(np.float64, copy=False)


def shift_values(K, K_xo, K_oz, k_oo):
    """Shift kernel values at o: return k(x, z) - k(x, o) - k(o, z) + k(o, o)."""
    return K - np.add.outer(K_xo, K_oz) + k_oo


def select_points(X, indices, *, pairwise):
    """Return some of the training points, or if X is a Gram matrix their Gram matrix."""
    if pairwise:
        check_square(X)
    if len(indices) == X.shape[0]:
        return X
    return X[np.ix_(indices, indices)] if pairwise else X[indices]


def kernel_name(kernel):
    """Return the key of a kernel in `KERNELS`; for others "precomputed" or "callable"."""
    if not callable(kernel):
        return kernel
    names = (key for key, (function, _) in KERNELS.items() if function is kernel)
    return next(names, "callable")


def resolve_kernel(kernel, X, weights, *, gamma, degree, coef0):
    """Return the `Kernel` that the parameters of an estimator specify.

    ``kernel`` is a key of `svmbook.kernels.KERNELS`, "precomputed", or a function ``k(X, Z)``. A
    function in `KERNELS` is replaced by its key. ``gamma="scale"`` is computed from the
    points ``X`` and their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.kernels.kernel import resolve_kernel
    >>> X, weights, scale = np.array([[0.0], [2.0]]), np.ones(2), "scale"
    >>> resolve_kernel("rbf", X, weights, gamma=scale, degree=3, coef0=1.0).params
    {'gamma': 1.0}
    """
    name = kernel_name(kernel)
    if name not in KERNELS:
        return Kernel(name, kernel if callable(kernel) else None)
    function, parameter_names = KERNELS[name]
    parameter_values = {"degree": degree, "coef0": coef0}
    if "gamma" in parameter_names:
        parameter_values["gamma"] = resolve_gamma(gamma, X, weights)
    if "box" in parameter_names:
        parameter_values["box"] = bounding_box(X)
    params = {parameter: parameter_values[parameter] for parameter in parameter_names}
    resolved = Kernel(name, partial(function, **params), params)
    if name in CONDITIONALLY_DEFINITE:
        mean = (normalise_weights(weights) @ X)[None]
        nearest_to_mean = np.argmax(resolved._unshifted_values(X, mean))
        resolved = resolved._with_shift_at(X, nearest_to_mean)
    return resolved


def resolve_gamma(gamma, X, weights):
    """Return the number that ``gamma`` specifies for the points ``X`` with these weights."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    weights = normalise_weights(weights)
    with np.errstate(over="ignore"):  # overflow is reported with the kernel values
        centred_X = X - weights @ X.mean(axis=1)
        # Divide by the largest deviation: the squares of X itself may overflow or underflow.
        largest_deviation = np.abs(centred_X).max()
        if largest_deviation <= SUM_ROUNDING * np.abs(X).max():  # all values are equal
            return 1.0
        variance = weights @ ((centred_X / largest_deviation) ** 2).mean(axis=1)
        gamma = 1.0 / (X.shape[1] * variance) / largest_deviation / largest_deviation
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(
            "gamma='scale', 1 / (n_features * X.var()), is zero or not finite for deviations of "
            f"size {largest_deviation:.0e}; scale the features (for instance with "
            "StandardScaler)."
        )
    return float(gamma)
