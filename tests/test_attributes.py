"""The fitted attributes give the decision function, also if changed; memory of predictions."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from svmbook import (
    ERMSVC,
    IRWLSSVC,
    USVC,
    DualSVC,
    ImportVectorMachine,
    KernelLogisticRegression,
    LeastSquaresClassifier,
)
from svmbook.kernels import KERNELS

KERNEL_MODELS = [
    DualSVC(C=2.0, kernel="rbf"),
    KernelLogisticRegression(lam=0.1),
    KernelLogisticRegression(lam=0.5, penalty="l1"),
    ImportVectorMachine(lam=0.1),
    IRWLSSVC(kernel="rbf"),
    ERMSVC(kernel="rbf"),
    USVC(kernel="rbf", n_prototypes=5, random_state=0),
]
LINEAR_MODELS = [
    DualSVC(),
    KernelLogisticRegression(kernel="linear"),
    KernelLogisticRegression(kernel="linear", penalty=None, class_weight="balanced"),
    ImportVectorMachine(kernel="linear"),
    IRWLSSVC(),
    ERMSVC(),
    USVC(),
    LeastSquaresClassifier(),
]


def negative_distance(X, Z):
    """Return 0.5 minus the L1 distances, a kernel that is only conditionally positive definite."""
    return 0.5 - cdist(X, Z, "cityblock")


def make_data(offset, n_classes=2):
    rng = np.random.default_rng(0)
    X = offset + rng.normal(size=(60, 3))
    y = np.digitize(X[:, 0] - offset + 0.3 * rng.normal(size=60), [0.0, 0.7][: n_classes - 1])
    return X, y, offset + rng.normal(size=(20, 3))


def kernel_values(model, X, X_new):
    """Return the kernel values of new points with the support vectors, from public attributes."""
    if model.kernel == "precomputed":
        return X_new[:, model.support_]
    if callable(model.kernel):
        return model.kernel(X_new, model.support_vectors_)
    function, parameter_names = KERNELS[model.kernel]
    parameter_values = {
        "degree": model.degree,
        "coef0": model.coef0,
        "box": [X.min(axis=0), X.max(axis=0)],
    }
    parameter_values["gamma"] = getattr(model, "gamma_", None)
    return function(
        X_new, model.support_vectors_, **{name: parameter_values[name] for name in parameter_names}
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("kernel", [*KERNELS, negative_distance, "precomputed"])
@pytest.mark.parametrize("model", KERNEL_MODELS, ids=lambda m: type(m).__name__)
def test_coefficients_and_support_vectors_give_the_decision_function(model, kernel, offset):
    is_multinomial = isinstance(model, KernelLogisticRegression) and model.penalty != "l1"
    X, y, X_new = make_data(offset, n_classes=3 if is_multinomial else 2)
    model = clone(model).set_params(kernel=kernel)
    if kernel == "precomputed":
        if isinstance(model, USVC):
            pytest.skip("USVC does not support precomputed kernels")
        X_train, X_new = negative_distance(X, X), negative_distance(X_new, X)
    else:
        X_train = X
    try:
        model.fit(X_train, y)
    except ValueError as error:  # raised if the model needs a positive semi-definite kernel
        assert "not positive semi-definite" in str(error)
        assert kernel in (negative_distance, "precomputed")
        assert getattr(model, "penalty", None) == "l1" or isinstance(
            model, ImportVectorMachine | USVC
        )
        return
    K = kernel_values(model, X, X_new)
    expected = K @ model.dual_coef_.T + model.intercept_
    tolerance = 1e-13 * (1.0 + np.abs(model.dual_coef_).sum() * np.abs(K).max())
    outputs = model.decision_function(X_new).reshape(expected.shape)
    np.testing.assert_allclose(expected, outputs, rtol=0, atol=tolerance if offset else 1e-10)


@pytest.mark.parametrize("offset", [0.0, 1000.0])
@pytest.mark.parametrize("model", LINEAR_MODELS, ids=lambda m: type(m).__name__)
def test_outputs_of_linear_model_follow_changed_coef_and_intercept(model, offset):
    X, y, X_new = make_data(offset)
    model = clone(model).fit(X, y)

    def assert_outputs_follow_the_attributes():
        outputs = X_new @ model.coef_[0] + model.intercept_[0]
        np.testing.assert_allclose(outputs, model.decision_function(X_new), atol=1e-8)

    assert_outputs_follow_the_attributes()
    model.coef_ = model.coef_ * [1.0, 0.0, 2.0]  # one coefficient pruned
    model.intercept_ = model.intercept_ + 0.5
    assert_outputs_follow_the_attributes()
    model.coef_[:] = 0.0  # changed in place
    assert_outputs_follow_the_attributes()


# A few blocks of 16 MB each are in memory at a time. The whole kernel matrix would take 240 MB.
@pytest.mark.parametrize("kernel", ["rbf", "stump", "stump_tree", "poly"])
def test_prediction_needs_less_memory_than_the_kernel_matrix(kernel):
    X, y, _ = make_data(0.0)
    model = DualSVC(C=2.0, kernel=kernel).fit(X, y)
    rng = np.random.default_rng(1)
    model.support_vectors_ = rng.normal(size=(1500, 3))
    model.dual_coef_ = rng.normal(size=(1, 1500))
    X_new = rng.normal(size=(20_000, 3))
    tracemalloc.start()
    outputs = model.decision_function(X_new)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 100e6
    rows = [0, 1, 9_999, 19_999]
    np.testing.assert_allclose(outputs[rows], model.decision_function(X_new[rows]), atol=1e-9)
