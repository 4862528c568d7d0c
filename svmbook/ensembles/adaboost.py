"""AdaBoost with decision stumps."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from ..labels import decode_labels, is_multiclass
from ..solvers.boosting.adaboost import run_adaboost
from ..solvers.boosting.stumps import MidpointStumps, StumpArray
from ..weights import normalise_weights
from .additive import AdditiveModel, step_functions_from_stumps

__all__ = ["AdaBoostStump"]


class AdaBoostStump(AdditiveModel):
    r"""AdaBoost with decision stumps.

    Minimises :math:`\sum_i s_i e^{-y_iF(x_i)}` stagewise over :math:`F = \sum_t w_th_t`, where the
    :math:`s_i` are the sample weights times the class weights. Each round adds the stump of the
    smallest weighted error :math:`\epsilon_t` with the weight
    :math:`w_t = \tfrac12\log((1 - \epsilon_t)/\epsilon_t)`. Boosting stops early if no stump beats
    chance, or if the first stump makes no error; this stump then has weight one.

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of rounds. Lin (2005) uses 100 and 1,000.
    class_weight : dict or "balanced", default=None
        Factor by which the sample weights of each class are multiplied, positive.

    Attributes
    ----------
    features_, thresholds_, signs_ : ndarray of shape (n_iter_,)
        The stumps in the order of the rounds: ``sign`` where ``feature > threshold``, else
        ``-sign``. Finite thresholds lie midway between two training values; a stump with an
        infinite threshold is constant.
    estimator_weights_ : ndarray of shape (n_iter_,)
        The weights :math:`w_t`.
    shape_functions_ : list of StepFunction
        Weighted sum of the stumps of each feature: step functions with mean zero over the training
        points.
    intercept_ : ndarray of shape (1,)
        The constant term.
    feature_importances_ : ndarray of shape (n_features,)
        Standard deviation of each shape function over the training points.
    n_iter_ : int
        Number of rounds.
    estimators_ : list
        Only with more than two classes: one fitted classifier per pair of classes, in the order of
        `sklearn.multiclass.OneVsOneClassifier`; prediction is by majority vote. Each has the other
        attributes; ``classes_`` and ``n_iter_``, one number per pair, are also set here.
    classes_, n_features_in_, feature_names_in_
        As in `StumpEnsembleSVC`.

    Raises
    ------
    ValueError
        `y` has one class only; a weight is negative.

    See Also
    --------
    sklearn.ensemble.AdaBoostClassifier : Boosts any classifier.
    sklearn.calibration.CalibratedClassifierCV : Probabilities from outputs on validation folds.

    Notes
    -----
    The features are sorted once. Then a round takes O(nd) operations for n points of d features.

    References
    ----------
    Lin (2005), algorithm 1; Freund and Schapire (1997), "A decision-theoretic generalization of
    on-line learning and an application to boosting", Journal of Computer and System Sciences 55,
    119-139.

    Examples
    --------
    >>> from svmbook import AdaBoostStump
    >>> from svmbook.datasets import twonorm
    >>> X, y = twonorm(200, random_state=0)
    >>> model = AdaBoostStump(50).fit(X, y)
    >>> model.n_iter_, model.score(X, y) > 0.95
    (50, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def _n_stored_numbers(self, n, d):
        return 6 * n * d  # sorted copies of the data, and the edges of all stumps

    def __init__(self, n_estimators: int = 100, *, class_weight: str | dict | None = None) -> None:
        self.n_estimators = n_estimators
        self.class_weight = class_weight

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Boost on training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.
        sample_weight : array-like of shape (n_samples,), optional
            Initial weights, not negative. Points of weight zero are ignored.

        Returns
        -------
        AdaBoostStump
            The fitted estimator.
        """
        if is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        X, classes, y, weights, indices = self._begin_fit(X, y, sample_weight)
        X, y, weights = X[indices], y[indices], weights[indices]
        result = run_adaboost(MidpointStumps(X), X, y, int(self.n_estimators), weights)
        stumps = _concatenate_stumps(result.hypotheses)
        self.features_, self.thresholds_, self.signs_ = stumps
        self.estimator_weights_, self.n_iter_ = result.weights, len(result.weights)
        shape_functions, constant = step_functions_from_stumps(stumps, result.weights, X.shape[1])
        self._set_additive_attributes(shape_functions, constant, X, normalise_weights(weights))
        self.classes_ = classes
        if not result.hypotheses:
            warnings.warn(
                f"{result.message} on the training points, as with XOR: the ensemble is empty and "
                "predicts the same label for every point. Add features, or products of features.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def staged_decision_function(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Yield the outputs after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Yields
        ------
        ndarray of shape (n_samples,)
            Outputs of the ensemble after that round.
        """
        self._check_single_decision_function("staged_decision_function")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        F = np.zeros(len(X))
        stumps = StumpArray(self.features_, self.thresholds_, self.signs_)
        for weight, stump in zip(self.estimator_weights_, stumps.as_list(), strict=True):
            F = F + weight * stump(X)[:, 0]
            yield F

    def staged_predict(self, X: ArrayLike) -> Iterator[np.ndarray]:
        """Yield the labels after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels predicted after that round.
        """
        for F in self.staged_decision_function(X):
            yield decode_labels(self.classes_, F)


def _concatenate_stumps(stumps):
    """Join a list of single stumps into one `StumpArray`."""
    if not stumps:
        return StumpArray(np.zeros(0, dtype=int), np.zeros(0), np.zeros(0))
    return StumpArray(*(np.concatenate(parts) for parts in zip(*stumps, strict=True)))
