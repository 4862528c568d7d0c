"""The unbiased machines: prototypes, starts, prices of both kinds of error, rates that are kept."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.utils._param_validation import InvalidParameterError

from svmbook import ERMSVC, IRWLSSVC, USVC, DualSVC, LeastSquaresClassifier
from svmbook.calibration import false_alarm_threshold
from svmbook.datasets import non_separable, stdev, twonorm, usvc_case_a, usvc_case_b
from svmbook.kernels import linear

X, Y = stdev(2, 120, random_state=0)
XOR, XOR_Y = non_separable(200, random_state=0)


def threshold(machine):
    return -machine.intercept_[0] / machine.coef_[0, 0]


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "precomputed"])
def test_the_hinge_machine_is_the_support_vector_machine(kernel):
    for seed in range(5):
        points, labels = stdev(2, 80, random_state=seed)
        if kernel == "precomputed":
            points = linear(points, points)
        ours = IRWLSSVC(C=3.0, kernel=kernel).fit(points, labels)
        exact = DualSVC(C=3.0, kernel=kernel).fit(points, labels)
        assert ours.objective_ == pytest.approx(exact.objective_, rel=1e-6)
        assert 0 <= ours.relative_gap_ <= 1e-5
        outputs = exact.decision_function(points)
        np.testing.assert_allclose(ours.decision_function(points), outputs, atol=1e-2)


def test_prototypes_that_span_the_plane_make_the_linear_machine():
    basis = np.array([[1.0, 0.2], [-0.3, 2.0]])
    short = USVC(C=2.0, kernel=lambda A, B: A @ B.T, prototypes=basis, tol=1e-6).fit(X, Y)
    whole = USVC(C=2.0, tol=1e-6).fit(X, Y)
    assert short.objective_ == pytest.approx(whole.objective_, rel=1e-8)
    np.testing.assert_allclose(short.decision_function(X), whole.decision_function(X), atol=1e-4)
    assert short.n_kernels_ == 2 and not hasattr(whole, "n_kernels_")


@pytest.mark.parametrize("rule", ["fscl", "kmeans", "kpca"])
def test_a_small_machine_solves_the_exclusive_or(rule):
    machine = USVC(C=10.0, kernel="rbf", gamma=0.5, n_prototypes=8, prototypes=rule, random_state=0)
    machine.fit(XOR, XOR_Y)
    assert machine.prototypes_.shape == (8, 2)
    assert machine.score(*non_separable(2000, random_state=1)) > 0.9
    again = clone(machine).fit(XOR, XOR_Y)
    np.testing.assert_array_equal(machine.prototypes_, again.prototypes_)


def test_prototypes_given_twice_change_nothing():
    centres = XOR[:6]
    once = USVC(kernel="rbf", prototypes=centres).fit(XOR, XOR_Y)
    twice = USVC(kernel="rbf", prototypes=np.vstack([centres, centres])).fit(XOR, XOR_Y)
    assert once.objective_ == pytest.approx(twice.objective_, rel=1e-6)
    np.testing.assert_allclose(once.decision_function(XOR), twice.decision_function(XOR), atol=1e-3)


def test_the_objective_is_that_of_the_docstring():
    for machine in (USVC(C=3.0, s=4.0), USVC(C=3.0, kernel="rbf", n_prototypes=9, random_state=0)):
        machine.fit(X, Y)
        m = Y * machine.decision_function(X)
        xi, kappa = np.maximum(0, 1 - m), machine.k ** (1 / machine.s)
        inner = 0.5 * ((xi + kappa) / (1 + kappa)) ** machine.s
        outer = 1 - 0.5 * ((1 + kappa) / (xi + kappa)) ** machine.s
        if machine.kernel == "linear":
            norm_squared = np.sum(machine.coef_**2)
        else:
            centres, beta = machine.prototypes_, machine.dual_coef_[0]
            squared = ((centres[:, None] - centres[None]) ** 2).sum(-1)
            norm_squared = beta @ np.exp(-machine.gamma_ * squared) @ beta
        J = 0.5 * norm_squared + 3.0 * np.where(xi < 1, inner, outer).sum()
        assert machine.objective_ == pytest.approx(J, rel=1e-6)


def test_thresholds_of_the_two_cases():
    for draw, low, high in ((usvc_case_a, 0.45, 0.53), (usvc_case_b, 0.53, 0.6)):
        found = [threshold(USVC(C=10.0).fit(*draw(random_state=seed))) for seed in range(20)]
        svm = [threshold(DualSVC(C=10.0).fit(*draw(random_state=seed))) for seed in range(20)]
        assert low < np.median(found) < high
        assert np.median(svm) < low - 0.05  # the hinge is drawn to the clump


def test_more_starts_are_never_worse_and_find_the_narrow_minimum():
    narrow = 0
    for seed in range(10):
        points, labels = usvc_case_b(random_state=seed)
        one = USVC(C=10.0, s=4.0).fit(points, labels)
        ten = USVC(C=10.0, s=4.0, n_init=10, random_state=0).fit(points, labels)
        assert len(ten.starts_) == 10 and ten.starts_[0] == one.objective_
        assert ten.starts_.min() <= one.objective_
        assert ten.objective_ in ten.starts_  # and of equal ones the first
        assert ten.objective_ <= (1 + 1e-10) * ten.starts_.min()
        narrow += threshold(ten) < 0.3 < threshold(one)
    assert narrow >= 3


@pytest.mark.parametrize("init", ["svc", "ls", "path", "random"])
def test_every_start_ends_at_a_stationary_point(init):
    machine = USVC(C=5.0, s=4.0, init=init, random_state=1).fit(X, Y)
    assert machine.converged_ and machine.kkt_residual_ <= 1e-4


def test_weights_trade_one_kind_of_error_for_the_other():
    points, labels = stdev(4, 400, random_state=0)
    missed, alarms = [], []
    for factor in (0.2, 1.0, 5.0):
        machine = USVC(C=1.0, class_weight={1: factor}).fit(points, labels)
        called = machine.predict(points)
        missed.append((called[labels > 0] < 0).mean())
        alarms.append((called[labels < 0] > 0).mean())
    assert missed[0] > missed[1] > missed[2] and alarms[0] < alarms[1] < alarms[2]


def test_a_point_of_weight_zero_is_absent():
    weights = np.ones(120)
    weights[:20] = 0.0
    options = {"kernel": "rbf", "n_prototypes": 5, "random_state": 3}
    with_zeros = USVC(**options).fit(X, Y, sample_weight=weights)
    without = USVC(**options).fit(X[20:], Y[20:])
    np.testing.assert_allclose(with_zeros.decision_function(X), without.decision_function(X))


def test_points_of_both_labels():
    twice, labels = np.vstack([X, X]), np.concatenate([Y, -Y])
    for machine in (USVC(), USVC(kernel="rbf", n_prototypes=5), ERMSVC(), IRWLSSVC()):
        outputs = machine.fit(twice, labels).decision_function(twice)
        assert np.isfinite(outputs).all()


def test_the_schedule_of_slopes_ends_in_its_last_cost():
    machine = ERMSVC(C=10.0, slope=6.0).fit(X, Y)
    np.testing.assert_array_equal(machine.slopes_, [1.0, 2.0, 4.0, 6.0])
    assert machine.objectives_[-1] == machine.objective_
    assert machine.n_kernels_ == len(machine.support_) == machine.dual_coef_.shape[1]


def test_least_squares_is_scikit_learns():
    ours = LeastSquaresClassifier(C=4.0, class_weight="balanced").fit(X, Y)
    theirs = RidgeClassifier(alpha=0.25, class_weight="balanced").fit(X, Y)
    np.testing.assert_allclose(ours.coef_[0], theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)


# --- false alarms ----------------------------------------------------------------------


@pytest.mark.parametrize(("n", "rate", "confidence"), [(100, 0.1, 0.95), (59, 0.05, 0.9)])
def test_the_threshold_is_the_lowest_that_is_certain_enough(n, rate, confidence):
    # k exceed the threshold among n: certain that p <= rate if so few were unlikely at that rate.
    scores = np.arange(n)
    exceeding = int((scores > false_alarm_threshold(scores, rate, confidence)).sum())
    assert binom.cdf(exceeding, n, rate) <= 1 - confidence < binom.cdf(exceeding + 1, n, rate)


def test_a_rate_is_kept_in_the_stated_share_of_draws():
    rng = np.random.default_rng(0)
    rate, confidence, broken, draws = 0.1, 0.9, 0, 200
    for _ in range(draws):
        labels = np.where(rng.random(400) < 0.6, -1.0, 1.0)
        points = rng.standard_normal((400, 1)) + labels[:, None]
        machine = USVC(
            target_false_alarm_rate=rate, confidence=confidence, random_state=rng.integers(99)
        )
        machine.fit(points, labels)
        direction = np.sign(machine.coef_[0, 0])
        exact = norm.sf(direction * (threshold(machine) + 1.0))  # class -1 is N(-1, 1)
        broken += exact > rate
    assert broken <= binom.ppf(0.999, draws, 1 - confidence)
    assert broken > 0  # else the threshold would be needlessly high


def test_the_threshold_is_part_of_the_intercept():
    frame = pd.DataFrame(X, columns=["a", "b"])
    machine = USVC(target_false_alarm_rate=0.2, random_state=0, kernel="rbf", n_prototypes=5)
    machine.fit(frame, np.where(Y > 0, "ill", "healthy"))
    assert np.isfinite(machine.threshold_)
    outputs = machine.decision_function(frame)
    np.testing.assert_array_equal(machine.predict(frame) == "ill", outputs > 0)


def test_a_rate_that_cannot_be_certified_names_the_number_of_points():
    with pytest.raises(ValueError, match=r"18 points held out cannot .* 299 would"):
        USVC(target_false_alarm_rate=0.01).fit(X, Y)
    scores = np.zeros(299)
    assert false_alarm_threshold(scores, 0.01) == 0.0
    with pytest.raises(ValueError, match="299 would"):
        false_alarm_threshold(scores[1:], 0.01)


def test_held_out_points_are_not_trained_on():
    weights = np.linspace(0.5, 2.0, 120)
    machine = USVC(target_false_alarm_rate=0.2, kernel="rbf", validation_fraction=0.4)
    problem = machine._prepare(X, Y, weights)
    part, out = machine._validation_split(problem, np.random.default_rng(0))
    assert not set(part.present) & set(out) and len(part.present) + len(out) == 120
    np.testing.assert_array_equal(part.points, X[part.present])
    np.testing.assert_array_equal(part.weights, weights[part.present])
    assert abs((Y[out] < 0).mean() - (Y < 0).mean()) < 0.02
    alone = USVC(kernel="rbf")._prepare(part.points, part.y, part.weights)
    assert part.kernel.params == alone.kernel.params  # not even its width has seen them


def test_equal_outputs_raise_no_alarm_by_rounding():
    rng = np.random.default_rng(0)
    for seed in range(20):
        points = rng.integers(0, 3, size=(300, 2)) / 3.0  # nine places
        labels = np.where(rng.random(300) < 0.4 + 0.2 * points[:, 0], 1, -1)
        for kernel in ("linear", "rbf"):
            options = {"kernel": kernel, "n_prototypes": 4, "random_state": seed}
            machine = USVC(target_false_alarm_rate=0.2, **options).fit(points, labels)
            places, place_of = np.unique(points, axis=0, return_inverse=True)
            one_by_one = np.array([machine.predict(x[None])[0] for x in places])
            np.testing.assert_array_equal(one_by_one[place_of], machine.predict(points))


def test_a_fit_without_its_promise_is_none():
    machine = USVC().fit(X, Y).set_params(target_false_alarm_rate=0.001)
    with pytest.raises(ValueError, match="cannot certify"):
        machine.fit(X, Y)
    with pytest.raises(NotFittedError):
        machine.predict(X)


def test_a_part_that_cannot_hold_both_classes_is_named():
    with pytest.raises(ValueError, match=r"validation_fraction=0.001 of 120 points"):
        USVC(target_false_alarm_rate=0.2, validation_fraction=0.001).fit(X, Y)


# --- shapes and scales -----------------------------------------------------------------


def test_more_features_than_points_are_the_same_machine():
    rng = np.random.default_rng(0)
    wide, labels = rng.standard_normal((30, 80)), np.repeat([-1, 1], 15)
    wide[labels > 0, 0] += 2.0
    for machine in (USVC(C=0.5), IRWLSSVC(C=0.5), ERMSVC(C=0.5)):
        straight = clone(machine).fit(wide, labels)
        assert straight.coef_.shape == (1, 80)
        by_kernel = straight.support_vectors_.T @ straight.dual_coef_[0]
        np.testing.assert_allclose(straight.coef_[0], by_kernel, atol=1e-6)
    exact = DualSVC(C=0.5).fit(wide, labels)
    ours = IRWLSSVC(C=0.5).fit(wide, labels)
    assert ours.objective_ == pytest.approx(exact.objective_, rel=1e-6)


def test_a_price_that_leaves_no_digits_ends_in_words_not_in_lapack():
    X_many, y_many = twonorm(200, random_state=0)
    for machine in (USVC(C=1e10), USVC(C=1e10, kernel="rbf", random_state=0), ERMSVC(C=1e10)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert np.isfinite(machine.fit(X_many, y_many).decision_function(X_many)).all()


def test_a_far_point_is_no_certificate():
    spoilt = X.copy()
    spoilt[-1] *= 1e7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = IRWLSSVC(C=1000.0).fit(spoilt, Y)
    assert not machine.converged_ or machine.relative_gap_ <= 1e-3


def test_the_dual_objective_is_a_lower_bound_before_the_end():
    few = np.r_[np.flatnonzero(Y > 0)[:50], np.flatnonzero(Y < 0)[:10]]
    exact = DualSVC(C=2.0).fit(X[few], Y[few]).objective_
    for rounds in (1, 2, 4, 8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            early = IRWLSSVC(C=2.0, max_iter=rounds).fit(X[few], Y[few])
        assert early.objective_ * (1 - early.relative_gap_) <= exact * (1 + 1e-9)
        assert early.n_iter_ <= rounds


def test_prototypes_are_the_machines_own():
    centres = XOR[:6].copy()
    machine = USVC(kernel="rbf", prototypes=centres).fit(XOR, XOR_Y)
    before = machine.decision_function(XOR)
    centres[:] = 0.0
    np.testing.assert_array_equal(machine.decision_function(XOR), before)


def test_a_failed_refit_leaves_nothing():
    machine = LeastSquaresClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="class"):
        machine.fit(X, np.ones(120))
    with pytest.raises(NotFittedError):
        machine.predict(X)


@pytest.mark.parametrize("rule", ["fscl", "kmeans", "kpca"])
def test_there_are_no_more_prototypes_than_different_points(rule):
    few = np.tile(X[:6], (5, 1))
    y = np.tile([0, 1, 0, 1, 0, 1], 5)
    machine = USVC(kernel="rbf", prototypes=rule, random_state=0).fit(few, y)
    assert len(machine.prototypes_) <= 6


# --- bad input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "rbf", "prototypes": np.ones((3, 5))}, "prototypes has 5 columns"),
        ({"kernel": "rbf", "prototypes": [[np.nan, 0.0]]}, "prototypes contains NaN"),
        ({"kernel": "exponential", "prototypes": "kpca"}, "needs one of the kernels"),
    ],
)
def test_what_cannot_be_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        USVC(**options).fit(X, Y)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"s": 0.5}, {"k": 0.0}, {"C": np.inf}, {"init": "best"}, {"kernel": "precomputed"}),
        *(
            {"k": 2.0},
            {"n_init": 0},
            {"target_false_alarm_rate": 1.0},
            {"validation_fraction": 0.0},
            {"confidence": 1.0},
        ),
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_parameter_out_of_range_is_named(wrong):
    (name,) = wrong
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
        USVC(**wrong).fit(X, Y)
