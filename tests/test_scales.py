"""Tolerances are relative: units, one far point, or prices far apart change no decision."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from svmbook import AdaBoostStump, ExemplarSVM, LocalizedSVM, ProfileSVM, PrototypeSVM
from svmbook.solvers import solve_dual_batch
from svmbook.unbiased.points import fscl

X, Y = load_iris(return_X_y=True)
MACHINES = [
    ExemplarSVM(voting="local", mining=False),
    PrototypeSVM(positive_weight="balanced", random_state=0),
]
CHEAP = [
    ExemplarSVM(C=1.0, voting="local", random_state=0),
    PrototypeSVM(C=1.0, positive_weight="balanced", random_state=0),
]


@pytest.mark.parametrize("machine", CHEAP, ids=lambda machine: type(machine).__name__)
def test_features_may_have_small_units(machine):
    # The outputs are near zero then, as C is not in these units, and tell the classes all the same.
    assert machine.fit(1e-7 * X[::2], Y[::2]).score(1e-7 * X, Y) > 0.9


@pytest.mark.filterwarnings("ignore:the duality gap of a member")  # that of the far point
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
def test_one_far_point_does_not_make_all_others_one(machine):
    far = X.copy()
    far[0, 0] = 1e13
    assert machine.fit(far[::2], Y[::2]).score(far[1::2], Y[1::2]) > 0.9


def test_one_far_value_does_not_hide_the_thresholds_of_others():
    x = np.append(np.linspace(0, 1, 20), 1e12)[:, None]
    y = np.append(np.repeat([-1, 1], 10), 1)
    assert AdaBoostStump(10).fit(x, y).score(x, y) == 1.0


def test_one_far_point_does_not_stop_prototypes_from_learning():
    Z = np.random.default_rng(0).normal(size=(400, 2))
    near = []
    for far in (10.0, 1e8):
        Z[0] = far
        centres = fscl(Z, 8, None, np.random.default_rng(3))
        near.append(cdist(Z[1:], centres).min(axis=1).mean())
    assert near[1] == pytest.approx(near[0], rel=0.2)


@pytest.mark.parametrize("price", [1e-13, 1e-6, 1e6, 1e13])
def test_an_intercept_is_the_best_where_one_class_is_much_dearer(price):
    Z = np.random.default_rng(0).normal(size=(6, 2))
    y = np.array([1.0, -1, -1, -1, -1, -1])
    C = np.where(y > 0, price, 1.0)
    batch = solve_dual_batch((Z @ Z.T)[None], y[None], C[None])
    assert batch.converged and batch.gap[0] <= 1e-6 * batch.objective[0]


MIRRORED = [LocalizedSVM(), LocalizedSVM(n_neighbors=20), ProfileSVM(n_clusters=1, random_state=0)]


@pytest.mark.parametrize("machine", MIRRORED, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_points_between_mirror_images_are_not_told_apart_by_rounding(machine, n_classes):
    rng = np.random.default_rng(1)
    right = rng.uniform(0.2, 2, (15, 2)).round(1)
    below = rng.uniform(0.2, 2, (6, 2)).round(1)
    D = np.vstack([right * [-1, 1], right, below - [0, 5], below * [-1, 1] - [0, 5]])
    d = np.repeat([0, 1, 2], [15, 15, 12])
    D, d = D[d < n_classes], d[d < n_classes]
    between = np.column_stack([np.zeros(50), rng.uniform(-1, 2, 50).round(2)])

    def answers(draw):
        signs = np.random.default_rng(draw)
        moved = (Z * (1 + 1e-15 * signs.choice([-1, 0, 1], Z.shape)) for Z in (D, between))
        points, queries = moved if draw else (D, between)
        return machine.fit(points, d).predict(queries)

    plain = answers(0)
    for draw in range(1, 4):
        assert (answers(draw) == plain).all()
