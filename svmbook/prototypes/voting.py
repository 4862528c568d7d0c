"""What all machines share in which classes are voted for."""

from __future__ import annotations

from ..base import Machine
from ..labels import encode_classes

__all__ = ["VotingMachine"]


class VotingMachine(Machine):
    """Base: labels are numbers, and an estimator has ``_votes(X)``, one column a class."""

    _two_classes_only = False

    def _encoded(self, y):
        return encode_classes(y)

    def _outputs(self, X):
        """Return votes: for two classes those for the second minus those for the first."""
        votes = self._votes(X)
        return votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes
