"""Kernels of infinite ensembles, against sampled ensembles; conditionally definite kernels."""

import numpy as np
import pytest

from svmbook import DualSVC, KernelLogisticRegression
from svmbook.datasets import twonorm
from svmbook.ensembles.learners import (
    Conjunctions,
    Leaves,
    NegationClosure,
    Perceptrons,
    Rules,
    Stumps,
    sampled_kernel,
)
from svmbook.kernels import perceptron, stump, stump_regions, stump_tree
from svmbook.kernels.ensembles import bounding_box, mean_abs_cos, stump_mass

POINTS = np.random.default_rng(0).uniform(-1, 1, (8, 3)) * [1.0, 2.0, 0.5]
BOX = bounding_box(POINTS)
STUMPS = Stumps(BOX)
RULES = Rules(STUMPS)
RADIUS = 1.1 * np.linalg.norm(POINTS, axis=1).max()
REGIONS_WITH_TWO_BOUNDARIES = NegationClosure(Conjunctions(RULES, RULES))
LEARNERS_AND_KERNELS = {
    "stump": (STUMPS, stump(POINTS, box=BOX)),
    "perceptron": (Perceptrons(3, RADIUS), perceptron(POINTS, radius=RADIUS)),
    "two boundaries": (
        REGIONS_WITH_TWO_BOUNDARIES,
        STUMPS.mass**2 * stump_regions(POINTS, box=BOX, degree=2),
    ),
    "three boundaries": (
        NegationClosure(Conjunctions(Rules(REGIONS_WITH_TWO_BOUNDARIES), RULES)),
        STUMPS.mass**3 * stump_regions(POINTS, box=BOX, degree=3),
    ),
    "leaves": (Leaves(RULES, 1), stump_tree(POINTS, box=BOX, degree=1)),
}


# The number of ensembles sampled for each size. Let s be the standard deviation of one hypothesis.
# An error b in the closed form changes the error of 10,000 hypotheses from s / 100 to
# sqrt(s^2 / 10000 + b^2). The rate then exceeds its tolerance of 0.05 if b > 0.0076 s. Sampling
# leaves is slow, and four ensembles of 10,000 leaves are too few for this test. But the mean of all
# 62,000 sampled leaves has the error s / 249, and twice that value is exceeded if b > 0.007 s: the
# same power in a quarter of the time.
N_REPETITIONS = 20
N_REPETITIONS_OF_10000_LEAVES = 4


@pytest.mark.parametrize("name", LEARNERS_AND_KERNELS)
def test_finite_ensembles_converge_to_closed_form(name):
    learner, K = LEARNERS_AND_KERNELS[name]
    sizes = np.array([100, 1_000, 10_000])
    repetitions_per_size = [N_REPETITIONS] * 2
    repetitions_per_size += [N_REPETITIONS_OF_10000_LEAVES if name == "leaves" else N_REPETITIONS]
    errors, weighted_sum = [], 0.0
    for size, n_repetitions in zip(sizes, repetitions_per_size, strict=True):
        sampled_kernels = [
            sampled_kernel(learner, POINTS, n_hypotheses=size, random_state=seed)
            for seed in range(n_repetitions)
        ]
        errors.append(np.mean((np.array(sampled_kernels) - K) ** 2) ** 0.5)
        weighted_sum = weighted_sum + size * np.sum(sampled_kernels, axis=0)
    rate = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert rate == pytest.approx(-0.5, abs=0.05)
    assert errors[-1] < 0.05 * np.abs(K).max()
    n_hypotheses = sizes @ repetitions_per_size
    error = np.mean((weighted_sum / n_hypotheses - K) ** 2) ** 0.5
    assert error < 2.0 * errors[0] * np.sqrt(sizes[0] / n_hypotheses)


def test_mean_abs_cos_agrees_with_random_directions():
    theta = np.random.default_rng(0).standard_normal((200_000, 7))
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    assert mean_abs_cos(7) == pytest.approx(np.abs(theta[:, 0]).mean(), rel=0.01)


def test_points_outside_the_box_are_moved_to_its_boundary():
    K_corner, K_outside = (stump(BOX[1:] + offset, POINTS, box=BOX) for offset in (0.0, 5.0))
    np.testing.assert_allclose(K_outside, K_corner)


def test_printed_recursion_differs_by_a_constant_for_two_but_not_for_three_boundaries():
    for degree, differs_by_constant in ((2, True), (3, False)):
        K_corrected, K_printed = (
            stump_regions(POINTS, box=BOX, degree=degree, subtract_one=subtract_one)
            for subtract_one in (False, True)
        )
        assert (np.ptp(K_corrected - K_printed) < 1e-12) == differs_by_constant


def test_kernels_of_equal_points_are_constant():
    points = np.ones((4, 2))
    assert stump_mass(bounding_box(points)) == 0.0
    for kernel in (stump_regions, stump_tree):
        assert np.ptp(kernel(points, box=bounding_box(points))) == 0.0


X, Y = twonorm(80, random_state=0)
X_NEW, _ = twonorm(40, random_state=1)


@pytest.mark.parametrize("kernel", [stump, perceptron])
@pytest.mark.parametrize("model", [DualSVC(C=0.1), KernelLogisticRegression(lam=5.0, tol=1e-10)])
def test_constant_added_to_kernel_does_not_change_output(kernel, model):
    outputs = []
    for constant in (0.0, 3.0, 100.0):
        kernel_plus_constant = lambda A, B, c=constant: kernel(A, B) + c  # noqa: E731
        model.set_params(kernel=kernel_plus_constant).fit(X, Y)
        outputs.append(model.decision_function(X_NEW))
    outputs.append(model.set_params(kernel=kernel).fit(X, Y).decision_function(X_NEW))
    model.set_params(kernel="precomputed").fit(kernel(X), Y)
    outputs.append(model.decision_function(kernel(X_NEW, X)))
    for F in outputs[1:]:
        np.testing.assert_allclose(F, outputs[0], atol=1e-6)


@pytest.mark.parametrize("solver", ["active-set", "interior-point", "smo", "libsvm"])
def test_every_solver_accepts_a_conditionally_definite_kernel(solver):
    weights = np.where(np.arange(80) % 7 == 0, 0.0, 1.0)  # the first point has weight zero
    named_model = DualSVC(C=0.1, kernel="stump", solver=solver).fit(X, Y, sample_weight=weights)
    precomputed_model = DualSVC(C=0.1, kernel="precomputed", solver=solver)
    precomputed_model.fit(stump(X), Y, sample_weight=weights)
    assert precomputed_model.objective_ == pytest.approx(named_model.objective_, rel=1e-6)
    F = precomputed_model.decision_function(stump(X_NEW, X))
    np.testing.assert_allclose(F, named_model.decision_function(X_NEW), atol=1e-4)


def test_negative_squared_distance_is_equivalent_to_twice_the_linear_kernel():
    def kernel(A, B):
        return -((A[:, None] - B[None]) ** 2).sum(-1)

    distance_model, linear_model = DualSVC(0.05, kernel=kernel), DualSVC(0.1, kernel="linear")
    F = linear_model.fit(X, Y).decision_function(X_NEW)
    np.testing.assert_allclose(distance_model.fit(X, Y).decision_function(X_NEW), F, atol=1e-5)


def test_l1_penalty_does_not_shift_conditionally_definite_kernels():
    named_model = KernelLogisticRegression(penalty="l1", kernel="stump").fit(X, Y)
    function_model = KernelLogisticRegression(penalty="l1", kernel=lambda A, B: stump(A, B)).fit(
        X, Y
    )
    assert named_model.converged_ and named_model.objective_ == pytest.approx(
        function_model.objective_
    )
    coefficients = named_model.dual_coef_[0]
    F = stump(X)[:, named_model.support_] @ coefficients + named_model.intercept_
    loss = np.logaddexp(0.0, -np.where(Y > 0, F, -F)).sum()
    assert named_model.objective_ == pytest.approx(loss + np.abs(coefficients).sum())


@pytest.mark.parametrize("kernel", ["stump_regions", "stump_tree"])
def test_common_scale_of_features_does_not_change_outputs(kernel):
    model = DualSVC(C=1.0, kernel=kernel)
    F = model.fit(X, Y).decision_function(X_NEW)
    F_scaled = model.fit(10.0 * X, Y).decision_function(10.0 * X_NEW)
    np.testing.assert_allclose(F_scaled, F, atol=1e-8)
