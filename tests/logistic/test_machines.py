"""The logistic machines as estimators: objective, kernels, weights, paths."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression

from svmbook import ImportVectorMachine, KernelLogisticRegression
from svmbook.datasets import stdev
from svmbook.kernels import CONDITIONAL, KERNELS, gaussian, polynomial

X, Y = stdev(2, 80, random_state=0)
NEW, _ = stdev(2, 30, random_state=1)
BOTH = [KernelLogisticRegression(), ImportVectorMachine()]
IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_the_objective_is_the_one_of_the_docstring(kernel, penalty):
    weights = np.linspace(0.5, 2, 80)
    machine = KernelLogisticRegression(0.7, penalty=penalty, kernel=kernel, gamma=0.2)
    machine.fit(X, Y, sample_weight=weights)
    function, reads = KERNELS[kernel]
    box = np.stack([X.min(axis=0), X.max(axis=0)])
    params = {"gamma": 0.2, "degree": 3, "coef0": 1.0, "box": box}
    params = {name: params[name] for name in reads}
    K = function(X, **params)
    if kernel in CONDITIONAL and penalty == "l2":
        assert abs(machine.dual_coef_.sum()) < 1e-10 * np.abs(machine.dual_coef_).sum()
    alpha = np.zeros(80)
    alpha[machine.support_] = machine.dual_coef_[0]
    np.testing.assert_allclose(
        machine.decision_function(X), K @ alpha + machine.intercept_, atol=1e-8 * np.abs(K).max()
    )
    loss = -weights @ machine.predict_log_proba(X)[np.arange(80), (Y > 0).astype(int)]
    ridge, size = 0.35 * alpha @ K @ alpha, 0.7 * np.abs(alpha).sum()
    assert machine.objective_ == pytest.approx(loss + (ridge if penalty == "l2" else size))
    assert machine.relative_gap_ <= 1e-5


@pytest.mark.parametrize("machine", BOTH, ids=lambda m: type(m).__name__)
def test_a_kernel_may_be_named_given_or_precomputed(machine):
    named = machine.set_params(kernel="rbf", gamma=0.3).fit(X, Y).decision_function(NEW)

    def half(A, B):
        return gaussian(A, B, gamma=0.3)

    given = machine.set_params(kernel=half).fit(X, Y).decision_function(NEW)
    np.testing.assert_allclose(given, named, atol=1e-8)
    K, K_new = half(X, X), half(NEW, X)
    precomputed = machine.set_params(kernel="precomputed").fit(K, Y).decision_function(K_new)
    np.testing.assert_allclose(precomputed, named, atol=1e-8)
    assert machine.support_vectors_.shape == (0, 0)
    with pytest.raises(ValueError, match="80 features"):
        machine.predict(K_new[:, :20])


@pytest.mark.parametrize("lam", [0.01, 10.0])
@pytest.mark.parametrize("d", [5, 200])
@pytest.mark.parametrize("classes", [2, 3])
def test_primal_and_dual_of_the_linear_kernel_agree(lam, d, classes):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((50, d)) + 3.0
    labels = rng.integers(0, classes, 50)
    primal_or_dual = KernelLogisticRegression(lam, kernel="linear", tol=1e-8).fit(points, labels)
    centred = points - points.mean(axis=0)
    gram = KernelLogisticRegression(lam, kernel="precomputed", tol=1e-7)
    gram.fit(centred @ centred.T, labels)
    new = rng.standard_normal((20, d))
    theirs = LogisticRegression(C=1 / lam, solver="newton-cholesky", tol=1e-10)
    theirs.fit(points, labels)
    K_new = (new - points.mean(axis=0)) @ centred.T
    np.testing.assert_allclose(
        primal_or_dual.predict_proba(new), gram.predict_proba(K_new), atol=1e-6
    )
    np.testing.assert_allclose(
        primal_or_dual.predict_proba(new), theirs.predict_proba(new), atol=1e-3
    )
    # The coefficients of the points give the weights of the features.
    np.testing.assert_allclose(
        primal_or_dual.dual_coef_ @ primal_or_dual.support_vectors_,
        primal_or_dual.coef_,
        atol=1e-5 * np.abs(primal_or_dual.coef_).max(),
    )
    assert primal_or_dual.objective_ <= objective(theirs, points, labels, lam) + 1e-9


def objective(theirs, points, labels, lam):
    loss = -theirs.predict_log_proba(points)[np.arange(len(labels)), labels].sum()
    return loss + 0.5 * lam * np.sum(theirs.coef_**2)


def test_a_gaussian_process_with_the_same_kernel_gives_the_same_mode():
    # Laplace's approximation maximises our objective with lam = 1 and without an intercept.
    # Labels that are balanced by symmetry make the intercept zero.
    points = np.vstack([X, -X])
    labels = np.append(Y, -Y)
    ours = KernelLogisticRegression(1.0, gamma=0.5, tol=1e-10).fit(points, labels)
    theirs = GaussianProcessClassifier(RBF(1.0), optimizer=None).fit(points, labels)
    assert ours.intercept_[0] == pytest.approx(0.0, abs=1e-9)
    machine = theirs.base_estimator_
    mode = gaussian(NEW, points, gamma=0.5) @ (machine.y_train_ - machine.pi_)
    np.testing.assert_allclose(ours.decision_function(NEW), mode, atol=1e-4)


@pytest.mark.parametrize("machine", BOTH, ids=lambda m: type(m).__name__)
def test_a_weight_of_two_is_two_points(machine):
    machine.set_params(kernel="rbf", gamma=0.3)
    weights = np.random.default_rng(0).integers(0, 3, 80)
    weighted = machine.fit(X, Y, sample_weight=weights).decision_function(NEW)
    assert (weights[machine.support_] > 0).all()
    repeated = machine.fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    np.testing.assert_allclose(weighted, repeated.decision_function(NEW), atol=1e-5)


def test_class_weights_multiply_sample_weights():
    weighted = KernelLogisticRegression(class_weight={-1: 3.0, 1: 1.0}).fit(X, Y)
    # gamma="scale" looks at sample weights alone
    by_hand = KernelLogisticRegression(gamma=weighted.gamma_)
    by_hand.fit(X, Y, sample_weight=np.where(Y < 0, 3.0, 1.0))
    np.testing.assert_allclose(
        weighted.decision_function(NEW), by_hand.decision_function(NEW), atol=1e-8
    )


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [0, 1], [99, 100], [False, True], [-1.0, 1.0]],
    ids=["words", "01", "numbers", "bools", "signs"],
)
@pytest.mark.parametrize("machine", BOTH, ids=lambda m: type(m).__name__)
def test_labels_of_any_kind(machine, labels):
    machine.set_params(kernel="rbf", gamma=0.3)
    y = np.array(labels)[(Y > 0).astype(int)]
    machine.fit(X, y)
    answers = machine.predict(NEW)
    assert answers.dtype == y.dtype
    np.testing.assert_array_equal(answers == labels[1], machine.decision_function(NEW) > 0)
    np.testing.assert_allclose(machine.predict_proba(NEW).sum(axis=1), 1.0)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_three_classes(kernel):
    points, labels = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[labels]
    machine = KernelLogisticRegression(0.1, kernel=kernel, gamma=0.2).fit(points, names)
    assert machine.score(points, names) >= 0.96
    F, P = machine.decision_function(points), machine.predict_proba(points)
    assert F.shape == P.shape == (150, 3)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(machine.classes_[P.argmax(axis=1)], machine.predict(points))
    np.testing.assert_allclose(np.log(P), machine.predict_log_proba(points), atol=1e-9)
    # Sums of probabilities are the counts of the classes: the intercepts are not penalised.
    np.testing.assert_allclose(P.sum(axis=0), 50.0, atol=1e-4)


def test_probabilities_are_exact_at_both_ends():
    points = np.array([[-1e4], [-9e3], [9e3], [1e4]])
    machine = KernelLogisticRegression(1e-9, kernel="linear").fit(points, [0, 0, 1, 1])
    far = machine.predict_log_proba([[-1e9], [1e9]])
    assert np.isfinite(far).all()
    assert far[0, 1] < -700  # its exponential is zero in double precision
    np.testing.assert_array_equal(machine.predict_proba([[-1e9], [1e9]]), [[1, 0], [0, 1]])


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_a_path_holds_fitted_machines(penalty, kernel):
    points = gaussian(X, gamma=0.3) if kernel == "precomputed" else X
    template = KernelLogisticRegression(penalty=penalty, kernel=kernel, gamma=0.3)
    path = template.path(points, Y, lams=5, smallest=1e-2)
    assert not hasattr(template, "alpha_")
    lams = [machine.lam for machine in path]
    np.testing.assert_allclose(np.diff(np.log(lams)), np.log(1e-2) / 4)
    for machine in path:
        alone = KernelLogisticRegression(**machine.get_params()).fit(points, Y)
        np.testing.assert_allclose(
            machine.decision_function(points), alone.decision_function(points), atol=1e-3
        )
        assert machine.objective_ == pytest.approx(alone.objective_, rel=1e-6)
    if penalty == "l1":
        sizes = [len(machine.support_) for machine in path]
        assert sizes[0] == 0 < sizes[-1]
        np.testing.assert_allclose(path[0].predict_proba(points)[:, 1], (Y > 0).mean())


def test_a_path_of_absolute_values_starts_where_the_first_coefficient_leaves_zero():
    machine = KernelLogisticRegression(penalty="l1", gamma=0.3)
    first, second = machine.path(X, Y, 2, smallest=0.999)
    assert len(first.support_) == 0 and len(second.support_) > 0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_path_takes_weights_for_repetitions(kernel):
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    machine = KernelLogisticRegression(kernel=kernel, gamma=0.3)
    weighted = machine.path(X, Y, 4, sample_weight=counts)
    repeated = machine.path(np.repeat(X, counts, axis=0), np.repeat(Y, counts), 4)
    lams = [[fitted.lam for fitted in path] for path in (weighted, repeated)]
    np.testing.assert_allclose(*lams, rtol=1e-10)


def test_a_path_of_three_classes():
    path = KernelLogisticRegression(gamma=0.2).path(*IRIS, lams=[10.0, 1.0, 0.1])
    scores = [machine.score(*IRIS) for machine in path]
    assert [machine.lam for machine in path] == [10.0, 1.0, 0.1]
    assert scores[-1] >= 0.96


def test_no_penalty_is_the_limit_of_the_ridge():
    limit = KernelLogisticRegression(penalty=None, kernel="linear", tol=1e-9).fit(X, Y)
    ridge = KernelLogisticRegression(1e-8, kernel="linear", tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(
        limit.decision_function(NEW), ridge.decision_function(NEW), rtol=1e-5
    )
    quadratic = KernelLogisticRegression(penalty=None, kernel="poly", gamma=1.0, degree=2)
    K, K_new = polynomial(X, degree=2), polynomial(NEW, X, degree=2)
    ridge = KernelLogisticRegression(1e-6, kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(
        quadratic.fit(X, Y).decision_function(NEW), ridge.decision_function(K_new), atol=1e-3
    )
    np.testing.assert_allclose(
        K_new[:, quadratic.support_] @ quadratic.dual_coef_[0] + quadratic.intercept_,
        quadratic.decision_function(NEW),
    )
    assert np.isinf(limit.relative_gap_)


@pytest.mark.parametrize("labels", [Y, np.arange(80) % 3], ids=["two classes", "three"])
def test_without_a_penalty_the_coefficients_are_the_shortest(labels):
    weights = np.linspace(0.5, 2, 80)
    machine = KernelLogisticRegression(7.0, penalty=None, kernel="linear")
    machine.fit(X, labels, sample_weight=weights)
    centred = X - np.average(X, axis=0, weights=weights)
    shortest = np.squeeze(np.linalg.pinv(centred.T) @ machine.coef_.T)
    assert len(machine.support_) == 80
    np.testing.assert_allclose(np.squeeze(machine.dual_coef_.T), shortest, atol=1e-9)
