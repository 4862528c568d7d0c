"""What the sources did to their tables, on invented rows in the files' own formats.

Shapes, labels and gaps are those of the real tables; no row is.
"""

from collections import Counter
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from svmbook.datasets import SOURCES, load, manifest
from svmbook.datasets.tables import loaders, treatments

# What counts as +1, from the descriptions of the tables and not from the manifest.
POSITIVE = {
    "australian": {1},  # credit approved
    "breast": {4},  # malignant
    "breast_id": {4},
    "bupa": {2},
    "cleveland": {1, 2, 3, 4},  # vessels narrowed, in whatever degree
    "dermatology": {1},  # psoriasis
    "diabetes": {1},  # tested positive
    "german": {2},  # a bad risk
    "haberman": {2},  # died within five years
    "heart": {2},  # disease present
    "hepatitis": {1},  # died
    "image": {1},
    "ionosphere": {"g"},  # a good return
    "postoperative": {"A"},  # to the general floor
    "sonar": {"M"},  # a mine
    "thyroid": {2, 3},  # not normal
    "vote84": {"democrat"},
}
PREPARED = [(source, name) for source in ("lin2005", "usvc2004") for name in SOURCES[source].tables]
WORDS = ("high", "low", "mid")


def invented(name, entry, rng):
    """Return rows of strings: some of each class, the first with a gap if the table has gaps."""
    labels = [label for k, label in enumerate(entry.class_counts) for _ in range(3 + k)]
    rows = []
    for label in rng.permutation(labels).tolist():
        if name == "vote84":
            cells = ["yn"[k] for k in rng.integers(2, size=entry.features)]
        elif name == "postoperative":
            cells = [WORDS[k] for k in rng.integers(3, size=entry.features - 1)] + ["15"]
        else:
            cells = [f"{value:.2f}" for value in rng.normal(50, 20, entry.features)]
        rows.append([*cells, label])
    if entry.incomplete_rows:
        # Far away: it would be seen if it had a say in the scale of the others.
        far = {"vote84": "y"}.get(name, "1e6")
        rows[0][: entry.features] = ["", *[far] * (entry.features - 1)]
    return rows


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Let SVMBOOK_DATA name a folder of invented tables, and the manifest describe them."""
    rng = np.random.default_rng(0)
    entries = {}
    for name, entry in manifest().items():
        rows = invented(name, entry, rng)
        header = [f"feature {k}" for k in range(entry.features)] + ["target"]
        content = "".join(",".join(row) + "\n" for row in [header, *rows]).encode()
        (tmp_path / f"{name}.csv").write_bytes(content)
        counts = dict(Counter(row[-1] for row in rows))
        entries[name] = replace(
            entry, rows=len(rows), class_counts=counts, sha256=sha256(content).hexdigest()
        )
    monkeypatch.setenv("SVMBOOK_DATA", str(tmp_path))
    for module in (loaders, treatments):
        monkeypatch.setattr(module, "manifest", lambda: entries)
    return entries


def whole(table):
    return ~np.isnan(table.data).any(axis=1)


@pytest.mark.parametrize(("source", "name"), PREPARED)
def test_plus_one_is_the_label_that_the_table_describes(tables, source, name):
    raw, treated = load(name), load(name, prepare=source)
    labels = raw.target[whole(raw)].tolist()
    assert treated.target.tolist() == [1.0 if y in POSITIVE[name] else -1.0 for y in labels]
    assert set(treated.target) == {-1.0, 1.0}


@pytest.mark.parametrize(("source", "name"), PREPARED)
def test_rows_with_an_empty_cell_are_left_out_and_no_other(tables, source, name):
    raw, free = load(name), load(name, prepare=source, leak_free=True)
    gaps = bool(tables[name].incomplete_rows) and name != "vote84"
    assert (~whole(raw)).tolist() == [gaps] + [False] * (tables[name].rows - 1)
    np.testing.assert_array_equal(free.data, raw.data[whole(raw)])


@pytest.mark.parametrize(("source", "name"), PREPARED)
def test_features_are_scaled_over_all_complete_rows(tables, source, name):
    treated, free = load(name, prepare=source), load(name, prepare=source, leak_free=True)
    scaler = {"lin2005": MinMaxScaler((-1, 1)), "usvc2004": StandardScaler()}[source]
    np.testing.assert_allclose(treated.data, scaler.fit_transform(free.data), atol=1e-12)
    np.testing.assert_allclose(treated.scaler.transform(free.data), treated.data, atol=1e-12)
    with pytest.raises(NotFittedError):
        check_is_fitted(free.scaler)
    with pytest.raises(NotFittedError):
        check_is_fitted(SOURCES[source].scaler)  # the next table must not find this one's scale


@pytest.mark.parametrize("name", ["glass", "segment", "vehicle"])
def test_shen_takes_tables_as_they_are(tables, name):
    raw, treated = load(name), load(name, prepare="shen2013")
    np.testing.assert_array_equal(treated.data, raw.data)
    np.testing.assert_array_equal(treated.target, raw.target)
    assert treated.scaler is None and raw.scaler is None


def test_an_answer_of_vote84_is_yea_nay_or_neither(tables):
    table = load("vote84")
    text = loaders.find("vote84").read_text(encoding="utf-8").splitlines()[1:]
    answers = {"y": 1.0, "n": -1.0, "": 0.0}
    expected = [[answers[cell] for cell in line.split(",")[:-1]] for line in text]
    np.testing.assert_array_equal(table.data, expected)
    assert set(table.data.ravel()) == {-1.0, 0.0, 1.0}
    assert len(load("vote84", prepare="lin2005").data) == tables["vote84"].rows


def test_words_become_codes_in_alphabetical_order(tables):
    table = load("postoperative")
    text = loaders.find("postoperative").read_text(encoding="utf-8").splitlines()[1:]
    cells = [line.split(",") for line in text]
    assert set(table.categories) == {f"feature {k}" for k in range(7)}
    for k in range(7):
        words = table.categories[f"feature {k}"]
        assert list(words) == sorted(words)
        codes = table.data[:, k]
        assert [words[int(c)] if c == c else "" for c in codes] == [row[k] for row in cells]
    assert table.data[1:, 7].tolist() == [15.0] * (len(text) - 1)


def test_a_table_says_where_it_comes_from(tables):
    for name, entry in tables.items():
        if name not in loaders.BUNDLED:
            table = load(name)
            assert entry.origin in table.DESCR and entry.licence in table.DESCR
            assert f"{name}.csv" in table.DESCR
            assert table.feature_names == [f"feature {k}" for k in range(entry.features)]
            assert table.data.shape == (entry.rows, entry.features)
