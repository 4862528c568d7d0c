"""Regularised least squares on the labels: the baseline of the unbiased machines."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.linear_model import Ridge
from sklearn.utils._param_validation import Interval, StrOptions

from ..base import BaseClassifier
from ..labels import several_classes

__all__ = ["LeastSquaresClassifier"]


class LeastSquaresClassifier(BaseClassifier):
    r"""Linear least squares on the labels, with a ridge.

    Minimises over w and b, with labels :math:`y_i = \pm1`,

    .. math:: \tfrac12\|w\|^2 + \tfrac12\sum_i C_i\,(y_i - w^\top x_i - b)^2 ,

    where :math:`C_i` is ``C`` times the weight of the class times the sample weight. It is the
    first round of the unbiased machines, where all weights are equal, and it is
    `sklearn.linear_model.Ridge` with ``alpha=1/C`` inside.

    Parameters
    ----------
    C : float, default=1.0
        Price of one half of a squared error, positive.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights.
    intercept_ : ndarray of shape (1,)
        The intercept.
    estimators_ : list
        With more than two classes: a fitted classifier for each pair of classes, in the order of
        `sklearn.multiclass.OneVsOneClassifier`, whose votes decide. They have the other attributes,
        whose indices count the points of the pair; ``classes_`` and the certificate (the worst of
        the pairs) are here as well.
    classes_ : ndarray of shape (n_classes,)
        The labels; with two a positive output speaks for the second.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had string column names.

    Raises
    ------
    ValueError
        One class; negative weights.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, from outputs on held-out folds.

    Notes
    -----
    One linear system, :math:`nd^2` operations.

    References
    ----------
    Navia-Vazquez et al. (2004), "LS" in Tables 1, 2 and 4.

    Examples
    --------
    >>> from svmbook import LeastSquaresClassifier
    >>> from svmbook.datasets import usvc_case_a
    >>> X, y = usvc_case_a(random_state=0)
    >>> machine = LeastSquaresClassifier(C=10.0).fit(X, y)
    >>> round(float(-machine.intercept_[0] / machine.coef_[0, 0]), 2)
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
            Labels of any kind, of two classes or more.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, not negative.

        Returns
        -------
        LeastSquaresClassifier
            The fitted estimator.
        """
        if several_classes(y):
            return self._fit_pairs(X, y, sample_weight)
        X, classes, signs, weights, _ = self._training_data(X, y, sample_weight)
        ridge = Ridge(alpha=1.0 / self.C, solver="svd").fit(X, signs, sample_weight=weights)
        self.classes_ = classes
        self.coef_ = ridge.coef_.reshape(1, -1)
        self.intercept_ = np.array([ridge.intercept_])
        return self

    def _outputs(self, X):
        return X @ self.coef_[0] + self.intercept_[0]
