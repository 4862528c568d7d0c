"""Base of the classifiers whose ensemble members vote for classes."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from ..base import BaseClassifier

__all__ = ["VotingEnsemble"]

GAP_TOL = 1e-4  # of the relative duality gap of a member


class VotingEnsemble(BaseClassifier):
    """Base that warns if the largest relative duality gap of a member exceeds the tolerance."""

    def _certify(self, gap, stacklevel):
        """Set ``converged_`` by the largest relative duality gap, and warn if it is too large."""
        self.converged_ = gap <= GAP_TOL
        self._warn_of_large_gap(gap, stacklevel + 1)

    def _warn_of_large_gap(self, gap, stacklevel):
        if not gap <= GAP_TOL:
            warnings.warn(
                f"the duality gap of a member is {gap:.1e} times its objective, above the "
                f"tolerance {GAP_TOL:g}; scale the features, or lower C.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
