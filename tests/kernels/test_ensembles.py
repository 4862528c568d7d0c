"""Kernels of infinite ensembles: against drawn ensembles, and what an intercept makes of them."""

import numpy as np
import pytest

from svmbook import DualSVC, KernelLogisticRegression
from svmbook.datasets import twonorm
from svmbook.ensembles.learners import (
    And,
    Closure,
    Leaves,
    Perceptrons,
    Rules,
    Stumps,
    sampled_kernel,
)
from svmbook.kernels import perceptron, stump, stump_regions, stump_tree
from svmbook.kernels.ensembles import box_of, mean_cosine, stump_mass

POINTS = np.random.default_rng(0).uniform(-1, 1, (8, 3)) * [1.0, 2.0, 0.5]
BOX = box_of(POINTS)
STUMPS = Stumps(BOX)
RULES = Rules(STUMPS)
RADIUS = 1.1 * np.linalg.norm(POINTS, axis=1).max()
TWO = Closure(And(RULES, RULES))
EMBEDDED = {
    "stump": (STUMPS, stump(POINTS, box=BOX)),
    "perceptron": (Perceptrons(3, RADIUS), perceptron(POINTS, radius=RADIUS)),
    "two boundaries": (TWO, STUMPS.mass**2 * stump_regions(POINTS, box=BOX, degree=2)),
    "three boundaries": (
        Closure(And(Rules(TWO), RULES)),
        STUMPS.mass**3 * stump_regions(POINTS, box=BOX, degree=3),
    ),
    "leaves": (Leaves(RULES, 1), stump_tree(POINTS, box=BOX, degree=1)),
}


# Ensembles that are drawn for each size. With s the standard deviation of one learner, an error b
# in the closed form makes ensembles of 10,000 err by sqrt(s^2 / 10000 + b^2) instead of s / 100,
# and the rate leaves its tolerance of 0.05 where b is 0.0076 s. Trees take long to draw, and 4
# ensembles of 10,000 leave that to chance. But all trees together are 62,000, whose mean errs by
# s / 249, and twice that is exceeded from b = 0.007 s on: the same power in a quarter of the time.
REPETITIONS = 20
LARGE_TREES = 4


@pytest.mark.parametrize("name", EMBEDDED)
def test_finite_ensembles_converge_to_the_closed_form(name):
    learner, K = EMBEDDED[name]
    counts = np.array([100, 1_000, 10_000])
    repetitions = [REPETITIONS, REPETITIONS, LARGE_TREES if name == "leaves" else REPETITIONS]
    off, total = [], 0.0
    for count, number in zip(counts, repetitions, strict=True):
        drawn = [
            sampled_kernel(learner, POINTS, count=count, random_state=seed)
            for seed in range(number)
        ]
        off.append(np.mean((np.array(drawn) - K) ** 2) ** 0.5)
        total = total + count * np.sum(drawn, axis=0)
    rate = np.polyfit(np.log(counts), np.log(off), 1)[0]
    assert rate == pytest.approx(-0.5, abs=0.05)
    assert off[-1] < 0.05 * np.abs(K).max()
    learners = counts @ repetitions
    error = np.mean((total / learners - K) ** 2) ** 0.5
    assert error < 2.0 * off[0] * np.sqrt(counts[0] / learners)


def test_the_mean_cosine_is_that_of_the_sphere():
    theta = np.random.default_rng(0).standard_normal((200_000, 7))
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    assert mean_cosine(7) == pytest.approx(np.abs(theta[:, 0]).mean(), rel=0.01)


def test_beyond_the_box_no_stump_sees_a_difference():
    edge, far = BOX[1] + 0.0, BOX[1] + 5.0
    np.testing.assert_allclose(
        stump(edge[None], POINTS, box=BOX), stump(far[None], POINTS, box=BOX)
    )


def test_the_recursion_of_the_source_differs_from_three_boundaries_on():
    for degree, equal in ((2, True), (3, False)):
        ours, printed = (
            stump_regions(POINTS, box=BOX, degree=degree, as_printed=flag) for flag in (False, True)
        )
        assert (np.ptp(ours - printed) < 1e-12) == equal


def test_a_kernel_without_mass_is_constant():
    same = np.ones((4, 2))
    assert stump_mass(box_of(same)) == 0.0
    for kernel in (stump_regions, stump_tree):
        assert np.ptp(kernel(same, box=box_of(same))) == 0.0


X, Y = twonorm(80, random_state=0)
NEW, _ = twonorm(40, random_state=1)


@pytest.mark.parametrize("kernel", [stump, perceptron])
@pytest.mark.parametrize("machine", [DualSVC(C=0.1), KernelLogisticRegression(lam=5.0, tol=1e-10)])
def test_a_constant_added_to_a_kernel_changes_no_decision(kernel, machine):
    outputs = []
    for constant in (0.0, 3.0, 100.0):
        shifted = lambda A, B, c=constant: kernel(A, B) + c  # noqa: E731
        outputs.append(machine.set_params(kernel=shifted).fit(X, Y).decision_function(NEW))
    outputs.append(machine.set_params(kernel=kernel).fit(X, Y).decision_function(NEW))
    K, K_new = kernel(X), kernel(NEW, X)
    machine.set_params(kernel="precomputed").fit(K, Y)
    outputs.append(machine.decision_function(K_new))
    for other in outputs[1:]:
        np.testing.assert_allclose(other, outputs[0], atol=1e-6)


@pytest.mark.parametrize("solver", ["active-set", "interior-point", "smo", "libsvm"])
def test_every_solver_takes_a_conditionally_definite_kernel(solver):
    weights = np.where(np.arange(80) % 7 == 0, 0.0, 1.0)  # the first point is absent
    named = DualSVC(C=0.1, kernel="stump", solver=solver).fit(X, Y, sample_weight=weights)
    K = DualSVC(C=0.1, kernel="precomputed", solver=solver).fit(stump(X), Y, sample_weight=weights)
    assert K.objective_ == pytest.approx(named.objective_, rel=1e-6)
    np.testing.assert_allclose(
        K.decision_function(stump(NEW, X)), named.decision_function(NEW), atol=1e-4
    )


def test_minus_the_squared_distance_is_twice_the_linear_kernel():
    def kernel(A, B):
        return -((A[:, None] - B[None]) ** 2).sum(-1)

    by_distance, linear = DualSVC(0.05, kernel=kernel), DualSVC(0.1, kernel="linear")
    np.testing.assert_allclose(
        by_distance.fit(X, Y).decision_function(NEW),
        linear.fit(X, Y).decision_function(NEW),
        atol=1e-5,
    )


def test_the_lasso_takes_any_symmetric_kernel_as_it_is():
    named = KernelLogisticRegression(penalty="l1", kernel="stump").fit(X, Y)
    given = KernelLogisticRegression(penalty="l1", kernel=lambda A, B: stump(A, B)).fit(X, Y)
    assert named.converged_ and named.objective_ == pytest.approx(given.objective_)
    coefficients = named.dual_coef_[0]
    F = stump(X)[:, named.support_] @ coefficients + named.intercept_
    loss = np.logaddexp(0.0, -np.where(Y > 0, F, -F)).sum()
    assert named.objective_ == pytest.approx(loss + np.abs(coefficients).sum())


@pytest.mark.parametrize("kernel", ["stump_regions", "stump_tree"])
def test_scaling_the_features_changes_nothing_without_a_width(kernel):
    machine = DualSVC(C=1.0, kernel=kernel)
    plain = machine.fit(X, Y).decision_function(NEW)
    scaled = machine.fit(10.0 * X, Y).decision_function(10.0 * NEW)
    np.testing.assert_allclose(scaled, plain, atol=1e-8)
