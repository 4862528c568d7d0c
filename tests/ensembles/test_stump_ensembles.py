"""Stump ensembles, compared with kernel machines, their definition and a quadratic program."""

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
from svmbook.solvers.hinge_terms import SmoothedHinge
from svmbook.solvers.smoothed_hinge import solve_smoothed_hinge

X, Y = twonorm(60, random_state=0)
X = X[:, :5]
X_NEW = 1.5 * twonorm(200, random_state=1)[0][:, :5]  # some outside the training range
EQUIVALENT_MODELS = [
    (
        StumpEnsembleSVC(C=0.3, feature_scale=None, tol=1e-7),
        DualSVC(C=0.3, kernel="stump"),
    ),
    (
        StumpEnsembleLogistic(lam=2.0, feature_scale=None, tol=1e-9),
        KernelLogisticRegression(2.0, kernel="stump", tol=1e-9),
    ),
]


@pytest.mark.parametrize(("model", "kernel_machine"), EQUIVALENT_MODELS, ids=["svc", "logistic"])
def test_shape_functions_sum_to_kernel_expansion(model, kernel_machine):
    weights = np.where(np.arange(60) % 5 == 0, 0.0, 1.5)
    model.set_params(n_knots=None).fit(X, Y, sample_weight=weights)
    kernel_machine.fit(X, Y, sample_weight=weights)
    F = kernel_machine.decision_function(X_NEW)
    np.testing.assert_allclose(model.decision_function(X_NEW), F, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X_NEW), kernel_machine.predict(X_NEW))
    sums = model.contributions(X_NEW).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(sums, F, atol=1e-10)
    means = weights @ model.contributions(X) / weights.sum()
    np.testing.assert_allclose(means, 0.0, atol=1e-12)
    variances = weights @ model.contributions(X) ** 2 / weights.sum()
    np.testing.assert_allclose(model.feature_importances_**2, variances)


@pytest.mark.parametrize("n_knots", [3, 8, 40])
@pytest.mark.parametrize("model", [StumpEnsembleSVC(0.3), StumpEnsembleLogistic(2.0)])
def test_both_forms_with_knots_give_the_same_model(model, n_knots, monkeypatch):
    model.set_params(n_knots=n_knots, tol=1e-8)
    outputs = []
    for max_points_per_interval in (0.0, np.inf):
        monkeypatch.setattr(type(model), "_max_points_per_interval", max_points_per_interval)
        model.fit(X, Y)
        outputs.append(model.decision_function(X_NEW))
        assert all(len(g.knots) <= n_knots for g in model.shape_functions_)
    np.testing.assert_allclose(*outputs, atol=1e-4)


@pytest.mark.parametrize(("model", "kernel_machine"), EQUIVALENT_MODELS, ids=["svc", "logistic"])
def test_knot_at_every_value_is_exact(model, kernel_machine):
    rounded_points = np.round(X, 1)
    model.set_params(n_knots=1000).fit(rounded_points, Y)
    kernel_machine.fit(rounded_points, Y)
    assert model.objective_ == pytest.approx(kernel_machine.objective_, rel=1e-6)
    np.testing.assert_allclose(
        model.decision_function(X_NEW), kernel_machine.decision_function(X_NEW), atol=1e-3
    )


def test_penalty_is_integral_of_squared_slope():
    model = StumpEnsembleSVC(C=0.3, n_knots=6, tol=1e-8).fit(X, Y)
    penalty = 0.0
    for shape, scale in zip(model.shape_functions_, model.feature_scale_, strict=True):
        slopes = np.diff(shape.values) / np.diff(shape.knots)

        def squared_slope(u, slopes=slopes, knots=shape.knots):
            return slopes[np.searchsorted(knots, u) - 1] ** 2

        first, *inner, last = shape.knots
        penalty += scale * quad(squared_slope, first, last, points=inner, limit=200)[0]
    slack = np.maximum(0.0, 1.0 - Y * model.decision_function(X))
    assert 0.25 * penalty + 0.3 * slack.sum() == pytest.approx(model.objective_, rel=1e-6)
    exact = StumpEnsembleSVC(C=0.3).fit(X, Y)
    assert model.objective_ >= exact.objective_ * (1 - 1e-6)  # the knots restrict the functions


@pytest.mark.parametrize("n_knots", [None, 6])
@pytest.mark.parametrize("model", [StumpEnsembleSVC(tol=1e-8), StumpEnsembleLogistic(tol=1e-9)])
def test_units_of_features_do_not_matter_by_default(model, n_knots):
    weights = np.where(np.arange(60) % 5 == 0, 0.0, 1.5 + np.arange(60) % 2)
    model.set_params(n_knots=n_knots)
    units = np.array([1e-3, 1.0, 7.0, 1e4, 1e6])
    original = clone(model).fit(X, Y, sample_weight=weights)
    rescaled = clone(model).fit(units * X + 5.0, Y, sample_weight=weights)
    F = original.decision_function(X_NEW)
    np.testing.assert_allclose(rescaled.decision_function(units * X_NEW + 5.0), F, atol=1e-5)
    np.testing.assert_allclose(rescaled.feature_scale_, units * original.feature_scale_)
    # Standardised features with feature_scale=None give the same model.
    scaler = StandardScaler().fit(X, sample_weight=weights)
    np.testing.assert_allclose(original.feature_scale_, scaler.scale_)
    unscaled = clone(model).set_params(feature_scale=None)
    unscaled.fit(scaler.transform(X), Y, sample_weight=weights)
    np.testing.assert_allclose(unscaled.decision_function(scaler.transform(X_NEW)), F, atol=1e-5)


@pytest.mark.parametrize("n_knots", [None, 16])
def test_features_of_different_units_are_not_overfitted(n_knots):
    # Unscaled columns: incomes, ages, days, visits, amounts, flags.
    rng = np.random.default_rng(0)
    n = 1200
    income, age = rng.lognormal(10.3, 0.6, n), rng.uniform(18, 80, n)
    days, visits = rng.integers(0, 4000, n), rng.poisson(3, n)
    noise = [rng.lognormal(6, 1.5, n), rng.normal(0, 1e-3, n), rng.integers(0, 2, n)]
    raw = np.column_stack([income, age, days, visits, rng.uniform(0, 1e6, n), *noise])
    raw = np.column_stack([raw, rng.gamma(2.0, 50.0, n)])
    log_odds = (
        0.8 * np.log(income / 3e4) - ((age - 45) / 15) ** 2 + 0.6 * (days > 2000) + 0.2 * visits
    )
    y = (rng.random(n) < 1 / (1 + np.exp(1.5 - log_odds))).astype(int)
    train, test = slice(800), slice(800, None)
    constant_loss = log_loss(y[test], np.full(400, y[train].mean()))
    scaled = StumpEnsembleLogistic(n_knots=n_knots).fit(raw[train], y[train])
    assert log_loss(y[test], scaled.predict_proba(raw[test])[:, 1]) < 0.95 * constant_loss
    unscaled = StumpEnsembleLogistic(n_knots=n_knots, feature_scale=None).fit(raw[train], y[train])
    assert log_loss(y[test], unscaled.predict_proba(raw[test])[:, 1]) > constant_loss


def test_objective_decreases_with_more_knots():
    objectives = [
        StumpEnsembleSVC(C=0.3, n_knots=n, tol=1e-7).fit(X, Y).objective_ for n in (2, 3, 5, 9, 17)
    ]  # each set of knots contains almost all of the previous set
    assert (np.diff(objectives) < 0).all()


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_smoothed_solver_agrees_with_quadratic_program(C):
    Z = np.random.default_rng(0).standard_normal((120, 4))
    y = np.where(Z[:, 0] + 0.8 * np.random.default_rng(1).standard_normal(120) > 0, 1.0, -1.0)
    result, weights = solve_smoothed_hinge(LowRankGram(Z), y, np.full(120, C), tol=1e-7)
    exact = solve_dual(Z, y, C, form="low-rank", tol=1e-9)
    assert result.converged and result.objective == pytest.approx(exact.objective, rel=1e-6)
    assert result.dual_objective <= exact.objective * (1 + 1e-9) <= result.objective * (1 + 1e-6)
    np.testing.assert_allclose(weights, Z.T @ (y * exact.alpha), atol=2e-3)
    assert (result.alpha >= 0).all() and (result.alpha <= C * (1 + 1e-12)).all()
    assert abs(y @ result.alpha) < 1e-9 * C * 120


def test_starts_and_hessians_from_samples_do_not_change_the_solution(monkeypatch):
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((900, 3))
    y = np.where(Z @ [1.0, -1.0, 0.5] + rng.standard_normal(900) > 0, 1.0, -1.0)
    gram = StumpGram.from_knots(Z, quantile_knots(Z, 5))
    expected, _ = solve_smoothed_hinge(gram, y, np.full(900, 0.1), tol=1e-6)
    monkeypatch.setattr("svmbook.solvers.start_sample.START_SAMPLE_SIZE", 100)
    sample_start_result, _ = solve_smoothed_hinge(gram, y, np.full(900, 0.1), tol=1e-6)
    monkeypatch.setattr("svmbook.gram.stumps.HESSIAN_SAMPLE_SIZE", 30)
    monkeypatch.setattr("svmbook.gram.stumps.MAX_DENSE_POINTS_PER_WEIGHT", 0)
    sample_hessian_result, _ = solve_smoothed_hinge(gram, y, np.full(900, 0.1), tol=1e-6)
    for result in (sample_start_result, sample_hessian_result):
        assert result.converged
        assert result.objective == pytest.approx(expected.objective, rel=2e-6)


def test_upper_bounds_of_sample_have_the_same_sum_as_those_of_all_points(monkeypatch):
    bounds = []

    class RecordingHinge(SmoothedHinge):
        def __init__(self, y, C, F, width):
            bounds.append(C)
            super().__init__(y, C, F, width)

    monkeypatch.setattr("svmbook.solvers.hinge_terms.SmoothedHinge", RecordingHinge)
    monkeypatch.setattr("svmbook.solvers.start_sample.START_SAMPLE_SIZE", 50)
    rng = np.random.default_rng(2)
    Z, C = rng.standard_normal((400, 2)), 0.1 * 2.0 ** (np.arange(400) % 3)
    y = np.where(Z[:, 0] + rng.standard_normal(400) > 0, 1.0, -1.0)
    solve_smoothed_hinge(LowRankGram(Z), y, C)
    sample_bounds = bounds[0]
    assert len(sample_bounds) == 50 and sample_bounds.sum() == pytest.approx(C.sum())
    np.testing.assert_allclose(
        np.unique((sample_bounds / sample_bounds.min()).round(9)), [1.0, 2.0, 4.0]
    )
    np.testing.assert_array_equal(bounds[-1], C)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("n_knots", [2, 8, 32])
def test_separable_points_are_solved_and_certified(n_knots, C):
    points, species = load_iris(return_X_y=True)
    y = np.where(species == 0, 1.0, -1.0)
    model = StumpEnsembleSVC(C=C, feature_scale=None, n_knots=n_knots).fit(points, y)
    gram = StumpGram.from_knots(points, quantile_knots(points, n_knots))
    exact = solve_dual(gram.Z, y, np.full(150, C), form="low-rank", tol=1e-9)
    assert model.converged_ and model.n_iter_ < 100 and model.kkt_residual_ < 1e-2
    assert model.objective_ == pytest.approx(exact.objective, rel=2e-4)
    assert model.objective_ * (1 - model.relative_gap_) <= exact.objective * (1 + 1e-9)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_tolerance_below_rounding_error_returns_best_certificate(C):
    result, _ = solve_smoothed_hinge(LowRankGram(X), Y, np.full(60, C), tol=1e-14, max_iter=10_000)
    exact = solve_dual(X, Y, C, form="low-rank", tol=1e-10)
    assert result.n_iter < 1000
    assert abs(result.relative_gap) < 1e-9
    # The dual objective is a lower bound, and the multipliers are feasible.
    assert result.dual_objective <= exact.objective * (1 + 1e-9)
    assert abs(Y @ result.alpha) <= 1e-12 * result.alpha.sum()


@pytest.mark.parametrize("C", [1e-8, 1e-4, 1e-3])
@pytest.mark.parametrize("seed", range(4))
def test_small_C_and_unbalanced_classes_converge(seed, C):
    rng = np.random.default_rng(seed)
    points, y = rng.standard_normal((60, 3)), np.where(rng.random(60) < 0.3, 1.0, -1.0)
    model = StumpEnsembleSVC(C=C, n_knots=6).fit(points, y)
    assert model.converged_ and model.relative_gap_ <= 1e-4


def test_residual_is_large_far_from_optimum():
    with pytest.warns(ConvergenceWarning, match="KKT residual"):
        model = StumpEnsembleSVC(C=10.0, n_knots=8, max_iter=1).fit(X, Y)
    assert model.kkt_residual_ > 0.1


def test_sampled_knots_include_extremes_and_are_unbiased_for_periodic_rows(monkeypatch):
    monkeypatch.setattr("svmbook.gram.stumps.QUANTILE_SAMPLE_SIZE", 1000)
    column = np.tile([0.0, 1.0], 2000)
    column[[1, 3]] = 100.0, -7.0
    (knots,) = quantile_knots(column[:, None], 4)
    np.testing.assert_array_equal(knots, [-7.0, 0.0, 1.0, 100.0])
    alternating = np.where(column == 0, 0.0, 10.0) + np.random.default_rng(0).random(4000)
    (knots,) = quantile_knots(alternating[:, None], 9)
    assert 3 <= (knots < 5).sum() <= 6


def test_constant_features_give_a_constant_output():
    for model in (StumpEnsembleSVC(n_knots=5), StumpEnsembleLogistic(n_knots=5)):
        model.fit(np.full((5, 1), 3.0), [0, 0, 1, 1, 1])
        assert model.predict([[3.0], [9.0]]).tolist() == [1, 1] and model.converged_


def test_stump_gram_equals_the_explicit_gram_matrix_of_its_features():
    points = np.column_stack([X[:, :2], np.ones(60)])
    knots = quantile_knots(points, 5)
    assert [len(t) for t in knots] == [5, 5, 1]
    gram = StumpGram.from_knots(points, knots)
    Z = (gram.B @ gram.weights_to_values).toarray()
    reference, v = LowRankGram(Z), np.random.default_rng(0).standard_normal(60)
    np.testing.assert_allclose(gram.diagonal, reference.diagonal)
    np.testing.assert_allclose(gram.dot(v), reference.dot(v))
    rows, columns = np.arange(7), np.arange(3, 20)
    np.testing.assert_allclose(
        gram.block(rows, columns), reference.block(rows, columns), atol=1e-12
    )
    np.testing.assert_allclose(gram.dot_columns(rows, v[:7]), reference.dot_columns(rows, v[:7]))
    np.testing.assert_allclose(gram.submatrix(rows).diagonal, gram.diagonal[rows])
    W, R = np.where(v > 0, v, 0.0), np.arange(8.0)
    for actual, expected in zip(
        gram.factor_ridge(W, 0.7)(R, 2.0), reference.factor_ridge(W, 0.7)(R, 2.0), strict=True
    ):
        np.testing.assert_allclose(actual, expected)
    # With a knot at every value, the Gram matrix is that of the stump kernel, shifted to zero at
    # the smallest values.
    exact = StumpGram.from_knots(points, quantile_knots(points, 100))
    minima, rows = points.min(axis=0, keepdims=True), np.arange(60)
    shifted_kernel = stump(points) - stump(points, minima) - stump(minima, points)
    np.testing.assert_allclose(exact.block(rows, rows), shifted_kernel, atol=1e-10)


def test_integer_weights_act_as_repetitions_in_quantile_knots():
    weights = np.random.default_rng(0).integers(1, 5, 60)
    weighted = quantile_knots(X, 7, weights.astype(float))
    repeated = quantile_knots(np.repeat(X, weights, axis=0), 7)
    for actual, expected in zip(weighted, repeated, strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_constant_feature_has_no_importance_and_duplicates_contribute_equally():
    points = np.column_stack([X, X[:, 0], np.full(60, 3.0)])
    for n_knots in (None, 6):
        model = StumpEnsembleSVC(C=0.3, n_knots=n_knots).fit(points, Y)
        assert model.feature_importances_[-1] == 0.0
        duplicates = model.contributions(points)[:, [0, 5]]
        np.testing.assert_allclose(duplicates[:, 0], duplicates[:, 1], atol=1e-6)


def test_output_is_constant_outside_training_range():
    for n_knots in (None, 6):
        model = StumpEnsembleSVC(C=0.3, n_knots=n_knots).fit(X, Y)
        F = model.decision_function(X.max(axis=0) + np.array([[0.0], [100.0]]))
        assert F[1] == pytest.approx(F[0], abs=1e-10)


def test_shape_function_takes_arrays_of_any_shape():
    shape, values = StumpEnsembleSVC(C=0.3).fit(X, Y).shape_functions_[0], X_NEW[:4, 0]
    assert shape(values[0]) == shape(values)[0]
    np.testing.assert_array_equal(shape(values.reshape(2, 2)).ravel(), shape(values))


def test_features_too_large_for_the_solver_warn_and_give_finite_outputs():
    with pytest.warns(ConvergenceWarning):
        model = StumpEnsembleLogistic(feature_scale=None).fit(1e16 * X, Y)
    assert np.isfinite(model.decision_function(1e16 * X)).all()


@pytest.mark.parametrize("n_knots", [None, 6])
@pytest.mark.parametrize("unit", [1e-300, 1e200])
def test_features_whose_squares_overflow_or_underflow_are_reported(unit, n_knots):
    with pytest.raises(ValueError, match="standard deviation of feature 0"):
        StumpEnsembleSVC(n_knots=n_knots).fit(unit * X, Y)


def test_logistic_probabilities_sum_to_one_and_the_fit_is_certified():
    model = StumpEnsembleLogistic(lam=2.0, n_knots=6).fit(X, Y)
    P = model.predict_proba(X_NEW)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(P), model.predict_log_proba(X_NEW), atol=1e-10)
    assert model.converged_ and model.relative_gap_ <= 1e-6


@pytest.mark.parametrize(
    "model", [model for model, _ in EQUIVALENT_MODELS], ids=["svc", "logistic"]
)
def test_gram_matrix_computed_on_demand_gives_same_model(model, monkeypatch):
    expected = model.set_params(n_knots=None).fit(X, Y).decision_function(X_NEW)
    monkeypatch.setattr("svmbook.ensembles.stump_ensembles.MAX_STORED_POINTS", 10)
    np.testing.assert_allclose(model.fit(X, Y).decision_function(X_NEW), expected, atol=1e-6)


@pytest.mark.parametrize("n_knots", [None, 8])
@pytest.mark.parametrize("feature_scale", ["std", None])
def test_feature_that_varies_by_rounding_errors_is_constant(n_knots, feature_scale):
    X, y = np.array([[0.3], [0.1 + 0.2]] * 10), np.arange(20) % 2
    model = StumpEnsembleSVC(n_knots=n_knots, feature_scale=feature_scale).fit(X, y)
    outputs = model.decision_function(X)
    loss = np.maximum(0.0, 1.0 - np.where(y == 1, 1.0, -1.0) * outputs).sum()
    assert model.converged_ and loss == pytest.approx(model.objective_)
    assert np.ptp(outputs) == 0.0


def test_infinite_objective_is_not_certified():
    labels = np.random.default_rng(0).permutation(Y)
    with np.errstate(all="ignore"), pytest.warns(ConvergenceWarning, match="not certified"):
        model = StumpEnsembleSVC(n_knots=3).fit(X, labels, np.full(60, 1e307))
    assert not model.converged_ and np.isinf(model.objective_)
