"""`DualSVC` of points in Dask arrays: the same classifier as in memory, for every chunking."""

import dask.array as da
import numpy as np
import pytest
from block_problems import (
    DATA_SETS,
    in_blocks,
    repeated_rows_with_string_labels,
    row_chunks,
)
from sklearn.exceptions import ConvergenceWarning

from svmbook import DualSVC, dask_input
from svmbook.datasets import stdev, twonorm

TOL = 1e-10
ZERO_TOL = 1e-12  # for a solution that is zero


pytestmark = pytest.mark.usefixtures("tasks_in_this_thread")


def assert_same_classifier(model, reference, rtol=1e-6):
    """Compare the weights by their norm, and the certificates."""
    assert model.converged_ and reference.converged_
    scale = np.linalg.norm(reference.coef_)
    assert np.linalg.norm(model.coef_ - reference.coef_) <= rtol * scale + ZERO_TOL
    assert model.objective_ == pytest.approx(reference.objective_, rel=max(1e-7, rtol**2))
    assert model.dual_objective_ <= model.objective_ * (1 + 1e-12)
    assert 1 / model.geometric_margin_ == pytest.approx(scale, rel=rtol, abs=ZERO_TOL)


@pytest.mark.parametrize("data_set", DATA_SETS)
def test_classifier_is_the_same_as_in_memory(data_set):
    X, y = DATA_SETS[data_set]()
    reference = DualSVC(tol=1e-9).fit(X, y)
    chunks = row_chunks(len(X))
    model = DualSVC(tol=TOL).fit(in_blocks(X, chunks["uneven"]), in_blocks(y, (len(y),)))
    assert_same_classifier(model, reference)
    assert model.relative_gap_ <= TOL and model.solver_ == "smoothed-hinge"


@pytest.mark.parametrize("name", row_chunks(3))
def test_chunks_do_not_matter(name):
    X, y = stdev(2, 24, random_state=0)
    chunks = row_chunks(24)[name]
    model = DualSVC().fit(in_blocks(X, chunks), in_blocks(y, chunks))
    assert_same_classifier(model, DualSVC().fit(X, y))


@pytest.mark.parametrize("keep", [False, True])
def test_points_that_fit_into_the_workers_are_read_once(keep, monkeypatch):
    sizes = []

    def read(block):
        sizes.append(len(block))
        return block

    monkeypatch.setattr(dask_input, "fits_in_workers", lambda *_: keep)
    X, y = DATA_SETS["uneven classes"]()
    chunks = row_chunks(len(X))["uneven"]
    X_blocks = da.from_array(X, chunks=(chunks, X.shape[1])).map_blocks(read, dtype=float)
    sizes.clear()
    model = DualSVC().fit(X_blocks, in_blocks(y, chunks))
    assert_same_classifier(model, DualSVC().fit(X, y), rtol=1e-4)
    assert (sum(sizes) == len(X)) == keep


def test_labels_of_any_type_and_weights_are_used():
    X, y = repeated_rows_with_string_labels()
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    options = {"tol": TOL, "class_weight": "balanced", "C": 0.3}
    chunks = (40, 60, 50)
    blocks = [in_blocks(values, chunks) for values in (X, y, weights)]
    model = DualSVC(**options).fit(*blocks)
    reference = DualSVC(**options).fit(X, y, weights)
    assert_same_classifier(model, reference)
    assert model.classes_.tolist() == ["iris", "rose"]
    np.testing.assert_array_equal(model.predict(blocks[0]).compute(), reference.predict(X))


def test_predictions_are_lazy_and_keep_the_chunks():
    X, y = stdev(2, 50, random_state=0)
    model = DualSVC().fit(X, y)
    X_blocks = in_blocks(X, (20, 0, 30))
    outputs = model.decision_function(X_blocks)
    assert isinstance(outputs, da.Array) and outputs.shape == (50,)
    np.testing.assert_array_equal(outputs.compute(), model.decision_function(X))
    labels = model.predict(X_blocks)
    assert labels.dtype == model.classes_.dtype
    np.testing.assert_array_equal(labels.compute(), model.predict(X))


def test_large_problem_starts_from_a_sample():
    X, y = twonorm(45_000, random_state=0)
    X = X[:, :3]
    chunks = (20_000, 25_000)
    model = DualSVC(C=0.1, tol=1e-4).fit(in_blocks(X, chunks), in_blocks(y, chunks))
    reference = DualSVC(C=0.1).fit(X, y)
    assert model.converged_ and model.n_iter_ <= 12
    assert model.objective_ == pytest.approx(reference.objective_, rel=1e-4)
    assert model.dual_objective_ <= reference.objective_ * (1 + 1e-12)


def test_unconverged_fit_warns_and_still_certifies_its_gap():
    X, y = stdev(2, 60, random_state=0)
    with pytest.warns(ConvergenceWarning, match="certified"):
        model = DualSVC(max_iter=3).fit(in_blocks(X, (60,)), in_blocks(y, (60,)))
    reference = DualSVC(tol=1e-10).fit(X, y)
    assert not model.converged_
    assert model.dual_objective_ <= reference.objective_ <= model.objective_


@pytest.mark.parametrize("parameters", [{"kernel": "rbf"}, {"C": np.inf}, {"solver": "active-set"}])
def test_unsupported_parameters_are_named(parameters):
    X, y = stdev(2, 20, random_state=0)
    with pytest.raises(ValueError, match="needs kernel='linear', solver='auto' and a finite C"):
        DualSVC(**parameters).fit(in_blocks(X, (20,)), in_blocks(y, (20,)))


def test_fit_in_blocks_deletes_an_earlier_fit_in_memory():
    X, y = stdev(2, 60, random_state=0)
    model = DualSVC().fit(X, np.arange(60) % 3)  # one classifier per pair of classes
    model.fit(in_blocks(X, (60,)), in_blocks(y, (60,)))
    assert not hasattr(model, "estimators_")
    expected = DualSVC().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    model = DualSVC().fit(X, y).fit(in_blocks(X, (60,)), in_blocks(y, (60,)))
    assert not hasattr(model, "alpha_")


def test_predictions_of_several_classes_are_lazy_too():
    X, _ = stdev(2, 60, random_state=0)
    model = DualSVC().fit(X, np.arange(60) % 3)
    outputs = model.decision_function(in_blocks(X, (40, 20)))
    assert outputs.shape == (60, 3)
    np.testing.assert_allclose(outputs.compute(), model.decision_function(X), rtol=1e-12)
