"""What all machines share in which classes are voted for."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from ..base import BaseClassifier

__all__ = ["VotingEnsemble"]

WIDE_GAP = 1e-4  # a larger relative gap of a member is not called converged


class VotingEnsemble(BaseClassifier):
    """Base: labels of any kind are numbers inside, and a wide gap of a member is reported."""

    def _certify(self, gap, stacklevel):
        """Set ``converged_``: whether the largest relative gap is small; warn where it is not."""
        self.converged_ = gap <= WIDE_GAP
        self._warn_of_wide_gap(gap, stacklevel + 1)

    def _warn_of_wide_gap(self, gap, stacklevel):
        """Warn if the duality gap of a member is a large part of its objective."""
        if not gap <= WIDE_GAP:
            warnings.warn(
                f"the duality gap of a member is {gap:.1e} of its objective, above "
                f"{WIDE_GAP:g}; scale the features, or lower C.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
