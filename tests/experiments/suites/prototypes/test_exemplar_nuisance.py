"""The suite exemplar-nuisance: generator, repeated runs, and statements on exemplar SVMs."""

import numpy as np
import pytest
from records import check_repeated_run, committed_values
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from svmbook.experiments.methods.protocols import GeneratedSamples
from svmbook.experiments.suites.prototypes.data_sets import WEIGHTED_NEIGHBOURS, nuisance
from svmbook.experiments.suites.prototypes.exemplar_nuisance import REFERENCE

SUITE_NAME = "exemplar-nuisance"
MAJORITY_VOTE = "exemplars, majority vote"


@pytest.fixture(scope="module")
def errors():
    """Return the errors in percent by data set and method, in the order of the runs."""
    return committed_values(SUITE_NAME, factor=100)


def undo_rotation(X):
    """Return points in the coordinates in which the generator draws them."""
    rotation, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 20)))
    return X @ rotation.T


@pytest.mark.parametrize("scale", [10.0, 1.0])
def test_three_directions_have_noise_of_the_given_scale_in_both_classes(scale):
    X, y = nuisance(20_000, 0, scale=scale)
    Z = undo_rotation(X)
    for label in (-1.0, 1.0):
        part = Z[y == label]
        np.testing.assert_allclose(part[:, :3].std(axis=0), scale, rtol=0.03)
        np.testing.assert_allclose(part[:, :3].mean(axis=0), 0.0, atol=0.05 * scale)
    np.testing.assert_allclose(Z[y < 0][:, 3:].std(axis=0), 1.0, rtol=0.03)
    assert 0.29 < (y > 0).mean() < 0.31


def test_positive_class_has_sixteen_clusters_on_eight_axes():
    X, y = nuisance(5000, 1)
    Z = undo_rotation(X)[y > 0][:, 3:]
    axis = np.abs(Z).argmax(axis=1)
    sign = np.sign(np.take_along_axis(Z, axis[:, None], axis=1))[:, 0]
    assert {*axis} == {*range(8)}
    centres = np.zeros_like(Z)
    centres[np.arange(len(Z)), axis] = 5 * sign
    np.testing.assert_allclose((Z - centres).std(axis=0), 0.5, rtol=0.06)
    sizes = np.unique(np.column_stack([axis, sign]), axis=0, return_counts=True)[1]
    assert len(sizes) == 16 and sizes.min() > 0.7 * sizes.mean()


def test_control_differs_only_in_the_scale_of_the_noise():
    (X, y), (X_control, y_control) = nuisance(300, 2), nuisance(300, 2, scale=1.0)
    np.testing.assert_array_equal(y, y_control)
    Z, Z_control = undo_rotation(X), undo_rotation(X_control)
    np.testing.assert_allclose(Z[:, 3:], Z_control[:, 3:], atol=1e-12)
    np.testing.assert_allclose(Z[:, :3], 10 * Z_control[:, :3], atol=1e-12)


@pytest.mark.parametrize(
    ("method", "data_set"),
    [
        (REFERENCE, "nuisance"),
        ("linear SVM", "control"),
        ("exemplars, against first negatives", "nuisance"),
    ],
)
def test_run_reproduces_its_committed_record(method, data_set):
    tolerances = {"error": 0.003, "model_size": 3}
    check_repeated_run(SUITE_NAME, tolerances, data_set=data_set, method=method, run=7)


def test_exemplars_with_mined_negatives_are_robust_to_the_nuisance_directions(errors):
    assert (errors["nuisance", REFERENCE] - errors["nuisance", MAJORITY_VOTE]).min() > 15.0
    assert (errors["nuisance", MAJORITY_VOTE] - errors["control", MAJORITY_VOTE]).mean() < 6.0
    assert 0 < (errors["control", MAJORITY_VOTE] - errors["control", REFERENCE]).mean() < 1.0
    errors_without_mining = errors["nuisance", "exemplars, against first negatives"]
    assert abs(errors_without_mining - errors["nuisance", REFERENCE]).mean() < 2.0


def test_neighbours_after_whitening_have_a_lower_error_than_exemplars(errors):
    model = make_pipeline(PCA(whiten=True), WEIGHTED_NEIGHBOURS)
    for run, parts in enumerate(GeneratedSamples(nuisance, n_train=500, n_test=2000, n_runs=3)):
        accuracy = model.fit(parts.X_train, parts.y_train).score(parts.X_test, parts.y_test)
        assert 100 * (1 - accuracy) < errors["nuisance", MAJORITY_VOTE][run] - 2.0
