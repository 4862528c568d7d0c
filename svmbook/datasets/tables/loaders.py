"""Find, download, check and read classical tables by name.

Iris, wdbc and digits are scikit-learn's copies. Any other table is searched for in
``$SVMBOOK_DATA``, then in the user's cache, then on OpenML (the forest cover data at scikit-learn's
source). A downloaded table is written to the cache. The shape of each table and the sizes of its
classes must be those of the manifest in the package. A file must have the checksum of the manifest,
or in the cache the checksum that it had after the download.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from sklearn.datasets import (
    fetch_covtype,
    fetch_openml,
    load_breast_cancer,
    load_digits,
    load_iris,
)
from sklearn.utils import Bunch

from ...files import write_atomically

__all__ = ["ManifestEntry", "cache_folder", "find_table_file", "load_table", "manifest"]

BUNDLED_LOADERS = {"iris": load_iris, "wdbc": load_breast_cancer, "digits": load_digits}
VOTE_CODES = {"n": -1.0, "": 0.0, "y": 1.0}  # of vote84: an empty cell means neither yea nor nay
N_COVTYPE_ROWS = 15_120  # the first rows, 2,160 per class


@dataclass(frozen=True)
class ManifestEntry:
    """The description of a table in the manifest."""

    name: str
    n_rows: int
    n_features: int  # without the target
    n_incomplete_rows: int  # rows with an empty cell
    class_counts: dict  # number of rows by original label, a string
    positive_labels: tuple  # labels of class +1 in binary problems; empty if there is no convention
    openml_id: int | None  # of the same table on OpenML
    original_labels: dict  # original label by OpenML's label
    sha256: str  # of the file
    licence: str
    origin: str


@cache
def manifest():
    """Return the descriptions of all tables, by name.

    Examples
    --------
    >>> from svmbook.datasets import manifest
    >>> manifest()["sonar"].class_counts
    {'M': 111, 'R': 97}
    """
    text = (files("svmbook.datasets.tables") / "manifest.csv").read_text(encoding="utf-8")
    entries = {}
    for row in csv.DictReader(io.StringIO(text)):
        class_counts = _parse_mapping(row["class_counts"])
        entries[row["name"]] = ManifestEntry(
            name=row["name"],
            n_rows=int(row["n_rows"]),
            n_features=int(row["n_features"]),
            n_incomplete_rows=int(row["n_incomplete_rows"]),
            class_counts={label: int(count) for label, count in class_counts.items()},
            positive_labels=tuple(filter(None, row["positive_labels"].split(";"))),
            openml_id=int(row["openml_id"]) if row["openml_id"] else None,
            original_labels=_parse_mapping(row["original_labels"]),
            sha256=row["sha256"],
            licence=row["licence"],
            origin=row["origin"],
        )
    return entries


def load_table(name):
    """Load a table by name, without any preparation.

    Examples
    --------
    >>> from svmbook.datasets.tables.loaders import load_table
    >>> iris = load_table("iris")
    >>> iris.data.shape, iris.target[0]
    ((150, 4), np.str_('setosa'))
    """
    if name in BUNDLED_LOADERS:
        return _load_bundled(name)
    if name not in manifest():
        known_names = ", ".join(sorted({*manifest(), *BUNDLED_LOADERS}))
        raise ValueError(f"there is no table {name!r}; choose from {known_names}.")
    entry = manifest()[name]
    path = find_table_file(name) or _download_to_cache(entry)
    try:
        header, rows = _read_csv(path)
        _check_contents(entry, header, rows, path, " Remove it, or fetch it again.")
        columns = list(zip(*rows, strict=True))
        encoded_columns = [
            _encode_column(column, is_vote=name == "vote84") for column in columns[:-1]
        ]
    except (KeyError, UnicodeError, csv.Error) as error:
        raise ValueError(f"{path} is damaged ({error!r}). Remove it, and load again.") from error
    return Bunch(
        data=np.column_stack([values for values, _ in encoded_columns]),
        target=_parse_labels(columns[-1]),
        feature_names=header[:-1],
        categories={
            feature: categories
            for feature, (_, categories) in zip(header, encoded_columns, strict=False)
            if categories
        },
        DESCR=f"{name}: {entry.origin}. Licence: {entry.licence}. Read from {path.name}.",
    )


def find_table_file(name: str) -> Path | None:
    """Return the checked local file of a table, or None if there is none.

    Parameters
    ----------
    name : str
        A name in the manifest.

    Returns
    -------
    Path or None

    Raises
    ------
    FileNotFoundError
        ``SVMBOOK_DATA`` is not a folder.
    ValueError
        The file has another checksum: it is damaged, or another version.
    """
    if folder := os.environ.get("SVMBOOK_DATA"):
        if not Path(folder).is_dir():
            raise FileNotFoundError(f"SVMBOOK_DATA is {folder!r}, which is not a folder.")
        path = Path(folder) / f"{name}.csv"
        if path.exists():
            _verify_checksum(path, manifest()[name].sha256)
            return path
    path = cache_folder() / f"{name}.csv"
    if not path.exists():
        return None
    expected_checksums = [manifest()[name].sha256]
    checksum_path = path.with_suffix(".sha256")  # downloads may write the same numbers differently
    if checksum_path.exists():
        expected_checksums.append(
            checksum_path.read_text(encoding="ascii", errors="replace").strip()
        )
    _verify_checksum(path, *expected_checksums)
    return path


def cache_folder():
    """Return the folder of downloaded tables, ``svmbook`` in scikit-learn's data folder.

    The folder may not exist yet.
    """
    data_home = os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")
    return Path(data_home).expanduser() / "svmbook"


def _download_to_cache(entry):
    """Download a table, check it, write it to the cache, and return its path."""
    folders = f"$SVMBOOK_DATA ({os.environ.get('SVMBOOK_DATA', 'not set')}) or {cache_folder()}"
    advice = f"Put {entry.name}.csv into a folder and set SVMBOOK_DATA to it."
    if entry.openml_id is None and entry.name != "covtype":
        raise FileNotFoundError(
            f"no {entry.name}.csv in {folders}, and there is no public copy of the same table "
            f"(origin: {entry.origin}). {advice}"
        )
    try:
        header, rows = _fetch_rows(entry)
    except Exception as error:  # network errors have many types
        raise FileNotFoundError(
            f"no {entry.name}.csv in {folders}, and the download failed ({error}). {advice}"
        ) from error
    _check_contents(entry, header, rows, "the downloaded table")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    content = text.getvalue().encode()
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{entry.name}.csv"
    write_atomically(path.with_suffix(".sha256"), hashlib.sha256(content).hexdigest().encode())
    write_atomically(path, content)
    return path


def _fetch_rows(entry):
    """Return the header and the rows, as strings, of a table that scikit-learn downloads."""
    if entry.name == "covtype":
        bunch = fetch_covtype()
        X, y = bunch.data[:N_COVTYPE_ROWS], bunch.target[:N_COVTYPE_ROWS]
        names, categories = bunch.feature_names, {}
    else:
        bunch = fetch_openml(data_id=entry.openml_id, as_frame=False, parser="liac-arff")
        X, y, names, categories = bunch.data, bunch.target, bunch.feature_names, bunch.categories
    categories = categories or {}
    columns = [_cell_strings(X[:, j], categories.get(name)) for j, name in enumerate(names)]
    labels = [entry.original_labels.get(str(label).strip(), str(label).strip()) for label in y]
    return [*names, "target"], [list(row) for row in zip(*columns, labels, strict=True)]


def _cell_strings(column, categories):
    """Return the cells of a column as strings; nominal columns contain indices of categories."""
    cells = []
    for value in column:
        if value is None or value != value:  # NaN
            cells.append("")
        elif categories:
            cells.append(str(categories[int(value)]).strip())
        else:
            cells.append(f"{float(value):.15g}")
    return cells


def _read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows:
        raise csv.Error("it is empty")
    return rows[0], rows[1:]


def _check_contents(entry, header, rows, subject, advice=""):
    """Raise an error if a table is not the one that the manifest describes.

    The message begins with ``subject``, a name for the table or its file, and ends with
    ``advice``.
    """
    shape = (len(rows), len(header) - 1)
    if ragged_rows := [i for i, row in enumerate(rows) if len(row) != len(header)]:
        line_number, n_cells = ragged_rows[0] + 2, len(rows[ragged_rows[0]])
        difference = f"line {line_number} has {n_cells} cells, the first line {len(header)}"
    elif shape != (entry.n_rows, entry.n_features):
        expected = f"expected {entry.n_rows} rows of {entry.n_features} features"
        difference = f"{expected}, found {shape[0]} of {shape[1]}"
    elif (counts := dict(Counter(sorted(row[-1] for row in rows)))) != entry.class_counts:
        difference = f"expected the classes {entry.class_counts}, found {counts}"
    else:
        return
    raise ValueError(f"{subject} is not {entry.name}: {difference}.{advice}")


def _verify_checksum(path, *expected_checksums):
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    if checksum not in expected_checksums:
        raise ValueError(
            f"{path} is damaged or another version: expected the sha256 "
            f"{expected_checksums[0][:12]}..., found {checksum[:12]}.... Remove it, or replace it "
            "with the correct file."
        )


def _encode_column(column, is_vote):
    """Return a column as floats, and the categories that they encode, if it is not numeric."""
    if is_vote:
        return np.array([VOTE_CODES[cell] for cell in column]), ()
    try:
        return np.array([float(cell) if cell else np.nan for cell in column]), ()
    except ValueError:
        categories = tuple(sorted({cell for cell in column if cell}))
        codes = [categories.index(cell) if cell else np.nan for cell in column]
        return np.array(codes), categories


def _parse_labels(column):
    try:
        return np.array([int(cell) for cell in column])
    except ValueError:
        return np.array(column)


def _load_bundled(name):
    bunch = BUNDLED_LOADERS[name]()
    return Bunch(
        data=bunch.data,
        target=bunch.target_names[bunch.target],
        feature_names=list(bunch.feature_names),
        categories={},
        DESCR=bunch.DESCR,
    )


def _parse_mapping(text):
    return dict(item.split("=") for item in text.split(";") if item)
