r"""Other readings of Shen (2013): what the thesis leaves open about outputs and positive sets.

`ByProbability`: a member classifies a point as positive where LIBSVM's probability exceeds one
half. That is what LIBSVM's own prediction does when probabilities are asked for. `GrowingLists`:
positive sets are lists, and a point that joins its member again at each shift is there as often.
"""

from ....prototypes import PrototypeSVM
from ....prototypes.inner import inner_sigmoids
from ....solvers.batched.members import Hyperplanes

__all__ = ["ByProbability", "GrowingLists"]


class ByProbability(PrototypeSVM):
    r"""Prototypes whose members are positive where LIBSVM's probability exceeds one half.

    With the sigmoid of slope a and intercept b that is :math:`a(w^\top x + c) + b > 0`: a
    hyperplane again. So each member gets this hyperplane in place of its own. Where it votes by
    a probability, that is the sigmoid of its new output.
    """

    def _train(self, X, codes, positive, negative):
        weight = self._weights(codes, positive, negative)
        planes = self._hyperplanes(X, positive, negative, weight)
        sigmoid = inner_sigmoids(X, positive, negative, weight, self._hyperplanes)
        coef = sigmoid.slope[:, None] * planes.coef
        return Hyperplanes(coef, sigmoid.slope * planes.intercept + sigmoid.intercept, planes.gap)


class GrowingLists(PrototypeSVM):
    """Prototypes that count a positive as often as it has joined its member.

    For the two-norm, and for all votes but LIBSVM's, whose folds divide sets and not lists.
    """

    def _updated_positives(self, positive, joins):
        return positive.astype(int) + joins

    def _weights(self, codes, positive, negative):
        return super()._weights(codes, positive, negative)[:, None] * positive

    def _hyperplanes(self, X, positive, negative, weight):
        return super()._hyperplanes(X, positive > 0, negative, weight)

    def _set_fitted(self, members, *rest):
        super()._set_fitted(members._replace(positive=members.positive > 0), *rest)
