"""The ridge: Newton's method for two classes and for more, in both forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_problems import (
    complex_gradient,
    logistic_problems,
    ridge_objective,
    softmax_objective,
)
from scipy.optimize import minimize
from scipy.special import xlogy
from sklearn.linear_model import LogisticRegression

from svmbook.datasets import non_separable, stdev
from svmbook.gram import LowRankGram
from svmbook.kernels import gaussian, linear
from svmbook.solvers import solve_logistic
from svmbook.solvers.logistic import likelihoods, newton
from svmbook.solvers.smoothed import SmoothedHinge

LAMS = st.floats(-3, 3).map(lambda exponent: 10.0**exponent)


@given(problem=logistic_problems(), lam=LAMS)
@settings(max_examples=60)
def test_the_gradient_vanishes_and_the_gap_is_primal_minus_dual(problem, lam):
    K, y, weights = problem
    result = solve_logistic(K, y, lam, weights=weights, tol=1e-7)
    assert result.converged
    alpha, b = result.coef, result.intercept

    def objective(theta):
        return ridge_objective(theta[:-1], theta[-1], K, y, weights, lam)

    theta = np.append(alpha, b)
    assert result.objective == pytest.approx(objective(theta), rel=1e-9)
    scale = weights.sum() * max(np.abs(K).max(), 1.0)
    assert np.abs(complex_gradient(objective, theta)).max() <= 1e-6 * scale
    # The dual at the pulls: minus the entropies, minus the squared norm over 2 lam.
    p = np.abs(result.negative_gradient) / weights
    entropy = -weights @ (xlogy(p, p) + xlogy(1 - p, 1 - p))
    dual = entropy - 0.5 / lam * result.negative_gradient @ K @ result.negative_gradient
    assert result.negative_gradient.sum() == pytest.approx(0.0, abs=1e-10 * weights.sum())
    rounding = 1e-11 * max(entropy, 1.0)
    assert result.objective - dual == pytest.approx(result.gap, abs=rounding)
    assert result.gap <= 1e-7 * result.objective


@given(problem=logistic_problems(max_n=12), lam=st.sampled_from([0.05, 1.0, 20.0]))
@settings(max_examples=25)
def test_an_independent_minimiser_finds_nothing_better(problem, lam):
    K, y, weights = problem
    result = solve_logistic(K, y, lam, weights=weights)

    def objective(theta):
        return ridge_objective(theta[:-1], theta[-1], K, y, weights, lam)

    other = minimize(
        objective,
        np.zeros(len(y) + 1),
        jac=lambda theta: complex_gradient(objective, theta),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert result.objective <= other.fun * (1 + 1e-9)
    assert result.objective >= other.fun * (1 - 1e-5)


@given(problem=logistic_problems(classes=4), lam=LAMS)
@settings(max_examples=40)
def test_the_softmax_gradient_vanishes(problem, lam):
    K, y, weights = problem
    result = solve_logistic(K, y, lam, weights=weights, classes=4, tol=1e-7)
    assert result.converged
    A, b = result.coef, result.intercept

    def objective(theta):
        return softmax_objective(theta[:-1], theta[-1], K, y, weights, lam)

    theta = np.vstack([A, b])
    scale = weights.sum() * max(np.abs(K).max(), 1.0)
    assert np.abs(complex_gradient(objective, theta)).max() <= 1e-6 * scale
    assert b.sum() == pytest.approx(0.0, abs=1e-12 * (1 + np.abs(b).max()))
    np.testing.assert_allclose(A.sum(axis=1), 0.0, atol=1e-9 * (1 + np.abs(A).max()))


@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_softmax_of_two_classes_is_the_two_class_machine(lam):
    # One function f against the pair f/2, -f/2: half the squared norm, so lam counts half.
    X, y = stdev(2, 80, random_state=0)
    K = gaussian(X, gamma=0.3)
    two = solve_logistic(K, y, lam, tol=1e-10)
    pair = solve_logistic(K, (y > 0).astype(int), 2 * lam, classes=2, tol=1e-10)
    np.testing.assert_allclose(pair.coef[:, 1] - pair.coef[:, 0], two.coef, atol=1e-8)
    assert pair.objective == pytest.approx(two.objective, rel=1e-10)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(60, 3), (30, 80)], ids=["tall", "wide"])
@pytest.mark.parametrize("classes", [None, 3])
def test_both_forms_and_scikit_learn_agree(lam, shape, classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) + 5.0
    y = rng.integers(0, classes, len(X)) if classes else np.where(rng.random(len(X)) < 0.4, 1.0, -1)
    options = {"classes": classes, "tol": 1e-8}
    w = solve_logistic(X, y, lam, form="factor", **options)
    alpha = solve_logistic(linear(X), y, lam, **options)
    reference = LogisticRegression(C=1 / lam, solver="newton-cholesky", tol=1e-10).fit(X, y)
    theirs = reference.coef_.T if classes else reference.coef_[0]
    assert w.converged and alpha.converged
    np.testing.assert_allclose(X.T @ alpha.coef, w.coef, atol=1e-6 * np.abs(w.coef).max())
    np.testing.assert_allclose(w.coef, theirs, atol=1e-4 * np.abs(theirs).max())
    ours = w.objective
    assert ours <= ridge_like(reference, X, y, lam) * (1 + 1e-12)


def ridge_like(reference, X, y, lam):
    """Return the objective at scikit-learn's solution."""
    log_p = reference.predict_log_proba(X)
    loss = -log_p[np.arange(len(X)), np.searchsorted(reference.classes_, y)].sum()
    return loss + 0.5 * lam * np.sum(reference.coef_**2)


def test_no_margin_is_too_large():
    X = np.array([[-1e4], [-9e3], [1e4], [8e3], [7e3]])
    y = np.array([-1.0, -1.0, 1.0, 1.0, -1.0])
    for lam in (1e-8, 1.0, 1e8):
        result = solve_logistic(X, y, lam, form="factor")
        assert result.converged, (lam, result)
    start = np.array([1.0]), 0.0  # margins of +-1e4 at the first step
    far = solve_logistic(X, y, 1.0, form="factor", start=start, tol=1e-10)
    near = solve_logistic(X, y, 1.0, form="factor", tol=1e-10)
    assert far.converged
    assert far.coef == pytest.approx(near.coef, rel=1e-6)


def test_no_margin_is_too_large_for_several_classes_either():
    X = np.array([[-1e4], [-9e3], [1e4], [8e3], [7e3], [6e3]])
    y = np.array([0, 0, 1, 1, 2, 0])
    near = solve_logistic(X, y, 1.0, form="factor", classes=3, tol=1e-9)
    start = np.array([[1.0, 0.0, -1.0]]), np.array([500.0, 0.0, -500.0])
    far = solve_logistic(X, y, 1.0, form="factor", classes=3, tol=1e-9, start=start)
    assert near.converged and far.converged
    assert far.objective == pytest.approx(near.objective, rel=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3])
def test_a_start_need_not_be_centred(offset):
    X, _ = stdev(2, 40, random_state=0)
    y = np.arange(40) % 3
    K = gaussian(X, gamma=0.3)
    cold = solve_logistic(K, y, 1.0, classes=3)
    start = np.full((40, 3), offset), np.full(3, offset)
    warm = solve_logistic(K, y, 1.0, classes=3, start=start)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ((np.zeros(3),), "a pair"),
        ((np.zeros(4), 0.0), "found shapes"),
        ((np.zeros(3), np.zeros(1)), "found shapes"),
        ((np.full(3, np.nan), 0.0), "finite"),
    ],
)
def test_a_start_that_does_not_fit_is_named(start, message):
    with pytest.raises(ValueError, match=message):
        solve_logistic(np.eye(3), np.array([-1.0, 1, 1]), 1.0, start=start)


def test_rounding_is_admitted_where_it_blurs_the_objective():
    # Coefficients of the size 1 / lam, outputs of the size 1: the digits between are lost.
    y = np.where(np.arange(13) < 4, -1.0, 1.0)
    result = solve_logistic(np.full((13, 13), 7.3), y, 1e-11)
    assert not result.converged
    assert "rounding" in result.message
    assert solve_logistic(np.full((13, 13), 7.3), y, 1e-3).converged


def test_the_residual_is_a_fraction_of_the_terms_of_the_gradient():
    X, y = stdev(2, 50, random_state=0)
    K = gaussian(X, gamma=0.3)
    result = solve_logistic(K, y, 0.1, max_iter=1)
    R = result.negative_gradient - 0.1 * result.coef
    terms = np.abs(result.negative_gradient) @ np.sqrt(np.diagonal(K))
    assert result.kkt_residual == pytest.approx(np.sqrt(R @ K @ R) / terms, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 10.0])
def test_lam_is_in_units_of_the_kernel(factor):
    X, y = stdev(2, 50, random_state=0)
    K = gaussian(X, gamma=0.3)
    one = solve_logistic(K, y, 0.5, tol=1e-9)
    other = solve_logistic(factor * K, y, factor * 0.5, tol=1e-9)
    np.testing.assert_allclose(factor * other.coef, one.coef, atol=1e-7)


@pytest.mark.parametrize("lam", [1e-6, 1e-3])
def test_weak_ridges_are_solved_too(lam):
    X, y = non_separable(200, random_state=0)
    result = solve_logistic(gaussian(X, gamma=0.5), y, lam)
    assert result.converged and result.gap <= 1e-6 * result.objective


def test_a_warm_start_ends_at_the_same_machine_sooner():
    X, y = stdev(2, 200, random_state=0)
    K = gaussian(X, gamma=0.2)
    cold = solve_logistic(K, y, 0.1, tol=1e-10)
    near = solve_logistic(K, y, 0.12)
    warm = solve_logistic(K, y, 0.1, tol=1e-10, start=(near.coef, near.intercept))
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-8)
    assert warm.n_iter < cold.n_iter


@pytest.mark.parametrize("error", [ZeroDivisionError("no step"), np.linalg.LinAlgError("no step")])
def test_a_step_that_cannot_be_taken_ends_the_search(error, monkeypatch):
    def fail(*args):
        raise error

    monkeypatch.setattr(likelihoods.Binomial, "newton_step", fail)
    X, y = stdev(2, 20, random_state=0)
    result = solve_logistic(gaussian(X), y, 1.0)
    assert not result.converged and result.message == "no step"


@pytest.mark.parametrize("price", [0.03, 0.08])
def test_a_trial_that_rounding_cannot_tell_from_the_last_is_not_repeated(price):
    # At t = 1 the first hinge is bent over its last digit: Newton's correction is lost in t.
    likelihood = SmoothedHinge(np.ones(2), np.array([1.0, price]), 2.0**-52)
    here, step = np.zeros(2), np.array([1.0 - 2.0**-53, -1.0])
    down, height = likelihood.negative_gradient(here), likelihood.loss(here)
    t = newton._line_search(
        newton.Ridge(likelihood, LowRankGram(np.eye(2)), 1e-9),
        (here, 0.0, here),
        (step, 0.0, step),
        (down, 0.0),
        height,
    )
    assert t > 0.0 and likelihood.loss(t * step) < height
    assert (
        abs(likelihood.negative_gradient(t * step) @ step)
        <= newton.SLOPE_RATIO * (down @ step) + 1e-8
    )


@pytest.mark.parametrize("form", ["gram", "factor"])
@pytest.mark.parametrize("lam", [1e-3, 1.0])
def test_steps_end_where_rounding_hides_what_they_gain(lam, form):
    X, y = stdev(2, 50, random_state=0)
    Z = gaussian(X, gamma=0.3) if form == "gram" else X
    result = solve_logistic(Z, y, lam, form=form, tol=1e-30)
    assert not result.converged and result.message == "rounding hides the descent"
    assert result.kkt_residual < 1e-12
    assert result.n_iter < 50


def test_too_few_steps_are_admitted():
    X, y = stdev(2, 100, random_state=0)
    result = solve_logistic(gaussian(X), y, 1e-4, max_iter=2)
    assert not result.converged
    assert result.message == "all steps used up"
    better = solve_logistic(gaussian(X), y, 1e-4)
    assert result.objective - better.objective <= result.gap  # the bound holds anywhere


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lam": 0.0}, "lam must be positive"),
        ({"lam": -1.0}, "lam must be positive"),
        ({"lam": np.inf}, "lam must be positive"),
        ({"y": np.array([0.0, 1, 1])}, "-1 and \\+1"),
        ({"y": np.array([0, 1, 3]), "classes": 3}, "0 to 2, each of them"),
        ({"weights": np.array([1.0, 0.0, 1.0])}, "weights must be positive"),
        ({"weights": -1.0}, "weights must be positive"),
        ({"K": np.ones((3, 2))}, "K must have shape"),
        ({"K": np.full((3, 3), np.nan)}, "K contains NaN"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter == 0"),
        ({"form": "Gram"}, "choose 'gram' or 'factor'"),
    ],
)
def test_what_does_not_fit_is_named(change, message):
    problem = {"K": np.eye(3), "y": np.array([-1.0, 1, 1]), "lam": 1.0} | change
    with pytest.raises(ValueError, match=message):
        solve_logistic(**problem)
    with pytest.raises(TypeError, match="lam must be a number"):
        solve_logistic(np.eye(2), np.array([-1.0, 1.0]), "much")


@pytest.mark.parametrize("classes", [None, 3])
def test_a_kernel_of_zeros_leaves_the_intercept(classes):
    y = np.array([0, 1, 2, 2, 2]) if classes else np.array([-1.0, 1, 1, 1, 1])
    result = solve_logistic(np.zeros((5, 5)), y, 1.0, classes=classes)
    assert result.converged
    counts = np.bincount(y if classes else (y > 0).astype(int))
    odds = np.log(counts) - np.log(counts).mean()
    np.testing.assert_allclose(result.intercept, odds if classes else odds[1] - odds[0], atol=1e-9)
