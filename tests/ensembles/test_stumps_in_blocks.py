"""Stump ensembles of points in Dask arrays: the same shape functions as in memory."""

import dask.array as da
import numpy as np
import pytest
from block_problems import DATA_SETS, in_blocks, repeated_rows_with_string_labels, row_chunks
from dask.sizeof import sizeof

from svmbook import StumpEnsembleLogistic, StumpEnsembleSVC
from svmbook.datasets import twonorm
from svmbook.ensembles.stump_base import HAT_MEMORY_RATIO
from svmbook.gram import block_knots, stumps

MODELS = [StumpEnsembleSVC(n_knots=5, tol=1e-9), StumpEnsembleLogistic(n_knots=5, tol=1e-10)]
NAMES = ["hinge", "logistic"]
ZERO_OUTPUT = 1e-12  # a smaller output is a rounding error; the margin is 1


pytestmark = pytest.mark.usefixtures("tasks_in_this_thread")


def assert_same_shape_functions(model, reference, rtol=1e-6):
    assert model.converged_ and reference.converged_
    assert model.objective_ == pytest.approx(reference.objective_, rel=1e-7)
    scale = max(np.abs(g.values).max() for g in reference.shape_functions_)
    atol = rtol * scale + ZERO_OUTPUT  # the best functions may all be zero
    for g, expected in zip(model.shape_functions_, reference.shape_functions_, strict=True):
        np.testing.assert_allclose(g.knots, expected.knots)
        np.testing.assert_allclose(g.values, expected.values, atol=atol)
    np.testing.assert_allclose(
        model.feature_importances_, reference.feature_importances_, atol=atol
    )
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=atol)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
@pytest.mark.parametrize("data_set", DATA_SETS)
def test_shape_functions_are_the_same_as_in_memory(data_set, model):
    X, y = DATA_SETS[data_set]()
    chunks = row_chunks(len(X))["uneven"]
    model = model.fit(in_blocks(X, chunks), in_blocks(y, chunks))
    shape_functions = vars(model).copy()
    in_memory = type(model)(**model.get_params()).fit(X, y)
    assert vars(model) == shape_functions
    assert_same_shape_functions(model, in_memory)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
@pytest.mark.parametrize("name", row_chunks(3))
def test_chunks_do_not_matter(name, model):
    X, y = twonorm(24, random_state=0)
    X, chunks = X[:, :2], row_chunks(24)[name]
    model = type(model)(n_knots=3, tol=model.tol)
    in_memory = type(model)(**model.get_params()).fit(X, y)
    model.fit(in_blocks(X, chunks), in_blocks(y, chunks))
    assert_same_shape_functions(model, in_memory)


@pytest.mark.parametrize("keep", [False, True])
def test_hat_functions_that_fit_into_the_workers_are_computed_once(keep, monkeypatch):
    from_knots, sizes = stumps.StumpGram.from_knots, []

    def recorded_from_knots(X, *args, **options):
        sizes.append(len(X))
        return from_knots(X, *args, **options)

    monkeypatch.setattr(stumps.StumpGram, "from_knots", recorded_from_knots)
    monkeypatch.setattr("svmbook.ensembles.stump_base.fits_in_workers", lambda *_: keep)
    X, y = twonorm(150, random_state=0)
    chunks = row_chunks(150)["uneven"]
    model = StumpEnsembleSVC(n_knots=3, tol=1e-9).fit(in_blocks(X, chunks), in_blocks(y, chunks))
    assert (sum(sizes) == 150) == keep
    assert_same_shape_functions(model, StumpEnsembleSVC(n_knots=3, tol=1e-9).fit(X, y))


def test_the_workers_know_the_size_of_hat_functions():
    X, _ = twonorm(1000, random_state=0)
    gram = stumps.StumpGram.from_knots(X, stumps.quantile_knots(X, 8))
    assert sizeof(gram) == pytest.approx(HAT_MEMORY_RATIO * X.nbytes, rel=0.02)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_weights_are_used(model):
    X, y = repeated_rows_with_string_labels()
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = type(model)(**model.get_params() | {"class_weight": {"rose": 2.0}})
    in_memory = type(model)(**model.get_params()).fit(X, y, weights)
    chunks = (40, 60, 50)
    model.fit(*(in_blocks(values, chunks) for values in (X, y, weights)))
    assert_same_shape_functions(model, in_memory)
    np.testing.assert_array_equal(
        model.predict(in_blocks(X, chunks)).compute(), in_memory.predict(X)
    )


def test_probabilities_are_lazy():
    X, y = twonorm(60, random_state=0)
    model = StumpEnsembleLogistic(n_knots=3).fit(X, y)
    for method in ("predict_proba", "predict_log_proba"):
        values = getattr(model, method)(in_blocks(X, (50, 10)))
        assert values.chunks == ((50, 10), (2,))
        np.testing.assert_array_equal(values.compute(), getattr(model, method)(X))


def test_fit_without_knots_is_an_error():
    X, y = twonorm(20, random_state=0)
    with pytest.raises(ValueError, match="StumpEnsembleSVC needs n_knots"):
        StumpEnsembleSVC().fit(in_blocks(X, (20,)), in_blocks(y, (20,)))


def test_knots_of_large_data_come_from_digests(monkeypatch):
    monkeypatch.setattr(block_knots, "QUANTILE_SAMPLE_SIZE", 100)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(3000), rng.integers(0, 3, 3000), np.ones(3000)])
    y, weights = np.where(X[:, 0] > 0, 1.0, -1.0), rng.random(3000)
    chunks = (1000, 1500, 500)
    model = StumpEnsembleSVC(n_knots=9).fit(
        *(in_blocks(values, chunks) for values in (X, y, weights))
    )
    normal, few_values, constant = (g.knots for g in model.shape_functions_)
    np.testing.assert_array_equal(few_values, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(constant, [1.0])
    assert (normal[0], normal[-1]) == (X[:, 0].min(), X[:, 0].max())
    order = np.argsort(X[:, 0])
    levels = np.interp(normal, X[order, 0], np.cumsum(weights[order]) / weights.sum())
    np.testing.assert_allclose(levels, np.linspace(0, 1, 9), atol=0.005)


@pytest.mark.parametrize("decimals", [1, 12])
def test_digest_has_the_quantiles_of_weighted_values(decimals):
    rng = np.random.default_rng(0)
    values, weights = rng.standard_normal(20_000).round(decimals), rng.random(20_000)
    levels = np.linspace(0, 1, 33)[1:-1]
    total = block_knots._digest(values, weights)
    found = total.quantile(levels).round(9)
    below, up_to = (
        [weights[compare(values, value)].sum() / weights.sum() for value in found]
        for compare in (np.less, np.less_equal)
    )
    assert (below - levels).max() <= 2e-3 and (levels - up_to).max() <= 2e-3
    assert total.size() == pytest.approx(weights.sum())


def test_hessian_sample_is_shared_by_the_blocks(monkeypatch):
    sizes = []
    original = stumps.draw_indices

    def record_sample(n, size):
        sizes.append(size)
        return original(n, size)

    monkeypatch.setattr(stumps, "draw_indices", record_sample)
    monkeypatch.setattr(stumps, "HESSIAN_SAMPLE_SIZE", 100)
    X, y = twonorm(300, random_state=0)
    chunks = (100, 200)
    StumpEnsembleLogistic(n_knots=2).fit(in_blocks(X[:, :1], chunks), in_blocks(y, chunks))
    assert set(sizes[-2:]) == {33, 67}


def test_probabilities_of_several_classes_are_lazy_too():
    X, _ = twonorm(60, random_state=0)
    model = StumpEnsembleLogistic(n_knots=3).fit(X, np.arange(60) % 3)
    for method in ("predict_proba", "predict_log_proba"):
        values = getattr(model, method)(in_blocks(X, (50, 10)))
        assert isinstance(values, da.Array) and values.shape == (60, 3)
        np.testing.assert_allclose(values.compute(), getattr(model, method)(X), rtol=1e-10)


def test_adding_summaries_of_features_changes_neither():
    points = np.random.default_rng(0).standard_normal((40, 2))
    first, second = (
        block_knots.FeatureSummary.of_points(part, np.ones(20), max_values=5)
        for part in np.split(points, 2)
    )
    for _ in range(2):
        total = first + second
    assert [digest.size() for digest in total.digests] == [40, 40]
    assert [digest.size() for digest in first.digests + second.digests] == [20] * 4
