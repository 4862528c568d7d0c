"""One stump per linear program: without a tolerance it ends where the whole program ends."""

import numpy as np
import pytest

from svmbook import LPBoost
from svmbook.datasets import twonorm
from svmbook.experiments.suites.lin2005 import early as suite
from svmbook.solvers.boosting.lpboost import lpboost


def margins(X, y, tolerance):
    hard = np.full(len(y), np.inf)
    learner = suite._OneStump(X, tolerance)
    return lpboost(learner, X, y, hard, tol=1e-9, max_iter=suite.ROUNDS)


def test_one_stump_at_a_time_reaches_the_largest_margin():
    X, y = twonorm(40, d=3, random_state=0)
    y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    whole = LPBoost(C=np.inf).fit(X, y)
    assert margins(X, y, 1e-9).margin == pytest.approx(whole.margin_, rel=1e-5)


def test_a_tolerance_stops_early_and_loses_no_more_margin_than_it_allows():
    X, y = twonorm(80, d=8, random_state=2)
    y = np.where(X.sum(axis=1) > 0, 1.0, -1.0)
    whole = margins(X, y, 1e-9)
    for tolerance in (0.1, 0.2):
        early = margins(X, y, tolerance)
        assert early.n_iter < whole.n_iter
        assert whole.margin - tolerance - 1e-9 <= early.margin <= whole.margin + 1e-9
