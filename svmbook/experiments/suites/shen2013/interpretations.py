r"""Alternative interpretations of Shen (2013), where the thesis is not specific.

`ByProbability`: a member classifies a point as positive where LIBSVM's probability exceeds one
half, as LIBSVM's own prediction does if probabilities are requested. `GrowingLists`: positive sets
are lists, to which a point is added again at each shift in which it is a positive update.
"""

from ....prototypes import PrototypeSVM
from ....prototypes.sigmoids import cross_validated_sigmoids
from ....solvers.batched.members import Hyperplanes

__all__ = ["ByProbability", "GrowingLists"]


class ByProbability(PrototypeSVM):
    r"""Prototypes whose members are positive where LIBSVM's probability exceeds one half.

    With a sigmoid of slope a and intercept b the condition is :math:`a(w^\top x + c) + b > 0`.
    This hyperplane replaces that of the member. In votes by probability, the probability is the
    sigmoid of the new output.
    """

    def _train(self, X, codes, positive, negative):
        weight = self._weights(codes, positive, negative)
        planes = self._hyperplanes(X, positive, negative, weight)
        sigmoid = cross_validated_sigmoids(X, positive, negative, weight, self._hyperplanes)
        coef = sigmoid.slope[:, None] * planes.coef
        return Hyperplanes(coef, sigmoid.slope * planes.intercept + sigmoid.intercept, planes.gap)


class GrowingLists(PrototypeSVM):
    """Prototypes in which the weight of a positive is the number of times that it was added.

    Only for the two-norm, and for all votes except LIBSVM's, whose folds split sets and not lists.
    """

    def _updated_positives(self, positive, joins):
        return positive.astype(int) + joins

    def _weights(self, codes, positive, negative):
        return super()._weights(codes, positive, negative)[:, None] * positive

    def _hyperplanes(self, X, positive, negative, weight):
        return super()._hyperplanes(X, positive > 0, negative, weight)

    def _set_fitted(self, members, *rest):
        super()._set_fitted(members._replace(positive=members.positive > 0), *rest)
