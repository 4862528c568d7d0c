"""A machine for each test point."""

from __future__ import annotations

from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from ..solvers.batched.members import hyperplanes
from .pairwise import PairwiseMachine, alone

__all__ = ["LocalizedSVM"]

AT_ONCE = 4_000_000  # numbers in the arrays of the points that are answered together
COUNTS = 23.0  # similarities below exp(-23) = 1e-10 of the largest are left out: rounding of a
# slack at the largest price would hide theirs


class LocalizedSVM(PairwiseMachine):
    r"""A linear machine for each point that is asked about.

    For the point :math:`\bar x` and each pair of classes it minimises

    .. math:: \tfrac12\|w\|^2 + C\sum_i \sigma(x_i, \bar x)\max(0, 1 - y_i(w^\top x_i + b))

    over the nearest training points, with :math:`\sigma(x, x') = e^{-\gamma\|x - x'\|^2}`, when it
    is asked: `fit` only keeps the points. Points of less than 1e-10 of the largest similarity are
    left out. Where all prices vanish in double precision, the nearest point answers.

    Parameters
    ----------
    C : float, default=1.0
        Price of one unit of slack at the point itself, positive and finite.
    gamma : float or "scale", default="scale"
        Of the similarity; "scale" is 1 / (n_features * variance of all numbers in X).
    n_neighbors : int or None, default=50
        So many nearest points count, the others, whose similarity is less, not; None for all of
        them. Up to 64 all machines are trained in one batch, above them one after the other.

    Attributes
    ----------
    gamma_ : float
        The value of ``gamma`` in use.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had string column names.

    Raises
    ------
    ValueError
        One class.

    Warns
    -----
    ConvergenceWarning
        When asked: a machine's duality gap is wide.

    References
    ----------
    Cheng, Tan and Jin (2010), "Efficient algorithm for localized support vector machine", IEEE
    Transactions on Knowledge and Data Engineering 22, 537-549.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmbook import LocalizedSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> LocalizedSVM(C=10.0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **PairwiseMachine._parameter_constraints,
        "n_neighbors": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(self, C=1.0, *, gamma="scale", n_neighbors=50):
        self.C = C
        self.gamma = gamma
        self.n_neighbors = n_neighbors

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Keep the training points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.

        Returns
        -------
        LocalizedSVM
            The fitted estimator.
        """
        self._points_, classes, self._codes_, self.gamma_ = self._begin(X, y)
        near = len(X) if self.n_neighbors is None else int(self.n_neighbors)
        self._near_, self._C_ = min(near, len(self._points_)), float(self.C)
        self.classes_ = classes
        return self

    def _outputs(self, X):
        (n, d), near = self._points_.shape, self._near_
        portions = max(1, len(X) * max(near * (near + d), n) // AT_ONCE)
        outputs = []
        for part in np.array_split(X, min(portions, len(X))):
            outputs.append(super()._outputs(part))
        return np.concatenate(outputs)

    def _pairs(self, X):
        far = self.gamma_ * cdist(X, self._points_, "sqeuclidean")
        near = np.argsort(far, axis=1, kind="stable")[:, : self._near_]
        far = np.take_along_axis(far, near, axis=1)
        prices = self._C_ * np.exp(-far)
        counts = far - far[:, :1] <= COUNTS
        counts[prices[:, 0] < np.finfo(float).tiny, 1:] = False
        codes, Z = self._codes_[near], self._points_[near]

        def outputs_of_pair(a, b):
            there_a, there_b = (((codes == c) & counts).any(axis=1) for c in (a, b))
            F, both = alone(there_a, there_b), there_a & there_b
            if both.any():
                y = np.where(codes[both] == b, 1.0, -1.0)
                of_pair = counts[both] & ((codes[both] == a) | (codes[both] == b))
                planes = hyperplanes(Z[both], y, np.where(of_pair, prices[both], 0.0))
                F[both] = (planes.coef * X[both]).sum(axis=1) + planes.intercept
                self._admit(float(planes.gap.max()), stacklevel=6)
            return F

        return outputs_of_pair
