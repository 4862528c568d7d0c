"""Errata that no chapter recomputes: each test is named in its entry of `book/errata.md`."""

import re
from math import e, log2
from pathlib import Path

import numpy as np
import pytest

from svmbook import DualSVC
from svmbook.datasets import manifest, twonorm
from svmbook.experiments import report
from svmbook.kernels import stump

PAGE = Path(__file__).resolve().parent.parent / "book/errata.md"
XOR = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([1.0, -1, -1, 1])


def best_stump(X, y, U):
    """Return the answers of the stump with the smallest weighted error, and that error."""
    answers = [np.ones(len(X))]
    for column in X.T:
        answers += [np.where(column > a, 1.0, -1.0) for a in np.unique(column)]
    answers += [-h for h in answers]
    errors = [U[h != y].sum() for h in answers]
    return answers[np.argmin(errors)], min(errors)


def algorithm_1(X, y, rounds):
    """Run Algorithm 1 of Lin (2005) as printed; return F and the last sample weights."""
    U, F = np.full(len(X), 1 / len(X)), np.zeros(len(X))
    for _ in range(rounds):
        h, error = best_stump(X, y, U)
        if error < 1e-12 or error >= 0.5 - 1e-12:
            break
        w = np.log((1 - error) / error)
        U = U * np.exp(-w * (h == y))
        U /= U.sum()
        F += w * h
    return F, U


def test_equation_2_5_of_lin():
    X, y = twonorm(60, random_state=0)
    C = 0.05
    model = DualSVC(C=C, kernel="stump").fit(X, y)
    multipliers = np.zeros(len(y))
    multipliers[model.support_] = np.abs(model.dual_coef_[0])
    s = model.decision_function(X) - model.intercept_[0]
    tol = 1e-6 * C
    below = np.where(y > 0, multipliers < C - tol, multipliers > tol)
    above = np.where(y > 0, multipliers > tol, multipliers < C - tol)
    b = model.intercept_[0]
    assert (y - s)[below].max() - 1e-5 <= b <= (y - s)[above].min() + 1e-5
    # As printed, with the names repaired: the lower bound is above the upper one.
    assert (-y * (1 - s))[below].max() > (y * (1 - s))[above].min() + 1


def test_dual_p8_of_lin_without_its_constraint():
    # One hypothesis h(x) = x, points 1 and 2 of the classes -1 and +1, a hard margin: w = 2.
    y, x = np.array([-1.0, 1.0]), np.array([1.0, 2.0])

    def printed(multipliers, zeta):
        s = (y * multipliers) @ x
        return s**2 / 2 - multipliers.sum() + s * zeta + zeta**2 / 2

    balanced = [
        printed(np.full(2, k), z) for k in np.linspace(0, 4, 81) for z in np.linspace(0, 4, 81)
    ]
    assert min(balanced) == pytest.approx(-2.0)  # minus the optimum of the primal, w^2 / 2
    for k in (10.0, 1e3, 1e5):  # without the sum of y times multipliers being 0: no bound
        assert printed(np.array([k, 0.0]), k) == pytest.approx(-k)


def test_theorem_2_of_lin_needs_small_base_learners():
    # All 2^1000 labellings of 1000 points are a base model; each is an ensemble of itself twice.
    assert 4 * 2 * log2(2 * e) < 1000


def test_theorem_12_of_lin_in_one_dimension():
    R = 1.5
    K = stump([[-R], [R]], box=[[-R], [R]])
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(0.0, abs=1e-12)


def test_boosting_of_lin_ends_without_a_stump():
    assert not algorithm_1(*XOR, rounds=5)[0].any()
    separable = np.array([[1.0], [2.0]]), np.array([-1.0, 1.0])  # the best stump has no error
    assert not algorithm_1(*separable, rounds=5)[0].any()


def test_algorithm_1_of_lin_minimises_another_loss_than_p5():
    X, y = twonorm(80, d=3, random_state=1)
    F, U = algorithm_1(X, y, rounds=6)
    half, whole = (np.exp(-y * F / k) for k in (2, 1))
    np.testing.assert_allclose(U, half / half.sum(), rtol=1e-9)
    assert np.abs(U - whole / whole.sum()).max() > 1e-3


def test_each_test_is_named_in_an_entry():
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert named == {name for name in globals() if re.search("^test_.*_(lin|shen)", name)}


def test_vote84_of_lin_has_its_incomplete_rows():
    entry = manifest()["vote84"]
    assert (entry.rows, entry.rows - entry.incomplete_rows) == (435, 232)
    rows = [row for row in report("lin2005-kernels").rows if row["data_set"] == "vote84"]
    assert len(rows) == 5 and all(abs(row["z"]) < 2 for row in rows)


def test_equation_3_3_of_shen():
    X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    y = np.array([1.0, 1, -1, -1])
    # dL/dalpha_i = 1 - y_i (w'x_i + b) = 0 for all four points, in the unknowns w and b.
    system = y[:, None] * np.column_stack([X, np.ones(4)])
    _, residual, rank, _ = np.linalg.lstsq(system, np.ones(4))
    assert rank == 3 and residual[0] > 0.1
    classifier = DualSVC(C=np.inf).fit(X, y)
    assert (classifier.decision_function(X) * y).max() > 1.5
