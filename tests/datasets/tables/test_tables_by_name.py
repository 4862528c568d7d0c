"""Tables by name: found, fetched, checked, and treated as the sources did."""

import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from svmbook.datasets import SOURCES, find, load, manifest
from svmbook.datasets.tables import loaders

HERE = bool(os.environ.get("SVMBOOK_DATA"))
needs_tables = pytest.mark.skipif(not HERE, reason="SVMBOOK_DATA names no folder of tables")
# Rows without an empty cell and features, as the thesis prints them in its Table 5.1.
LIN = {
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
def nowhere(tmp_path, monkeypatch):
    """Make a machine without tables and without a network."""
    monkeypatch.delenv("SVMBOOK_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))

    def no_network(**_):
        raise OSError("no network")

    monkeypatch.setattr(loaders, "fetch_openml", no_network)
    monkeypatch.setattr(loaders, "fetch_covtype", no_network)
    return tmp_path


def survivors(rows=306, positive=81, features=3):
    """Return a table of the shape of haberman, as OpenML would."""
    X = np.arange(float(features) * rows).reshape(rows, features) / 7
    y = np.array(["2"] * positive + ["1"] * (rows - positive))
    return Bunch(data=X, target=y, feature_names=["age", "year", "nodes"][:features], categories={})


@pytest.fixture
def served(nowhere, monkeypatch):
    """Let OpenML answer, and count how often it is asked."""
    asked = []

    def fetch(data_id, as_frame, parser):
        asked.append(data_id)
        assert not as_frame and parser == "liac-arff"  # else nominal columns have no codes
        return survivors()

    monkeypatch.setattr(loaders, "fetch_openml", fetch)
    return asked


def test_a_download_is_checked_cached_and_not_repeated(served):
    first, second = load("haberman"), load("haberman")
    assert served == [43]
    np.testing.assert_allclose(first.data, survivors().data, rtol=1e-14)
    np.testing.assert_array_equal(second.data, first.data)
    assert first.target.tolist() == [2] * 81 + [1] * 225
    assert first.feature_names == ["age", "year", "nodes"]
    assert find("haberman").parent == loaders.cache_folder()


@pytest.mark.parametrize("cut", [10, 1000, -1])
def test_a_damaged_cache_is_named(served, cut):
    load("haberman")
    path = find("haberman")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError, match=r"damaged or another version.*expected.*found"):
        load("haberman")


def test_the_right_file_is_welcome_beside_the_checksum_of_a_download(served, monkeypatch):
    load("haberman")
    right = b"the file of the manifest"
    find("haberman").write_bytes(right)
    entry = replace(manifest()["haberman"], sha256=sha256(right).hexdigest())
    monkeypatch.setattr(loaders, "manifest", lambda: {"haberman": entry})
    assert find("haberman").read_bytes() == right


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"a,target\n" + b"9" * 200_000 + b",1\n"])
def test_a_file_that_is_no_table_is_named(served, monkeypatch, content):
    load("haberman")
    path = find("haberman")
    path.write_bytes(content)
    path.with_suffix(".sha256").write_text(sha256(content).hexdigest(), encoding="ascii")
    with pytest.raises(ValueError, match=r"haberman\.csv is damaged .* Remove it, and load again"):
        load("haberman")


def test_a_folder_that_is_none_is_named(nowhere, monkeypatch):
    monkeypatch.setenv("SVMBOOK_DATA", str(nowhere / "typo"))
    with pytest.raises(FileNotFoundError, match=r"SVMBOOK_DATA names '.*typo', which is no folder"):
        load("sonar")


def test_an_interrupted_download_leaves_no_table(served, monkeypatch):
    def killed(source, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loaders.os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            load("haberman")
    assert find("haberman") is None
    assert not list(loaders.cache_folder().glob("*.part"))
    assert load("haberman").data.shape == (306, 3)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (survivors(rows=305), "expected 306 rows of 3 features, found 305 of 3"),
        (survivors(features=2), "expected 306 rows of 3 features, found 306 of 2"),
        (survivors(positive=80), "expected the classes"),
    ],
)
def test_another_table_is_refused(nowhere, monkeypatch, answer, message):
    monkeypatch.setattr(loaders, "fetch_openml", lambda **_: answer)
    with pytest.raises(ValueError, match=message):
        load("haberman")
    assert find("haberman") is None


def test_labels_and_words_come_back_as_they_were(nowhere, monkeypatch):
    answer = Bunch(
        data=np.array([[0.0, 1.5], [1.0, np.nan], [np.nan, 2.0]]),
        target=np.array(["absent", "present ", "absent"]),
        feature_names=["pain", "age"],
        categories={"pain": ["dull ", "sharp"]},
    )
    entry = replace(manifest()["heart"], rows=3, features=2, class_counts={"1": 2, "2": 1})
    monkeypatch.setattr(loaders, "fetch_openml", lambda **_: answer)
    monkeypatch.setattr(loaders, "manifest", lambda: {"heart": entry})
    table = load("heart")
    assert table.target.tolist() == [1, 2, 1]
    assert table.categories == {"pain": ("dull", "sharp")}
    np.testing.assert_array_equal(table.data, answer.data)


def test_labels_of_openml_mean_those_of_the_files():
    assert {name: e.openml_labels for name, e in manifest().items() if e.openml_labels} == {
        "breast": {"benign": "2", "malignant": "4"},
        "diabetes": {"tested_negative": "0", "tested_positive": "1"},
        "heart": {"absent": "1", "present": "2"},
        "sonar": {"Rock": "R", "Mine": "M"},
    }


def test_a_label_that_is_not_translated_loses_its_spaces(nowhere, monkeypatch):
    answer = survivors(rows=2, positive=1)
    answer.target = np.array(["A ", "S"])
    entry = replace(manifest()["haberman"], rows=2, class_counts={"A": 1, "S": 1})
    monkeypatch.setattr(loaders, "fetch_openml", lambda **_: answer)
    monkeypatch.setattr(loaders, "manifest", lambda: {"haberman": entry})
    assert load("haberman").target.tolist() == ["A", "S"]


def test_covtype_is_the_first_records_of_the_whole(nowhere, monkeypatch):
    first = 15_120
    whole = Bunch(
        data=np.arange(2.0 * (first + 5)).reshape(-1, 2),
        target=np.array([1, 2] * (first // 2) + [7] * 5),
        feature_names=["elevation", "aspect"],
    )
    entry = replace(manifest()["covtype"], features=2, class_counts={"1": 7560, "2": 7560})
    monkeypatch.setattr(loaders, "fetch_covtype", lambda: whole)
    monkeypatch.setattr(loaders, "manifest", lambda: {"covtype": entry})
    table = load("covtype")
    np.testing.assert_array_equal(table.data, whole.data[:first])
    np.testing.assert_array_equal(table.target, whole.target[:first])


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("haberman", "1,2,1", "line 3 has 3 cells, the first line 4"),  # a cell is missing
        ("vote84", "y,perhaps,n,1", "damaged .*perhaps"),
    ],
)
def test_a_row_that_does_not_belong_is_refused(nowhere, monkeypatch, name, row, message):
    content = f"a,b,c,target\n{'y,y,n,1' if name == 'vote84' else '3,4,5,1'}\n{row}\n".encode()
    (nowhere / f"{name}.csv").write_bytes(content)
    monkeypatch.setenv("SVMBOOK_DATA", str(nowhere))
    described = {"rows": 2, "features": 3, "class_counts": {"1": 2}}
    entry = replace(manifest()[name], **described, sha256=sha256(content).hexdigest())
    monkeypatch.setattr(loaders, "manifest", lambda: {name: entry})
    with pytest.raises(ValueError, match=message):
        load(name)


@pytest.mark.parametrize("name", ["haberman", "covtype", "german"])
def test_a_table_that_is_nowhere_says_what_to_do(nowhere, name):
    with pytest.raises(FileNotFoundError, match=rf"no {name}.csv in .*set SVMBOOK_DATA"):
        load(name)


def test_a_file_of_another_version_is_refused(nowhere, monkeypatch):
    (nowhere / "sonar.csv").write_text("a,target\n1,M\n", encoding="utf-8")
    monkeypatch.setenv("SVMBOOK_DATA", str(nowhere))
    with pytest.raises(ValueError, match="sha256"):
        load("sonar")


def test_a_folder_of_ones_own_comes_first(served, nowhere, monkeypatch):
    load("haberman")
    own = nowhere / "own"
    own.mkdir()
    content = loaders.cache_folder().joinpath("haberman.csv").read_bytes().replace(b"age", b"AGE")
    (own / "haberman.csv").write_bytes(content)
    entry = replace(manifest()["haberman"], sha256=sha256(content).hexdigest())
    monkeypatch.setattr(loaders, "manifest", lambda: {"haberman": entry})
    monkeypatch.setenv("SVMBOOK_DATA", str(own))
    assert load("haberman").feature_names[0] == "AGE"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load("roses"), "there is no table 'roses'; there are australian"),
        (lambda: load("sonar", prepare="shen2013"), "shen2013 does not use 'sonar'"),
        (lambda: load("sonar", prepare="nobody"), "there is no source 'nobody'"),
    ],
)
def test_unknown_names_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("name", "shape"), [("wdbc", (569, 30)), ("digits", (1797, 64))])
def test_what_scikit_learn_brings_along(name, shape):
    table = load(name)
    assert table.data.shape == shape
    assert len(table.feature_names) == shape[1]
    assert len(table.target) == shape[0]
    assert table.target[0] == {"wdbc": "malignant", "digits": 0}[name]


def test_the_manifest_is_consistent():
    used = {name for treatment in SOURCES.values() for name in treatment.tables}
    assert used <= set(manifest())
    for entry in manifest().values():
        assert sum(entry.class_counts.values()) == entry.rows
        assert set(entry.positive) < set(entry.class_counts)
        assert set(entry.openml_labels.values()) <= set(entry.class_counts)
    for source in ("lin2005", "usvc2004"):
        assert all(manifest()[name].positive for name in SOURCES[source].tables)


@needs_tables
@pytest.mark.parametrize("name", sorted(set(manifest()) - {"iris"}))
def test_each_table_is_what_the_manifest_says(name):
    table, entry = load(name), manifest()[name]
    assert find(name).parent == Path(os.environ["SVMBOOK_DATA"])
    assert table.data.shape == (entry.rows, entry.features)
    incomplete = np.isnan(table.data).any(axis=1).sum()
    assert incomplete == (0 if name == "vote84" else entry.incomplete_rows)
    counts = dict(zip(*np.unique(table.target.astype(str), return_counts=True), strict=True))
    assert counts == entry.class_counts
    assert entry.origin in table.DESCR and entry.licence in table.DESCR


@needs_tables
@pytest.mark.parametrize("name", LIN)
def test_lins_tables_are_as_large_as_printed(name):
    table = load(name, prepare="lin2005")
    assert table.data.shape == LIN[name]
    assert table.data.min() == pytest.approx(-1) and table.data.max() == pytest.approx(1)
    assert set(table.target) == {-1.0, 1.0}
    free = load(name, prepare="lin2005", leak_free=True)
    np.testing.assert_allclose(free.scaler.fit_transform(free.data), table.data)


@needs_tables
@pytest.mark.parametrize("name", SOURCES["usvc2004"].tables)
def test_usvc_tables_are_standardised(name):
    table = load(name, prepare="usvc2004")
    np.testing.assert_allclose(table.data.mean(axis=0), 0, atol=1e-9)
    spread = table.data.std(axis=0)
    assert ((np.abs(spread - 1) < 1e-9) | (spread == 0)).all()


@needs_tables
def test_vote84_keeps_its_third_answer():
    assert set(np.unique(load("vote84").data)) == {-1.0, 0.0, 1.0}


def test_a_line_of_another_length_is_named():
    rows = [["1", "2", "A"], ["3", "A"]]
    with pytest.raises(ValueError, match="line 3 has 2 cells, the first line 3"):
        loaders._check_contents(manifest()["heart"], ["x", "y", "class"], rows, "the file")
