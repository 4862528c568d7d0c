"""Base class of the classifiers that check the duality gaps of their linear SVMs."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from ..base import BaseClassifier

__all__ = ["GapCheckedClassifier"]

GAP_TOL = 1e-4  # tolerance for the relative duality gap of a linear SVM


class GapCheckedClassifier(BaseClassifier):
    """Base class that warns if the largest relative duality gap exceeds the tolerance."""

    def _check_convergence(self, relative_gap, stacklevel):
        """Set ``converged_`` from the largest relative duality gap, and warn if it is too large."""
        self.converged_ = relative_gap <= GAP_TOL
        self._warn_if_gap_is_large(relative_gap, stacklevel + 1)

    def _warn_if_gap_is_large(self, relative_gap, stacklevel):
        if not relative_gap <= GAP_TOL:
            warnings.warn(
                f"the duality gap of a linear SVM is {relative_gap:.1e} times its objective, "
                f"above the tolerance {GAP_TOL:g}; scale the features, or lower C.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
