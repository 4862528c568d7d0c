"""Stump machines: against the kernel machines, against their definition, and as solvers."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from svmbook import DualSVC, KernelLogisticRegression, StumpEnsembleLogistic, StumpEnsembleSVC
from svmbook.datasets import twonorm
from svmbook.gram import LowRankGram, StumpGram, quantile_knots
from svmbook.kernels import stump
from svmbook.solvers import solve_dual
from svmbook.solvers.smoothed import SmoothedHinge, smoothed

X, Y = twonorm(60, random_state=0)
X = X[:, :5]
NEW = 1.5 * twonorm(200, random_state=1)[0][:, :5]  # some beyond the training points
PAIRS = [
    (
        StumpEnsembleSVC(C=0.3, feature_scale=None, tol=1e-7),
        DualSVC(C=0.3, kernel="stump"),
    ),
    (
        StumpEnsembleLogistic(lam=2.0, feature_scale=None, tol=1e-9),
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
    for shape, unit in zip(machine.shape_functions_, machine.feature_scale_, strict=True):
        slopes = np.diff(shape.values) / np.diff(shape.knots)
        steps = lambda u, s=slopes, t=shape.knots: s[np.searchsorted(t, u) - 1] ** 2  # noqa: E731
        inner = shape.knots[1:-1]
        ends = shape.knots[[0, -1]]
        penalty += unit * quad(steps, *ends, points=inner, limit=200)[0]
    slack = np.maximum(0.0, 1.0 - Y * machine.decision_function(X))
    assert 0.25 * penalty + 0.3 * slack.sum() == pytest.approx(machine.objective_, rel=1e-6)
    exact = StumpEnsembleSVC(C=0.3).fit(X, Y)
    assert machine.objective_ >= exact.objective_ * (1 - 1e-6)  # fewer functions to choose from


@pytest.mark.parametrize("n_knots", [None, 6])
@pytest.mark.parametrize("machine", [StumpEnsembleSVC(tol=1e-8), StumpEnsembleLogistic(tol=1e-9)])
def test_by_default_units_make_no_difference(machine, n_knots):
    weights = np.where(np.arange(60) % 5 == 0, 0.0, 1.5 + np.arange(60) % 2)
    machine.set_params(n_knots=n_knots)
    units = np.array([1e-3, 1.0, 7.0, 1e4, 1e6])
    once = clone(machine).fit(X, Y, sample_weight=weights)
    again = clone(machine).fit(units * X + 5.0, Y, sample_weight=weights)
    F = once.decision_function(NEW)
    np.testing.assert_allclose(again.decision_function(units * NEW + 5.0), F, atol=1e-5)
    np.testing.assert_allclose(again.feature_scale_, units * once.feature_scale_)
    # The same machine as without units on standardised features.
    moved = StandardScaler().fit(X, sample_weight=weights)
    np.testing.assert_allclose(once.feature_scale_, moved.scale_)
    plain = clone(machine).set_params(feature_scale=None)
    plain.fit(moved.transform(X), Y, sample_weight=weights)
    np.testing.assert_allclose(plain.decision_function(moved.transform(NEW)), F, atol=1e-5)


@pytest.mark.parametrize("n_knots", [None, 16])
def test_a_raw_table_is_not_memorised(n_knots):
    # Columns of very different units, as they come: incomes, ages, days, amounts, flags.
    rng = np.random.default_rng(0)
    n = 1200
    income, age = rng.lognormal(10.3, 0.6, n), rng.uniform(18, 80, n)
    days, visits = rng.integers(0, 4000, n), rng.poisson(3, n)
    noise = [rng.lognormal(6, 1.5, n), rng.normal(0, 1e-3, n), rng.integers(0, 2, n)]
    raw = np.column_stack([income, age, days, visits, rng.uniform(0, 1e6, n), *noise])
    raw = np.column_stack([raw, rng.gamma(2.0, 50.0, n)])
    odds = 0.8 * np.log(income / 3e4) - ((age - 45) / 15) ** 2 + 0.6 * (days > 2000) + 0.2 * visits
    y = (rng.random(n) < 1 / (1 + np.exp(1.5 - odds))).astype(int)
    train, test = slice(800), slice(800, None)
    base = log_loss(y[test], np.full(400, y[train].mean()))
    machine = StumpEnsembleLogistic(n_knots=n_knots).fit(raw[train], y[train])
    assert log_loss(y[test], machine.predict_proba(raw[test])[:, 1]) < 0.95 * base
    without = StumpEnsembleLogistic(n_knots=n_knots, feature_scale=None).fit(raw[train], y[train])
    assert log_loss(y[test], without.predict_proba(raw[test])[:, 1]) > base


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
    gram = StumpGram.at_knots(Z, quantile_knots(Z, 5))
    plain, _ = smoothed(gram, y, np.full(900, 0.1), tol=1e-6)
    monkeypatch.setattr("svmbook.solvers.smoothed.START_SAMPLE", 100)
    few, _ = smoothed(gram, y, np.full(900, 0.1), tol=1e-6)
    monkeypatch.setattr("svmbook.gram.stumps.CURVATURE_SAMPLE", 30)
    monkeypatch.setattr("svmbook.gram.stumps.POINTS_PER_WEIGHT", 0)
    rough, _ = smoothed(gram, y, np.full(900, 0.1), tol=1e-6)
    for sampled in (few, rough):
        assert sampled.converged and sampled.objective == pytest.approx(plain.objective, rel=2e-6)


def test_the_upper_bounds_of_a_sample_sum_to_those_of_all_points(monkeypatch):
    asked = []

    class Recorded(SmoothedHinge):
        def __init__(self, y, C, width):
            asked.append(C)
            super().__init__(y, C, width)

    monkeypatch.setattr("svmbook.solvers.smoothed.SmoothedHinge", Recorded)
    monkeypatch.setattr("svmbook.solvers.smoothed.START_SAMPLE", 50)
    rng = np.random.default_rng(2)
    Z, C = rng.standard_normal((400, 2)), 0.1 * 2.0 ** (np.arange(400) % 3)
    y = np.where(Z[:, 0] + rng.standard_normal(400) > 0, 1.0, -1.0)
    smoothed(LowRankGram(Z), y, C)
    sample = asked[0]
    assert len(sample) == 50 and sample.sum() == pytest.approx(C.sum())
    np.testing.assert_allclose(np.unique((sample / sample.min()).round(9)), [1.0, 2.0, 4.0])
    np.testing.assert_array_equal(asked[-1], C)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("n_knots", [2, 8, 32])
def test_separable_points_are_no_trouble(n_knots, C):
    points, kinds = load_iris(return_X_y=True)
    y = np.where(kinds == 0, 1.0, -1.0)
    machine = StumpEnsembleSVC(C=C, feature_scale=None, n_knots=n_knots).fit(points, y)
    gram = StumpGram.at_knots(points, quantile_knots(points, n_knots))
    exact = solve_dual(gram.Z, y, np.full(150, C), form="low-rank", tol=1e-9)
    assert machine.converged_ and machine.n_iter_ < 100 and machine.kkt_residual_ < 1e-2
    assert machine.objective_ == pytest.approx(exact.objective, rel=2e-4)
    assert machine.objective_ * (1 - machine.relative_gap_) <= exact.objective * (1 + 1e-9)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_a_tolerance_that_rounding_forbids_ends_at_the_best_certificate(C):
    result, _ = smoothed(LowRankGram(X), Y, np.full(60, C), tol=1e-14, max_iter=10_000)
    exact = solve_dual(X, Y, C, form="low-rank", tol=1e-10)
    assert not result.converged and result.n_iter < 1000
    assert 0 <= result.relative_gap < 1e-7
    # Bounds of the optimum from both sides, and the multipliers those of a dual point.
    assert result.dual_objective <= exact.objective * (1 + 1e-9)
    assert abs(Y @ result.alpha) <= 1e-12 * result.alpha.sum()


@pytest.mark.parametrize("C", [1e-8, 1e-4, 1e-3])
@pytest.mark.parametrize("seed", range(4))
def test_where_slack_is_cheap_and_classes_unequal_the_intercept_does_not_go_round(seed, C):
    rng = np.random.default_rng(seed)
    points, y = rng.standard_normal((60, 3)), np.where(rng.random(60) < 0.3, 1.0, -1.0)
    machine = StumpEnsembleSVC(C=C, n_knots=6).fit(points, y)
    assert machine.converged_ and machine.relative_gap_ <= 1e-4


def test_far_from_the_optimum_the_residual_says_so():
    with pytest.warns(ConvergenceWarning, match="KKT residual"):
        machine = StumpEnsembleSVC(C=10.0, n_knots=8, max_iter=1).fit(X, Y)
    assert machine.kkt_residual_ > 0.1


def test_knots_see_every_value_and_no_period_of_the_rows(monkeypatch):
    monkeypatch.setattr("svmbook.gram.stumps.QUANTILE_SAMPLE", 1000)
    sites = np.tile([0.0, 1.0], 2000)
    sites[[1, 3]] = 100.0, -7.0
    (knots,) = quantile_knots(sites[:, None], 4)
    np.testing.assert_array_equal(knots, [-7.0, 0.0, 1.0, 100.0])
    alternating = np.where(sites == 0, 0.0, 10.0) + np.random.default_rng(0).random(4000)
    (knots,) = quantile_knots(alternating[:, None], 9)
    assert 3 <= (knots < 5).sum() <= 6


def test_nothing_but_constant_features_leaves_a_constant():
    for machine in (StumpEnsembleSVC(n_knots=5), StumpEnsembleLogistic(n_knots=5)):
        machine.fit(np.full((5, 1), 3.0), [0, 0, 1, 1, 1])
        assert machine.predict([[3.0], [9.0]]).tolist() == [1, 1] and machine.converged_


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


def test_a_shape_function_takes_arrays_of_any_shape():
    line, values = StumpEnsembleSVC(C=0.3).fit(X, Y).shape_functions_[0], NEW[:4, 0]
    assert line(values[0]) == line(values)[0]
    np.testing.assert_array_equal(line(values.reshape(2, 2)).ravel(), line(values))


def test_a_step_that_fails_is_a_warning_and_a_constant():
    with pytest.warns(ConvergenceWarning):
        machine = StumpEnsembleLogistic(feature_scale=None).fit(1e16 * X, Y)
    assert np.isfinite(machine.decision_function(1e16 * X)).all()


def test_odds_are_certified_probabilities():
    machine = StumpEnsembleLogistic(lam=2.0, n_knots=6).fit(X, Y)
    P = machine.predict_proba(NEW)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(P), machine.predict_log_proba(NEW), atol=1e-10)
    assert machine.converged_ and machine.relative_gap_ <= 1e-6


@pytest.mark.parametrize("machine", [machine for machine, _ in PAIRS], ids=["svc", "logistic"])
def test_many_points_are_no_other_problem(machine, monkeypatch):
    few = machine.set_params(n_knots=None).fit(X, Y).decision_function(NEW)
    monkeypatch.setattr("svmbook.ensembles.stump_ensembles.STORED_POINTS", 10)
    np.testing.assert_allclose(machine.fit(X, Y).decision_function(NEW), few, atol=1e-6)
