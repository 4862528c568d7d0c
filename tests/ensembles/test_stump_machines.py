"""Stump machines: against the kernel machines, against their definition, and as solvers."""

import numpy as np
import pytest
from scipy.integrate import quad

from svmbook import DualSVC, KernelLogisticRegression, StumpEnsembleLogistic, StumpEnsembleSVC
from svmbook.datasets import twonorm
from svmbook.gram import LowRankGram, StumpGram, quantile_knots
from svmbook.kernels import stump
from svmbook.solvers import solve_dual
from svmbook.solvers.smoothed import smoothed

X, Y = twonorm(60, random_state=0)
X = X[:, :5]
NEW = 1.5 * twonorm(200, random_state=1)[0][:, :5]  # some beyond the training points
PAIRS = [
    (StumpEnsembleSVC(C=0.3, tol=1e-7), DualSVC(C=0.3, kernel="stump")),
    (
        StumpEnsembleLogistic(lam=2.0, tol=1e-9),
        KernelLogisticRegression(2.0, kernel="stump", tol=1e-9),
    ),
]


@pytest.mark.parametrize(("machine", "by_kernels"), PAIRS, ids=["svc", "logistic"])
def test_shape_functions_are_the_kernel_expansion(machine, by_kernels):
    weights = np.where(np.arange(60) % 5 == 0, 0.0, 1.5)
    machine.set_params(n_knots=None).fit(X, Y, sample_weight=weights)
    by_kernels.fit(X, Y, sample_weight=weights)
    F = by_kernels.decision_function(NEW)
    np.testing.assert_allclose(machine.decision_function(NEW), F, atol=1e-10)
    np.testing.assert_array_equal(machine.predict(NEW), by_kernels.predict(NEW))
    parts = machine.contributions(NEW)
    np.testing.assert_allclose(parts.sum(axis=1) + machine.intercept_, F, atol=1e-10)
    means = weights @ machine.contributions(X) / weights.sum()
    np.testing.assert_allclose(means, 0.0, atol=1e-12)
    spread = weights @ machine.contributions(X) ** 2 / weights.sum()
    np.testing.assert_allclose(machine.feature_importances_**2, spread)


@pytest.mark.parametrize(("machine", "by_kernels"), PAIRS, ids=["svc", "logistic"])
def test_a_knot_at_every_value_is_exact(machine, by_kernels):
    few = np.round(X, 1)
    machine.set_params(n_knots=1000).fit(few, Y)
    by_kernels.fit(few, Y)
    assert machine.objective_ == pytest.approx(by_kernels.objective_, rel=1e-6)
    np.testing.assert_allclose(
        machine.decision_function(NEW), by_kernels.decision_function(NEW), atol=1e-3
    )


def test_the_penalty_is_the_integral_of_the_squared_slope():
    machine = StumpEnsembleSVC(C=0.3, n_knots=6, tol=1e-8).fit(X, Y)
    penalty = 0.0
    for shape in machine.shape_functions_:
        slopes = np.diff(shape.values) / np.diff(shape.knots)
        steps = lambda u, s=slopes, t=shape.knots: s[np.searchsorted(t, u) - 1] ** 2  # noqa: E731
        inner = shape.knots[1:-1]
        penalty += quad(steps, shape.knots[0], shape.knots[-1], points=inner, limit=200)[0]
    slack = np.maximum(0.0, 1.0 - Y * machine.decision_function(X))
    assert 0.25 * penalty + 0.3 * slack.sum() == pytest.approx(machine.objective_, rel=1e-6)
    exact = StumpEnsembleSVC(C=0.3).fit(X, Y)
    assert machine.objective_ >= exact.objective_ * (1 - 1e-6)  # fewer functions to choose from


def test_fewer_knots_are_a_narrower_family():
    objectives = [
        StumpEnsembleSVC(C=0.3, n_knots=n, tol=1e-7).fit(X, Y).objective_ for n in (2, 3, 5, 9, 17)
    ]  # each set of knots nearly holds the one before
    assert (np.diff(objectives) < 0).all()


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_the_smoothed_hinge_ends_where_the_quadratic_program_does(C):
    Z = np.random.default_rng(0).standard_normal((120, 4))
    y = np.where(Z[:, 0] + 0.8 * np.random.default_rng(1).standard_normal(120) > 0, 1.0, -1.0)
    result, weights = smoothed(LowRankGram(Z), y, np.full(120, C), tol=1e-7)
    exact = solve_dual(Z, y, C, form="low-rank", tol=1e-9)
    assert result.converged and result.objective == pytest.approx(exact.objective, rel=1e-6)
    assert result.dual_objective <= exact.objective * (1 + 1e-9) <= result.objective * (1 + 1e-6)
    np.testing.assert_allclose(weights, Z.T @ (y * exact.alpha), atol=2e-3)
    assert (result.alpha >= 0).all() and (result.alpha <= C * (1 + 1e-12)).all()
    assert abs(y @ result.alpha) < 1e-9 * C * 120


def test_a_start_from_a_sample_changes_the_way_and_not_the_end(monkeypatch):
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((900, 3))
    y = np.where(Z @ [1.0, -1.0, 0.5] + rng.standard_normal(900) > 0, 1.0, -1.0)
    plain, _ = smoothed(LowRankGram(Z), y, np.full(900, 0.1), tol=1e-6)
    monkeypatch.setattr("svmbook.solvers.smoothed.SAMPLE", 100)
    monkeypatch.setattr("svmbook.gram.stumps.CURVED", 50)
    sampled, _ = smoothed(LowRankGram(Z), y, np.full(900, 0.1), tol=1e-6)
    assert sampled.converged and sampled.objective == pytest.approx(plain.objective, rel=2e-6)


def test_the_gram_matrix_between_knots_is_that_of_its_features():
    points = np.column_stack([X[:, :2], np.ones(60)])
    knots = quantile_knots(points, 5)
    assert [len(t) for t in knots] == [5, 5, 1]
    gram = StumpGram.at_knots(points, knots)
    Z = (gram.B @ gram.T).toarray()
    dense, v = LowRankGram(Z), np.random.default_rng(0).standard_normal(60)
    np.testing.assert_allclose(gram.diagonal, dense.diagonal)
    np.testing.assert_allclose(gram.times(v), dense.times(v))
    rows, columns = np.arange(7), np.arange(3, 20)
    np.testing.assert_allclose(gram.block(rows, columns), dense.block(rows, columns), atol=1e-12)
    np.testing.assert_allclose(gram.columns(rows, v[:7]), dense.columns(rows, v[:7]))
    np.testing.assert_allclose(gram.part(rows).diagonal, gram.diagonal[rows])
    W, R = np.where(v > 0, v, 0.0), np.arange(8.0)
    for ours, theirs in zip(gram.ridge(W, 0.7)(R, 2.0), dense.ridge(W, 0.7)(R, 2.0), strict=True):
        np.testing.assert_allclose(ours, theirs)
    # With every value a knot it is the stump kernel, pinned.
    exact = StumpGram.at_knots(points, quantile_knots(points, 100))
    K, low = stump(points), points.min(axis=0, keepdims=True)
    pinned = K - stump(points, low) - stump(low, points)
    everything = np.arange(60)
    np.testing.assert_allclose(exact.block(everything, everything), pinned, atol=1e-10)


def test_weights_count_points_among_the_quantiles():
    weights = np.random.default_rng(0).integers(1, 5, 60)
    by_weights = quantile_knots(X, 7, weights.astype(float))
    repeated = quantile_knots(np.repeat(X, weights, axis=0), 7)
    for ours, theirs in zip(by_weights, repeated, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_constant_and_duplicated_features_are_harmless():
    spoilt = np.column_stack([X, X[:, 0], np.full(60, 3.0)])
    for n_knots in (None, 6):
        machine = StumpEnsembleSVC(C=0.3, n_knots=n_knots).fit(spoilt, Y)
        assert machine.feature_importances_[-1] == 0.0
        twins = machine.contributions(spoilt)[:, [0, 5]]
        np.testing.assert_allclose(twins[:, 0], twins[:, 1], atol=1e-6)


def test_beyond_the_training_points_nothing_changes():
    for n_knots in (None, 6):
        machine = StumpEnsembleSVC(C=0.3, n_knots=n_knots).fit(X, Y)
        edge, far = X.max(axis=0)[None], X.max(axis=0)[None] + 100.0
        np.testing.assert_allclose(
            machine.decision_function(edge), machine.decision_function(far), atol=1e-10
        )


def test_odds_are_certified_probabilities():
    machine = StumpEnsembleLogistic(lam=2.0, n_knots=6).fit(X, Y)
    P = machine.predict_proba(NEW)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(P), machine.predict_log_proba(NEW), atol=1e-10)
    assert machine.converged_ and machine.dual_gap_ <= 1e-6 * machine.objective_


@pytest.mark.parametrize("machine", [machine for machine, _ in PAIRS], ids=["svc", "logistic"])
def test_many_points_are_no_other_problem(machine, monkeypatch):
    few = machine.set_params(n_knots=None).fit(X, Y).decision_function(NEW)
    monkeypatch.setattr("svmbook.ensembles.stump_machines.STORED", 10)
    np.testing.assert_allclose(machine.fit(X, Y).decision_function(NEW), few, atol=1e-6)
