"""LIBSVM's solution of :eq:`eq-dual`, called through scikit-learn without warnings."""

import numpy as np
from scipy.sparse import issparse
from sklearn.svm import SVC

__all__ = ["CACHE_MEGABYTES", "SilentSVC", "fit_multipliers"]

CACHE_MEGABYTES = 1000  # size of LIBSVM's cache of kernel rows


class SilentSVC(SVC):
    """An SVC for the labels -1 and +1 that does not warn at its iteration limit.

    The certificate reports the limit instead. Filtering the warning would change the filters of all
    threads of the process.
    """

    def _warn_from_fit_status(self):
        pass

    def _validate_targets(self, y):
        """Encode the labels -1 and +1; to check them takes longer than to solve a small problem."""
        self.classes_, self.class_weight_ = np.array([-1.0, 1.0]), np.ones(2)
        return (y > 0).astype(float)


def fit_multipliers(svc, X, y, C):
    """Fit a `SilentSVC` with upper bounds C; return the multiplier of each point."""
    svc.fit(X, y, sample_weight=C.copy())
    dual_coef = svc.dual_coef_.toarray() if issparse(svc.dual_coef_) else svc.dual_coef_
    alpha = np.zeros(len(y))
    alpha[svc.support_] = np.abs(dual_coef[0])
    return alpha
