"""Errata that no chapter recomputes: each test is named in its entry of `book/errata.md`."""

import re
from math import e, log2
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import rotate
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from svmbook import DualSVC, LPBoost
from svmbook.datasets import manifest, twonorm
from svmbook.experiments import load_records, report
from svmbook.experiments.suites.prototypes.noise_islands import NOISY
from svmbook.experiments.suites.shen2013.result_tables import REPORTED_ACCURACIES
from svmbook.kernels import perceptron, stump

PAGE = Path(__file__).resolve().parent.parent / "book/errata.md"
XOR = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([1.0, -1, -1, 1])


def best_stump(X, y, U):
    """Return the predictions of the stump with the smallest error weighted by U, and the error."""
    predictions = [np.ones(len(X))]
    for column in X.T:
        predictions += [np.where(column > a, 1.0, -1.0) for a in np.unique(column)]
    predictions += [-h for h in predictions]
    errors = [U[h != y].sum() for h in predictions]
    return predictions[np.argmin(errors)], min(errors)


def algorithm_1(X, y, n_rounds):
    """Run Algorithm 1 of Lin (2005) as printed; return the outputs F and the last weights U."""
    U, F = np.full(len(X), 1 / len(X)), np.zeros(len(X))
    for _ in range(n_rounds):
        h, error = best_stump(X, y, U)
        if error < 1e-12 or error >= 0.5 - 1e-12:
            break
        w = np.log((1 - error) / error)
        U = U * np.exp(-w * (h == y))
        U /= U.sum()
        F += w * h
    return F, U


def test_printed_interval_of_equation_2_5_of_lin_is_empty():
    X, y = twonorm(60, random_state=0)
    C = 0.05
    model = DualSVC(C=C, kernel="stump").fit(X, y)
    multipliers = np.zeros(len(y))
    multipliers[model.support_] = np.abs(model.dual_coef_[0])
    s = model.decision_function(X) - model.intercept_[0]  # the outputs without the intercept
    tol = 1e-6 * C
    gives_lower_bound = np.where(y > 0, multipliers < C - tol, multipliers > tol)
    gives_upper_bound = np.where(y > 0, multipliers > tol, multipliers < C - tol)
    b = model.intercept_[0]
    assert (y - s)[gives_lower_bound].max() - 1e-5 <= b <= (y - s)[gives_upper_bound].min() + 1e-5
    # In the printed equation, even with corrected symbols, the lower bound exceeds the upper bound.
    assert (-y * (1 - s))[gives_lower_bound].max() > (y * (1 - s))[gives_upper_bound].min() + 1


def test_dual_p8_of_lin_is_unbounded_without_its_constraint():
    # One hypothesis h(x) = x, the points 1 and 2 with labels -1 and +1, and a hard margin: w = 2.
    y, x = np.array([-1.0, 1.0]), np.array([1.0, 2.0])

    def printed_dual(multipliers, zeta):
        s = (y * multipliers) @ x
        return s**2 / 2 - multipliers.sum() + s * zeta + zeta**2 / 2

    feasible_values = [
        printed_dual(np.full(2, k), z) for k in np.linspace(0, 4, 81) for z in np.linspace(0, 4, 81)
    ]
    assert min(feasible_values) == pytest.approx(-2.0)  # minus the optimum of the primal, w^2 / 2
    for k in (10.0, 1e3, 1e5):  # unbounded below without the constraint y' alpha = 0
        assert printed_dual(np.array([k, 0.0]), k) == pytest.approx(-k)


def test_theorem_2_of_lin_fails_for_base_models_of_large_vc_dimension():
    # If the base model realises all 2^1000 labellings of 1000 points, so do ensembles of two base
    # learners. Their VC dimension is at least 1000, but the printed bound is below 20.
    assert 4 * 2 * log2(2 * e) < 1000


def test_theorem_12_of_lin_fails_in_one_dimension():
    R = 1.5
    K = stump([[-R], [R]], box=[[-R], [R]])
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(0.0, abs=1e-12)


def test_boosting_of_lin_ends_without_a_stump():
    assert not algorithm_1(*XOR, n_rounds=5)[0].any()
    separable = np.array([[1.0], [2.0]]), np.array([-1.0, 1.0])  # the best stump has no error
    assert not algorithm_1(*separable, n_rounds=5)[0].any()


def test_algorithm_1_of_lin_minimises_another_loss_than_p5():
    X, y = twonorm(80, d=3, random_state=1)
    F, U = algorithm_1(X, y, n_rounds=6)
    algorithm_weights, p5_weights = (np.exp(-y * F / k) for k in (2, 1))
    np.testing.assert_allclose(U, algorithm_weights / algorithm_weights.sum(), rtol=1e-9)
    assert np.abs(U - p5_weights / p5_weights.sum()).max() > 1e-3


def test_every_test_of_this_file_is_named_in_an_entry():
    named_tests = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert named_tests == {name for name in globals() if re.search("^test_.*_(lin|shen)", name)}


def test_results_of_lin_on_vote84_include_incomplete_rows():
    entry = manifest()["vote84"]
    assert (entry.n_rows, entry.n_rows - entry.n_incomplete_rows) == (435, 232)
    rows = [row for row in report("lin2005-kernels").rows if row["data_set"] == "vote84"]
    assert len(rows) == 5 and all(abs(row["z"]) < 2 for row in rows)


def test_equation_3_3_of_shen_has_no_solution_for_four_points():
    X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    y = np.array([1.0, 1, -1, -1])
    # dL/dalpha_i = 1 - y_i (w'x_i + b) = 0 for all four points, in the unknowns w and b.
    system = y[:, None] * np.column_stack([X, np.ones(4)])
    _, residual, rank, _ = np.linalg.lstsq(system, np.ones(4))
    assert rank == 3 and residual[0] > 0.1
    classifier = DualSVC(C=np.inf).fit(X, y)
    assert (classifier.decision_function(X) * y).max() > 1.5


def test_theorem_11_of_lin_fails_for_two_points_inside_one_gap():
    knots = np.array([[0.0, 0.2, 0.5, 1.0], [0.0, 0.4, 0.7, 1.0]])  # per feature, including L and R

    def averaged_kernel(x, z):
        """Return the kernel of the theorem: one ramp per gap, weighted by half the gap's length."""
        total = 0.0
        for j, values in enumerate(knots):
            lengths = np.diff(values)
            ramps = (np.clip(2 * (v[j] - values[:-1]) / lengths - 1, -1, 1) for v in (x, z))
            total += 0.5 * (lengths * np.prod([*ramps], axis=0)).sum()
        return total

    rng = np.random.default_rng(0)
    box = knots[:, 0], knots[:, -1]
    cases_tested = set()
    for _ in range(400):
        x, z = rng.random((2, 2))
        if rng.random() < 0.5:
            x[0] = knots[0, rng.integers(4)]
        gap_indices = [
            [np.searchsorted(values, v[j]) for v in (x, z)] for j, values in enumerate(knots)
        ]
        on_knot = [x[j] in values for j, values in enumerate(knots)]
        are_inside_one_gap = any(
            a == b and not on for (a, b), on in zip(gap_indices, on_knot, strict=True)
        )
        theorem_holds = abs(averaged_kernel(x, z) - stump([x], [z], box=box)[0, 0]) < 1e-12
        assert theorem_holds != are_inside_one_gap
        cases_tested.add(are_inside_one_gap)
    assert cases_tested == {True, False}


def test_hard_margin_methods_of_lin_differ_in_more_than_objectives():
    X, _ = twonorm(40, d=3, random_state=0)
    y = np.where(X.sum(axis=1) > 0, 1.0, -1.0)
    # The same stumps on these points, but different distances between adjacent values.
    stretched = np.exp(X)
    lpboost, stretched_lpboost = (LPBoost(C=np.inf).fit(points, y) for points in (X, stretched))
    assert stretched_lpboost.margin_ == pytest.approx(lpboost.margin_, rel=1e-6)
    svm, stretched_svm = (
        DualSVC(C=np.inf, kernel="stump").fit(points, y) for points in (X, stretched)
    )
    outputs = svm.decision_function(X)
    stretched_outputs = stretched_svm.decision_function(stretched)
    assert np.abs(outputs - stretched_outputs).max() > 0.05
    # Between two adjacent values the SVM uses stumps with every threshold, and LPBoost with one.
    low, high = np.sort(X[:, 0])[20:22]
    points_between = np.repeat(X[:1], 9, axis=0)
    points_between[:, 0] = np.linspace(low, high, 11)[1:-1]
    assert len(np.unique(lpboost.decision_function(points_between).round(9))) <= 2
    assert len(np.unique(svm.decision_function(points_between).round(9))) == 9


def test_caption_of_figure_6_1_of_shen_contradicts_its_tables():
    prototype_accuracy, _, sampled_accuracy, _ = map(
        float, REPORTED_ACCURACIES["isolated"].split()[:4]
    )
    # Tables 5.2 and 5.3; the caption says over 95.
    assert (prototype_accuracy, sampled_accuracy) == (90.9, 84.0)


def test_selected_ensemble_of_shen_has_mislabelled_members():
    runs = [
        r
        for r in load_records("noise-islands")
        if (r["data_set"], r["method"]) == (NOISY, "distance-weighted vote")
    ]
    percentages = [100 * r["n_mislabelled_members"] / r["model_size"] for r in runs]
    assert len(percentages) == 30 and round(np.mean(percentages), 1) == 18.5


def test_error_of_lin_rises_on_rotated_images():
    digits = load_digits()
    train_images, test_images, y, y_test = train_test_split(
        digits.images / 16, digits.target, test_size=0.4, random_state=0, stratify=digits.target
    )
    rotated_images = rotate(test_images, 20, axes=(1, 2), reshape=False, order=1)
    X = train_images.reshape(len(train_images), -1)

    def errors(X, *test_sets):
        """Return the errors in percent on test sets."""
        fitted = SVC(C=10.0, kernel="precomputed").fit(perceptron(X, radius=8.0), y)
        predictions = [fitted.predict(perceptron(Z, X, radius=8.0)) for Z in test_sets]
        return [100 * np.mean(y_pred != y_test) for y_pred in predictions]

    error_upright, error_rotated = errors(
        X, *(Z.reshape(len(Z), -1) for Z in (test_images, rotated_images))
    )
    assert round(error_upright, 1) == 0.8 and 30 < error_rotated < 36
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))
    assert errors(X @ Q, test_images.reshape(len(test_images), -1) @ Q) == [error_upright]
