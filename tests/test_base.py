"""What all kernel machines share: attributes after every kind of fit, certificates that hold."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

import svmbook
from svmbook import (
    ERMSVC,
    IRWLSSVC,
    USVC,
    DualSVC,
    ImportVectorMachine,
    KernelLogisticRegression,
)
from svmbook.datasets import non_separable, stdev
from svmbook.kernels import gaussian

X, Y = stdev(2, 80, random_state=0)
CLASSES = [getattr(svmbook, name) for name in svmbook.__all__ if name != "__version__"]
MACHINES = [machine() for machine in CLASSES if "kernel" in machine().get_params()]
NO_GAP = (ERMSVC, USVC)  # not convex
PROBABLE = [machine for machine in MACHINES if hasattr(machine, "predict_log_proba")]
SHARED = {
    *(
        "classes_",
        "converged_",
        "dual_coef_",
        "intercept_",
        "kkt_residual_",
        "n_iter_",
        "relative_gap_",
    ),
    *("n_features_in_", "objective_", "support_", "support_vectors_"),
}
every_machine = pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)


def attributes(machine):
    return vars(machine).keys() - machine.get_params().keys() - {"_kernel", "_centred_model"}


@every_machine
@pytest.mark.parametrize(("kernel", "more"), [("linear", {"coef_"}), ("rbf", {"gamma_"})])
def test_a_fit_leaves_the_same_attributes_everywhere(machine, kernel, more):
    fitted = clone(machine).set_params(kernel=kernel).fit(X, Y)
    own = {
        DualSVC: {
            *(
                "alpha_",
                "bounded_support_",
                "dual_objective_",
                "free_support_",
                "geometric_margin_",
            ),
            *("n_support_", "solver_"),
        },
        ImportVectorMachine: {"full_model_gap_"},
        IRWLSSVC: {"alpha_"},
        ERMSVC: {"alpha_", "n_kernels_", "objectives_", "slopes_"},
        USVC: {"starts_"} | ({"n_kernels_", "prototypes_"} if kernel == "rbf" else {"alpha_"}),
    }
    lacks = {"relative_gap_"} if isinstance(machine, NO_GAP) else set()
    if isinstance(machine, USVC) and kernel == "rbf":  # its kernels sit elsewhere
        lacks |= {"support_"}
    assert attributes(fitted) == (SHARED - lacks) | more | own.get(type(machine), set())


@every_machine
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_whoever_moves_the_intercept_moves_the_outputs(machine, kernel):
    fitted = clone(machine).set_params(kernel=kernel).fit(X, Y)
    before = fitted.decision_function(X)
    fitted.intercept_ += 0.5
    np.testing.assert_allclose(fitted.decision_function(X), before + 0.5, rtol=1e-12)


@pytest.mark.parametrize("machine", [KernelLogisticRegression(), ImportVectorMachine()])
@pytest.mark.parametrize("number", [np.float16(0.01), np.float32(0.01)])
def test_numbers_of_any_type_are_solved_in_double_precision(machine, number):
    fitted = clone(machine).set_params(lam=number, tol=np.float32(1e-6)).fit(X, Y)
    same = clone(machine).set_params(lam=float(number), tol=float(np.float32(1e-6))).fit(X, Y)
    assert type(fitted.objective_) is float and fitted.objective_ == same.objective_


@pytest.mark.parametrize(
    "options",
    [{"solver": solver} for solver in ("interior-point", "cvxopt", "active-set", "libsvm")]
    + [{"C": np.inf}],
)
def test_an_indefinite_kernel_is_named_by_every_solver(options):
    def kernel(A, B):
        return 2.0 + ((A[:, None] - B[None]) ** 2).sum(-1)

    with pytest.raises(ValueError, match="the kernel is not positive semi-definite"):
        DualSVC(kernel=kernel, **options).fit(X, Y)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"tol": 0.0}, {"gamma": 0.0}, {"degree": 0}, {"lam": 0.0}, {"C": 0.0}, {"max_iter": 0}),
        *({"max_points": 0}, {"min_decrease": 0.0}, {"kernel": "cosine"}, {"coef0": np.inf}),
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_parameter_out_of_range_is_named(wrong):
    (name,) = wrong
    takers = [machine for machine in MACHINES if name in machine.get_params()]
    assert takers
    for machine in takers:
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
            clone(machine).set_params(**wrong).fit(X, Y)
        if hasattr(machine, "path"):
            with pytest.raises(InvalidParameterError, match=f"'{name}' parameter"):
                clone(machine).set_params(**wrong).path(X, Y)


@every_machine
def test_a_fit_that_fails_leaves_the_shape_of_the_data_alone(machine):
    fitted = clone(machine).set_params(kernel="rbf").fit(X, Y)
    for wrong in (lambda: fitted.fit(X, np.ones(80)), lambda: fitted.fit(1e200 * X, Y)):
        with pytest.raises(ValueError):
            wrong()
        assert vars(fitted).keys() - fitted.get_params().keys() == {"n_features_in_"}
        with pytest.raises(NotFittedError):
            fitted.predict(X)


@pytest.mark.parametrize(
    "machine",
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
def test_a_fit_that_stops_early_warns_and_leaves_the_same_attributes(machine):
    points, labels = non_separable(60, random_state=0)
    message = r"stopped after .* not certified to tol.*\. \w"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        machine.fit(points, labels)
    assert caught[0].filename == __file__  # where the user called fit
    longer = {"tol": 1e-3} if isinstance(machine, ImportVectorMachine) else {"max_iter": 10**5}
    few = getattr(machine, "solver", "") in ("interior-point", "cvxopt")
    if few or isinstance(machine, KernelLogisticRegression):
        longer["max_iter"] = 200
    assert attributes(machine) == attributes(
        clone(machine).set_params(**longer).fit(points, labels)
    )
    assert np.isfinite(machine.decision_function(points)).all()
    assert machine.relative_gap_ > 0 and not machine.converged_


@pytest.mark.parametrize(
    "machine",
    [machine for machine in MACHINES if not isinstance(machine, NO_GAP)],
    ids=lambda m: type(m).__name__,
)
def test_the_objective_at_the_end_is_bounded_by_its_gap(machine):
    fitted = clone(machine).fit(X, Y)
    assert 0.0 <= fitted.relative_gap_ <= 1e-5
    if isinstance(machine, ImportVectorMachine):  # a few points cost something
        assert fitted.relative_gap_ < fitted.full_model_gap_ <= 0.1


@pytest.mark.parametrize("solver", ["interior-point", "cvxopt", "active-set", "libsvm"])
@pytest.mark.parametrize("offset", [1e6, 1e12, 1e15])
def test_the_certificate_covers_the_machine_that_predicts(solver, offset):
    # X @ coef_ alone would lose the digits that the offset takes: 40 labels, 4 of them wrong.
    rng = np.random.default_rng(0)
    far = rng.standard_normal((40, 3)) + offset
    labels = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    machine = DualSVC(solver=solver).fit(far, labels)
    slack = np.maximum(0.0, 1.0 - labels * machine.decision_function(far))
    primal = 0.5 * np.sum(machine.coef_**2) + slack.sum()
    assert primal == pytest.approx(machine.objective_, rel=1e-9)
    assert primal - machine.dual_objective_ <= 1e-6 * primal


@pytest.mark.parametrize(
    "machine",
    [machine for machine in MACHINES if hasattr(machine, "predict_log_proba")],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("offset", [1e12, 1e15])
def test_log_odds_far_from_the_origin_are_those_that_were_fitted(machine, offset):
    rng = np.random.default_rng(0)
    far = rng.standard_normal((40, 3)) + offset
    labels = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    fitted = clone(machine).set_params(kernel="linear", lam=1.0).fit(far, labels)
    log_p = fitted.predict_log_proba(far)[np.arange(40), (labels > 0).astype(int)]
    assert 0.5 * np.sum(fitted.coef_**2) - log_p.sum() == pytest.approx(fitted.objective_, rel=1e-9)


def test_an_indefinite_kernel_is_named_where_a_machine_stands_on_it():
    # Two strangers beyond the margin: whatever K says of them, nothing depends on it.
    K = gaussian(X, gamma=0.3)
    machine = DualSVC(kernel="precomputed").fit(K, Y)
    bystanders = np.setdiff1d(np.arange(80), machine.support_)[:2]
    spoilt = K.copy()
    spoilt[np.ix_(bystanders, bystanders)] = [[1.0, 1.9], [1.9, 1.0]]
    assert np.linalg.eigvalsh(spoilt)[0] < -0.5
    harmless = DualSVC(kernel="precomputed", solver="libsvm").fit(spoilt, Y)
    np.testing.assert_allclose(harmless.alpha_, machine.alpha_, atol=1e-6)
    spoilt = K.copy()
    spoilt[np.ix_(machine.support_[:2], machine.support_[:2])] = [[1.0, 9.0], [9.0, 1.0]]
    for solver in ("active-set", "interior-point", "cvxopt", "libsvm"):
        with pytest.raises(ValueError, match="not positive semi-definite"):
            DualSVC(kernel="precomputed", solver=solver).fit(spoilt, Y)


def test_a_free_multiplier_near_its_bound_is_free():
    # Two points at distance 2a: both multipliers are 1 / 2a^2, whatever the larger C.
    points, labels = np.array([[-1.0], [1.0]]), [0, 1]
    for share, free in ((0.995, 2), (1.0 - 1e-12, 0)):
        machine = DualSVC(C=0.5 / share, solver="active-set").fit(points, labels)
        assert len(machine.free_support_) == free
        assert len(machine.bounded_support_) == 2 - free


def test_the_import_vectors_of_weighted_points_are_those_of_repeated_ones():
    weights = np.where(np.arange(80) % 3 == 0, 3, 1)
    repeated = np.repeat(np.arange(80), weights)
    machine = ImportVectorMachine(kernel="linear", max_points=1, min_decrease=1e-9)
    far = X + 5.0  # where the origin matters
    weighted = clone(machine).fit(far, Y, sample_weight=weights.astype(float))
    thrice = clone(machine).fit(far[repeated], Y[repeated])
    np.testing.assert_allclose(weighted.coef_, thrice.coef_, rtol=1e-6)
    assert repeated[thrice.support_[0]] == weighted.support_[0]


def test_a_penalty_of_none_says_when_it_cannot_decide():
    # A very smooth kernel on a line: whether three classes are separable is beyond doubles.
    r = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"penalty='l2'"):
        KernelLogisticRegression(penalty=None).fit(r.normal(size=(40, 1)), r.integers(0, 3, 40))


def test_each_default_works_without_cvxopt():
    code = """
import sys
sys.modules["cvxopt"] = None  # as if it were not installed
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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "DualSVC interior-point" in done.stdout and "True" in done.stdout
    assert "pip install 'svmbook[cvxopt]'" in done.stdout
    assert "solver='interior-point'" in done.stdout
