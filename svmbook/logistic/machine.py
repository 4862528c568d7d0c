"""What the logistic machines add to `svmbook.base.KernelMachine`: outputs are log odds."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.utils._param_validation import Interval

from ..base import KernelMachine
from ..losses import logistic

__all__ = ["LogisticMachine"]


class LogisticMachine(KernelMachine):
    """Base of the logistic machines: probabilities."""

    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "lam": [Interval(Real, 0.0, None, closed="neither")],
    }

    _remedy = "Raise lam, scale the features, or raise tol."

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
