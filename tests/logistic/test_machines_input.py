"""The logistic machines on input that does not fit: a clear word each time."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from svmbook import ImportVectorMachine, KernelLogisticRegression
from svmbook.datasets import non_separable, stdev
from svmbook.kernels import gaussian

X, Y = stdev(2, 80, random_state=0)
NEW, _ = stdev(2, 30, random_state=1)
BOTH = [KernelLogisticRegression(), ImportVectorMachine()]
IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"lam": 0.0}, "'lam' parameter"),
        ({"lam": -1.0}, "'lam' parameter"),
        ({"lam": np.nan}, "'lam' parameter"),
        ({"kernel": "sigmoid"}, "'kernel' parameter"),
        ({"gamma": 0.0}, "'gamma' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
    ],
)
@pytest.mark.parametrize("machine", BOTH, ids=lambda m: type(m).__name__)
def test_parameters_out_of_range_are_named(machine, params, message):
    with pytest.raises(ValueError, match=message):
        type(machine)(**params).fit(X, Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(80)}, "one class only"),
        ({"X": np.where(X > 3, np.nan, X)}, "NaN"),
        ({"sample_weight": -np.ones(80)}, "sample_weight has negative"),
        ({"sample_weight": np.zeros(80)}, "one class only, or none|at least one non-zero"),
        ({"sample_weight": (Y > 0).astype(float)}, "one class only, or none"),
        ({"y": Y[:-1]}, "inconsistent numbers of samples"),
    ],
)
@pytest.mark.parametrize("machine", BOTH, ids=lambda m: type(m).__name__)
def test_bad_data_are_named(machine, change, message):
    machine = type(machine)()
    with pytest.raises(ValueError, match=message):
        machine.fit(**({"X": X, "y": Y} | change))
    with pytest.raises(NotFittedError):
        machine.predict(X)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda A, B: np.full((len(A), len(B)), np.inf), "not finite"),
        (lambda A, B: -gaussian(A, B), "not positive semi-definite"),
        (lambda A, B: np.ones((len(A), 3)), "it must return"),
        (lambda A, B: A @ B.T + np.arange(len(B)), "not symmetric"),
    ],
    ids=["infinite", "negative", "wrong shape", "asymmetric"],
)
@pytest.mark.parametrize("machine", BOTH, ids=lambda m: type(m).__name__)
def test_functions_that_are_no_kernels_are_named(machine, kernel, message):
    with pytest.raises(ValueError, match=message):
        type(machine)(kernel=kernel).fit(X, Y)


def test_a_precomputed_matrix_must_be_square():
    with pytest.raises(ValueError, match="square, with one row per point"):
        KernelLogisticRegression(kernel="precomputed").fit(X, Y)


def test_separable_data_need_a_penalty():
    points, labels = stdev(1, 50, random_state=0)
    with pytest.raises(ValueError, match="penalty='l2' with a small lam"):
        KernelLogisticRegression(penalty=None, kernel="linear").fit(points, labels)
    with pytest.raises(ValueError, match="the classes can be separated"):
        KernelLogisticRegression(penalty=None, kernel="rbf").fit(X, Y)
    with pytest.raises(ValueError, match="no lam, and so no path"):
        KernelLogisticRegression(penalty=None).path(X, Y)


def test_a_path_of_the_lasso_is_for_two_classes():
    with pytest.raises(ValueError, match="takes two classes; found 3"):
        KernelLogisticRegression(penalty="l1").path(*IRIS)


def test_a_class_without_weight_is_named():
    points, labels = IRIS
    with pytest.raises(ValueError, match="no point of the class"):
        KernelLogisticRegression().fit(points, labels, sample_weight=(labels != 1).astype(float))


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_an_early_end_is_a_warning_and_a_usable_machine(penalty):
    points, labels = non_separable(100, random_state=0)
    machine = KernelLogisticRegression(1e-4, penalty=penalty, gamma=1.0, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations.*Raise lam"):
        machine.fit(points, labels)
    assert machine.score(points, labels) > 0.5
    assert machine.relative_gap_ > 0


@pytest.mark.parametrize(
    "bad",
    [{"lams": 0}, {"lams": [1.0, -1.0]}, {"lams": [1.0, 0.0]}, {"lams": []}, {"smallest": 2.0}],
    ids=str,
)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_paths_refuse_what_makes_no_sense(kernel, bad):
    with pytest.raises(ValueError):
        KernelLogisticRegression(kernel=kernel).path(X, Y, **bad)


def test_a_path_takes_any_sequence_of_numbers():
    fitted = KernelLogisticRegression().path(X, Y, (lam for lam in (4, 2.0, np.float32(1))))
    assert [machine.lam for machine in fitted] == [4.0, 2.0, 1.0]
    with pytest.raises(ValueError, match="all alike to the machine"):
        KernelLogisticRegression(kernel="linear").path(np.ones_like(X), Y, 3)


def test_a_failed_fit_leaves_nothing_of_the_old_one():
    machine = KernelLogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match="one class only"):
        machine.fit(X, np.ones(80))
    with pytest.raises(NotFittedError):
        machine.predict(X)


@pytest.mark.parametrize("machine", BOTH, ids=lambda m: type(m).__name__)
def test_far_from_the_origin_a_linear_machine_is_the_same(machine):
    machine.set_params(kernel="linear")
    near = machine.fit(X, Y).decision_function(NEW)
    far = machine.fit(X + 1e6, Y).decision_function(NEW + 1e6)
    np.testing.assert_allclose(far, near, atol=1e-5)
    assert machine.relative_gap_ < 0.1


def test_log_probabilities_of_three_classes_are_exact_at_both_ends():
    points = np.array([[-1e3], [0.0], [1e3], [1.1e3]])
    machine = KernelLogisticRegression(1e-6, kernel="linear").fit(points, [0, 1, 2, 2])
    far = machine.predict_log_proba([[-1e7], [1e7]])
    assert np.isfinite(far).all()
    assert far.min() < -800


def test_warnings_name_a_remedy_the_machine_has():
    with pytest.warns(ConvergenceWarning, match="or raise tol.$") as caught:
        ImportVectorMachine(tol=1e-18).fit(X, Y)
    assert caught[0].filename == __file__
