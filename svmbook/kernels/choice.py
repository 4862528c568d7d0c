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

__all__ = ["KernelChoice", "choose_kernel", "pinned", "rows_of_kernel"]

ROUNDING = 8 * np.finfo(float).eps  # of a mean


@dataclass(frozen=True, eq=False)
class KernelChoice:
    r"""A kernel with its parameters fixed: ``function(X, Z)``, None for a precomputed one.

    Its ``name`` is a key of `svmbook.kernels.KERNELS`, "callable" or "precomputed"; ``params`` are
    the parameters that a named kernel reads. A kernel that is definite on vectors that sum to zero
    alone is pinned at a point o,

    .. math:: k_o(x, z) = k(x, z) - k(x, o) - k(o, z) + k(o, o),

    which is semi-definite, and the same on vectors that sum to zero. With an intercept that costs
    nothing a machine cannot tell the two apart. ``pin`` holds o, as an array of one row; for a
    precomputed kernel its index, its place among the points that count, and its kernel values.
    """

    name: str
    function: Callable | None = None
    params: dict = field(default_factory=dict)
    pin: np.ndarray | tuple | None = None

    @property
    def known_definite(self):
        """Whether theory answers for semi-definiteness, so that no check is needed."""
        return self.name in KERNELS and self.params.get("coef0", 0.0) >= 0

    def gram(self, X, *, definite=True):
        """Return the Gram matrix of training points, checked for what a solver takes for granted.

        For a precomputed kernel ``X`` is that matrix. Without ``definite``, whether it is positive
        semi-definite is not looked at.
        """
        if self.known_definite:  # square and symmetric as well
            return check_finite(self._values(X, X))
        if self.name != "precomputed":
            K = self._values(X, X)
        elif self.pin is None:
            K = X
        else:
            _, o, _ = self.pin
            K = pinned(X, X[o], X[o], X[o, o])
        return check_gram(K, definite=definite)

    def pinned(self, X, present):
        """Return the kernel pinned at one of the training points that count.

        It is the one of the smallest k(x, x): beside a large one the digits of others are lost.
        """
        pairwise = self.name == "precomputed"
        points = rows_of_kernel(X, present, pairwise=pairwise)
        K = points if pairwise else self._unpinned(points, points)
        place = int(np.argmin(np.diagonal(K)))
        o = present[place]
        return replace(self, pin=(o, place, X[o]) if pairwise else X[[o]])

    def blocks(self, X):
        """Return the function of two lists of training points that computes their kernel values."""
        return lambda rows, columns: self.between(X[rows], X[columns])

    def between(self, X, Z):
        """Return the kernel values of new points with old ones, all of them finite."""
        K = self._values(X, Z)
        if not np.isfinite(K).all():
            raise ValueError(
                f"the kernel ({self.name}) has values that are not finite on these points; "
                "bring them to the scale of the training points."
            )
        return K

    def with_support(self, X, machine):
        """Return the kernel values of new points with the support of a fitted machine."""
        if self.name == "precomputed":
            K = X[:, machine.support_]
            if self.pin is None:
                return K
            o, _, row = self.pin
            return pinned(K, X[:, o], row[machine.support_], row[o])
        if not len(machine.support_vectors_):  # a penalty, or a fit that ended early, leaves none
            return np.empty((len(X), 0))
        return self.between(X, machine.support_vectors_)

    def _values(self, X, Z):
        """Return the kernel values, pinned if the kernel is."""
        K, o = self._unpinned(X, Z), self.pin
        if o is not None:
            at_o = (self._unpinned(points, o)[:, 0] for points in (X, Z, o))
            K = pinned(K, *at_o)
        return K

    def _unpinned(self, X, Z):
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is named afterwards
            K = np.asarray(self.function(X, Z))
        if K.shape != (len(X), len(Z)):
            raise ValueError(
                f"the kernel returned shape {K.shape} for {len(X)} points against {len(Z)}; "
                f"it must return ({len(X)}, {len(Z)})."
            )
        if K.dtype.kind not in "fiub":
            raise ValueError(f"the kernel returned values of type {K.dtype}, not real numbers.")
        return K.astype(np.float64, copy=False)


def pinned(K, of_X, of_Z, of_o):
    """Pin kernel values: take off those of either point with o, and add that of o with itself."""
    return K - np.add.outer(of_X, of_Z) + of_o


def rows_of_kernel(X, present, *, pairwise):
    """Return some of the training points; for a precomputed kernel their Gram matrix."""
    if pairwise:
        check_square(X)
    if len(present) == len(X):
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
    pin = None
    if name in CONDITIONAL:
        pin = (shares(sample_weight) @ X)[None]  # their mean
    return KernelChoice(name, partial(function, **params), params, pin)


def _gamma(gamma, X, sample_weight):
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    share = shares(sample_weight)
    with np.errstate(over="ignore"):  # what overflows is named with the kernel's values
        away = X - share @ X.mean(axis=1)
        unit = np.abs(away).max()
        if unit <= ROUNDING * np.abs(X).max():  # all the same
            return 1.0
        gamma = 1.0 / (X.shape[1] * (share @ ((away / unit) ** 2).mean(axis=1))) / unit / unit
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(
            "gamma='scale', one over the variance of the features, is not finite or zero for "
            f"values of size {unit:.0e}; scale the features (for instance with StandardScaler)."
        )
    return float(gamma)
