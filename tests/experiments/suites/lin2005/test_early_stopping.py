"""The suite lin2005-early: LPBoost with one stump per linear program, stopped early."""

import numpy as np
import pytest

from svmbook import LPBoost
from svmbook.datasets import twonorm
from svmbook.experiments.suites.lin2005 import early_stopping
from svmbook.solvers.boosting.lpboost import run_lpboost


def boost_with_best_stumps(X, y, tolerance):
    """Return the result of LPBoost that adds the best stump until no edge exceeds the tolerance."""
    learner, C = early_stopping._BestStumpLearner(X, tolerance), np.full(len(y), np.inf)
    return run_lpboost(learner, X, y, C, tol=1e-9, max_iter=early_stopping.MAX_ITER)


def test_one_stump_per_linear_program_reaches_the_largest_margin():
    X, _ = twonorm(40, d=3, random_state=0)
    y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    model = LPBoost(C=np.inf).fit(X, y)
    assert boost_with_best_stumps(X, y, 1e-9).margin == pytest.approx(model.margin_, rel=1e-5)


def test_early_stopping_lowers_the_margin_by_at_most_the_tolerance():
    X, _ = twonorm(80, d=8, random_state=2)
    y = np.where(X.sum(axis=1) > 0, 1.0, -1.0)
    converged = boost_with_best_stumps(X, y, 1e-9)
    for tolerance in (0.1, 0.2):
        stopped = boost_with_best_stumps(X, y, tolerance)
        assert stopped.n_iter < converged.n_iter
        assert converged.margin - tolerance - 1e-9 <= stopped.margin <= converged.margin + 1e-9
