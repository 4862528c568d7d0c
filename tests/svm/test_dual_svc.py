"""The estimator: labels, weights, kernels, attributes, bad input, and agreement with SVC."""

import pickle
import warnings
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import svm_problems
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from svmbook import DualSVC, kernels
from svmbook.datasets import non_separable, stdev
from svmbook.kernels import linear

SOLVERS = ["interior-point", "active-set", "smo", "libsvm", "cvxopt"]


@pytest.fixture(scope="module")
def clouds():
    return stdev(2, n=120, random_state=0)


@pytest.fixture(scope="module")
def corners():
    return non_separable(n=120, random_state=0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_every_solver_gives_the_same_machine(clouds, solver, C):
    X, y = clouds
    machine = DualSVC(C=C, solver=solver).fit(X, y)
    reference = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    assert machine.solver_ == solver
    assert machine.relative_gap_ >= 0.0
    assert machine.relative_gap_ <= 1e-6
    np.testing.assert_allclose(machine.coef_, reference.coef_, atol=1e-3)
    assert np.array_equal(machine.predict(X), reference.predict(X))


@pytest.mark.parametrize(
    ("name", "function", "params"),
    [
        ("poly", kernels.polynomial, {"gamma": 0.3, "degree": 2, "coef0": 0.7}),
        ("rbf", kernels.gaussian, {"gamma": 0.3}),
        ("laplacian", kernels.laplacian, {"gamma": 0.3}),
        ("exponential", kernels.exponential, {"gamma": 0.3}),
    ],
)
def test_a_kernel_by_name_function_lambda_or_matrix(corners, name, function, params):
    X, y = corners
    new = X[:20] + 0.1

    def kernel(A, B):
        return function(A, B, **params)

    by_name = DualSVC(kernel=name, **params).fit(X, y)
    by_function = DualSVC(kernel=function, **params).fit(X, y)
    by_lambda = DualSVC(kernel=kernel).fit(X, y)
    by_matrix = DualSVC(kernel="precomputed").fit(kernel(X, X), y)
    expected = by_name.decision_function(new)
    np.testing.assert_allclose(by_function.decision_function(new), expected, atol=1e-8)
    np.testing.assert_allclose(by_lambda.decision_function(new), expected, atol=1e-8)
    np.testing.assert_allclose(by_matrix.decision_function(kernel(new, X)), expected, atol=1e-8)
    assert np.array_equal(by_matrix.support_, by_name.support_)


@pytest.mark.parametrize(
    "labels", [(0, 1), (99, 100), ("benign", "malignant"), (False, True), (-1.0, 1.0), (3, -7)]
)
def test_any_two_labels(clouds, labels):
    X, y = clouds
    names = np.array(sorted(labels))
    machine = DualSVC().fit(X, names[(y > 0).astype(int)])
    assert np.array_equal(machine.classes_, names)
    predicted = machine.predict(X)
    assert predicted.dtype == names.dtype
    assert np.array_equal(predicted == names[1], machine.decision_function(X) > 0)
    np.testing.assert_allclose(machine.alpha_, DualSVC().fit(X, y).alpha_)


def test_attributes_hang_together(clouds):
    X, y = clouds
    machine = DualSVC(C=0.5).fit(X, y)
    margins = y * machine.decision_function(X)
    assert np.array_equal(machine.support_, np.flatnonzero(machine.alpha_))
    assert np.array_equal(machine.support_vectors_, X[machine.support_])
    np.testing.assert_allclose(machine.dual_coef_[0], (y * machine.alpha_)[machine.support_])
    np.testing.assert_allclose(machine.coef_[0], (y * machine.alpha_) @ X)
    np.testing.assert_allclose(margins[machine.free_support_], 1.0, atol=1e-8)
    assert (margins[machine.bounded_support_] <= 1 + 1e-8).all()
    assert (machine.alpha_[machine.bounded_support_] == 0.5).all()
    assert machine.n_support_.sum() == len(machine.support_)
    assert machine.n_support_[1] == (y[machine.support_] > 0).sum()
    assert machine.geometric_margin_ == pytest.approx(1 / np.linalg.norm(machine.coef_))
    gap = machine.objective_ - machine.dual_objective_
    assert machine.relative_gap_ == pytest.approx(max(0.0, gap) / machine.objective_)


def test_margin_in_the_feature_space(corners):
    X, y = corners
    machine = DualSVC(kernel="rbf", gamma=0.3).fit(X, y)
    beta = y * machine.alpha_
    w_squared = beta @ kernels.gaussian(X, gamma=0.3) @ beta
    assert machine.geometric_margin_ == pytest.approx(w_squared**-0.5)


def test_a_weight_of_two_is_a_point_twice(corners):
    X, y = corners
    weights = np.where(np.arange(120) % 3 == 0, 2.0, 1.0)
    repeated = np.repeat(np.arange(120), weights.astype(int))
    weighted = DualSVC(kernel="rbf").fit(X, y, sample_weight=weights)
    twice = DualSVC(kernel="rbf").fit(X[repeated], y[repeated])
    assert weighted.gamma_ == pytest.approx(twice.gamma_)
    np.testing.assert_allclose(weighted.decision_function(X), twice.decision_function(X), atol=1e-7)


def test_a_weight_of_zero_is_a_point_away(corners):
    X, y = corners
    weights = (np.arange(120) % 4 != 0).astype(float)
    weighted = DualSVC(kernel="rbf", gamma=0.3).fit(X, y, sample_weight=weights)
    fewer = DualSVC(kernel="rbf", gamma=0.3).fit(X[weights > 0], y[weights > 0])
    assert (weighted.alpha_[weights == 0] == 0).all()
    np.testing.assert_allclose(weighted.decision_function(X), fewer.decision_function(X))


def test_class_weights_move_the_box(clouds):
    X, y = clouds
    machine = DualSVC(C=0.1, class_weight={1.0: 4.0}).fit(X, y)
    assert machine.alpha_[y > 0].max() == pytest.approx(0.4)
    assert machine.alpha_[y < 0].max() == pytest.approx(0.1)
    plain = DualSVC(C=0.1).fit(X, y)
    assert (machine.predict(X) > 0).sum() > (plain.predict(X) > 0).sum()


def test_balanced_weights_are_scikit_learns(clouds):
    X, y = clouds
    keep = np.flatnonzero((y > 0) | (np.arange(120) % 5 == 0))
    ours = DualSVC(class_weight="balanced").fit(X[keep], y[keep])
    theirs = SVC(kernel="linear", class_weight="balanced", tol=1e-8).fit(X[keep], y[keep])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("solver", ["interior-point", "auto"])
def test_hard_margin(solver):
    X, y = stdev(1, n=80, random_state=4)
    machine = DualSVC(C=np.inf, solver=solver).fit(X, y)
    margins = y * machine.decision_function(X)
    assert margins.min() == pytest.approx(1.0, abs=1e-8)
    assert len(machine.bounded_support_) == 0
    assert machine.relative_gap_ <= 1e-6


def test_hard_margin_on_overlapping_classes_says_what_to_do(clouds):
    with pytest.raises(ValueError, match=r"hulls meet.*finite C"):
        DualSVC(C=np.inf).fit(*clouds)


@pytest.mark.parametrize("solver", ["smo", "libsvm", "active-set", "cvxopt"])
def test_hard_margin_needs_the_interior_point(clouds, solver):
    with pytest.raises(ValueError, match="interior-point"):
        DualSVC(C=np.inf, solver=solver).fit(*clouds)


def test_auto_is_what_the_documentation_says():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 3))
    y = np.sign(X[:, 0])
    assert DualSVC().fit(X, y).solver_ == "interior-point"
    assert DualSVC().fit(X[:12], y[:12]).solver_ == "interior-point"  # n/4 features
    assert DualSVC().fit(X[:11], y[:11]).solver_ == "active-set"
    assert DualSVC(kernel=linear).fit(X, y).solver_ == "interior-point"  # the function as well
    assert DualSVC(kernel="rbf").fit(X, y).solver_ == "active-set"
    assert DualSVC(kernel="rbf", gamma=1.0, C=np.inf).fit(X, y).solver_ == "interior-point"
    with mock.patch("svmbook.svm.dual_svc.STORED_POINTS", 1000):
        assert DualSVC(kernel="rbf").fit(X, y).solver_ == "libsvm"


def test_active_sets_need_not_store_the_gram_matrix(clouds):
    stored = DualSVC(kernel="rbf", solver="active-set").fit(*clouds)
    with mock.patch("svmbook.svm.dual_svc.STORED_POINTS", 100):
        computed = DualSVC(kernel="rbf", solver="active-set").fit(*clouds)
    np.testing.assert_allclose(computed.alpha_, stored.alpha_, atol=1e-10)
    assert computed.kkt_residual_ < 1e-11


@given(problem=svm_problems(max_n=25), log_scale=st.integers(-6, 4))
def test_awkward_data_end_in_a_certified_machine(problem, log_scale):
    X, y, _ = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        machine = DualSVC(solver="interior-point").fit(10.0**log_scale * X / np.abs(X).max(), y)
    assert machine.relative_gap_ <= 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("counts", [(12, 18), (18, 12), (15, 15)])
def test_no_result_is_worse_than_w_of_zero(solver, counts):
    rng = np.random.default_rng(0)
    X, y = 1e8 * rng.normal(size=(30, 4)), np.repeat([0, 1], counts)
    machine = DualSVC(solver=solver, C=2.0, max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X, y)
    assert machine.objective_ <= 2.0 * 2.0 * min(counts)
    slack = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * machine.decision_function(X))
    objective = 0.5 * (machine.coef_**2).sum() + 2.0 * slack.sum()
    assert objective == pytest.approx(machine.objective_, rel=1e-3)


def test_balanced_counts_weights_as_repetitions(clouds):
    X, y = clouds
    weights = np.where((y > 0) & (np.arange(120) % 2 == 0), 3, 1)
    repeated = np.repeat(np.arange(120), weights)
    weighted = DualSVC(class_weight="balanced").fit(X, y, sample_weight=weights)
    thrice = DualSVC(class_weight="balanced").fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.coef_, thrice.coef_, atol=1e-7)


def test_in_pipelines_and_searches(corners):
    X, y = corners
    machine = make_pipeline(StandardScaler(), DualSVC(kernel="rbf"))
    search = GridSearchCV(machine, {"dualsvc__C": [0.1, 1.0], "dualsvc__gamma": [0.1, 1.0]}, cv=3)
    assert cross_val_score(search, X, y, cv=3).mean() > 0.85
    K = kernels.gaussian(X, gamma=0.3)  # pairwise: folds cut rows and columns
    assert cross_val_score(DualSVC(kernel="precomputed"), K, y, cv=3).mean() > 0.85


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_far_origin_changes_the_intercept_alone(clouds, solver):
    X, y = clouds
    near, far = (DualSVC(solver=solver).fit(X + shift, y) for shift in (0.0, 1e8))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    assert far.dual_objective_ == pytest.approx(near.dual_objective_, rel=1e-6)
    # One unit in the last place of X is 1.5e-8.
    np.testing.assert_allclose(far.decision_function(X + 1e8), near.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("solver", ["interior-point", "cvxopt", "smo", "libsvm"])
def test_the_gaussian_kernel_sees_differences_alone(corners, solver):
    X, y = corners
    machine = DualSVC(kernel="rbf", gamma=0.3, solver=solver)
    near = machine.fit(X, y).decision_function(X)
    far = machine.fit(X + 1e7, y).decision_function(X + 1e7)
    np.testing.assert_allclose(far, near, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf", kernels.laplacian, "precomputed"])
def test_pickled_and_cloned(corners, kernel):
    X, y = corners
    if kernel == "precomputed":
        X = X @ X.T
    machine = DualSVC(kernel=kernel).fit(X, y)
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(again.decision_function(X), machine.decision_function(X))
    np.testing.assert_array_equal(clone(machine).fit(X, y).alpha_, machine.alpha_)


def test_numbers_of_numpy_are_numbers(clouds):
    machine = DualSVC(C=np.float32(2), tol=np.float32(1e-6), max_iter=np.int64(60)).fit(*clouds)
    assert machine.relative_gap_ == pytest.approx(
        DualSVC(C=2.0).fit(*clouds).relative_gap_, abs=1e-9
    )


def test_a_kernel_object_that_compares_by_elements_is_no_name(corners):
    class Distances:
        def __call__(self, A, B):
            return kernels.gaussian(A, B)

        def __eq__(self, other):
            return np.array([True, False])

    assert not DualSVC(kernel=Distances()).__sklearn_tags__().input_tags.pairwise
    DualSVC(kernel=Distances()).fit(*corners)


def test_a_refit_leaves_nothing_of_the_old_kernel(corners):
    X, y = corners
    machine = DualSVC().fit(X, y)
    assert hasattr(machine, "coef_")
    assert not hasattr(machine, "gamma_")
    machine.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(machine, "coef_")
    assert hasattr(machine, "gamma_")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("far", [1e6, -1e12, 1e200])
def test_where_a_point_without_weight_lies_is_of_no_account(clouds, solver, far):
    X, y = clouds
    extended, labels = np.vstack([X, [far, far]]), np.append(y, 1.0)
    weights = np.append(np.ones(len(y)), 0.0)
    machine = DualSVC(solver=solver).fit(extended, labels, sample_weight=weights)
    alone = DualSVC(solver=solver).fit(X, y)
    np.testing.assert_allclose(machine.decision_function(X), alone.decision_function(X), atol=1e-9)
    assert machine.alpha_[-1] == 0


def test_a_precomputed_matrix_without_some_points(corners):
    X, y = corners
    K = kernels.gaussian(X, gamma=0.3)
    weights = (np.arange(120) % 4 != 0).astype(float)
    spoilt = np.where(weights[:, None] * weights == 0, np.pi, K)  # nobody looks at absent points
    machine = DualSVC(kernel="precomputed").fit(spoilt, y, sample_weight=weights)
    there = weights > 0
    alone = DualSVC(kernel="precomputed").fit(K[np.ix_(there, there)], y[there])
    np.testing.assert_allclose(machine.alpha_[there], alone.alpha_, atol=1e-8)
    assert machine.support_vectors_.shape == (0, 0)


def test_a_weight_that_is_rounding_is_a_weight_of_zero(clouds):
    X, y = clouds
    weights = np.where(np.arange(120) == 7, 1e-60, 1.0)
    assert DualSVC().fit(X, y, sample_weight=weights).alpha_[7] == 0


def test_a_machine_without_support_vectors_decides_by_its_intercept(clouds):
    machine = DualSVC(kernel="rbf").fit(*clouds)
    machine.support_, machine.support_vectors_ = machine.support_[:0], machine.support_vectors_[:0]
    machine.dual_coef_ = machine.dual_coef_[:, :0]
    np.testing.assert_array_equal(
        machine.decision_function(clouds[0]), np.full(120, machine.intercept_[0])
    )
