"""Dask collections as training data: blocks, labels, weights, and errors that name the block."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from block_problems import in_blocks
from sklearn.exceptions import DataConversionWarning

from svmbook import DualSVC, StumpEnsembleLogistic
from svmbook.datasets import stdev

pytestmark = pytest.mark.usefixtures("tasks_in_this_thread")


@pytest.fixture(scope="module")
def clouds():
    return stdev(2, 60, random_state=0)


@pytest.fixture(scope="module")
def table(clouds):
    X, y = clouds
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": np.where(y == y[0], "no", "yes")})


def test_data_frames_give_feature_names_and_lazy_predictions(table):
    frame = dd.from_pandas(table, npartitions=3)
    model = StumpEnsembleLogistic(n_knots=4).fit(frame[["a", "b"]], frame["label"])
    in_memory = StumpEnsembleLogistic(n_knots=4).fit(table[["a", "b"]], table["label"])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.classes_.tolist() == ["no", "yes"]
    outputs = model.predict_proba(frame[["a", "b"]])
    assert isinstance(outputs, da.Array)
    np.testing.assert_allclose(
        outputs.compute(), in_memory.predict_proba(table[["a", "b"]]), atol=1e-8
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


def test_frames_whose_filtered_partitions_are_empty_are_accepted(table):
    table = table.assign(part=np.repeat([0, 1, 2], 20))
    frame = dd.from_pandas(table, npartitions=3)
    frame = frame[frame["part"] != 1]
    rest = table[table["part"] != 1]
    model = DualSVC().fit(frame[["a", "b"]], frame["label"])
    in_memory = DualSVC(tol=1e-9).fit(rest[["a", "b"]], rest["label"])
    np.testing.assert_allclose(model.coef_, in_memory.coef_, rtol=1e-2)


def test_labels_in_other_chunks_are_aligned(clouds):
    X, y = clouds
    model = DualSVC().fit(in_blocks(X, (25, 35)), in_blocks(y, (10, 20, 30)))
    assert model.converged_


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, y[:50]), "X has 60 rows, but y has 50"),
        (lambda X, y: (X[:, 0], y), "two dimensions"),
        (lambda X, y: (X, y * 0), "at least two classes; y has one class only: 0.0"),
        (lambda X, y: (X, np.arange(60) % 3), "exactly two classes are needed; found 3"),
        (lambda X, y: (X, np.arange(60) / 7), "continuous"),
    ],
)
def test_invalid_data_are_named(clouds, change, message):
    X, y = (in_blocks(values, (len(values) - 20, 20)) for values in change(*clouds))
    with pytest.raises(ValueError, match=message):
        DualSVC().fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_value_that_is_not_finite_is_located(clouds, value):
    X, y = clouds[0].copy(), clouds[1]
    X[47, 1] = value
    with pytest.raises(ValueError, match=f"block 2, row 7 of the block, feature 1, is {value}"):
        DualSVC().fit(in_blocks(X, (20, 20, 20)), in_blocks(y, (60,)))


def test_missing_label_is_located(clouds):
    X, y = clouds[0], clouds[1].astype(float)
    y[21] = np.nan
    with pytest.raises(ValueError, match="missing label: block 1, row 1 of the block"):
        DualSVC().fit(in_blocks(X, (20, 40)), in_blocks(y, (20, 40)))


def test_missing_string_label_is_located(table):
    frame = dd.from_pandas(table.assign(label=table["label"].where(table.index != 41)), 3)
    with pytest.raises(ValueError, match="missing label: block 2, row 1 of the block"):
        DualSVC().fit(frame[["a", "b"]], frame["label"])


def test_invalid_weight_is_located(clouds):
    X, y = clouds
    weights = np.ones(60)
    weights[59] = -1.0
    blocks = [in_blocks(values, (30, 30)) for values in (X, y, weights)]
    with pytest.raises(ValueError, match=r"block 1, row 29 of the block, is -1\.0"):
        DualSVC().fit(*blocks)


def test_blocks_of_unknown_sizes_must_correspond(clouds):
    X, y = (in_blocks(values, (30, 30)) for values in clouds)
    positive = X[y == clouds[1][0]]  # sizes unknown
    with pytest.raises(ValueError, match="X has 2 blocks, but y has 1"):
        DualSVC().fit(positive, in_blocks(clouds[1], (60,)))
    with pytest.raises(ValueError, match=r"block \d of X has .* rows, but that of y 30"):
        DualSVC().fit(positive, y)


def test_columns_that_differ_between_blocks_are_named(table):
    parts = [table[["a", "b"]][:30], table[["b", "a"]][30:]]
    frame = dd.from_delayed([dask.delayed(part) for part in parts], verify_meta=False)
    labels = dd.from_delayed([dask.delayed(table["label"][s]) for s in (slice(30), slice(30, 60))])
    with pytest.raises(ValueError, match=r"block 1 of X has the columns \['b', 'a'\]"):
        DualSVC().fit(frame, labels)


def test_text_features_are_named(table):
    frame = dd.from_pandas(table, npartitions=2)
    with pytest.raises(ValueError, match=r"block \d of X is not numeric"):
        DualSVC().fit(frame[["a", "label"]], frame["label"])


def test_arrays_in_memory_are_not_mixed_with_collections(clouds):
    X, y = clouds
    with pytest.raises(TypeError, match="X is a Dask collection, but y is a ndarray"):
        DualSVC().fit(in_blocks(X, (60,)), y)


def test_numbers_of_features_must_agree_in_predictions(clouds):
    model = DualSVC().fit(*clouds)
    with pytest.raises(ValueError, match="3 features"):
        model.decision_function(da.zeros((10, 3)))


def test_blocks_of_points_without_labels_are_reported(clouds):
    X, y = (da.from_array(values, chunks=30) for values in clouds)
    unknown = da.concatenate([y[:30], y[30:][y[30:] > 9]], allow_unknown_chunksizes=True)
    with pytest.raises(ValueError, match="block 1 of X has 30 rows, but that of y 0"):
        DualSVC().fit(X.rechunk((30, 2)), unknown)


def test_labels_in_two_columns_are_an_error_and_one_column_a_warning(clouds):
    X, y = in_blocks(clouds[0], (30, 30)), clouds[1]
    with pytest.raises(ValueError, match="y must have one dimension"):
        DualSVC().fit(X, in_blocks(np.stack([y, y], axis=1), (30, 30)))
    with pytest.warns(DataConversionWarning, match="y is a column"):
        model = DualSVC().fit(X, in_blocks(y[:, None], (30, 30)))
    assert model.converged_


@pytest.mark.parametrize(
    "convert",
    [
        lambda is_first: np.where(is_first, 3, 7).astype(np.int8),
        lambda is_first: np.where(is_first, 1.0, 2.0).astype(np.float32),
        lambda is_first: np.where(is_first, "no", "yes").astype(object),
        lambda is_first: np.where(is_first, "no", "yes"),
        lambda is_first: is_first,
        lambda is_first: np.datetime64("2020-01-01") + np.where(is_first, 0, 1),
    ],
    ids=["int8", "float32", "object", "str", "bool", "datetime64"],
)
def test_classes_have_the_type_of_the_labels(clouds, convert):
    X, y = clouds
    labels = convert(y == y[0])
    model = DualSVC().fit(in_blocks(X, (30, 30)), in_blocks(labels, (30, 30)))
    assert model.classes_.dtype == labels.dtype
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    predicted = model.predict(in_blocks(X, (60,)))
    assert predicted.dtype == predicted.compute().dtype == labels.dtype
    assert model.score(in_blocks(X, (60,)), in_blocks(labels, (60,))) == model.score(X, labels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([*["a"] * 30, *[1] * 15, *[2] * 15], "different types, for instance 'a' and 1"),
        ([*["a"] * 30, *[1] * 15, *["b"] * 15], r"cannot be sorted.*\(int, str\)"),
        ([*["a"] * 30, *["b"] * 29, None], "missing label: block 1, row 29"),
        (list(map(str, range(60))), "y has 10 different labels or more"),
    ],
)
def test_invalid_labels_are_described(clouds, labels, message):
    parts = [np.array(part) for part in (labels[:30], labels[30:])]
    if len({*map(type, labels[30:])}) > 1:
        parts[1] = np.array(labels[30:], dtype=object)
    # All have the same declared type, so that Dask does not convert them.
    y = da.concatenate([da.from_delayed(dask.delayed(part), (30,), object) for part in parts])
    with pytest.raises(ValueError, match=message):
        DualSVC().fit(in_blocks(clouds[0], (30, 30)), y)


def test_complex_and_missing_features_are_located(clouds, table):
    X, y = clouds
    with pytest.raises(ValueError, match="block 0 of X has complex numbers"):
        DualSVC().fit(in_blocks(X * 1j, (60,)), in_blocks(y, (60,)))
    table = table.astype({"a": "Float64"})
    table.loc[45, "a"] = pd.NA
    frame = dd.from_pandas(table, npartitions=2)
    with pytest.raises(ValueError, match="block 1, row 15 of the block, feature 0, is nan"):
        DualSVC().fit(frame[["a", "b"]], frame["label"])


def test_no_feature_and_constant_features_are_reported(clouds):
    y = in_blocks(clouds[1], (60,))
    with pytest.raises(ValueError, match="X has no features"):
        DualSVC().fit(da.zeros((60, 0), chunks=(60, 1)), y)
    with pytest.raises(ValueError, match="all features of X are constant"):
        StumpEnsembleLogistic(n_knots=3).fit(da.ones((60, 2)), y)


def test_lazy_predictions_are_those_of_the_model_at_the_time_of_the_call(clouds):
    X, y = clouds
    model = DualSVC().fit(X, y)
    expected, lazy = model.predict(X), model.predict(in_blocks(X, (60,)))
    model.fit(X, -y)
    np.testing.assert_array_equal(lazy.compute(), expected)


def test_accuracy_of_frames_is_computed(table):
    frame = dd.from_pandas(table, npartitions=3)
    model = DualSVC().fit(table[["a", "b"]], table["label"])
    weights = table["a"].abs()
    accuracy = model.score(frame[["a", "b"]], frame["label"], dd.from_pandas(weights, 3))
    assert accuracy == pytest.approx(model.score(table[["a", "b"]], table["label"], weights))


def test_a_failed_fit_leaves_no_earlier_fit(clouds):
    X, y = clouds
    for model in (DualSVC(kernel="rbf"), StumpEnsembleLogistic()):
        model.fit(X, y)
        with pytest.raises(ValueError, match="for Dask collections"):
            model.fit(in_blocks(X, (60,)), in_blocks(y, (60,)))
        assert not hasattr(model, "classes_")
