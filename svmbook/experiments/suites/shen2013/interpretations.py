r"""Alternative interpretations of Shen (2013), where the thesis is not specific.

`ProbabilityPrototypeSVM`: a member classifies a point as positive where LIBSVM's probability
exceeds one half, as LIBSVM's own prediction does if probabilities are requested.
`GrowingListPrototypeSVM`: positive sets are lists, to which a point is added again at each shift in
which it is a positive update.
"""

from ....prototypes import PrototypeSVM
from ....prototypes.sigmoids import cross_validated_sigmoids
from ....solvers.batched.members import Hyperplanes

__all__ = ["GrowingListPrototypeSVM", "ProbabilityPrototypeSVM"]


class ProbabilityPrototypeSVM(PrototypeSVM):
    r"""Prototype SVMs whose members classify as positive where LIBSVM's probability exceeds 1/2.

    With a sigmoid of slope a and intercept b the condition is :math:`a(w^\top x + c) + b > 0`.
    This hyperplane replaces that of the member. In the probability vote, the probability is the
    sigmoid of the new output.
    """

    def _train(self, X, codes, positive, negative):
        positive_weights = self._positive_weights(codes, positive, negative)
        planes = self._train_weighted(X, positive, negative, positive_weights)
        sigmoids = cross_validated_sigmoids(
            X, positive, negative, positive_weights, self._train_weighted
        )
        coef = sigmoids.slope[:, None] * planes.coef
        return Hyperplanes(
            coef, sigmoids.slope * planes.intercept + sigmoids.intercept, planes.relative_gap
        )


class GrowingListPrototypeSVM(PrototypeSVM):
    """Prototype SVMs in which the weight of a positive is the number of times that it was added.

    For all votes except LIBSVM's, whose folds split sets and not lists.
    """

    def _updated_positives(self, positive, assigned):
        return positive.astype(int) + assigned
