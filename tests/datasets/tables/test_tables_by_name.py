"""Tables by name: local files, downloads, checks, and preparation as in the publications."""

import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from svmbook.datasets import PREPARATIONS, find_table_file, load, manifest
from svmbook.datasets.tables import loaders

HAS_TABLES = bool(os.environ.get("SVMBOOK_DATA"))
needs_tables = pytest.mark.skipif(not HAS_TABLES, reason="SVMBOOK_DATA is not set")
# Numbers of complete rows and of features, from Table 5.1 of Lin (2005).
LIN_SHAPES = {
    "australian": (690, 14),
    "breast_id": (683, 10),
    "cleveland": (297, 13),
    "diabetes": (768, 8),
    "german": (1000, 24),
    "heart": (270, 13),
    "ionosphere": (351, 34),
    "sonar": (208, 60),
    "vote84": (435, 16),
}


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """Simulate a computer without tables and without a network; return an empty folder."""
    monkeypatch.delenv("SVMBOOK_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))

    def raise_network_error(**_):
        raise OSError("no network")

    monkeypatch.setattr(loaders, "fetch_openml", raise_network_error)
    monkeypatch.setattr(loaders, "fetch_covtype", raise_network_error)
    return tmp_path


def haberman_download(n_rows=306, n_positive=81, n_features=3):
    """Return a table with the shape of haberman, as `fetch_openml` returns it."""
    X = np.arange(float(n_features) * n_rows).reshape(n_rows, n_features) / 7
    y = np.array(["2"] * n_positive + ["1"] * (n_rows - n_positive))
    names = ["age", "year", "nodes"][:n_features]
    return Bunch(data=X, target=y, feature_names=names, categories={})


@pytest.fixture
def downloaded_ids(empty_folder, monkeypatch):
    """Simulate OpenML; return the list of the OpenML numbers of the tables downloaded."""
    ids = []

    def fetch(data_id, as_frame, parser):
        ids.append(data_id)
        assert not as_frame and parser == "liac-arff"  # otherwise nominal columns have no codes
        return haberman_download()

    monkeypatch.setattr(loaders, "fetch_openml", fetch)
    return ids


def replace_entry(monkeypatch, name, **changes):
    """Replace the manifest by one with only this table, and change the table's description."""
    entry = replace(manifest()[name], **changes)
    monkeypatch.setattr(loaders, "manifest", lambda: {name: entry})


def test_download_is_cached_and_not_repeated(downloaded_ids):
    first, second = load("haberman"), load("haberman")
    assert downloaded_ids == [43]
    np.testing.assert_allclose(first.data, haberman_download().data, rtol=1e-14)
    np.testing.assert_array_equal(second.data, first.data)
    assert first.target.tolist() == [2] * 81 + [1] * 225
    assert first.feature_names == ["age", "year", "nodes"]
    assert find_table_file("haberman").parent == loaders.cache_folder()


@pytest.mark.parametrize("length", [10, 1000, -1])
def test_damaged_cache_is_refused(downloaded_ids, length):
    load("haberman")
    path = find_table_file("haberman")
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"damaged or another version.*expected.*found"):
        load("haberman")


def test_file_described_by_manifest_may_replace_a_download(downloaded_ids, monkeypatch):
    load("haberman")
    content = b"the file described by the manifest"
    find_table_file("haberman").write_bytes(content)
    replace_entry(monkeypatch, "haberman", sha256=sha256(content).hexdigest())
    assert find_table_file("haberman").read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"a,target\n" + b"9" * 200_000 + b",1\n"])
def test_file_that_is_not_a_table_is_refused(downloaded_ids, content):
    load("haberman")
    path = find_table_file("haberman")
    path.write_bytes(content)
    path.with_suffix(".sha256").write_text(sha256(content).hexdigest(), encoding="ascii")
    with pytest.raises(ValueError, match=r"haberman\.csv is damaged .* Remove it, and load again"):
        load("haberman")


def test_missing_folder_is_refused(empty_folder, monkeypatch):
    monkeypatch.setenv("SVMBOOK_DATA", str(empty_folder / "typo"))
    with pytest.raises(FileNotFoundError, match=r"SVMBOOK_DATA is '.*typo', which is not a folder"):
        load("sonar")


def test_interrupted_download_leaves_no_table(downloaded_ids, monkeypatch):
    def raise_keyboard_interrupt(source, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loaders.os, "replace", raise_keyboard_interrupt)
        with pytest.raises(KeyboardInterrupt):
            load("haberman")
    assert find_table_file("haberman") is None
    assert not list(loaders.cache_folder().glob("*.part"))
    assert load("haberman").data.shape == (306, 3)


@pytest.mark.parametrize(
    ("download", "message"),
    [
        (haberman_download(n_rows=305), "expected 306 rows of 3 features, found 305 of 3"),
        (haberman_download(n_features=2), "expected 306 rows of 3 features, found 306 of 2"),
        (haberman_download(n_positive=80), "expected the classes"),
    ],
)
def test_download_that_disagrees_with_manifest_is_refused(
    empty_folder, monkeypatch, download, message
):
    monkeypatch.setattr(loaders, "fetch_openml", lambda **_: download)
    with pytest.raises(ValueError, match=message):
        load("haberman")
    assert find_table_file("haberman") is None


def test_original_labels_and_categories_are_restored(empty_folder, monkeypatch):
    download = Bunch(
        data=np.array([[0.0, 1.5], [1.0, np.nan], [np.nan, 2.0]]),
        target=np.array(["absent", "present ", "absent"]),
        feature_names=["pain", "age"],
        categories={"pain": ["dull ", "sharp"]},
    )
    monkeypatch.setattr(loaders, "fetch_openml", lambda **_: download)
    replace_entry(monkeypatch, "heart", n_rows=3, n_features=2, class_counts={"1": 2, "2": 1})
    table = load("heart")
    assert table.target.tolist() == [1, 2, 1]
    assert table.categories == {"pain": ("dull", "sharp")}
    np.testing.assert_array_equal(table.data, download.data)


def test_manifest_maps_openml_labels_to_original_labels():
    assert {name: e.original_labels for name, e in manifest().items() if e.original_labels} == {
        "breast": {"benign": "2", "malignant": "4"},
        "diabetes": {"tested_negative": "0", "tested_positive": "1"},
        "heart": {"absent": "1", "present": "2"},
        "sonar": {"Rock": "R", "Mine": "M"},
    }


def test_spaces_around_labels_are_removed(empty_folder, monkeypatch):
    download = haberman_download(n_rows=2, n_positive=1)
    download.target = np.array(["A ", "S"])
    monkeypatch.setattr(loaders, "fetch_openml", lambda **_: download)
    replace_entry(monkeypatch, "haberman", n_rows=2, class_counts={"A": 1, "S": 1})
    assert load("haberman").target.tolist() == ["A", "S"]


def test_covtype_has_the_first_rows_of_the_download(empty_folder, monkeypatch):
    n_rows = 15_120
    download = Bunch(
        data=np.arange(2.0 * (n_rows + 5)).reshape(-1, 2),
        target=np.array([1, 2] * (n_rows // 2) + [7] * 5),
        feature_names=["elevation", "aspect"],
    )
    monkeypatch.setattr(loaders, "fetch_covtype", lambda: download)
    replace_entry(monkeypatch, "covtype", n_features=2, class_counts={"1": 7560, "2": 7560})
    table = load("covtype")
    np.testing.assert_array_equal(table.data, download.data[:n_rows])
    np.testing.assert_array_equal(table.target, download.target[:n_rows])


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("haberman", "3,4,5,1\n1,2,1", "line 3 has 3 cells, the first line 4"),
        ("haberman", "3,4,5,1\n\n", "line 3 has 0 cells, the first line 4"),
        ("vote84", "y,y,n,1\ny,perhaps,n,1", "damaged .*perhaps"),
    ],
)
def test_invalid_rows_are_refused(empty_folder, monkeypatch, name, rows, message):
    content = f"a,b,c,target\n{rows}\n".encode()
    (empty_folder / f"{name}.csv").write_bytes(content)
    monkeypatch.setenv("SVMBOOK_DATA", str(empty_folder))
    description = {"n_rows": 2, "n_features": 3, "class_counts": {"1": 2}}
    replace_entry(monkeypatch, name, **description, sha256=sha256(content).hexdigest())
    with pytest.raises(ValueError, match=message):
        load(name)


@pytest.mark.parametrize("name", ["haberman", "covtype", "german"])
def test_error_for_missing_table_suggests_setting_svmbook_data(empty_folder, name):
    with pytest.raises(FileNotFoundError, match=rf"no {name}.csv in .*set SVMBOOK_DATA"):
        load(name)


def test_other_version_of_a_file_is_refused(empty_folder, monkeypatch):
    (empty_folder / "sonar.csv").write_text("a,target\n1,M\n", encoding="utf-8")
    monkeypatch.setenv("SVMBOOK_DATA", str(empty_folder))
    with pytest.raises(ValueError, match="sha256"):
        load("sonar")


def test_folder_in_svmbook_data_precedes_the_cache(downloaded_ids, empty_folder, monkeypatch):
    load("haberman")
    content = find_table_file("haberman").read_bytes().replace(b"age", b"AGE")
    (empty_folder / "haberman.csv").write_bytes(content)
    replace_entry(monkeypatch, "haberman", sha256=sha256(content).hexdigest())
    monkeypatch.setenv("SVMBOOK_DATA", str(empty_folder))
    assert load("haberman").feature_names[0] == "AGE"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load("roses"), "there is no table 'roses'; choose from australian"),
        (lambda: load("sonar", prepare="shen2013"), "shen2013 does not use 'sonar'"),
        (lambda: load("sonar", prepare="nobody"), "there is no source 'nobody'"),
    ],
)
def test_unknown_names_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("name", "shape"), [("wdbc", (569, 30)), ("digits", (1797, 64))])
def test_tables_of_scikit_learn_have_their_shapes_and_labels(name, shape):
    table = load(name)
    assert table.data.shape == shape
    assert len(table.feature_names) == shape[1]
    assert len(table.target) == shape[0]
    assert table.target[0] == {"wdbc": "malignant", "digits": 0}[name]


def test_manifest_is_consistent():
    table_names = {
        name for preparation in PREPARATIONS.values() for name in preparation.table_names
    }
    assert table_names <= set(manifest())
    for entry in manifest().values():
        assert sum(entry.class_counts.values()) == entry.n_rows
        assert set(entry.positive_labels) < set(entry.class_counts)
        assert set(entry.original_labels.values()) <= set(entry.class_counts)
    for source in ("lin2005", "usvc2004"):
        assert all(manifest()[name].positive_labels for name in PREPARATIONS[source].table_names)


@needs_tables
@pytest.mark.parametrize("name", sorted(set(manifest()) - {"iris"}))
def test_tables_agree_with_manifest(name):
    table, entry = load(name), manifest()[name]
    assert find_table_file(name).parent == Path(os.environ["SVMBOOK_DATA"])
    assert table.data.shape == (entry.n_rows, entry.n_features)
    n_incomplete_rows = np.isnan(table.data).any(axis=1).sum()
    assert n_incomplete_rows == (0 if name == "vote84" else entry.n_incomplete_rows)
    counts = dict(zip(*np.unique(table.target.astype(str), return_counts=True), strict=True))
    assert counts == entry.class_counts
    assert entry.origin in table.DESCR and entry.licence in table.DESCR


@needs_tables
@pytest.mark.parametrize("name", LIN_SHAPES)
def test_tables_of_lin2005_have_the_printed_shape_and_are_scaled(name):
    table = load(name, prepare="lin2005")
    assert table.data.shape == LIN_SHAPES[name]
    assert table.data.min() == pytest.approx(-1) and table.data.max() == pytest.approx(1)
    assert set(table.target) == {-1.0, 1.0}
    unscaled = load(name, prepare="lin2005", leak_free=True)
    np.testing.assert_allclose(unscaled.scaler.fit_transform(unscaled.data), table.data)


@needs_tables
@pytest.mark.parametrize("name", PREPARATIONS["usvc2004"].table_names)
def test_tables_of_usvc2004_are_standardised(name):
    table = load(name, prepare="usvc2004")
    np.testing.assert_allclose(table.data.mean(axis=0), 0, atol=1e-9)
    deviations = table.data.std(axis=0)
    assert ((np.abs(deviations - 1) < 1e-9) | (deviations == 0)).all()


@needs_tables
def test_votes_of_vote84_have_three_values():
    assert set(np.unique(load("vote84").data)) == {-1.0, 0.0, 1.0}
