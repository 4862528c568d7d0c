"""Newton's method with one pass per step: bounds everywhere, and agreement with other solvers."""

from functools import partial

import numpy as np
import pytest

from svmbook.datasets import twonorm
from svmbook.gram import LowRankGram
from svmbook.rows import sum_rows
from svmbook.solvers import solve_dual, solve_logistic
from svmbook.solvers.hinge_terms import SmoothedHingeTerms
from svmbook.solvers.low_rank_logistic import LogisticTerms, solve_low_rank_logistic
from svmbook.solvers.one_pass import Iterate, line_search

N_POINTS = 80
X, Y = twonorm(N_POINTS, random_state=0)
Z = X[:, :3]
WEIGHTS = 0.5 + np.arange(N_POINTS) % 3


def iterate_at(loss, solution, lam=1.0):
    of_points = {
        "logistic": LogisticTerms.of_points,
        "hinge": partial(SmoothedHingeTerms.of_points, width=0.4),
    }[loss]

    def evaluate(w, b):
        return sum_rows(partial(of_points, w=w, b=b), Y, WEIGHTS, LowRankGram(Z))

    return Iterate(evaluate, solution, lam)


def random_solutions(n=20):
    rng = np.random.default_rng(0)
    return [(rng.standard_normal(3), float(rng.standard_normal())) for _ in range(n)]


@pytest.fixture(scope="module")
def minima():
    logistic = solve_logistic(Z, Y, 1.0, weights=WEIGHTS, form="factor", tol=1e-10)
    hinge = solve_dual(Z, Y, WEIGHTS, form="low-rank", tol=1e-10)
    return {"logistic": logistic.objective, "hinge": hinge.objective}


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_dual_objective_is_a_lower_bound_at_every_solution(loss, minima):
    gaps = []
    for solution in random_solutions():
        iterate = iterate_at(loss, solution)
        lower = iterate.terms.classes.dual_objective(1.0)
        assert lower <= minima[loss] * (1 + 1e-9) <= iterate.objective * (1 + 2e-9)
        gaps.append(iterate.gap)
    assert min(gaps) > 0


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_gradient_agrees_with_differences_of_the_objective(loss):
    (w, b), h = random_solutions(1)[0], 1e-6
    R, r = iterate_at(loss, (w, b)).negative_gradient
    for direction, slope in [*zip(np.eye(3), -R, strict=True), (np.zeros(3), -r)]:
        db = 1.0 - direction.sum()  # the last direction is that of the intercept
        values = [
            iterate_at(loss, (w + s * h * direction, b + s * h * db)).newton_objective
            for s in (-1, 1)
        ]
        assert (values[1] - values[0]) / (2 * h) == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_unbalanced_multipliers_still_give_a_bound(minima):
    # At this intercept, nearly all multipliers belong to one class.
    iterate = iterate_at("logistic", (np.zeros(3), 5.0))
    factors = iterate.terms.classes.class_factors
    assert factors.min() < 0.1 and factors.max() == 1.0
    assert iterate.terms.classes.dual_objective(1.0) <= minima["logistic"]


def test_line_search_lowers_the_objective_after_too_long_a_step():
    iterate = iterate_at("logistic", (np.zeros(3), 0.0))
    (dw, db), decrease = iterate.newton_step()
    long_step = 30.0 * dw, 30.0 * db
    assert iterate.after(long_step).newton_objective > iterate.newton_objective
    shorter = line_search(iterate, long_step, 30.0 * decrease)
    assert shorter.newton_objective < iterate.newton_objective


def test_line_search_reports_that_an_ascent_direction_gives_no_decrease():
    iterate = iterate_at("logistic", (np.zeros(3), 0.0))
    (dw, db), decrease = iterate.newton_step()
    assert line_search(iterate, (-dw, -db), decrease) is None


@pytest.mark.parametrize("lam", [1e-4, 1.0, 100.0])
def test_low_rank_logistic_agrees_with_the_solver_in_memory(lam):
    gram = LowRankGram(Z - Z.mean(axis=0))
    result = solve_low_rank_logistic(gram, Y, WEIGHTS, lam, tol=1e-10)
    expected = solve_logistic(gram.Z, Y, lam, weights=WEIGHTS, form="factor", tol=1e-10)
    assert result.converged and result.kkt_residual <= 1e-10
    assert result.objective == pytest.approx(expected.objective, rel=1e-9)
    np.testing.assert_allclose(result.coef, expected.coef, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(result.negative_gradient, expected.negative_gradient, atol=1e-7)


def test_loss_without_curvature_is_minimised():
    # All margins are so large that the loss is linear in double precision.
    y = np.array([1.0, 1.0, -1.0])
    gram = LowRankGram(np.array([[1.0], [2.0], [-3.0]]))
    evaluate = partial(LogisticTerms.of_points, y, np.ones(3), gram)
    far = Iterate(evaluate, (np.full(1, -800.0), 3.0), 1.0)
    assert far.terms.ridge().total_weight == 0.0
    nearer = line_search(far, *far.newton_step())
    assert nearer.newton_objective < far.newton_objective
