"""All kernel machines: their fitted attributes, parameter checks and certificates."""

import subprocess
import sys

import numpy as np
import pytest
from public_estimators import PUBLIC_ESTIMATORS
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from svmbook import (
    ERMSVC,
    IRWLSSVC,
    USVC,
    DualSVC,
    ImportVectorMachine,
    KernelLogisticRegression,
)
from svmbook.base import relative_gap
from svmbook.datasets import non_separable, stdev
from svmbook.kernels import gaussian

X, Y = stdev(2, 80, random_state=0)
KERNEL_MODELS = [cls() for cls in PUBLIC_ESTIMATORS.values() if "kernel" in cls().get_params()]
NONCONVEX_CLASSES = (ERMSVC, USVC)  # have no duality gap
COMMON_ATTRIBUTES = {
    *("classes_", "converged_", "dual_coef_", "intercept_", "kkt_residual_", "n_features_in_"),
    *("n_iter_", "objective_", "relative_gap_", "support_", "support_vectors_"),
}
DUAL_ATTRIBUTES = {
    *("alpha_", "bounded_support_", "dual_objective_", "free_support_", "geometric_margin_"),
    *("n_support_", "solver_"),
}
every_model = pytest.mark.parametrize("model", KERNEL_MODELS, ids=lambda m: type(m).__name__)


def public_fitted_attributes(model):
    return vars(model).keys() - model.get_params().keys() - {"_kernel", "_centred_model"}


@every_model
@pytest.mark.parametrize(
    ("kernel", "kernel_attributes"), [("linear", {"coef_"}), ("rbf", {"gamma_"})]
)
def test_fitted_attributes_are_those_of_the_class_and_the_kernel(model, kernel, kernel_attributes):
    fitted = clone(model).set_params(kernel=kernel).fit(X, Y)
    attributes_by_class = {
        DualSVC: DUAL_ATTRIBUTES,
        ImportVectorMachine: {"full_model_gap_"},
        IRWLSSVC: {"alpha_"},
        ERMSVC: {"alpha_", "n_kernels_", "objectives_", "slopes_"},
        USVC: {"start_objectives_"}
        | ({"n_kernels_", "prototypes_"} if kernel == "rbf" else {"alpha_"}),
    }
    expected = COMMON_ATTRIBUTES | kernel_attributes | attributes_by_class.get(type(model), set())
    if isinstance(model, NONCONVEX_CLASSES):
        expected -= {"relative_gap_"}
    if isinstance(model, USVC) and kernel == "rbf":  # an expansion in prototypes
        expected -= {"support_"}
    assert public_fitted_attributes(fitted) == expected


@every_model
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_changed_intercept_shifts_the_outputs(model, kernel):
    fitted = clone(model).set_params(kernel=kernel).fit(X, Y)
    outputs_before = fitted.decision_function(X)
    fitted.intercept_ += 0.5
    np.testing.assert_allclose(fitted.decision_function(X), outputs_before + 0.5, rtol=1e-12)


@pytest.mark.parametrize("model", [KernelLogisticRegression(), ImportVectorMachine()])
@pytest.mark.parametrize("lam", [np.float16(0.01), np.float32(0.01)])
def test_parameters_of_lower_precision_are_converted_to_double(model, lam):
    fitted = clone(model).set_params(lam=lam, tol=np.float32(1e-6)).fit(X, Y)
    reference = clone(model).set_params(lam=float(lam), tol=float(np.float32(1e-6))).fit(X, Y)
    assert type(fitted.objective_) is float and fitted.objective_ == reference.objective_


@pytest.mark.parametrize(
    "options",
    [{"solver": solver} for solver in ("interior-point", "cvxopt", "active-set", "smo", "libsvm")]
    + [{"C": np.inf}],
)
def test_every_solver_reports_an_indefinite_kernel(options):
    def kernel(A, B):
        return 2.0 + ((A[:, None] - B[None]) ** 2).sum(-1)

    with pytest.raises(ValueError, match="the kernel is not positive semi-definite"):
        DualSVC(kernel=kernel, **options).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("tol", 0.0), ("gamma", 0.0), ("degree", 0), ("lam", 0.0), ("C", 0.0), ("max_iter", 0)),
        *(("max_points", 0), ("min_decrease", 0.0), ("kernel", "cosine"), ("coef0", np.inf)),
    ],
)
def test_invalid_parameter_value_is_reported(name, value):
    models = [clone(model) for model in KERNEL_MODELS if name in model.get_params()]
    assert models
    for model in models:
        model.set_params(**{name: value})
        for method in [model.fit] + ([model.path] if hasattr(model, "path") else []):
            with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
                method(X, Y)


@every_model
def test_failed_fit_keeps_only_the_number_of_features(model):
    fitted = clone(model).set_params(kernel="rbf").fit(X, Y)
    for points, labels in ((X, np.ones(80)), (1e200 * X, Y)):
        with pytest.raises(ValueError):
            fitted.fit(points, labels)
        assert vars(fitted).keys() - fitted.get_params().keys() == {"n_features_in_"}
        with pytest.raises(NotFittedError):
            fitted.predict(X)


@pytest.mark.parametrize(
    "model",
    [
        *(DualSVC(kernel="rbf", solver=solver, max_iter=1) for solver in ("smo", "active-set")),
        DualSVC(kernel="rbf", solver="interior-point", max_iter=1),
        DualSVC(kernel="rbf", solver="cvxopt", max_iter=1),
        DualSVC(kernel="rbf", solver="libsvm", max_iter=1),
        KernelLogisticRegression(1e-4, max_iter=1),
        KernelLogisticRegression(1e-2, penalty="l1", max_iter=1),
        ImportVectorMachine(1e-4, tol=1e-30),
    ],
    ids=lambda m: type(m).__name__,
)
def test_unconverged_fit_warns_and_sets_all_attributes(model):
    points, labels = non_separable(60, random_state=0)
    message = r"stopped after .* not certified to tol.*\. \w"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model.fit(points, labels)
    assert caught[0].filename == __file__  # the warning names the caller of fit
    options = {"tol": 1e-3} if isinstance(model, ImportVectorMachine) else {"max_iter": 10**5}
    converged_model = clone(model).set_params(**options).fit(points, labels)
    assert public_fitted_attributes(model) == public_fitted_attributes(converged_model)
    assert np.isfinite(model.decision_function(points)).all()
    assert model.relative_gap_ > 0 and not model.converged_


@pytest.mark.parametrize(
    "model",
    [model for model in KERNEL_MODELS if not isinstance(model, NONCONVEX_CLASSES)],
    ids=lambda m: type(m).__name__,
)
def test_relative_gap_is_small(model):
    fitted = clone(model).fit(X, Y)
    assert 0.0 <= fitted.relative_gap_ <= 1e-5
    if isinstance(model, ImportVectorMachine):
        assert fitted.relative_gap_ < fitted.full_model_gap_ <= 0.1


@pytest.mark.parametrize("solver", ["interior-point", "cvxopt", "active-set", "libsvm"])
@pytest.mark.parametrize("offset", [1e6, 1e12, 1e15])
def test_certificate_holds_for_the_decision_function(solver, offset):
    # For an offset of 1e15, the rounding errors of X @ coef_ can change predictions.
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 3)) + offset
    labels = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    model = DualSVC(solver=solver).fit(points, labels)
    slack = np.maximum(0.0, 1.0 - labels * model.decision_function(points))
    primal = 0.5 * np.sum(model.coef_**2) + slack.sum()
    assert primal == pytest.approx(model.objective_, rel=1e-9)
    assert primal - model.dual_objective_ <= 1e-6 * primal


@pytest.mark.parametrize(
    "model",
    [model for model in KERNEL_MODELS if hasattr(model, "predict_log_proba")],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("offset", [1e12, 1e15])
def test_log_probabilities_far_from_the_origin_give_the_objective(model, offset):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((40, 3)) + offset
    labels = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    fitted = clone(model).set_params(kernel="linear", lam=1.0).fit(points, labels)
    log_p = fitted.predict_log_proba(points)[np.arange(40), (labels > 0).astype(int)]
    assert 0.5 * np.sum(fitted.coef_**2) - log_p.sum() == pytest.approx(fitted.objective_, rel=1e-9)


def test_indefinite_kernel_is_reported_if_it_affects_the_solution():
    # The solution does not depend on the kernel values of two points that are not support vectors.
    K = gaussian(X, gamma=0.3)
    model = DualSVC(kernel="precomputed").fit(K, Y)
    non_support_indices = np.setdiff1d(np.arange(80), model.support_)[:2]
    indefinite_K = K.copy()
    indefinite_K[np.ix_(non_support_indices, non_support_indices)] = [[1.0, 1.9], [1.9, 1.0]]
    assert np.linalg.eigvalsh(indefinite_K)[0] < -0.5
    refitted = DualSVC(kernel="precomputed", solver="libsvm").fit(indefinite_K, Y)
    np.testing.assert_allclose(refitted.alpha_, model.alpha_, atol=1e-6)
    indefinite_K = K.copy()
    indefinite_K[np.ix_(model.support_[:2], model.support_[:2])] = [[1.0, 9.0], [9.0, 1.0]]
    for solver in ("active-set", "interior-point", "cvxopt", "smo", "libsvm"):
        with pytest.raises(ValueError, match="not positive semi-definite"):
            DualSVC(kernel="precomputed", solver=solver).fit(indefinite_K, Y)


def test_multiplier_is_free_unless_it_equals_its_bound_up_to_rounding():
    # For two points at distance 2a both multipliers are 1 / (2a^2), if C is not smaller; here
    # a = 1. Multipliers equal to C up to rounding count as bounded.
    points, labels = np.array([[-1.0], [1.0]]), [0, 1]
    for multiplier_over_C, n_free in ((0.995, 2), (1.0 - 1e-12, 0)):
        model = DualSVC(C=0.5 / multiplier_over_C, solver="active-set").fit(points, labels)
        assert len(model.free_support_) == n_free
        assert len(model.bounded_support_) == 2 - n_free


def test_weighted_and_repeated_points_have_the_same_import_points():
    weights = np.where(np.arange(80) % 3 == 0, 3, 1)
    repeated_indices = np.repeat(np.arange(80), weights)
    model = ImportVectorMachine(kernel="linear", max_points=1, min_decrease=1e-9)
    points = X + 5.0  # far from 0, so that a change of the origin would matter
    weighted_model = clone(model).fit(points, Y, sample_weight=weights.astype(float))
    repeated_model = clone(model).fit(points[repeated_indices], Y[repeated_indices])
    np.testing.assert_allclose(weighted_model.coef_, repeated_model.coef_, rtol=1e-6)
    assert repeated_indices[repeated_model.support_[0]] == weighted_model.support_[0]


def test_penalty_none_reports_undecidable_separability():
    # The kernel is very smooth and the points are on a line, so double precision cannot decide
    # whether the three classes are separable.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1)), rng.integers(0, 3, 40)
    with pytest.raises(ValueError, match=r"penalty='l2'"):
        KernelLogisticRegression(penalty=None).fit(X, y)


def test_defaults_work_without_cvxopt():
    code = """
import sys
sys.modules["cvxopt"] = None  # importing it raises an ImportError
import svmbook
from svmbook import DualSVC
from svmbook.datasets import stdev
from svmbook.experiments.running.suite import versions
X, y = stdev(2, 40, random_state=0)
for name in svmbook.__all__[:-1]:
    model = getattr(svmbook, name)()
    model.fit(X, y).predict(X)
    print(name, getattr(model, "solver_", ""))
print(versions())
print(DualSVC(C=float("inf")).fit(*stdev(1, 40, random_state=0)).converged_)
try:
    DualSVC(solver="cvxopt").fit(X, y)
except ImportError as error:
    print(error)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "DualSVC interior-point" in process.stdout and "True" in process.stdout
    assert "pip install 'svmbook[cvxopt]'" in process.stdout
    assert "solver='interior-point'" in process.stdout


@pytest.mark.parametrize(("gap", "objective"), [(np.inf, np.inf), (np.nan, np.nan), (np.nan, 1.0)])
def test_gap_that_is_not_finite_proves_nothing(gap, objective):
    assert relative_gap(gap, objective) == np.inf


def test_relative_gap_is_a_fraction_of_the_objective_and_not_negative():
    assert [relative_gap(1.0, 4.0), relative_gap(-1e-17, 4.0), relative_gap(0.0, 0.0)] == [
        0.25,
        0,
        0,
    ]
