"""Regularised least squares on the labels, a baseline for the unbiased classifiers."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.linear_model import Ridge
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import BaseClassifier
from ..labels import is_multiclass

__all__ = ["LeastSquaresClassifier"]


class LeastSquaresClassifier(BaseClassifier):
    r"""Linear least squares on the labels, with a ridge penalty.

    Minimises over w and b, with labels :math:`y_i = \pm1`,

    .. math:: \tfrac12\|w\|^2 + \tfrac12\sum_i C_i\,(y_i - w^\top x_i - b)^2 ,

    where :math:`C_i` is ``C`` times the weight of the class times the sample weight. `USVC` with
    the linear kernel and ``init="ls"`` starts from this solution. The solver is
    `sklearn.linear_model.Ridge` with ``alpha=1/C``.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the weight of half the sum of squared errors, positive.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights.
    intercept_ : ndarray of shape (1,)
        The intercept.
    estimators_ : list
        With more than two classes: a fitted classifier for each pair of classes, as in
        `svmbook.DualSVC`.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; with two, a positive decision value means the second.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if ``X`` has string column names.

    Raises
    ------
    ValueError
        ``y`` has one class only, or a weight is negative.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, by cross-validated calibration.

    Notes
    -----
    The fit computes one singular value decomposition, in :math:`nd^2` operations for
    n points with d < n features.

    References
    ----------
    Navia-Vazquez et al. (2004), the method "LS" in Tables 1, 2 and 4.

    Examples
    --------
    >>> from svmbook import LeastSquaresClassifier
    >>> from svmbook.datasets import usvc_case_a
    >>> X, y = usvc_case_a(random_state=0)
    >>> model = LeastSquaresClassifier(C=10.0).fit(X, y)
    >>> round(float(-model.intercept_[0] / model.coef_[0, 0]), 2)
    0.3
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(self, C: float = 1.0, *, class_weight: str | dict | None = None) -> None:
        self.C = C
        self.class_weight = class_weight

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the least squares problem.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, nonnegative.

        Returns
        -------
        LeastSquaresClassifier
            The fitted estimator.
        """
        if is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        X, classes, signs, weights, _ = self._begin_fit(X, y, sample_weight)
        ridge = Ridge(alpha=1.0 / self.C, solver="svd").fit(X, signs, sample_weight=weights)
        self.classes_ = classes
        self.coef_ = ridge.coef_.reshape(1, -1)
        self.intercept_ = np.array([ridge.intercept_])
        return self

    def _decision_values(self, X):
        return X @ self.coef_[0] + self.intercept_[0]
