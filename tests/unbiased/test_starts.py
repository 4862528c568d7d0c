"""Where a search for a local minimum starts, and where it ends."""

from itertools import combinations

import numpy as np
import pytest

from svmbook import USVC, DualSVC, LeastSquaresClassifier
from svmbook.experiments.suites.usvc2004.oracle import clouds_and_a_clump
from svmbook.solvers import solve_irwls
from svmbook.solvers.irwls.costs import unbiased_cost

DRAWS = [clouds_and_a_clump(seed) for seed in (3, 5, 6, 9, 11)]
PRICE = 100.0
SMALLER = 1 - 1e-6


def end(X, y, first, steepness):
    """Return the objective reached from a fitted classifier, with steeper costs one by one.

    A free support vector has a slack of zero but for rounding, and its last bit would decide on the
    minimum that is reached. With slightly smaller weights it has a slack.
    """
    start = SMALLER * first.coef_[0], SMALLER * first.intercept_[0]
    for s in steepness:
        result = solve_irwls(X, y, PRICE, unbiased_cost(s, 1e-6), start=start)
        start = result.w, result.intercept
    return result.objective


@pytest.mark.parametrize(
    ("init", "first", "steepness"),
    [
        ("svc", DualSVC(C=PRICE), [8]),
        ("ls", LeastSquaresClassifier(C=PRICE), [8]),
        ("path", DualSVC(C=PRICE), [1, 2, 4, 8]),
    ],
)
def test_the_first_start_is_that_of_the_docstring(init, first, steepness):
    expected = [end(X, y, first.fit(X, y), steepness) for X, y in DRAWS]
    found = [USVC(C=PRICE, s=8.0, init=init).fit(X, y).objective_ for X, y in DRAWS]
    # Starts of different kinds reach different minima in two draws or more: see the test below.
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_random_first_start_is_drawn_as_later_ones_are():
    ends = {}
    for X, y in DRAWS[:3]:
        options = {"C": PRICE, "s": 8.0, "random_state": 1}
        first = USVC(init="random", n_init=2, **options).fit(X, y).starts_
        later = USVC(init="svc", n_init=3, **options).fit(X, y).starts_
        np.testing.assert_allclose(first, later[1:], rtol=1e-9)
        ends |= {later[0]: later[1]}
    assert not np.allclose(list(ends), list(ends.values()))


def test_starts_of_different_kinds_may_end_elsewhere():
    ends = [
        [USVC(C=PRICE, s=8.0, init=init).fit(X, y).objective_ for X, y in DRAWS]
        for init in ("svc", "ls", "path")
    ]
    for one, other in combinations(ends, 2):
        assert np.isclose(one, other, rtol=1e-4).sum() < 4
