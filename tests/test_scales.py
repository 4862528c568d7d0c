"""Tolerances are relative: predictions do not depend on units, outliers or rounding errors."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from svmbook import AdaBoostStump, ExemplarSVM, LocalizedSVM, ProfileSVM, PrototypeSVM
from svmbook.solvers import solve_dual_batch
from svmbook.unbiased.placement import fscl

X, Y = load_iris(return_X_y=True)
MODELS_WITH_DEFAULT_C = [
    ExemplarSVM(voting="local", mining=False),
    PrototypeSVM(positive_weight="balanced", random_state=0),
]
MODELS_WITH_UNIT_C = [
    ExemplarSVM(C=1.0, voting="local", random_state=0),
    PrototypeSVM(C=1.0, positive_weight="balanced", random_state=0),
]


@pytest.mark.parametrize("model", MODELS_WITH_UNIT_C, ids=lambda model: type(model).__name__)
def test_points_with_tiny_feature_values_are_classified(model):
    # Since C is not scaled with the features, the outputs are near zero, but their order is right.
    assert model.fit(1e-7 * X[::2], Y[::2]).score(1e-7 * X, Y) > 0.9


@pytest.mark.filterwarnings("ignore:the duality gap of a linear SVM")  # the SVM of the outlier
@pytest.mark.parametrize("model", MODELS_WITH_DEFAULT_C, ids=lambda model: type(model).__name__)
def test_other_points_are_classified_despite_an_outlier(model):
    points = X.copy()
    points[0, 0] = 1e13
    assert model.fit(points[::2], Y[::2]).score(points[1::2], Y[1::2]) > 0.9


def test_outlier_does_not_hide_other_thresholds():
    x = np.append(np.linspace(0, 1, 20), 1e12)[:, None]
    y = np.append(np.repeat([-1, 1], 10), 1)
    assert AdaBoostStump(10).fit(x, y).score(x, y) == 1.0


def test_outlier_does_not_affect_other_prototypes():
    Z = np.random.default_rng(0).normal(size=(400, 2))
    distances = []
    for outlier in (10.0, 1e8):
        Z[0] = outlier
        centres = fscl(Z, 8, None, np.random.default_rng(3))
        distances.append(cdist(Z[1:], centres).min(axis=1).mean())
    assert distances[1] == pytest.approx(distances[0], rel=0.2)


@pytest.mark.parametrize("weight", [1e-13, 1e-6, 1e6, 1e13])
def test_duality_gap_is_small_for_very_different_class_weights(weight):
    Z = np.random.default_rng(0).normal(size=(6, 2))
    y = np.array([1.0, -1, -1, -1, -1, -1])
    C = np.where(y > 0, weight, 1.0)
    batch = solve_dual_batch((Z @ Z.T)[None], y[None], C[None])
    assert batch.converged and batch.gap[0] <= 1e-6 * batch.objective[0]


LOCAL_MODELS = [
    LocalizedSVM(),
    LocalizedSVM(n_neighbors=20),
    ProfileSVM(n_clusters=1, random_state=0),
]


@pytest.mark.parametrize("model", LOCAL_MODELS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_on_the_axis_of_symmetry_do_not_depend_on_rounding(model, n_classes):
    rng = np.random.default_rng(1)
    right_points = rng.uniform(0.2, 2, (15, 2)).round(1)
    lower_right_points = rng.uniform(0.2, 2, (6, 2)).round(1) - [0, 5]
    points = np.vstack(
        [
            *(right_points * [-1, 1], right_points),
            *(lower_right_points, lower_right_points * [-1, 1]),
        ]
    )
    labels = np.repeat([0, 1, 2], [15, 15, 12])
    points, labels = points[labels < n_classes], labels[labels < n_classes]
    queries = np.column_stack([np.zeros(50), rng.uniform(-1, 2, 50).round(2)])
    expected = model.fit(points, labels).predict(queries)
    for seed in range(1, 4):
        rng = np.random.default_rng(seed)
        perturbed_points, perturbed_queries = (
            Z * (1 + 1e-15 * rng.choice([-1, 0, 1], Z.shape)) for Z in (points, queries)
        )
        assert (model.fit(perturbed_points, labels).predict(perturbed_queries) == expected).all()
