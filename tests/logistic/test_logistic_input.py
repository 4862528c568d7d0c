"""The logistic estimators on invalid input, their warnings, and extreme values."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from svmbook import ImportVectorMachine, KernelLogisticRegression
from svmbook.datasets import non_separable, stdev
from svmbook.kernels import gaussian

X, Y = stdev(2, 80, random_state=0)
X_NEW, _ = stdev(2, 30, random_state=1)
MODELS = [KernelLogisticRegression(), ImportVectorMachine()]
IRIS = load_iris(return_X_y=True)


# The other parameters are tested in test_parameters.py.
@pytest.mark.parametrize(("name", "value"), [("lam", np.nan), ("kernel", "sigmoid")])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_invalid_parameters_are_reported(model, name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        type(model)(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("invalid_argument", "message"),
    [
        ({"y": np.ones(80)}, "one class only"),
        ({"X": np.where(X > 3, np.nan, X)}, "NaN"),
        ({"sample_weight": -np.ones(80)}, "sample_weight has negative"),
        ({"sample_weight": np.zeros(80)}, "one class only, or none|at least one non-zero"),
        ({"sample_weight": (Y > 0).astype(float)}, "one class only, or none"),
        ({"y": Y[:-1]}, "inconsistent numbers of samples"),
    ],
)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_invalid_data_are_reported(model, invalid_argument, message):
    model = type(model)()
    with pytest.raises(ValueError, match=message):
        model.fit(**({"X": X, "y": Y} | invalid_argument))
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda A, B: np.full((len(A), len(B)), np.inf), "not finite"),
        (lambda A, B: -gaussian(A, B), "not positive semi-definite"),
        (lambda A, B: np.ones((len(A), 3)), "it must return"),
        (lambda A, B: A @ B.T + np.arange(len(B)), "not symmetric"),
    ],
    ids=["infinite", "negative definite", "wrong shape", "asymmetric"],
)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_invalid_kernels_are_reported(model, kernel, message):
    with pytest.raises(ValueError, match=message):
        type(model)(kernel=kernel).fit(X, Y)


def test_precomputed_matrix_that_is_not_square_is_reported():
    with pytest.raises(ValueError, match="square, with one row per point"):
        KernelLogisticRegression(kernel="precomputed").fit(X, Y)


def test_separable_classes_without_a_penalty_are_reported():
    points, labels = stdev(1, 50, random_state=0)
    with pytest.raises(ValueError, match="small lam, or penalty='l2' in an estimator"):
        KernelLogisticRegression(penalty=None, kernel="linear").fit(points, labels)
    with pytest.raises(ValueError, match="the classes can be separated"):
        KernelLogisticRegression(penalty=None, kernel="rbf").fit(X, Y)
    with pytest.raises(ValueError, match="no lam, and so no path"):
        KernelLogisticRegression(penalty=None).path(X, Y)


def test_lasso_path_of_three_classes_is_reported():
    with pytest.raises(ValueError, match="exactly two classes are needed; found 3"):
        KernelLogisticRegression(penalty="l1").path(*IRIS)


def test_class_of_weight_zero_is_reported():
    points, labels = IRIS
    with pytest.raises(ValueError, match="no point of the class"):
        KernelLogisticRegression().fit(points, labels, sample_weight=(labels != 1).astype(float))


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_unconverged_model_warns_and_can_predict(penalty):
    points, labels = non_separable(100, random_state=0)
    model = KernelLogisticRegression(1e-4, penalty=penalty, gamma=1.0, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations.*Raise lam"):
        model.fit(points, labels)
    assert model.score(points, labels) > 0.5
    assert model.relative_gap_ > 0


@pytest.mark.parametrize(
    "arguments",
    [{"lams": 0}, {"lams": [1.0, -1.0]}, {"lams": [1.0, 0.0]}, {"lams": []}, {"min_ratio": 2.0}],
    ids=str,
)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_invalid_lams_are_reported(kernel, arguments):
    with pytest.raises(ValueError):
        KernelLogisticRegression(kernel=kernel).path(X, Y, **arguments)


def test_lams_may_be_any_iterable():
    path = KernelLogisticRegression().path(X, Y, (lam for lam in (4, 2.0, np.float32(1))))
    assert [model.lam for model in path] == [4.0, 2.0, 1.0]


def test_path_of_equal_points_needs_explicit_lams():
    with pytest.raises(ValueError, match="kernel does not distinguish the points"):
        KernelLogisticRegression(kernel="linear").path(np.ones_like(X), Y, 3)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_linear_model_is_translation_invariant(model):
    model.set_params(kernel="linear")
    outputs = model.fit(X, Y).decision_function(X_NEW)
    translated_outputs = model.fit(X + 1e6, Y).decision_function(X_NEW + 1e6)
    np.testing.assert_allclose(translated_outputs, outputs, atol=1e-5)
    assert model.relative_gap_ < 0.1


def test_extreme_log_probabilities_of_three_classes_are_finite():
    points = np.array([[-1e3], [0.0], [1e3], [1.1e3]])
    model = KernelLogisticRegression(1e-6, kernel="linear").fit(points, [0, 1, 2, 2])
    log_p = model.predict_log_proba([[-1e7], [1e7]])
    assert np.isfinite(log_p).all()
    assert log_p.min() < -800


def test_warning_recommends_a_parameter_and_points_to_the_call_of_fit():
    with pytest.warns(ConvergenceWarning, match="or raise tol.$") as caught:
        ImportVectorMachine(tol=1e-18).fit(X, Y)
    assert caught[0].filename == __file__
