"""A machine for each test point."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from ..base import apply_in_blocks
from ..solvers.batched.members import hyperplanes
from ..ties import rounded
from .pairwise import PairwiseClassifier, alone, outputs_of_planes

__all__ = ["LocalizedSVM"]

# Similarities below exp(-23) = 1e-10 of the largest are left out: the rounding error of a slack at
# the largest C is larger than their effect.
MAX_LOG_RATIO = 23.0


class LocalizedSVM(PairwiseClassifier):
    r"""A linear machine for each point that is asked about.

    For the point :math:`\bar x` and each pair of classes it minimises

    .. math:: \tfrac12\|w\|^2 + C\sum_i \sigma(x_i, \bar x)\max(0, 1 - y_i(w^\top x_i + b))

    over the nearest training points, with :math:`\sigma(x, x') = e^{-\gamma\|x - x'\|^2}`, when it
    is asked: `fit` only keeps the points. Points of less than 1e-10 of the largest similarity are
    left out. Where all prices vanish in double precision, the nearest point answers.

    `fit` takes no ``sample_weight``: neighbours are counted.

    Parameters
    ----------
    C : float, default=1.0
        Price of one unit of slack at the point itself, positive and finite.
    gamma : float or "scale", default="scale"
        Of the similarity; "scale" is 1 / (n_features * variance of all numbers in X).
    n_neighbors : int or None, default=50
        So many nearest points count, and all that are as near as the last of them; the others,
        whose similarity is less, do not. None for all points. Up to 64 all machines are trained in
        one batch, above them one after the other.

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

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, from outputs on held-out folds.

    Notes
    -----
    `fit` costs nothing. Each new point costs its distances to all training points and one small
    machine for each pair of classes.

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
        **PairwiseClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self, C: float = 1.0, *, gamma: float | str = "scale", n_neighbors: int | None = 50
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.n_neighbors = n_neighbors

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
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
        return apply_in_blocks(super()._outputs, X, max(near * (near + d), n))

    def _pairs(self, X):
        far = rounded(self.gamma_ * cdist(X, self._points_, "sqeuclidean"))
        last = self._near_ - 1
        limit = np.partition(far, last, axis=1)[:, last, None]
        most = (far <= limit).sum(axis=1).max()  # points as near as the last neighbour are included
        near = np.argsort(far, axis=1, kind="stable")[:, :most]
        far = np.take_along_axis(far, near, axis=1)
        prices = self._C_ * np.exp(-far)
        counts = (far <= limit) & (far - far[:, :1] <= MAX_LOG_RATIO)
        counts[prices[:, 0] < np.finfo(float).tiny, 1:] = False
        codes = self._codes_[near]

        def outputs_of_pair(a, b):
            there_a, there_b = (((codes == c) & counts).any(axis=1) for c in (a, b))
            F, both = alone(there_a, there_b), there_a & there_b
            if both.any():
                of_pair = counts[both] & ((codes[both] == a) | (codes[both] == b))
                first = np.argsort(~of_pair, axis=1, kind="stable")
                first = first[:, : of_pair.sum(axis=1).max()]
                take = partial(np.take_along_axis, indices=first, axis=1)
                y = np.where(take(codes[both]) == b, 1.0, -1.0)
                worth = take(np.where(of_pair, prices[both], 0.0))
                planes = hyperplanes(self._points_[take(near[both])], y, worth)
                F[both] = outputs_of_planes(X[both], *planes[:2])
                self._warn_of_wide_gap(float(planes.gap.max()), stacklevel=7)
            return F

        return outputs_of_pair
