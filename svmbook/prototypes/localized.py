"""Localized SVMs: one linear SVM per query point, trained at prediction."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from ..base import row_blocks
from ..solvers.batched.members import fit_hyperplanes
from ..ties import round_significand
from .pairwise import PairwiseClassifier, rowwise_outputs, single_class_output

__all__ = ["LocalizedSVM"]

# Points whose similarity is below exp(-23) = 1e-10 times the largest are left out, because their
# weights are negligible.
MAX_LOG_SIMILARITY_RATIO = 23.0


class LocalizedSVM(PairwiseClassifier):
    r"""A linear SVM for each query point, trained at prediction.

    For a query point :math:`\bar x` and each pair of classes it minimises

    .. math:: \tfrac12\|w\|^2 + C\sum_i \sigma(x_i, \bar x)\max(0, 1 - y_i(w^\top x_i + b))

    over the nearest training points, with :math:`\sigma(x, x') = e^{-\gamma\|x - x'\|^2}`. Points
    whose similarity is below 1e-10 times the largest are left out. Where every weight underflows,
    the label of the nearest training point is predicted.

    `fit` takes no ``sample_weight``, because ``n_neighbors`` is a number of points.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the weight of the slack of a training point at :math:`\bar x`
        itself, positive and finite.
    gamma : float or "scale", default="scale"
        Parameter of the similarity. "scale" is 1 / (n_features * X.var()).
    n_neighbors : int or None, default=50
        Number of nearest training points to use, with all ties at the last one (many, if the
        features are integers or one-hot). None uses all points. SVMs of up to 64 points are trained
        in batches, larger ones one after the other, which takes longer.

    Attributes
    ----------
    gamma_ : float
        The value of ``gamma`` in use.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where ``X`` had string column names.

    Raises
    ------
    ValueError
        `y` has one class only.

    Warns
    -----
    ConvergenceWarning
        At prediction: the duality gap of an SVM is too large.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities from outputs on validation folds.

    Notes
    -----
    `fit` only validates and stores the data. Prediction at a point costs its distances to all
    training points and the training of one small SVM per pair of classes.

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
        """Validate and store the training points.

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
        self._points_, classes, self._codes_, self.gamma_ = self._validate_training_data(X, y)
        n_neighbors = len(X) if self.n_neighbors is None else int(self.n_neighbors)
        self._n_neighbors_, self._C_ = min(n_neighbors, len(self._points_)), float(self.C)
        self.classes_ = classes
        return self

    def _floats_per_query(self):
        (n, d), k = self._points_.shape, self._n_neighbors_
        return max(k * (k + d), n)

    def _pair_output_function(self, X):
        scaled_sq_dist = round_significand(self.gamma_ * cdist(X, self._points_, "sqeuclidean"))
        last = self._n_neighbors_ - 1
        last_scaled_sq_dist = np.partition(scaled_sq_dist, last, axis=1)[:, last, None]
        # Number of nearest points, with ties at the last one.
        n_columns = (scaled_sq_dist <= last_scaled_sq_dist).sum(axis=1).max()
        neighbors = np.argsort(scaled_sq_dist, axis=1, kind="stable")[:, :n_columns]
        scaled_sq_dist = np.take_along_axis(scaled_sq_dist, neighbors, axis=1)
        weights = self._C_ * np.exp(-scaled_sq_dist)
        is_included = scaled_sq_dist <= last_scaled_sq_dist
        is_included &= scaled_sq_dist - scaled_sq_dist[:, :1] <= MAX_LOG_SIMILARITY_RATIO
        is_included[weights[:, 0] < np.finfo(float).tiny, 1:] = False
        codes = self._codes_[neighbors]

        def outputs_of_pair(a, b):
            has_a, has_b = (((codes == c) & is_included).any(axis=1) for c in (a, b))
            F, has_both = single_class_output(has_a, has_b), has_a & has_b
            if has_both.any():
                in_pair = is_included[has_both] & ((codes[has_both] == a) | (codes[has_both] == b))
                columns = np.argsort(~in_pair, axis=1, kind="stable")
                columns = columns[:, : in_pair.sum(axis=1).max()]
                take = partial(np.take_along_axis, indices=columns, axis=1)
                y = np.where(take(codes[has_both]) == b, 1.0, -1.0)
                pair_weights = take(np.where(in_pair, weights[has_both], 0.0))
                indices = take(neighbors[has_both])
                F[has_both] = self._outputs_of_problems(X[has_both], indices, y, pair_weights)
            return F

        return outputs_of_pair

    def _outputs_of_problems(self, X, indices, y, weights):
        """Return the output of one SVM per query point, trained on the points of its row.

        Ties at the last neighbour can make the rows long, so the SVMs are trained in blocks.
        """
        F, gaps, k = np.empty(len(X)), [], indices.shape[1]
        for rows in row_blocks(len(X), k * (k + X.shape[1])):
            planes = fit_hyperplanes(self._points_[indices[rows]], y[rows], weights[rows])
            F[rows] = rowwise_outputs(X[rows], *planes[:2])
            gaps.append(planes.relative_gap.max())
        self._warn_if_gap_is_large(np.max(gaps), stacklevel=8)
        return F
