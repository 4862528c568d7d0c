"""The logistic estimators: objective, kernels, weights, labels, probabilities, paths."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression

from svmbook import ImportVectorMachine, KernelLogisticRegression
from svmbook.datasets import stdev
from svmbook.kernels import CONDITIONALLY_DEFINITE, KERNELS, gaussian, polynomial

X, Y = stdev(2, 80, random_state=0)
X_NEW, _ = stdev(2, 30, random_state=1)
MODELS = [KernelLogisticRegression(), ImportVectorMachine()]
IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_objective_agrees_with_its_documented_formula(kernel, penalty):
    weights = np.linspace(0.5, 2, 80)
    model = KernelLogisticRegression(0.7, penalty=penalty, kernel=kernel, gamma=0.2)
    model.fit(X, Y, sample_weight=weights)
    function, parameter_names = KERNELS[kernel]
    box = np.stack([X.min(axis=0), X.max(axis=0)])
    params = {"gamma": 0.2, "degree": 3, "coef0": 1.0, "box": box}
    K = function(X, **{name: params[name] for name in parameter_names})
    if kernel in CONDITIONALLY_DEFINITE and penalty == "l2":
        assert abs(model.dual_coef_.sum()) < 1e-10 * np.abs(model.dual_coef_).sum()
    alpha = np.zeros(80)
    alpha[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(
        model.decision_function(X), K @ alpha + model.intercept_, atol=1e-8 * np.abs(K).max()
    )
    loss = -weights @ model.predict_log_proba(X)[np.arange(80), (Y > 0).astype(int)]
    penalty_term = 0.35 * alpha @ K @ alpha if penalty == "l2" else 0.7 * np.abs(alpha).sum()
    assert model.objective_ == pytest.approx(loss + penalty_term)
    assert model.relative_gap_ <= 1e-5


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_outputs_agree_for_named_function_and_precomputed_kernels(model):
    expected = model.set_params(kernel="rbf", gamma=0.3).fit(X, Y).decision_function(X_NEW)

    def kernel(A, B):
        return gaussian(A, B, gamma=0.3)

    outputs = model.set_params(kernel=kernel).fit(X, Y).decision_function(X_NEW)
    np.testing.assert_allclose(outputs, expected, atol=1e-8)
    K, K_new = kernel(X, X), kernel(X_NEW, X)
    outputs = model.set_params(kernel="precomputed").fit(K, Y).decision_function(K_new)
    np.testing.assert_allclose(outputs, expected, atol=1e-8)
    assert model.support_vectors_.shape == (0, 0)
    with pytest.raises(ValueError, match="80 features"):
        model.predict(K_new[:, :20])


@pytest.mark.parametrize("lam", [0.01, 10.0])
@pytest.mark.parametrize("d", [5, 200])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_kernel_agrees_with_gram_matrix_and_scikit_learn(lam, d, n_classes):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((50, d)) + 3.0
    labels = rng.integers(0, n_classes, 50)
    model = KernelLogisticRegression(lam, kernel="linear", tol=1e-8).fit(points, labels)
    mean = points.mean(axis=0)
    centred = points - mean
    precomputed = KernelLogisticRegression(lam, kernel="precomputed", tol=1e-7)
    precomputed.fit(centred @ centred.T, labels)
    reference = LogisticRegression(C=1 / lam, solver="newton-cholesky", tol=1e-10)
    reference.fit(points, labels)
    new_points = rng.standard_normal((20, d))
    P, K_new = model.predict_proba(new_points), (new_points - mean) @ centred.T
    np.testing.assert_allclose(P, precomputed.predict_proba(K_new), atol=1e-6)
    np.testing.assert_allclose(P, reference.predict_proba(new_points), atol=1e-3)
    expansion = model.dual_coef_ @ model.support_vectors_
    np.testing.assert_allclose(expansion, model.coef_, atol=1e-5 * np.abs(model.coef_).max())
    loss = -reference.predict_log_proba(points)[np.arange(50), labels].sum()
    assert model.objective_ <= loss + 0.5 * lam * np.sum(reference.coef_**2) + 1e-9


def test_gaussian_process_with_the_same_kernel_has_the_same_mode():
    # The mode of Laplace's approximation minimises our objective with lam = 1 and no intercept.
    # The intercept is zero because of the symmetry of the data.
    points = np.vstack([X, -X])
    labels = np.append(Y, -Y)
    model = KernelLogisticRegression(1.0, gamma=0.5, tol=1e-10).fit(points, labels)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-9)
    process = GaussianProcessClassifier(RBF(1.0), optimizer=None).fit(points, labels)
    laplace = process.base_estimator_
    mode = gaussian(X_NEW, points, gamma=0.5) @ (laplace.y_train_ - laplace.pi_)
    np.testing.assert_allclose(model.decision_function(X_NEW), mode, atol=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_probabilities_of_three_classes_sum_to_one_and_to_the_class_sizes(kernel):
    points, labels = IRIS
    species = np.array(["setosa", "versicolor", "virginica"])[labels]
    model = KernelLogisticRegression(0.1, kernel=kernel, gamma=0.2).fit(points, species)
    assert model.score(points, species) >= 0.96
    F, P = model.decision_function(points), model.predict_proba(points)
    assert F.shape == P.shape == (150, 3)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(points))
    np.testing.assert_allclose(np.log(P), model.predict_log_proba(points), atol=1e-9)
    # The intercepts are not penalised, so the probabilities of a class sum to its size.
    np.testing.assert_allclose(P.sum(axis=0), 50.0, atol=1e-4)


def test_extreme_log_probabilities_are_finite():
    points = np.array([[-1e4], [-9e3], [9e3], [1e4]])
    model = KernelLogisticRegression(1e-9, kernel="linear").fit(points, [0, 0, 1, 1])
    log_p = model.predict_log_proba([[-1e9], [1e9]])
    assert np.isfinite(log_p).all()
    assert log_p[0, 1] < -700  # its exponential is zero in double precision
    np.testing.assert_array_equal(model.predict_proba([[-1e9], [1e9]]), [[1, 0], [0, 1]])


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_models_of_a_path_equal_separate_fits(penalty, kernel):
    points = gaussian(X, gamma=0.3) if kernel == "precomputed" else X
    template = KernelLogisticRegression(penalty=penalty, kernel=kernel, gamma=0.3)
    path = template.path(points, Y, lams=5, min_ratio=1e-2)
    assert not hasattr(template, "dual_coef_")
    lams = [model.lam for model in path]
    np.testing.assert_allclose(np.diff(np.log(lams)), np.log(1e-2) / 4)
    for model in path:
        separate_fit = KernelLogisticRegression(**model.get_params()).fit(points, Y)
        np.testing.assert_allclose(
            model.decision_function(points), separate_fit.decision_function(points), atol=1e-3
        )
        assert model.objective_ == pytest.approx(separate_fit.objective_, rel=1e-6)
    if penalty == "l1":
        sizes = [len(model.support_) for model in path]
        assert sizes[0] == 0 < sizes[-1]
        np.testing.assert_allclose(path[0].predict_proba(points)[:, 1], (Y > 0).mean())


def test_lasso_path_starts_where_the_first_coefficient_becomes_nonzero():
    model = KernelLogisticRegression(penalty="l1", gamma=0.3)
    first, second = model.path(X, Y, 2, min_ratio=0.999)
    assert len(first.support_) == 0 and len(second.support_) > 0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_path_of_weighted_and_repeated_points_has_the_same_lams(kernel):
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    template = KernelLogisticRegression(kernel=kernel, gamma=0.3)
    weighted_path = template.path(X, Y, 4, sample_weight=counts)
    repeated_path = template.path(np.repeat(X, counts, axis=0), np.repeat(Y, counts), 4)
    lams = [[model.lam for model in path] for path in (weighted_path, repeated_path)]
    np.testing.assert_allclose(*lams, rtol=1e-10)


def test_path_for_three_classes_has_the_given_lams():
    path = KernelLogisticRegression(gamma=0.2).path(*IRIS, lams=[10.0, 1.0, 0.1])
    scores = [model.score(*IRIS) for model in path]
    assert [model.lam for model in path] == [10.0, 1.0, 0.1]
    assert scores[-1] >= 0.96


def test_no_penalty_is_the_limit_of_a_small_ridge_penalty():
    unpenalised = KernelLogisticRegression(penalty=None, kernel="linear", tol=1e-9).fit(X, Y)
    ridge = KernelLogisticRegression(1e-8, kernel="linear", tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(
        unpenalised.decision_function(X_NEW), ridge.decision_function(X_NEW), rtol=1e-5
    )
    quadratic = KernelLogisticRegression(penalty=None, kernel="poly", gamma=1.0, degree=2)
    K, K_new = polynomial(X, degree=2), polynomial(X_NEW, X, degree=2)
    ridge = KernelLogisticRegression(1e-6, kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(
        quadratic.fit(X, Y).decision_function(X_NEW), ridge.decision_function(K_new), atol=1e-3
    )
    np.testing.assert_allclose(
        K_new[:, quadratic.support_] @ quadratic.dual_coef_[0] + quadratic.intercept_,
        quadratic.decision_function(X_NEW),
    )
    assert np.isinf(unpenalised.relative_gap_)


@pytest.mark.parametrize("labels", [Y, np.arange(80) % 3], ids=["two classes", "three classes"])
def test_coefficients_without_a_penalty_have_minimum_norm(labels):
    weights = np.linspace(0.5, 2, 80)
    model = KernelLogisticRegression(7.0, penalty=None, kernel="linear")
    model.fit(X, labels, sample_weight=weights)
    expected = np.squeeze(np.linalg.pinv((X - X.mean(axis=0)).T) @ model.coef_.T)
    assert len(model.support_) == 80
    np.testing.assert_allclose(np.squeeze(model.dual_coef_.T), expected, atol=1e-9)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, atol=1e-9)
