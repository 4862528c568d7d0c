r"""What the logistic machines share: everything but the solver.

A fitted machine is :math:`F(x) = \sum_j A_j k(x_j, x) + b`, with one output for two classes and
one a class for more. The points with :math:`A_j \ne 0` are kept; the outputs are log odds, and
probabilities follow from them.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..kernels import KERNELS
from ..kernels.choice import choose_kernel, rows_of_kernel
from ..labels import decode_labels, encode_labels, encode_outputs
from ..losses import logistic
from ..solvers import LogisticResult
from ..weights import point_weights

__all__ = ["LogisticMachine", "Problem", "Solution"]


class Problem(NamedTuple):
    """Training data as a solver wants them: points of positive weight, and numbers for labels."""

    points: np.ndarray  # for a precomputed kernel their Gram matrix
    y: np.ndarray  # -1.0 and +1.0 for two classes, 0 to k - 1 for more
    weights: np.ndarray
    classes: int | None  # k for more than two


class Solution(NamedTuple):
    """What a solver found, in terms of the training points."""

    result: LogisticResult
    alpha: np.ndarray  # coefficients of the points of positive weight
    intercept: float | np.ndarray
    coef: np.ndarray | None  # weights of the features, one column a class; linear kernel only


class LogisticMachine(ClassifierMixin, BaseEstimator):
    """Base of the logistic machines: checks of the data, outputs, probabilities, labels."""

    _parameter_constraints: ClassVar[dict] = {
        "lam": [Interval(Real, 0.0, None, closed="neither")],
        "kernel": [StrOptions({*KERNELS, "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._two_classes_only
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "dual_coef_")

    _remedy = "Raise lam, scale the features, or raise tol."

    @property
    def _two_classes_only(self):
        return False

    def decision_function(self, X):
        r"""Return the outputs :math:`F(x) = \sum_j A_j k(x_j, x) + b`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_train)
            Points; for a precomputed kernel their kernel values with all training points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the log odds of ``classes_[1]``; for more, one output a class, whose
            differences are log odds.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self._kernel.name == "linear":
            F = X @ self.coef_.T + self.intercept_
        else:
            F = self._kernel.with_support(X, self) @ self.dual_coef_.T + self.intercept_
        return F[:, 0] if len(self.intercept_) == 1 else F

    def predict(self, X):
        """Return the most probable label of each point.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)  # raises NotFittedError before classes_ is read
        return decode_labels(self.classes_, scores)

    def predict_proba(self, X):
        r"""Return the probability of each class, :math:`\sigma(F)` or the softmax of F.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        F = self.decision_function(X)
        return softmax(F, axis=1) if F.ndim > 1 else expit(np.column_stack([-F, F]))

    def predict_log_proba(self, X):
        """Return the logarithm of `predict_proba`, exact where a probability is below 1e-308.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms.
        """
        F = self.decision_function(X)
        return log_softmax(F, axis=1) if F.ndim > 1 else -logistic(np.column_stack([-F, F]))

    def _prepare(self, X, y, sample_weight):
        """Check training data; return them all, the rows of positive weight, and the problem."""
        for attribute in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, attribute)  # a failed fit, or another kernel, leaves nothing of the old
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = (encode_labels if self._two_classes_only else encode_outputs)(y)
        k = len(self.classes_)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        weights = point_weights(self.class_weight, self.classes_, y, weights)
        present = np.flatnonzero(weights > 0)
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        points = rows_of_kernel(X, present, pairwise=pairwise)
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        self._kernel = choose_kernel(self.kernel, points, weights[present], **params)
        if "gamma" in self._kernel.params:
            self.gamma_ = self._kernel.params["gamma"]
        problem = Problem(points, codes[present], weights[present], k if k > 2 else None)
        return X, present, problem

    def _store(self, solution, X, present):
        """Translate a `Solution` into fitted attributes."""
        result, alpha, intercept, coef = solution
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after {result.n_iter} steps at a residual of "
                f"{result.residual:.1e} and a duality gap of {result.gap:.1e}, not certified to "
                f"tol={self.tol:g} ({result.message}). {self._remedy}",
                ConvergenceWarning,
                stacklevel=4,  # past _store, fit and its validating wrapper
            )
        self.alpha_ = np.zeros((len(X), *alpha.shape[1:]))
        self.alpha_[present] = alpha
        columns = self.alpha_.reshape(len(X), -1)
        self.support_ = np.flatnonzero((columns != 0.0).any(axis=1))
        precomputed = self._kernel.name == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if precomputed else X[self.support_]
        self.dual_coef_ = columns[self.support_].T
        self.intercept_ = np.array(intercept, dtype=float).reshape(-1)
        if coef is not None:
            self.coef_ = coef.reshape(len(coef), -1).T
        self.objective_ = result.objective
        self.dual_gap_ = result.gap
        self.kkt_residual_ = result.residual
        self.n_iter_ = result.n_iter
