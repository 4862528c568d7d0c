"""The unbiased classifiers: prototypes, starts, class weights, guaranteed false-alarm rates."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.utils._param_validation import InvalidParameterError

from svmbook import ERMSVC, IRWLSSVC, USVC, DualSVC, LeastSquaresClassifier
from svmbook.calibration import false_alarm_threshold
from svmbook.datasets import non_separable, stdev, twonorm, usvc_case_a, usvc_case_b
from svmbook.kernels import linear

X, Y = stdev(2, 120, random_state=0)
XOR, XOR_Y = non_separable(200, random_state=0)


def boundary(model):
    """Return the decision boundary of a linear model of one feature."""
    return -model.intercept_[0] / model.coef_[0, 0]


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "precomputed"])
def test_irwls_svc_agrees_with_dual_svc(kernel):
    for seed in range(5):
        points, labels = stdev(2, 80, random_state=seed)
        if kernel == "precomputed":
            points = linear(points, points)
        irwls = IRWLSSVC(C=3.0, kernel=kernel).fit(points, labels)
        exact = DualSVC(C=3.0, kernel=kernel).fit(points, labels)
        assert irwls.objective_ == pytest.approx(exact.objective_, rel=1e-6)
        assert 0 <= irwls.relative_gap_ <= 1e-5
        outputs = exact.decision_function(points)
        np.testing.assert_allclose(irwls.decision_function(points), outputs, atol=1e-2)


def test_prototypes_that_span_the_plane_give_the_linear_model():
    basis = np.array([[1.0, 0.2], [-0.3, 2.0]])
    model = USVC(C=2.0, kernel=lambda A, B: A @ B.T, prototypes=basis, tol=1e-6).fit(X, Y)
    linear_model = USVC(C=2.0, tol=1e-6).fit(X, Y)
    assert model.objective_ == pytest.approx(linear_model.objective_, rel=1e-8)
    expected = linear_model.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)
    assert model.n_kernels_ == 2 and not hasattr(linear_model, "n_kernels_")


@pytest.mark.parametrize("rule", ["fscl", "kmeans", "kpca"])
def test_few_prototypes_solve_the_xor_problem_reproducibly(rule):
    model = USVC(C=10.0, kernel="rbf", gamma=0.5, n_prototypes=8, prototypes=rule, random_state=0)
    model.fit(XOR, XOR_Y)
    assert model.prototypes_.shape == (8, 2)
    assert model.score(*non_separable(2000, random_state=1)) > 0.9
    refitted = clone(model).fit(XOR, XOR_Y)
    np.testing.assert_array_equal(model.prototypes_, refitted.prototypes_)


def test_duplicate_prototypes_change_nothing():
    centres = XOR[:6]
    model = USVC(kernel="rbf", prototypes=centres).fit(XOR, XOR_Y)
    with_duplicates = USVC(kernel="rbf", prototypes=np.vstack([centres, centres])).fit(XOR, XOR_Y)
    assert model.objective_ == pytest.approx(with_duplicates.objective_, rel=1e-6)
    outputs = with_duplicates.decision_function(XOR)
    np.testing.assert_allclose(model.decision_function(XOR), outputs, atol=1e-3)


def test_objective_is_the_documented_one():
    for model in (USVC(C=3.0, s=4.0), USVC(C=3.0, kernel="rbf", n_prototypes=9, random_state=0)):
        model.fit(X, Y)
        m = Y * model.decision_function(X)
        xi, kappa = np.maximum(0, 1 - m), model.k ** (1 / model.s)
        inner = 0.5 * ((xi + kappa) / (1 + kappa)) ** model.s
        outer = 1 - 0.5 * ((1 + kappa) / (xi + kappa)) ** model.s
        if model.kernel == "linear":
            norm_squared = np.sum(model.coef_**2)
        else:
            centres, beta = model.prototypes_, model.dual_coef_[0]
            sq_dist = ((centres[:, None] - centres[None]) ** 2).sum(-1)
            norm_squared = beta @ np.exp(-model.gamma_ * sq_dist) @ beta
        J = 0.5 * norm_squared + 3.0 * np.where(xi < 1, inner, outer).sum()
        assert model.objective_ == pytest.approx(J, rel=1e-6)


def test_distant_cluster_shifts_the_svm_boundary_but_not_the_usvc_boundary():
    for generate, low, high in ((usvc_case_a, 0.45, 0.53), (usvc_case_b, 0.53, 0.6)):
        data_sets = [generate(random_state=seed) for seed in range(20)]
        boundaries = [boundary(USVC(C=10.0).fit(*data)) for data in data_sets]
        svm_boundaries = [boundary(DualSVC(C=10.0).fit(*data)) for data in data_sets]
        assert low < np.median(boundaries) < high
        assert np.median(svm_boundaries) < low - 0.05  # shifted towards the distant cluster


def test_more_starts_are_never_worse_and_find_the_narrow_minimum():
    n_narrow = 0
    for seed in range(10):
        points, labels = usvc_case_b(random_state=seed)
        one_start = USVC(C=10.0, s=4.0).fit(points, labels)
        ten_starts = USVC(C=10.0, s=4.0, n_init=10, random_state=0).fit(points, labels)
        assert (
            len(ten_starts.start_objectives_) == 10
            and ten_starts.start_objectives_[0] == one_start.objective_
        )
        assert ten_starts.start_objectives_.min() <= one_start.objective_
        # Of starts whose objectives tie up to rounding, the first is chosen.
        assert ten_starts.objective_ in ten_starts.start_objectives_
        assert ten_starts.objective_ <= (1 + 1e-10) * ten_starts.start_objectives_.min()
        n_narrow += boundary(ten_starts) < 0.3 < boundary(one_start)
    assert n_narrow >= 3


@pytest.mark.parametrize("init", ["svc", "ls", "path", "random"])
def test_stationary_point_is_reached_from_every_start(init):
    model = USVC(C=5.0, s=4.0, init=init, random_state=1).fit(X, Y)
    assert model.converged_ and model.kkt_residual_ <= 1e-4


def test_class_weights_trade_misses_for_false_alarms():
    points, labels = stdev(4, 400, random_state=0)
    miss_rates, false_alarm_rates = [], []
    for factor in (0.2, 1.0, 5.0):
        predicted = USVC(C=1.0, class_weight={1: factor}).fit(points, labels).predict(points)
        miss_rates.append((predicted[labels > 0] < 0).mean())
        false_alarm_rates.append((predicted[labels < 0] > 0).mean())
    assert miss_rates[0] > miss_rates[1] > miss_rates[2]
    assert false_alarm_rates[0] < false_alarm_rates[1] < false_alarm_rates[2]


def test_points_of_weight_zero_are_ignored():
    weights = np.ones(120)
    weights[:20] = 0.0
    options = {"kernel": "rbf", "n_prototypes": 5, "random_state": 3}
    weighted = USVC(**options).fit(X, Y, sample_weight=weights)
    fitted_to_rest = USVC(**options).fit(X[20:], Y[20:])
    np.testing.assert_allclose(weighted.decision_function(X), fitted_to_rest.decision_function(X))


def test_outputs_are_finite_if_all_points_have_both_labels():
    points, labels = np.vstack([X, X]), np.concatenate([Y, -Y])
    for model in (USVC(), USVC(kernel="rbf", n_prototypes=5), ERMSVC(), IRWLSSVC()):
        outputs = model.fit(points, labels).decision_function(points)
        assert np.isfinite(outputs).all()


def test_slopes_are_doubled_up_to_the_requested_slope():
    model = ERMSVC(C=10.0, slope=6.0).fit(X, Y)
    np.testing.assert_array_equal(model.slopes_, [1.0, 2.0, 4.0, 6.0])
    assert model.objectives_[-1] == model.objective_
    assert model.n_kernels_ == len(model.support_) == model.dual_coef_.shape[1]


def test_least_squares_agrees_with_ridge_classifier():
    model = LeastSquaresClassifier(C=4.0, class_weight="balanced").fit(X, Y)
    ridge = RidgeClassifier(alpha=0.25, class_weight="balanced").fit(X, Y)
    np.testing.assert_allclose(model.coef_[0], ridge.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), ridge.decision_function(X), atol=1e-9)


# --- false alarms ----------------------------------------------------------------------


@pytest.mark.parametrize(("n", "rate", "confidence"), [(100, 0.1, 0.95), (59, 0.05, 0.9)])
def test_threshold_is_the_lowest_that_is_certified(n, rate, confidence):
    # A threshold is certified if, at this false-alarm rate, the probability of no more scores
    # above it than there are is at most 1 - confidence.
    scores = np.arange(n)
    n_alarms = int((scores > false_alarm_threshold(scores, rate, confidence)).sum())
    assert binom.cdf(n_alarms, n, rate) <= 1 - confidence < binom.cdf(n_alarms + 1, n, rate)


def test_rate_is_exceeded_no_more_often_than_the_confidence_allows():
    rng = np.random.default_rng(0)
    rate, confidence, n_violations, n_samples = 0.1, 0.9, 0, 200
    for _ in range(n_samples):
        labels = np.where(rng.random(400) < 0.6, -1.0, 1.0)
        points = rng.standard_normal((400, 1)) + labels[:, None]
        model = USVC(
            target_false_alarm_rate=rate, confidence=confidence, random_state=rng.integers(99)
        )
        model.fit(points, labels)
        direction = np.sign(model.coef_[0, 0])
        true_rate = norm.sf(direction * (boundary(model) + 1.0))  # class -1 is N(-1, 1)
        n_violations += true_rate > rate
    assert n_violations <= binom.ppf(0.999, n_samples, 1 - confidence)
    assert n_violations > 0  # otherwise the threshold would be unnecessarily high


def test_predictions_with_a_threshold_are_the_signs_of_the_outputs():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = USVC(target_false_alarm_rate=0.2, random_state=0, kernel="rbf", n_prototypes=5)
    model.fit(frame, np.where(Y > 0, "ill", "healthy"))
    assert np.isfinite(model.threshold_)
    outputs = model.decision_function(frame)
    np.testing.assert_array_equal(model.predict(frame) == "ill", outputs > 0)


def test_error_for_too_few_validation_points_states_the_required_number():
    with pytest.raises(ValueError, match=r"18 held-out points cannot .* 299 would"):
        USVC(target_false_alarm_rate=0.01).fit(X, Y)
    scores = np.zeros(299)
    assert false_alarm_threshold(scores, 0.01) == 0.0
    with pytest.raises(ValueError, match="299 would"):
        false_alarm_threshold(scores[1:], 0.01)


def test_validation_points_are_not_used_for_training():
    weights = np.linspace(0.5, 2.0, 120)
    model = USVC(target_false_alarm_rate=0.2, kernel="rbf", validation_fraction=0.4)
    problem = model._training_problem(X, Y, weights)
    training_part, validation_indices = model._validation_split(problem, np.random.default_rng(0))
    assert sorted([*training_part.indices, *validation_indices]) == list(range(120))
    np.testing.assert_array_equal(training_part.points, X[training_part.indices])
    np.testing.assert_array_equal(training_part.weights, weights[training_part.indices])
    assert abs((Y[validation_indices] < 0).mean() - (Y < 0).mean()) < 0.02
    expected = USVC(kernel="rbf")._training_problem(
        training_part.points, training_part.y, training_part.weights
    )
    assert training_part.kernel.params == expected.kernel.params  # gamma="scale" of these points


def test_predictions_at_the_threshold_do_not_depend_on_the_batch_size():
    rng = np.random.default_rng(0)
    for seed in range(20):
        points = rng.integers(0, 3, size=(300, 2)) / 3.0  # nine distinct points
        labels = np.where(rng.random(300) < 0.4 + 0.2 * points[:, 0], 1, -1)
        for kernel in ("linear", "rbf"):
            options = {"kernel": kernel, "n_prototypes": 4, "random_state": seed}
            model = USVC(target_false_alarm_rate=0.2, **options).fit(points, labels)
            distinct, inverse = np.unique(points, axis=0, return_inverse=True)
            one_by_one = np.array([model.predict(x[None])[0] for x in distinct])
            np.testing.assert_array_equal(one_by_one[inverse], model.predict(points))


def test_model_is_not_fitted_after_a_fit_that_cannot_certify_the_rate():
    model = USVC().fit(X, Y).set_params(target_false_alarm_rate=0.001)
    with pytest.raises(ValueError, match="cannot certify"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_validation_fraction_too_small_for_both_classes_is_reported():
    with pytest.raises(ValueError, match=r"validation_fraction=0.001 of 120 points"):
        USVC(target_false_alarm_rate=0.2, validation_fraction=0.001).fit(X, Y)


# --- shapes and scales -----------------------------------------------------------------


def test_linear_models_are_exact_with_more_features_than_points():
    rng = np.random.default_rng(0)
    points, labels = rng.standard_normal((30, 80)), np.repeat([-1, 1], 15)
    points[labels > 0, 0] += 2.0
    for model in (USVC(C=0.5), IRWLSSVC(C=0.5), ERMSVC(C=0.5)):
        model.fit(points, labels)
        assert model.coef_.shape == (1, 80)
        expansion = model.support_vectors_.T @ model.dual_coef_[0]
        np.testing.assert_allclose(model.coef_[0], expansion, atol=1e-6)
    exact = DualSVC(C=0.5).fit(points, labels)
    irwls = IRWLSSVC(C=0.5).fit(points, labels)
    assert irwls.objective_ == pytest.approx(exact.objective_, rel=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_very_large_c_does_not_fail():
    points, labels = twonorm(200, random_state=0)
    for model in (USVC(C=1e10), USVC(C=1e10, kernel="rbf", random_state=0), ERMSVC(C=1e10)):
        assert np.isfinite(model.fit(points, labels).decision_function(points)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_with_an_outlier_converges_only_with_a_small_gap():
    points = X.copy()
    points[-1] *= 1e7
    model = IRWLSSVC(C=1000.0).fit(points, Y)
    assert not model.converged_ or model.relative_gap_ <= 1e-3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_dual_objective_is_a_lower_bound_before_convergence():
    indices = np.r_[np.flatnonzero(Y > 0)[:50], np.flatnonzero(Y < 0)[:10]]
    minimum = DualSVC(C=2.0).fit(X[indices], Y[indices]).objective_
    for max_iter in (1, 2, 4, 8):
        model = IRWLSSVC(C=2.0, max_iter=max_iter).fit(X[indices], Y[indices])
        assert model.objective_ * (1 - model.relative_gap_) <= minimum * (1 + 1e-9)
        assert model.n_iter_ <= max_iter


def test_prototypes_are_copied():
    centres = XOR[:6].copy()
    model = USVC(kernel="rbf", prototypes=centres).fit(XOR, XOR_Y)
    outputs = model.decision_function(XOR)
    centres[:] = 0.0
    np.testing.assert_array_equal(model.decision_function(XOR), outputs)


@pytest.mark.parametrize("rule", ["fscl", "kmeans", "kpca"])
def test_placement_chooses_no_more_prototypes_than_distinct_points(rule):
    points, labels = np.tile(X[:6], (5, 1)), np.tile([0, 1, 0, 1, 0, 1], 5)
    model = USVC(kernel="rbf", prototypes=rule, random_state=0).fit(points, labels)
    assert len(model.prototypes_) <= 6


# --- invalid input ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "rbf", "prototypes": np.ones((3, 5))}, "prototypes has 5 columns"),
        ({"kernel": "rbf", "prototypes": [[np.nan, 0.0]]}, "prototypes contains NaN"),
        ({"kernel": "exponential", "prototypes": "kpca"}, "needs one of the kernels"),
    ],
)
def test_invalid_prototypes_are_reported(options, message):
    with pytest.raises(ValueError, match=message):
        USVC(**options).fit(X, Y)


@pytest.mark.parametrize(("name", "value"), [("init", "best"), ("kernel", "precomputed")])
def test_invalid_choice_is_reported(name, value):  # test_parameters.py tests numeric parameters
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
        USVC(**{name: value}).fit(X, Y)
