"""Starting points for IRWLS: with a non-convex cost, they determine which minimum is found."""

import numpy as np

from ...ties import argmax_up_to_rounding
from .costs import HINGE
from .iterations import WARM_START_TOL, least_squares_step, run_irwls

__all__ = ["least_squares_start", "minimise_from_starts", "random_start", "svm_start"]


def least_squares_start(Z, y, C):
    """Return w and b of least squares with weights a_i = C_i.

    Step 0 of the algorithm of Navia-Vazquez et al. (2004) has a_i = 1.
    """
    C = np.broadcast_to(C, len(y))
    return least_squares_step(Z, C * y, C, np.zeros(Z.shape[1]))


def svm_start(Z, y, C):
    """Return w and b of the SVM, :eq:`eq-hinge-penalty`, to a loose tolerance."""
    result = run_irwls(Z, y, C, HINGE, tol=WARM_START_TOL)
    return result.w, result.intercept


def random_start(Z, y, C, rng):
    """Return w and b of least squares on random points, about two per unknown."""
    selection_weights = np.zeros(len(y))
    selection_weights[rng.choice(len(y), min(len(y), 2 * (Z.shape[1] + 1)), replace=False)] = 1.0
    for label in (-1.0, 1.0):  # at least one point of each class
        selection_weights[rng.choice(np.flatnonzero(y == label))] = 1.0
    return least_squares_start(Z, y, C * selection_weights)


def minimise_from_starts(Z, y, C, cost, starts, **options):
    """Return the result with the smallest objective, and the objectives of all starts."""
    results = [run_irwls(Z, y, C, cost, start=start, **options) for start in starts]
    objectives = np.array([result.objective for result in results])
    return results[argmax_up_to_rounding(-objectives)], objectives
