"""`DualSVC`: agreement with SVC, kernels, labels, weights, attributes, choice of the solver."""

import pickle
import warnings
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC
from svm_problems import svm_problems

from svmbook import DualSVC, kernels
from svmbook.datasets import non_separable, stdev
from svmbook.kernels import linear

SOLVERS = ["interior-point", "active-set", "smo", "libsvm", "cvxopt"]


@pytest.fixture(scope="module")
def two_clouds():
    return stdev(2, n=120, random_state=0)


@pytest.fixture(scope="module")
def four_clouds():
    return non_separable(n=120, random_state=0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_every_solver_agrees_with_svc(two_clouds, solver, C):
    X, y = two_clouds
    model = DualSVC(C=C, solver=solver).fit(X, y)
    reference = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    assert model.solver_ == solver
    assert 0.0 <= model.relative_gap_ <= 1e-6
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-3)
    assert np.array_equal(model.predict(X), reference.predict(X))


@pytest.mark.parametrize(
    ("name", "function", "params"),
    [
        ("poly", kernels.polynomial, {"gamma": 0.3, "degree": 2, "coef0": 0.7}),
        ("rbf", kernels.gaussian, {"gamma": 0.3}),
        ("laplacian", kernels.laplacian, {"gamma": 0.3}),
        ("exponential", kernels.exponential, {"gamma": 0.3}),
    ],
)
def test_named_callable_and_precomputed_kernels_agree(four_clouds, name, function, params):
    X, y = four_clouds
    X_new = X[:20] + 0.1

    def kernel(A, B):
        return function(A, B, **params)

    named_model = DualSVC(kernel=name, **params).fit(X, y)
    expected = named_model.decision_function(X_new)
    for model in (DualSVC(kernel=function, **params), DualSVC(kernel=kernel)):
        np.testing.assert_allclose(model.fit(X, y).decision_function(X_new), expected, atol=1e-8)
    precomputed_model = DualSVC(kernel="precomputed").fit(kernel(X, X), y)
    np.testing.assert_allclose(
        precomputed_model.decision_function(kernel(X_new, X)), expected, atol=1e-8
    )
    assert np.array_equal(precomputed_model.support_, named_model.support_)


@pytest.mark.parametrize(
    "labels", [(0, 1), (99, 100), ("benign", "malignant"), (False, True), (-1.0, 1.0), (3, -7)]
)
def test_labels_may_have_any_type(two_clouds, labels):
    X, y = two_clouds
    classes = np.array(sorted(labels))
    model = DualSVC().fit(X, classes[(y > 0).astype(int)])
    assert np.array_equal(model.classes_, classes)
    predicted = model.predict(X)
    assert predicted.dtype == classes.dtype
    assert np.array_equal(predicted == classes[1], model.decision_function(X) > 0)
    np.testing.assert_allclose(model.alpha_, DualSVC().fit(X, y).alpha_)


def test_attributes_are_consistent(two_clouds):
    X, y = two_clouds
    model = DualSVC(C=0.5).fit(X, y)
    margins = y * model.decision_function(X)
    assert np.array_equal(model.support_, np.flatnonzero(model.alpha_))
    assert np.array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_allclose(model.dual_coef_[0], (y * model.alpha_)[model.support_])
    np.testing.assert_allclose(model.coef_[0], (y * model.alpha_) @ X)
    np.testing.assert_allclose(margins[model.free_support_], 1.0, atol=1e-8)
    assert (margins[model.bounded_support_] <= 1 + 1e-8).all()
    assert (model.alpha_[model.bounded_support_] == 0.5).all()
    assert model.n_support_.sum() == len(model.support_)
    assert model.n_support_[1] == (y[model.support_] > 0).sum()
    assert model.geometric_margin_ == pytest.approx(1 / np.linalg.norm(model.coef_))
    gap = model.objective_ - model.dual_objective_
    assert model.relative_gap_ == pytest.approx(max(0.0, gap) / model.objective_)


def test_geometric_margin_is_measured_in_the_feature_space(four_clouds):
    X, y = four_clouds
    model = DualSVC(kernel="rbf", gamma=0.3).fit(X, y)
    beta = y * model.alpha_
    w_squared = beta @ kernels.gaussian(X, gamma=0.3) @ beta
    assert model.geometric_margin_ == pytest.approx(w_squared**-0.5)


def test_point_of_weight_two_equals_two_points(four_clouds):
    X, y = four_clouds
    weights = np.where(np.arange(120) % 3 == 0, 2.0, 1.0)
    repeated_indices = np.repeat(np.arange(120), weights.astype(int))
    weighted_model = DualSVC(kernel="rbf").fit(X, y, sample_weight=weights)
    repeated_model = DualSVC(kernel="rbf").fit(X[repeated_indices], y[repeated_indices])
    assert weighted_model.gamma_ == pytest.approx(repeated_model.gamma_)
    expected = repeated_model.decision_function(X)
    np.testing.assert_allclose(weighted_model.decision_function(X), expected, atol=1e-7)


def test_class_weights_change_the_upper_bounds(two_clouds):
    X, y = two_clouds
    model = DualSVC(C=0.1, class_weight={1.0: 4.0}).fit(X, y)
    assert model.alpha_[y > 0].max() == pytest.approx(0.4)
    assert model.alpha_[y < 0].max() == pytest.approx(0.1)
    unweighted_model = DualSVC(C=0.1).fit(X, y)
    assert (model.predict(X) > 0).sum() > (unweighted_model.predict(X) > 0).sum()


def test_balanced_weights_agree_with_svc(two_clouds):
    X, y = two_clouds
    subset = np.flatnonzero((y > 0) | (np.arange(120) % 5 == 0))
    model = DualSVC(class_weight="balanced").fit(X[subset], y[subset])
    reference = SVC(kernel="linear", class_weight="balanced", tol=1e-8).fit(X[subset], y[subset])
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-5)


@pytest.mark.parametrize("solver", ["interior-point", "auto"])
def test_hard_margin_solution_has_smallest_margin_one(solver):
    X, y = stdev(1, n=80, random_state=4)
    model = DualSVC(C=np.inf, solver=solver).fit(X, y)
    margins = y * model.decision_function(X)
    assert margins.min() == pytest.approx(1.0, abs=1e-8)
    assert len(model.bounded_support_) == 0
    assert model.relative_gap_ <= 1e-6


def test_hard_margin_on_overlapping_classes_raises(two_clouds):
    with pytest.raises(ValueError, match=r"hulls meet.*finite C"):
        DualSVC(C=np.inf).fit(*two_clouds)


@pytest.mark.parametrize("solver", ["smo", "libsvm", "active-set", "cvxopt"])
def test_hard_margin_needs_the_interior_point_method(two_clouds, solver):
    with pytest.raises(ValueError, match="interior-point"):
        DualSVC(C=np.inf, solver=solver).fit(*two_clouds)


def test_auto_chooses_the_documented_solver():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 3))
    y = np.sign(X[:, 0])
    assert DualSVC().fit(X, y).solver_ == "interior-point"
    assert DualSVC().fit(X[:12], y[:12]).solver_ == "interior-point"  # 3 features = n/4
    assert DualSVC().fit(X[:11], y[:11]).solver_ == "active-set"
    assert DualSVC(kernel=linear).fit(X, y).solver_ == "interior-point"
    assert DualSVC(kernel="rbf").fit(X, y).solver_ == "active-set"
    assert DualSVC(kernel="rbf", gamma=1.0, C=np.inf).fit(X, y).solver_ == "interior-point"
    X_wide = csr_array(rng.standard_normal((1200, 400)) * (rng.random((1200, 400)) < 0.05))
    assert DualSVC().fit(X_wide, y).solver_ == "active-set"


def test_active_set_method_agrees_for_stored_and_computed_gram_matrices(two_clouds):
    stored_model = DualSVC(kernel="rbf", solver="active-set").fit(*two_clouds)
    with mock.patch("svmbook.svm.gram_forms.MAX_STORED_GAUSSIAN_POINTS", 100):
        computed_model = DualSVC(kernel="rbf", solver="active-set").fit(*two_clouds)
    np.testing.assert_allclose(computed_model.alpha_, stored_model.alpha_, atol=1e-10)
    assert computed_model.kkt_residual_ < 1e-11


@given(problem=svm_problems(max_n=25), log_scale=st.integers(-6, 4))
def test_interior_point_method_converges_on_data_of_any_scale(problem, log_scale):
    X, y, _ = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = DualSVC(solver="interior-point").fit(10.0**log_scale * X / np.abs(X).max(), y)
    assert model.relative_gap_ <= 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("class_counts", [(12, 18), (18, 12), (15, 15)])
def test_unconverged_result_is_no_worse_than_w_equal_to_zero(solver, class_counts):
    rng = np.random.default_rng(0)
    X, y = 1e8 * rng.normal(size=(30, 4)), np.repeat([0, 1], class_counts)
    model = DualSVC(solver=solver, C=2.0, max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert model.objective_ <= 2.0 * 2.0 * min(class_counts)
    slack = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * model.decision_function(X))
    objective = 0.5 * (model.coef_**2).sum() + 2.0 * slack.sum()
    assert objective == pytest.approx(model.objective_, rel=1e-3)


def test_balanced_weights_of_weighted_and_repeated_points_agree(two_clouds):
    X, y = two_clouds
    weights = np.where((y > 0) & (np.arange(120) % 2 == 0), 3, 1)
    repeated_indices = np.repeat(np.arange(120), weights)
    weighted_model = DualSVC(class_weight="balanced").fit(X, y, sample_weight=weights)
    repeated_model = DualSVC(class_weight="balanced").fit(X[repeated_indices], y[repeated_indices])
    np.testing.assert_allclose(weighted_model.coef_, repeated_model.coef_, atol=1e-7)


def test_cross_validation_splits_a_precomputed_kernel(four_clouds):
    X, y = four_clouds
    K = kernels.gaussian(X, gamma=0.3)
    assert cross_val_score(DualSVC(kernel="precomputed"), K, y, cv=3).mean() > 0.85


@pytest.mark.parametrize("solver", SOLVERS)
def test_distance_from_the_origin_affects_only_the_intercept(two_clouds, solver):
    X, y = two_clouds
    near, far = (DualSVC(solver=solver).fit(X + shift, y) for shift in (0.0, 1e8))
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    assert far.dual_objective_ == pytest.approx(near.dual_objective_, rel=1e-6)
    # One unit in the last place of X is 1.5e-8.
    np.testing.assert_allclose(far.decision_function(X + 1e8), near.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("solver", ["interior-point", "cvxopt", "smo", "libsvm"])
def test_gaussian_kernel_is_translation_invariant(four_clouds, solver):
    X, y = four_clouds
    model = DualSVC(kernel="rbf", gamma=0.3, solver=solver)
    outputs = model.fit(X, y).decision_function(X)
    translated_outputs = model.fit(X + 1e7, y).decision_function(X + 1e7)
    np.testing.assert_allclose(translated_outputs, outputs, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf", kernels.laplacian, "precomputed"])
def test_model_can_be_pickled_and_cloned(four_clouds, kernel):
    X, y = four_clouds
    if kernel == "precomputed":
        X = X @ X.T
    model = DualSVC(kernel=kernel).fit(X, y)
    unpickled = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(unpickled.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(clone(model).fit(X, y).alpha_, model.alpha_)


def test_parameters_may_be_numpy_scalars(two_clouds):
    model = DualSVC(C=np.float32(2), tol=np.float32(1e-6), max_iter=np.int64(60)).fit(*two_clouds)
    reference = DualSVC(C=2.0).fit(*two_clouds)
    assert model.relative_gap_ == pytest.approx(reference.relative_gap_, abs=1e-9)


def test_kernel_object_may_define_elementwise_equality(four_clouds):
    class Kernel:
        def __call__(self, A, B):
            return kernels.gaussian(A, B)

        def __eq__(self, other):
            return np.array([True, False])

    assert not DualSVC(kernel=Kernel()).__sklearn_tags__().input_tags.pairwise
    DualSVC(kernel=Kernel()).fit(*four_clouds)


def test_refit_deletes_attributes_of_the_old_kernel(four_clouds):
    X, y = four_clouds
    model = DualSVC().fit(X, y)
    assert hasattr(model, "coef_")
    assert not hasattr(model, "gamma_")
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "coef_")
    assert hasattr(model, "gamma_")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("coordinate", [1e6, -1e12, 1e200])
def test_outlier_of_weight_zero_is_ignored(two_clouds, solver, coordinate):
    X, y = two_clouds
    extended_X, extended_y = np.vstack([X, [coordinate, coordinate]]), np.append(y, 1.0)
    weights = np.append(np.ones(len(y)), 0.0)
    model = DualSVC(solver=solver).fit(extended_X, extended_y, sample_weight=weights)
    expected = DualSVC(solver=solver).fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    assert model.alpha_[-1] == 0


def test_precomputed_values_of_points_of_weight_zero_are_ignored(four_clouds):
    X, y = four_clouds
    K = kernels.gaussian(X, gamma=0.3)
    weights = (np.arange(120) % 4 != 0).astype(float)
    changed_K = np.where(weights[:, None] * weights == 0, np.pi, K)
    model = DualSVC(kernel="precomputed").fit(changed_K, y, sample_weight=weights)
    has_weight = weights > 0
    subset_model = DualSVC(kernel="precomputed").fit(
        K[np.ix_(has_weight, has_weight)], y[has_weight]
    )
    np.testing.assert_allclose(model.alpha_[has_weight], subset_model.alpha_, atol=1e-8)
    assert model.support_vectors_.shape == (0, 0)


def test_decision_value_without_support_vectors_is_the_intercept(two_clouds):
    model = DualSVC(kernel="rbf").fit(*two_clouds)
    model.support_, model.support_vectors_ = model.support_[:0], model.support_vectors_[:0]
    model.dual_coef_ = model.dual_coef_[:, :0]
    np.testing.assert_array_equal(
        model.decision_function(two_clouds[0]), np.full(120, model.intercept_[0])
    )
