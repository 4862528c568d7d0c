"""Placement of prototypes by competitive learning, k-means and kernel PCA."""

import numpy as np
import pytest

from svmbook.datasets import striated
from svmbook.kernels.kernel import Kernel, resolve_kernel
from svmbook.unbiased.placement import PLACEMENT_RULES, fscl

X, _ = striated(600, random_state=0)
KERNEL = resolve_kernel("rbf", X, np.ones(600), gamma=2.0, degree=3, coef0=1.0)


def squared_distances(X, centres):
    return ((X[:, None] - centres[None]) ** 2).sum(-1)


@pytest.mark.parametrize("rule", ["fscl", "kmeans"])
def test_quantization_error_is_smaller_than_that_of_random_points(rule):
    rng = np.random.default_rng(0)
    for seed in range(10):
        prototypes = PLACEMENT_RULES[rule](X, 20, KERNEL, np.random.default_rng(seed))
        random_points = X[rng.choice(600, 20, replace=False)]
        error, error_of_random_points = (
            squared_distances(X, centres).min(axis=1).mean()
            for centres in (prototypes, random_points)
        )
        assert error < error_of_random_points


def test_fscl_gives_each_cluster_a_prototype_and_each_prototype_points():
    # Three tight clusters; initial prototypes may all lie in one cluster.
    rng = np.random.default_rng(1)
    sizes, means = (500, 300, 200), np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    points = np.repeat(means, sizes, axis=0) + 0.1 * rng.standard_normal((1000, 2))
    for seed in range(10):
        centres = fscl(points, 6, KERNEL, np.random.default_rng(seed))
        assert len(np.unique(squared_distances(points, centres).argmin(axis=1))) == 6
        assert squared_distances(means, centres).min(axis=1).max() < 1.0, seed


@pytest.mark.parametrize("n_prototypes", [1, 7, 20])
def test_pre_images_are_within_twice_the_range_of_the_points(n_prototypes):
    prototypes = PLACEMENT_RULES["kpca"](X, n_prototypes, KERNEL, np.random.default_rng(0))
    assert prototypes.shape == (n_prototypes, 2)
    assert (np.abs(prototypes) < 2 * np.abs(X).max(axis=0)).all()


def test_kernel_pca_reports_an_unsupported_kernel():
    with pytest.raises(ValueError, match="needs one of the kernels rbf, laplacian, poly"):
        PLACEMENT_RULES["kpca"](X, 4, Kernel("callable", np.dot), np.random.default_rng(0))


def test_kernel_pca_does_not_use_the_global_generator():
    prototype_arrays = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002 - the global generator must not matter
        prototype_arrays.append(PLACEMENT_RULES["kpca"](X, 7, KERNEL, np.random.default_rng(0)))
    np.testing.assert_array_equal(*prototype_arrays)


def test_kernel_pca_can_place_thousands_of_prototypes():
    points = np.random.default_rng(0).standard_normal((2600, 6))
    kernel = resolve_kernel("rbf", points, np.ones(2600), gamma=2.0, degree=3, coef0=1.0)
    assert len(PLACEMENT_RULES["kpca"](points, 2200, kernel, np.random.default_rng(0))) == 2200
