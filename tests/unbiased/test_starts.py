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

    The slack of a free support vector is zero up to rounding, which would decide on the minimum
    that is reached. Slightly smaller weights make the slack positive.
    """
    start = SHRINKAGE_FACTOR * classifier.coef_[0], SHRINKAGE_FACTOR * classifier.intercept_[0]
    for s in steepness_values:
        result = solve_irwls(X, y, C, usvc_cost(s, 1e-6), start=start)
        start = result.w, result.intercept
    return result.objective


def objectives(init):
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
    # Other starts reach other minima on two data sets or more: see the last test.
    np.testing.assert_allclose(objectives(init), expected, rtol=1e-5)


def test_random_first_start_has_the_distribution_of_later_starts():
    svc_objectives, random_objectives = [], []
    for X, y in DATA_SETS[:3]:
        options = {"C": C, "s": 8.0, "random_state": 1}
        random = USVC(init="random", n_init=2, **options).fit(X, y).start_objectives_
        svc = USVC(init="svc", n_init=3, **options).fit(X, y).start_objectives_
        np.testing.assert_allclose(random, svc[1:], rtol=1e-9)
        svc_objectives.append(svc[0])
        random_objectives.append(svc[1])
    assert not np.allclose(svc_objectives, random_objectives)


def test_different_starts_reach_different_minima():
    for a, b in combinations(map(objectives, ("svc", "ls", "path")), 2):
        assert np.isclose(a, b, rtol=1e-4).sum() < 4
