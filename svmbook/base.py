"""Base class of all classifiers: validation, prediction, and one classifier per pair of classes."""

from __future__ import annotations

from copy import copy
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .dask_input import is_dask, predict_lazily
from .labels import decode_labels, encode_binary_labels, encode_classes
from .losses import logistic
from .memory import check_memory
from .multiclass import couple_probabilities, fit_one_vs_one, predict_pairwise_probabilities
from .weights import point_weights

__all__ = [
    "BaseClassifier",
    "LogOddsMixin",
    "apply_in_blocks",
    "clear_fitted_attributes",
    "relative_gap",
    "row_blocks",
]

# Fitted attributes whose names do not end with an underscore.
PRIVATE_FITTED_ATTRIBUTES = ("_kernel", "_centred_model", "_one_vs_one")
MAX_BLOCK_ENTRIES = 2_000_000  # array entries per block of a prediction: 16 MB per array


def clear_fitted_attributes(estimator):
    """Delete the attributes of an earlier fit, so that they do not survive a failed one."""
    for name in list(vars(estimator)):
        if name.endswith("_") or name in PRIVATE_FITTED_ATTRIBUTES:
            delattr(estimator, name)


def row_blocks(n_rows, entries_per_row, max_entries=None):
    """Yield the slices of blocks of rows, in order.

    An array with ``entries_per_row`` numbers per row has at most ``max_entries`` numbers per block,
    by default `MAX_BLOCK_ENTRIES`, or one row.
    """
    rows_per_block = max(1, (max_entries or MAX_BLOCK_ENTRIES) // max(1, entries_per_row))
    for start in range(0, n_rows, rows_per_block):
        yield slice(start, start + rows_per_block)


def apply_in_blocks(function, X, entries_per_row, max_entries=None):
    """Return ``function(X)``, computed on blocks of rows to bound its memory.

    The function needs arrays of ``entries_per_row`` numbers per row; `row_blocks` gives the blocks.
    """
    outputs = []
    for rows in row_blocks(X.shape[0], entries_per_row, max_entries):
        outputs.append(function(X[rows]))
    return np.concatenate(outputs)


def relative_gap(gap, objective):
    """Return the duality gap as a fraction of the primal objective, or zero if it is negative.

    Only rounding errors can make the gap negative. An objective of zero is optimal, since losses
    and penalties are nonnegative. A gap that is not finite proves nothing: the result is infinite.
    """
    if not np.isfinite(gap):
        return np.inf
    return max(0.0, float(gap)) / float(objective) if objective > 0 else 0.0


class BaseClassifier(ClassifierMixin, BaseEstimator):
    """Base class of all classifiers: validation, decision values, labels.

    A subclass has a `fit` that calls `_begin_fit` and sets ``classes_`` at the end, and
    ``_decision_values(X)``, which returns the decision values of validated points. The `fit` of a
    binary classifier calls `_fit_one_vs_one` if `is_multiclass(y)` is true.
    """

    class_weight = None  # for estimators without this parameter
    _accepts_sparse = False  # whether X may be a sparse matrix
    _memory_advice = "Use fewer points."  # end of the message if there is too little memory
    _sparse_advice = ""  # beginning of the advice if sparse data are not accepted

    def __sklearn_is_fitted__(self):
        return hasattr(self, "classes_")

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        r"""Return the decision values :math:`F(x)`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_train)
            Points; for a precomputed kernel their kernel values with all training points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one value per point, positive where ``classes_[1]`` is predicted; for
            more classes one value per point and class.
        """
        check_is_fitted(self)
        if is_dask(X):
            n_columns = len(self.classes_) if self._is_one_vs_one else None
            return predict_lazily(self, "decision_function", X, n_columns)
        X = self._validated_points(X)
        return (
            self._one_vs_one.decision_function(X)
            if self._is_one_vs_one
            else self._decision_values(X)
        )

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the predicted label of each point.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        if is_dask(X):
            check_is_fitted(self)
            return predict_lazily(self, "predict", X, dtype=self.classes_.dtype)
        scores = self.decision_function(X)  # raises NotFittedError before classes_ is read
        return decode_labels(self.classes_, scores)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy: the fraction of points whose predicted label is correct.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the points in the mean.

        Returns
        -------
        float
            Between 0 and 1. For Dask collections it is computed at once; only labels are collected.
        """
        if not is_dask(X):
            return super().score(X, y, sample_weight)
        weights = sample_weight.compute() if is_dask(sample_weight) else sample_weight
        return accuracy_score(y.compute(), self.predict(X).compute(), sample_weight=weights)

    def _validated_points(self, X):
        """Return query points after validation."""
        return validate_data(self, X, dtype=np.float64, reset=False, **self._input_options())

    def _input_options(self):
        """Return the options of `validate_data`."""
        return {"accept_sparse": "csr" if self._accepts_sparse else False}

    @property
    def _is_one_vs_one(self):
        """Whether one classifier was fitted per pair of classes."""
        return hasattr(self, "_one_vs_one")

    def _check_single_decision_function(self, method):
        """Raise an error if there is one decision function per pair of classes."""
        check_is_fitted(self)
        if self._is_one_vs_one:
            raise ValueError(
                f"{method} needs a single decision function; with {len(self.classes_)} classes "
                "there is one per pair. Call it on a classifier in estimators_."
            )

    def _fit_one_vs_one(self, X, y, sample_weight):
        """Fit a copy of this classifier to each pair of classes."""
        X, classes, codes, weights, _ = self._reset_and_validate(
            X, y, sample_weight, encode_classes
        )
        self._one_vs_one = fit_one_vs_one(self, X, codes, weights)
        self.estimators_ = self._relabelled_estimators(classes)
        for name, combine in (("n_iter_", np.array), ("converged_", all), ("relative_gap_", max)):
            if all(hasattr(model, name) for model in self.estimators_):
                setattr(self, name, combine([getattr(model, name) for model in self.estimators_]))
        self.classes_ = classes
        return self

    def _relabelled_estimators(self, classes):
        """Return the binary classifiers with the labels and the feature names of the data.

        They are shallow copies, since the vote of `OneVsOneClassifier` needs the originals, whose
        classes are 0 and 1.
        """
        models = [copy(model) for model in self._one_vs_one.estimators_]
        for model, (a, b) in zip(models, combinations(range(len(classes)), 2), strict=True):
            model.classes_ = classes[[a, b]]
            if hasattr(self, "feature_names_in_") and model.n_features_in_ == self.n_features_in_:
                model.feature_names_in_ = self.feature_names_in_
        return models

    def __getattr__(self, name):
        """Raise an `AttributeError` that says where to find the attribute, if it is elsewhere."""
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        models = vars(self).get("estimators_") if "_one_vs_one" in vars(self) else None
        if models and hasattr(models[0], name):
            message += f"; with {len(self.classes_)} classes each classifier in estimators_ has one"
        elif name == "predict_proba":
            message += "; for probabilities use sklearn.calibration.CalibratedClassifierCV"
        raise AttributeError(message)

    def _random_generator(self):
        """Return a random number generator seeded from the parameter ``random_state``."""
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _begin_fit(self, X, y, sample_weight, encode=encode_binary_labels):
        """Return the result of `_reset_and_validate`; check that the fit has enough memory."""
        data = self._reset_and_validate(X, y, sample_weight, encode)
        n, d = data[0].shape
        task = f"{type(self).__name__} on {n:,} points with {d:,} features"
        n_numbers = self._estimate_stored_numbers(data[0], data[1])
        check_memory(8.0 * n_numbers, task, self._memory_advice)
        return data

    def _estimate_stored_numbers(self, X, classes):
        """Estimate how many floats a fit to these points and classes stores besides the data."""
        return self._n_stored_numbers(*X.shape)

    def _n_stored_numbers(self, n, d):
        """Estimate how many floats a fit to n points of d features stores besides the data."""
        return n * d

    def _reset_and_validate(self, X, y, sample_weight, encode):
        """Delete an earlier fit, and validate the training data.

        Returns the points, the sorted labels, the labels of the points encoded by ``encode``, the
        weights, and the indices of the points of positive weight. A failed fit leaves only the
        attributes that `validate_data` sets.
        """
        clear_fitted_attributes(self)
        if issparse(X) and not self._accepts_sparse:
            raise TypeError(
                "Sparse data was passed for X, but dense data is required: "
                f"{self._sparse_advice}use X.toarray(), or in a pipeline "
                "OneHotEncoder(sparse_output=False) and ColumnTransformer(sparse_threshold=0)."
            )
        X, y = validate_data(self, X, y, dtype=np.float64, **self._input_options())
        classes, targets = encode(y)
        weights = np.ones(X.shape[0])
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        weights = point_weights(self.class_weight, classes, y, weights)
        return X, classes, targets, weights, np.flatnonzero(weights > 0)


class LogOddsMixin:
    """Probabilities of classifiers whose decision values are log odds."""

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        r"""Return the probability of each class, :math:`\sigma(F)` or the softmax of F.

        The probabilities of classifiers of pairs are coupled, :eq:`eq-coupling`. The most probable
        class may then differ from the winner of the vote, which `predict` returns.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        if is_dask(X):
            check_is_fitted(self)
            return predict_lazily(self, "predict_proba", X, n_columns=len(self.classes_))
        if self._is_one_vs_one:
            pairwise_probabilities = predict_pairwise_probabilities(
                self._one_vs_one, self._validated_points(X)
            )
            return couple_probabilities(pairwise_probabilities, len(self.classes_))
        F = self.decision_function(X)
        return softmax(F, axis=1) if F.ndim > 1 else expit(np.column_stack([-F, F]))

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the logarithm of `predict_proba`.

        Unless classifiers of pairs are coupled, it is accurate even for probabilities below 1e-308.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities in the order of ``classes_``.
        """
        if is_dask(X):
            check_is_fitted(self)
            return predict_lazily(self, "predict_log_proba", X, n_columns=len(self.classes_))
        if self._is_one_vs_one:
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))
        F = self.decision_function(X)
        return log_softmax(F, axis=1) if F.ndim > 1 else -logistic(np.column_stack([-F, F]))
