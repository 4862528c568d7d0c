"""Starting points of the nonconvex minimisation, and the minima reached from them."""

from itertools import combinations

import numpy as np
import pytest

from svmbook import USVC, DualSVC, LeastSquaresClassifier
from svmbook.experiments.suites.usvc2004.fewest_errors import distant_cluster
from svmbook.solvers import solve_irwls
from svmbook.solvers.irwls.costs import usvc_cost

DATA_SETS = [distant_cluster(seed) for seed in (3, 5, 6, 9, 11)]
C = 100.0
SHRINKAGE_FACTOR = 1 - 1e-6


def objective_from(classifier, X, y, steepness_values):
    """Return the objective reached from a fitted classifier with increasingly steep costs.

    The slack of a free support vector is zero up to rounding, so rounding could determine which
    minimum is reached. Slightly smaller weights make the slack positive.
    """
    start = SHRINKAGE_FACTOR * classifier.coef_[0], SHRINKAGE_FACTOR * classifier.intercept_[0]
    for s in steepness_values:
        result = solve_irwls(X, y, C, usvc_cost(s, 1e-6), start=start)
        start = result.w, result.intercept
    return result.objective


def usvc_objectives(init):
    """Return the objective of a USVC with one start on each data set."""
    return [USVC(C=C, s=8.0, init=init).fit(X, y).objective_ for X, y in DATA_SETS]


@pytest.mark.parametrize(
    ("init", "classifier", "steepness_values"),
    [
        ("svc", DualSVC(C=C), [8]),
        ("ls", LeastSquaresClassifier(C=C), [8]),
        ("path", DualSVC(C=C), [1, 2, 4, 8]),
    ],
)
def test_first_start_is_the_documented_one(init, classifier, steepness_values):
    expected = [objective_from(classifier.fit(X, y), X, y, steepness_values) for X, y in DATA_SETS]
    # Other starts reach other minima on at least two data sets: see the last test.
    np.testing.assert_allclose(usvc_objectives(init), expected, rtol=1e-5)


def test_random_starts_reach_the_same_minima_with_and_without_an_svc_start():
    first_svc_objectives, first_random_objectives = [], []
    for X, y in DATA_SETS[:3]:
        options = {"C": C, "s": 8.0, "random_state": 1}
        from_random = USVC(init="random", n_init=2, **options).fit(X, y).start_objectives_
        from_svc = USVC(init="svc", n_init=3, **options).fit(X, y).start_objectives_
        np.testing.assert_allclose(from_random, from_svc[1:], rtol=1e-9)
        first_svc_objectives.append(from_svc[0])
        first_random_objectives.append(from_svc[1])
    assert not np.allclose(first_svc_objectives, first_random_objectives)


def test_different_starts_reach_different_minima():
    for a, b in combinations(map(usvc_objectives, ("svc", "ls", "path")), 2):
        assert np.isclose(a, b, rtol=1e-4).sum() < 4
