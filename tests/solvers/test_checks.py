"""Invalid arguments of the solvers, their default values, and inputs of extreme scale."""

import re
from importlib import import_module
from inspect import Parameter, getdoc, getmembers, isfunction, signature
from pkgutil import walk_packages

import numpy as np
import pytest

from svmbook import solvers
from svmbook.solvers import (
    solve_active_set,
    solve_dual,
    solve_hard_margin,
    solve_libsvm,
    solve_logistic,
    solve_smo,
    to_cvxopt,
)

# The solvers of a single SVM dual, recognised by their first parameters.
DUAL_SOLVERS = [
    solver
    for name, solver in vars(solvers).items()
    if name.startswith("solve_") and re.match("[KX]yC", "".join(signature(solver).parameters))
    if name != "solve_dual_batch"  # solves many duals, and has its own tests
]


def test_dual_solvers_are_found():
    assert solve_dual in DUAL_SOLVERS and len(DUAL_SOLVERS) >= 4


def inner_and_public_functions():
    """Return a dict from the name of each inner function to it and its public function.

    The summary of an inner function says that it works "as `public_function` does".
    """
    module_names = [
        module.name for module in walk_packages(solvers.__path__, solvers.__name__ + ".")
    ]
    functions = {}
    for module in map(import_module, module_names):
        for name, function in getmembers(module, isfunction):
            match = re.match(".* as `(\\w+)` does", getdoc(function) or "")
            if match and not name.startswith("_") and function.__module__ == module.__name__:
                public = getattr(module, match[1], None) or getattr(solvers, match[1])
                functions[name] = function, public
    return functions


def test_inner_functions_have_the_defaults_of_the_public_ones():
    functions = inner_and_public_functions()
    assert {
        "solve_active_set_on_gram",
        "svm_path_on_gram",
        "solve_smo_on_gram",
        "ridge_path",
    } <= set(functions)
    for name, (inner, public) in functions.items():
        public_parameters = signature(public).parameters
        for parameter in signature(inner).parameters.values():
            if parameter.default is not Parameter.empty and parameter.name in public_parameters:
                assert parameter.default == public_parameters[parameter.name].default, (
                    name,
                    parameter,
                )


def test_indefinite_matrix_is_reported():
    y = np.array([1.0, -1.0, 1.0])
    K = np.array([[0.0, 1e3, 0], [1e3, 0.0, 0], [0, 0, -1e4]])
    with pytest.raises(ValueError, match="positive semi-definite"):
        solve_dual(K, y, 1e6)


def test_textbook_form_is_rejected_for_the_hard_margin():
    with pytest.raises(ValueError, match="must be one of dense, low-rank"):
        solve_hard_margin(np.eye(2), [1, -1], form="textbook")


def test_unknown_form_is_rejected():
    with pytest.raises(ValueError, match="low-rank"):
        solve_dual(np.eye(2), [1, -1], 1.0, form="unknown")


@pytest.mark.parametrize(
    ("K", "y", "C", "message"),
    [
        (np.eye(2), [1, 1], 1.0, "labels -1 and"),
        (np.eye(2), [0, 1], 1.0, "labels -1 and"),
        (np.eye(3), [-1, 1], 1.0, r"shape \(2, 2\)"),
        (np.eye(2)[:, :1], [-1, 1], 1.0, r"shape \(2, 2\)"),
        (np.eye(2) * np.nan, [-1, 1], 1.0, "NaN"),
        (np.eye(2), [-1, 1], 0.0, "positive and finite"),
        (np.eye(2), [-1, 1], np.inf, "solve_hard_margin"),
        (np.eye(2), [-1, 1], [1.0, 2.0, 3.0], "2 numbers"),
    ],
)
@pytest.mark.parametrize("solver", [*DUAL_SOLVERS, to_cvxopt])
def test_invalid_K_y_or_C_is_reported(solver, K, y, C, message):
    with pytest.raises(ValueError, match=message):
        solver(K, y, C)


@pytest.mark.parametrize("solver", [*DUAL_SOLVERS, solve_hard_margin])
@pytest.mark.parametrize(
    "invalid_option",
    [{"tol": 0.0}, {"tol": np.nan}, {"tol": "small"}, {"max_iter": 0}, {"max_iter": -1}],
)
def test_invalid_tol_and_max_iter_are_reported(solver, invalid_option):
    valid_options = {} if solver is solve_hard_margin else {"C": 1.0}
    with pytest.raises((TypeError, ValueError), match=next(iter(invalid_option))):
        solver(np.eye(2), [1, -1], **valid_options, **invalid_option)


@pytest.mark.parametrize("solver", [solve_active_set, solve_dual, solve_smo])
@pytest.mark.parametrize(("scale", "C"), [(1e60, 1.0), (1e-60, 1.0), (1.0, 1e60), (1.0, 1e-60)])
def test_extreme_K_or_C_is_solved_but_certified_only_if_rounding_permits(solver, scale, C):
    result = solver(scale * np.eye(2), [1, -1], C)
    np.testing.assert_allclose(result.alpha, min(1 / scale, C))
    # If scale * C > 1, C times the rounding error of a slack exceeds the objective.
    assert result.converged == (scale * C <= 1)


@pytest.mark.parametrize("solver", [solve_active_set, solve_dual, solve_smo])
@pytest.mark.parametrize(("scale", "C"), [(1e45, 1e-45), (1e-45, 1e45), (1e-45, 1e-45)])
def test_extreme_K_and_C_are_solved(solver, scale, C):
    result = solver(scale * np.eye(2), [1, -1], C)
    assert result.converged
    np.testing.assert_allclose(result.alpha, min(1 / scale, C))


def test_overflow_in_libsvm_is_reported():
    with pytest.raises(ValueError, match="LIBSVM ended without a finite solution"):
        solve_libsvm(1e45 * np.eye(2), [1, -1], 1.0)


@pytest.mark.parametrize("error", [ArithmeticError("5"), ValueError("Rank(A) < p")])
def test_failed_factorisation_in_cvxopt_is_reported(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("cvxopt.solvers.qp", fail)
    with pytest.raises(ValueError, match="first KKT system of the dual could not be factored"):
        solve_dual(np.eye(2), [1, -1], 1.0, form="textbook")


def test_smo_reports_negative_curvature():
    K = np.array([[1.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="semi-definite"):
        solve_smo(K, [1, -1, 1], 1.0)


def test_lists_are_accepted():
    result = solve_dual([[0.0], [2.0]], [-1, 1], 1.0, form="low-rank")
    np.testing.assert_allclose(result.alpha, [0.5, 0.5])


@pytest.mark.parametrize("solver", [solve_active_set, solve_dual, solve_libsvm])
def test_slightly_indefinite_matrix_does_not_crash_the_crossover(solver):
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.standard_normal((40, 40)))
    spectrum = np.geomspace(1e-12, 1.0, 40)
    spectrum[:5] = -5e-11 * spectrum.sum()
    K = basis * spectrum @ basis.T
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    result = solver(0.5 * (K + K.T), y, 1e4)
    assert abs(y @ result.alpha) <= 1e-10 * result.alpha.sum()
    assert np.isfinite(result.gap)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_missing_class_numbers_are_reported(n_classes):
    message = f"all labels from 0 to {n_classes - 1}, and no others; found \\[1"
    with pytest.raises(ValueError, match=message):
        solve_logistic(np.eye(2), [1, 1], 1.0, n_classes=n_classes)
