"""Preparation of tables as in the publications, tested on random rows in the format of the files.

Each random table has the number of features and the labels of the real table, and an empty cell if
the real table has any.
"""

from collections import Counter
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from svmbook.datasets import PREPARATIONS, load, manifest
from svmbook.datasets.tables import loaders, preparation

# Labels of class +1, from the descriptions of the tables instead of the manifest.
POSITIVE_LABELS = {
    "australian": {1},  # credit approved
    "breast": {4},  # malignant
    "breast_id": {4},
    "bupa": {2},
    "cleveland": {1, 2, 3, 4},  # vessels narrowed to any degree
    "dermatology": {1},  # psoriasis
    "diabetes": {1},  # tested positive
    "german": {2},  # bad credit risk
    "haberman": {2},  # died within five years
    "heart": {2},  # disease present
    "hepatitis": {1},  # died
    "image": {1},
    "ionosphere": {"g"},  # good radar return
    "postoperative": {"A"},  # sent to the general hospital floor
    "sonar": {"M"},  # mine
    "thyroid": {2, 3},  # not normal
    "vote84": {"democrat"},
}
BINARY_TABLES = [
    (source, name)
    for source in ("lin2005", "usvc2004")
    for name in PREPARATIONS[source].table_names
]
CATEGORIES = ("high", "low", "mid")


def random_rows(name, entry, rng):
    """Return rows of strings of all classes; the first has an empty cell if the table has any."""
    labels = [label for k, label in enumerate(entry.class_counts) for _ in range(3 + k)]
    rows = []
    for label in rng.permutation(labels).tolist():
        if name == "vote84":
            cells = ["yn"[k] for k in rng.integers(2, size=entry.n_features)]
        elif name == "postoperative":
            cells = [CATEGORIES[k] for k in rng.integers(3, size=entry.n_features - 1)] + ["15"]
        else:
            cells = [f"{value:.2f}" for value in rng.normal(50, 20, entry.n_features)]
        rows.append([*cells, label])
    if entry.n_incomplete_rows:
        # Except in vote84, the other cells of the row are outliers, which would change the scale of
        # the complete rows if this row were not removed.
        cell = "y" if name == "vote84" else "1e6"
        rows[0][: entry.n_features] = ["", *[cell] * (entry.n_features - 1)]
    return rows


@pytest.fixture
def manifest_of_random_tables(tmp_path, monkeypatch):
    """Set SVMBOOK_DATA to a folder of random tables; return the manifest that describes them."""
    rng = np.random.default_rng(0)
    entries = {}
    for name, entry in manifest().items():
        rows = random_rows(name, entry, rng)
        header = [f"feature {k}" for k in range(entry.n_features)] + ["target"]
        content = "".join(",".join(row) + "\n" for row in [header, *rows]).encode()
        (tmp_path / f"{name}.csv").write_bytes(content)
        counts = dict(Counter(row[-1] for row in rows))
        entries[name] = replace(
            entry, n_rows=len(rows), class_counts=counts, sha256=sha256(content).hexdigest()
        )
    monkeypatch.setenv("SVMBOOK_DATA", str(tmp_path))
    for module in (loaders, preparation):
        monkeypatch.setattr(module, "manifest", lambda: entries)
    return entries


def read_rows(name):
    """Return the rows of the file of a table as lists of strings."""
    lines = loaders.find_table_file(name).read_text(encoding="utf-8").splitlines()
    return [line.split(",") for line in lines[1:]]


@pytest.mark.parametrize(("source", "name"), BINARY_TABLES)
def test_binary_tables_are_complete_labelled_and_scaled(manifest_of_random_tables, source, name):
    original, prepared = load(name), load(name, prepare=source)
    unscaled = load(name, prepare=source, leak_free=True)
    is_complete = ~np.isnan(original.data).any(axis=1)
    has_empty_cell = bool(manifest_of_random_tables[name].n_incomplete_rows) and name != "vote84"
    assert is_complete.tolist() == [not has_empty_cell] + [True] * (
        manifest_of_random_tables[name].n_rows - 1
    )
    np.testing.assert_array_equal(unscaled.data, original.data[is_complete])
    labels = original.target[is_complete].tolist()
    assert prepared.target.tolist() == [1.0 if y in POSITIVE_LABELS[name] else -1.0 for y in labels]
    assert set(prepared.target) == {-1.0, 1.0}
    scaler = {"lin2005": MinMaxScaler((-1, 1)), "usvc2004": StandardScaler()}[source]
    np.testing.assert_allclose(prepared.data, scaler.fit_transform(unscaled.data), atol=1e-12)
    np.testing.assert_allclose(prepared.scaler.transform(unscaled.data), prepared.data, atol=1e-12)
    for unfitted in (unscaled.scaler, PREPARATIONS[source].scaler):  # all tables share the latter
        with pytest.raises(NotFittedError):
            check_is_fitted(unfitted)


@pytest.mark.parametrize("name", ["glass", "segment", "vehicle"])
def test_tables_of_shen2013_are_unchanged(manifest_of_random_tables, name):
    original, prepared = load(name), load(name, prepare="shen2013")
    np.testing.assert_array_equal(prepared.data, original.data)
    np.testing.assert_array_equal(prepared.target, original.target)
    assert prepared.scaler is None and original.scaler is None


def test_votes_are_encoded_as_yea_nay_or_neither(manifest_of_random_tables):
    table = load("vote84")
    codes = {"y": 1.0, "n": -1.0, "": 0.0}
    expected = [[codes[cell] for cell in row[:-1]] for row in read_rows("vote84")]
    np.testing.assert_array_equal(table.data, expected)
    assert set(table.data.ravel()) == {-1.0, 0.0, 1.0}
    assert len(load("vote84", prepare="lin2005").data) == manifest_of_random_tables["vote84"].n_rows


def test_categories_are_encoded_in_alphabetical_order(manifest_of_random_tables):
    table, rows = load("postoperative"), read_rows("postoperative")
    assert set(table.categories) == {f"feature {k}" for k in range(7)}
    for k in range(7):
        categories = table.categories[f"feature {k}"]
        assert list(categories) == sorted(categories)
        codes = table.data[:, k]
        assert [categories[int(c)] if c == c else "" for c in codes] == [row[k] for row in rows]
    assert table.data[1:, 7].tolist() == [15.0] * (len(rows) - 1)


def test_tables_have_description_and_feature_names(manifest_of_random_tables):
    for name, entry in manifest_of_random_tables.items():
        if name not in loaders.BUNDLED_LOADERS:
            table = load(name)
            assert entry.origin in table.DESCR and entry.licence in table.DESCR
            assert f"{name}.csv" in table.DESCR
            assert table.feature_names == [f"feature {k}" for k in range(entry.n_features)]
            assert table.data.shape == (entry.n_rows, entry.n_features)
