"""Prototypes: where they are placed, and that none is left without points."""

import numpy as np
import pytest

from svmbook.datasets import striated
from svmbook.kernels.choice import KernelChoice, choose_kernel
from svmbook.unbiased.points import PROTOTYPES, fscl

X, _ = striated(600, random_state=0)
KERNEL = choose_kernel("rbf", X, np.ones(600), gamma=2.0, degree=3, coef0=1.0)


def nearest(X, centres):
    return ((X[:, None] - centres[None]) ** 2).sum(-1)


@pytest.mark.parametrize("rule", ["fscl", "kmeans"])
def test_prototypes_are_nearer_to_the_points_than_points_at_random(rule):
    rng = np.random.default_rng(0)
    better = 0
    for seed in range(10):
        placed = PROTOTYPES[rule](X, 20, KERNEL, np.random.default_rng(seed))
        drawn = X[rng.choice(600, 20, replace=False)]
        better += nearest(X, placed).min(axis=1).mean() < nearest(X, drawn).min(axis=1).mean()
    assert better == 10


def test_no_prototype_is_left_without_points():
    # Three tight heaps, and a start that may lie in one of them alone.
    rng = np.random.default_rng(1)
    sizes, places = (500, 300, 200), np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    heaps = np.repeat(places, sizes, axis=0) + 0.1 * rng.standard_normal((1000, 2))
    for seed in range(10):
        centres = fscl(heaps, 6, KERNEL, np.random.default_rng(seed))
        winners = np.unique(nearest(heaps, centres).argmin(axis=1))
        assert len(winners) == 6
        served = nearest(places, centres).min(axis=1)
        assert served.max() < 1.0, seed  # each heap has a prototype


def test_pre_images_lie_among_the_points():
    for count in (1, 7, 20):
        placed = PROTOTYPES["kpca"](X, count, KERNEL, np.random.default_rng(0))
        assert placed.shape == (count, 2)
        assert (np.abs(placed) < 2 * np.abs(X).max(axis=0)).all()


def test_kernel_pca_names_the_kernels_it_serves():
    with pytest.raises(ValueError, match="needs one of the kernels rbf, laplacian, poly"):
        PROTOTYPES["kpca"](X, 4, KernelChoice("callable", np.dot), np.random.default_rng(0))


def test_kernel_pca_draws_from_its_own_generator_alone():
    placed = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002 - the global generator must not matter
        placed.append(PROTOTYPES["kpca"](X, 7, KERNEL, np.random.default_rng(0)))
    np.testing.assert_array_equal(*placed)


def test_kernel_pca_places_as_many_as_asked_for():
    points = np.random.default_rng(0).standard_normal((2600, 6))
    wide = choose_kernel("rbf", points, np.ones(2600), gamma=2.0, degree=3, coef0=1.0)
    assert len(PROTOTYPES["kpca"](points, 2200, wide, np.random.default_rng(0))) == 2200
