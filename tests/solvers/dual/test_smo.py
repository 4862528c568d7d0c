"""SMO (`svmbook.solvers.dual.smo`): where it ends, and what it then says."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from problems import gram, objectives, two_clouds

from svmbook.solvers import certify, solve_smo
from svmbook.solvers.dual import smo


def test_smo_stops_where_rounding_ends_the_ascent():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    result = solve_smo(gram(X, "gaussian"), y, 100.0, tol=1e-30, max_iter=10**6)
    assert not result.converged
    assert result.n_iter < 10**5
    assert "rounding" in result.message
    assert result.relative_gap < 1e-12


@pytest.mark.parametrize(("rises", "falls"), [(3, 0), (0, 3), (2, 4), (4, 2)])
def test_smo_ends_after_ten_n_pairs_without_a_better_bound(rises, falls, monkeypatch):
    # Looks are n pairs apart. In so many of them the dual objective rises, or the gap falls.
    looks = count()

    def seen(*arguments, **options):
        look = next(looks)
        dual, gap = min(look, rises), 100.0 - min(look, falls)
        result = certify(*arguments, **options)
        return replace(result, dual_objective=dual, objective=dual + gap, converged=False)

    monkeypatch.setattr(smo, "certify", seen)
    X, y = two_clouds(30, distance=0.5)
    result = solve_smo(X @ X.T, y, 1e3)
    assert result.n_iter == 30 * (max(rises, falls) + 10)
    assert result.message == "10 n pairs gained no more than rounding" and not result.converged


def test_smo_says_when_no_pair_is_left():
    # One step makes both errors equal; a tolerance below all rounding is never met.
    result = solve_smo(np.array([[1.0, -1.0], [-1.0, 1.0]]), [1.0, -1.0], 10.0, tol=1e-300)
    assert result.message == "no pair is left that gains more than rounding"
    assert result.n_iter == 1 and not result.converged


def test_smo_certifies_the_solution_it_returns():
    X, y = two_clouds(100)
    K = gram(X, "gaussian")
    result = solve_smo(K, y, 1e3, tol=1e-9)
    primal, dual = objectives(result.alpha, result.intercept, K, y, 1e3)
    assert result.dual_objective == pytest.approx(dual, rel=1e-12)
    assert result.objective == pytest.approx(primal, rel=1e-10)
