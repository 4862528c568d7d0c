"""The estimators' parameter ``kernel``: a name or a function becomes checked kernel values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..weights import shares
from .checks import check_finite, check_gram, check_square
from .ensembles import box_of
from .names import CONDITIONAL, KERNELS

__all__ = ["KernelChoice", "choose_kernel", "rows_of_kernel", "shifted"]

SUM_ROUNDING = 8 * np.finfo(float).eps  # relative rounding error of a mean or a sum


@dataclass(frozen=True, eq=False)
class KernelChoice:
    r"""A kernel with its parameters fixed: ``function(X, Z)``, None for a precomputed one.

    Its ``name`` is a key of `svmbook.kernels.KERNELS`, "callable" or "precomputed"; ``params`` are
    the parameters that a named kernel reads. A conditionally definite kernel (definite on vectors
    that sum to zero) is shifted at one of the training points, o,

    .. math:: k_o(x, z) = k(x, z) - k(x, o) - k(o, z) + k(o, o),

    which is positive semi-definite and agrees with k on vectors that sum to zero. Solvers get the
    shifted kernel; `unshifted_coefficients` writes their solution in terms of k itself.
    ``shift_row`` is the row of o among the training points, and ``shift_point`` is o as an array of
    one row (None for a precomputed kernel).
    """

    name: str
    function: Callable | None = None
    params: dict = field(default_factory=dict)
    shift_row: int | None = None
    shift_point: np.ndarray | None = None

    @property
    def known_definite(self):
        """Whether the kernel is known to be positive semi-definite, so that no check is needed."""
        return self.name in KERNELS and self.params.get("coef0", 0.0) >= 0

    def gram(self, X, *, definite=True):
        """Return the Gram matrix of training points, checked for what a solver takes for granted.

        For a precomputed kernel ``X`` is that matrix. Without ``definite``, whether it is positive
        semi-definite is not checked.
        """
        if self.known_definite:  # square and symmetric as well
            return check_finite(self.between(X, X, finite=False))
        K = X if self.name == "precomputed" else self._values(X, X)
        if self.shift_row is not None:
            o = self.shift_row
            K = shifted(K, K[:, o], K[o], K[o, o])
        return check_gram(K, definite=definite)

    def shifted(self, X):
        """Return the kernel shifted at one of these training points (their Gram matrix).

        It is the point nearest to the mean in feature space: the shift then costs fewest digits.
        """
        K = X if self.name == "precomputed" else self._values(X, X)
        return self._shifted_at(X, np.argmax(2.0 * K.mean(axis=1) - np.diagonal(K)))

    def _shifted_at(self, X, row):
        point = None if self.name == "precomputed" else X[[row]]
        return replace(self, shift_row=int(row), shift_point=point)

    def unshifted(self):
        """Return the kernel without its shift."""
        return replace(self, shift_row=None, shift_point=None)

    def unshifted_coefficients(self, A, intercept, X):
        r"""Return coefficients and intercept of the same function, written with the kernel itself.

        With :math:`k_o` the function is :math:`\sum_j A_j k_o(x, x_j) + b`. With k its
        coefficients sum to zero: :math:`A'_o = A_o - \sum_j A_j`, and
        :math:`b' = b - \sum_j A'_j\,k(o, x_j)`.
        """
        if self.shift_row is None:
            return A, intercept
        A, total, o = A.copy(), A.sum(axis=0), self.shift_row
        A[o] -= np.where(np.abs(total) > SUM_ROUNDING * np.abs(A).sum(axis=0), total, 0.0)
        at_o = X[o] if self.name == "precomputed" else self._values(self.shift_point, X)[0]
        return A, intercept - at_o @ A

    def blocks(self, X):
        """Return the function of two lists of training points that computes their kernel values."""
        return lambda rows, columns: self.between(X[rows], X[columns])

    def between(self, X, Z, *, finite=True):
        """Return the kernel values, shifted if the kernel is, of new points with old ones."""
        K = self._values(X, Z)
        if self.shift_point is not None:
            at_o = (self._values(points, self.shift_point)[:, 0] for points in (X, Z))
            K = shifted(K, *at_o, self._values(self.shift_point, self.shift_point)[0, 0])
        if finite and not np.isfinite(K).all():
            raise ValueError(
                f"the kernel ({self.name}) has values that are not finite on these points; "
                "bring them to the scale of the training points."
            )
        return K

    def with_support(self, X, machine):
        """Return the kernel values of new points with the support vectors of a fitted model."""
        if self.name == "precomputed":
            return X[:, machine.support_]
        if not machine.support_vectors_.shape[0]:  # the penalty or an early stop may leave none
            return np.empty((X.shape[0], 0))
        return self.between(X, machine.support_vectors_)

    def _values(self, X, Z):
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported below
            K = np.asarray(self.function(X, Z))
        n, m = X.shape[0], Z.shape[0]
        if K.shape != (n, m):
            raise ValueError(
                f"the kernel returned shape {K.shape} for {n} points against {m}; it must return "
                f"({n}, {m})."
            )
        if K.dtype.kind not in "fiub":
            raise ValueError(f"the kernel returned values of type {K.dtype}, not real numbers.")
        return K.astype(np.float64, copy=False)


def shifted(K, of_X, of_Z, of_o):
    """Return kernel values shifted at o: k(x, z) - k(x, o) - k(o, z) + k(o, o)."""
    return K - np.add.outer(of_X, of_Z) + of_o


def rows_of_kernel(X, present, *, pairwise):
    """Return some of the training points; for a precomputed kernel their Gram matrix."""
    if pairwise:
        check_square(X)
    if len(present) == X.shape[0]:
        return X
    return X[np.ix_(present, present)] if pairwise else X[present]


def choose_kernel(kernel, X, sample_weight, *, gamma, degree, coef0):
    """Turn an estimator's kernel parameters into a `KernelChoice`.

    ``kernel`` is a key of `svmbook.kernels.KERNELS` or the function behind one, "precomputed", or
    any ``k(X, Z)``; from ``X`` and the weights of its points ``gamma="scale"`` is computed.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.kernels.choice import choose_kernel
    >>> X, weights, scale = np.array([[0.0], [2.0]]), np.ones(2), "scale"
    >>> choose_kernel("rbf", X, weights, gamma=scale, degree=3, coef0=1.0).params
    {'gamma': 1.0}
    """
    name = kernel
    if callable(kernel):
        ours = (key for key, (function, _) in KERNELS.items() if function is kernel)
        name = next(ours, "callable")
    if name not in KERNELS:
        return KernelChoice(name, kernel if callable(kernel) else None)
    function, reads = KERNELS[name]
    values = {"degree": degree, "coef0": coef0}
    if "gamma" in reads:
        values["gamma"] = _gamma(gamma, X, sample_weight)
    if "box" in reads:
        values["box"] = box_of(X)
    params = {parameter: values[parameter] for parameter in reads}
    chosen = KernelChoice(name, partial(function, **params), params)
    if name in CONDITIONAL:
        mean = (shares(sample_weight) @ X)[None]
        chosen = chosen._shifted_at(X, np.argmax(chosen._values(X, mean)))
    return chosen


def _gamma(gamma, X, sample_weight):
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    share = shares(sample_weight)
    with np.errstate(over="ignore"):  # overflow is reported with the kernel values
        away = X - share @ X.mean(axis=1)
        unit = np.abs(away).max()
        if unit <= SUM_ROUNDING * np.abs(X).max():  # all the same
            return 1.0
        gamma = 1.0 / (X.shape[1] * (share @ ((away / unit) ** 2).mean(axis=1))) / unit / unit
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(
            "gamma='scale', one over the variance of the features, is not finite or zero for "
            f"values of size {unit:.0e}; scale the features (for instance with StandardScaler)."
        )
    return float(gamma)
