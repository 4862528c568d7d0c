"""Classical tables by name: found, checked, and described.

Iris, wdbc and digits are scikit-learn's own copies. Any other table is looked for in
``$SVMBOOK_DATA``, then in the user's cache, then on OpenML (or where scikit-learn keeps the forest
cover data), from where it is written to the cache. Whatever its way, its shape and the counts of
its classes must be those of the manifest that comes with the package, and a file must have the
checksum it had when it was made.
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

from ...files import write_whole

__all__ = ["Entry", "cache_folder", "find", "load_table", "manifest"]

BUNDLED = {"iris": load_iris, "wdbc": load_breast_cancer, "digits": load_digits}
VOTE_CODES = {"n": -1.0, "": 0.0, "y": 1.0}  # of vote84: an empty cell is an answer, not a gap
COVTYPE_ROWS = 15_120  # the first records, 2,160 of each class


@dataclass(frozen=True)
class Entry:
    """What the manifest says of a table."""

    name: str
    rows: int
    features: int  # the target not counted
    incomplete_rows: int  # with an empty cell
    class_counts: dict  # rows of each class, by the original label as a string
    positive: tuple  # labels that count as +1 where two classes are wanted, if that is customary
    openml_id: int | None  # of the same table on OpenML
    openml_labels: dict  # original label by the one used there
    sha256: str  # of the file
    licence: str
    origin: str


@cache
def manifest():
    """Return the entries of all tables, by name.

    Examples
    --------
    >>> from svmbook.datasets import manifest
    >>> manifest()["sonar"].class_counts
    {'M': 111, 'R': 97}
    """
    text = (files("svmbook.datasets.tables") / "manifest.csv").read_text(encoding="utf-8")
    entries = {}
    for row in csv.DictReader(io.StringIO(text)):
        counts, labels = _parse_mapping(row["class_counts"]), _parse_mapping(row["openml_labels"])
        entries[row["name"]] = Entry(
            name=row["name"],
            rows=int(row["rows"]),
            features=int(row["features"]),
            incomplete_rows=int(row["incomplete_rows"]),
            class_counts={label: int(count) for label, count in counts.items()},
            positive=tuple(filter(None, row["positive"].split(";"))),
            openml_id=int(row["openml_id"]) if row["openml_id"] else None,
            openml_labels=labels,
            sha256=row["sha256"],
            licence=row["licence"],
            origin=row["origin"],
        )
    return entries


def load_table(name):
    """Load a table by name, as it is.

    Examples
    --------
    >>> from svmbook.datasets.tables.loaders import load_table
    >>> iris = load_table("iris")
    >>> iris.data.shape, iris.target[0]
    ((150, 4), np.str_('setosa'))
    """
    if name in BUNDLED:
        return _bundled(name)
    if name not in manifest():
        known = ", ".join(sorted({*manifest(), *BUNDLED}))
        raise ValueError(f"there is no table {name!r}; there are {known}.")
    entry = manifest()[name]
    path = find(name) or _download(entry)
    try:
        header, rows = _read(path)
        _check_contents(entry, header, rows, path)
        columns = list(zip(*rows, strict=True))
        coded = [_encode_column(column, votes=name == "vote84") for column in columns[:-1]]
    except (KeyError, UnicodeError, csv.Error) as error:
        raise ValueError(f"{path} is damaged ({error!r}). Remove it, and load again.") from error
    return Bunch(
        data=np.column_stack([values for values, _ in coded]),
        target=_labels(columns[-1]),
        feature_names=header[:-1],
        categories={
            feature: words for feature, (_, words) in zip(header, coded, strict=False) if words
        },
        DESCR=f"{name}: {entry.origin}. Licence: {entry.licence}. Read from {path.name}.",
    )


def find(name: str) -> Path | None:
    """Return the checked file of a table, or None where there is none on this machine.

    Parameters
    ----------
    name : str
        A name of the manifest.

    Returns
    -------
    Path or None

    Raises
    ------
    FileNotFoundError
        ``SVMBOOK_DATA`` names no folder.
    ValueError
        There is a file, but with another checksum: it is damaged, or another version.
    """
    if folder := os.environ.get("SVMBOOK_DATA"):
        if not Path(folder).is_dir():
            raise FileNotFoundError(f"SVMBOOK_DATA names {folder!r}, which is no folder.")
        path = Path(folder) / f"{name}.csv"
        if path.exists():
            _check_sum(path, manifest()[name].sha256)
            return path
    path = cache_folder() / f"{name}.csv"
    if not path.exists():
        return None
    expected = [manifest()[name].sha256]
    written = path.with_suffix(".sha256")  # of what was downloaded: other spellings of numbers
    if written.exists():
        expected.append(written.read_text(encoding="ascii", errors="replace").strip())
    _check_sum(path, *expected)
    return path


def cache_folder():
    """Return the folder of downloaded tables, ``svmbook`` in scikit-learn's data folder.

    It is made when the first table is written.
    """
    home = os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data")
    return Path(home).expanduser() / "svmbook"


def _download(entry):
    """Fetch a table, check it, write it to the cache; return its path."""
    looked = f"$SVMBOOK_DATA ({os.environ.get('SVMBOOK_DATA', 'not set')}) and {cache_folder()}"
    advice = f"Put {entry.name}.csv into a folder and set SVMBOOK_DATA to it."
    if entry.openml_id is None and entry.name != "covtype":
        raise FileNotFoundError(
            f"no {entry.name}.csv in {looked}, and no public copy holds the same table "
            f"(origin: {entry.origin}). {advice}"
        )
    try:
        header, rows = _fetch(entry)
    except Exception as error:  # whatever the network and its libraries come up with
        raise FileNotFoundError(
            f"no {entry.name}.csv in {looked}, and fetching it failed ({error}). {advice}"
        ) from error
    _check_contents(entry, header, rows, "the downloaded table")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    content = text.getvalue().encode()
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{entry.name}.csv"
    write_whole(path.with_suffix(".sha256"), hashlib.sha256(content).hexdigest().encode())
    write_whole(path, content)
    return path


def _fetch(entry):
    """Return header and rows of strings from where scikit-learn finds the table."""
    if entry.name == "covtype":
        bunch = fetch_covtype()
        X, y = bunch.data[:COVTYPE_ROWS], bunch.target[:COVTYPE_ROWS]
        names, words = bunch.feature_names, {}
    else:
        bunch = fetch_openml(data_id=entry.openml_id, as_frame=False, parser="liac-arff")
        X, y, names, words = bunch.data, bunch.target, bunch.feature_names, bunch.categories or {}
    columns = [_cell_strings(X[:, j], words.get(feature)) for j, feature in enumerate(names)]
    labels = [entry.openml_labels.get(str(label).strip(), str(label).strip()) for label in y]
    return [*names, "target"], [list(row) for row in zip(*columns, labels, strict=True)]


def _cell_strings(column, categories):
    """Return the cells of a column as strings; nominal columns come as codes."""
    cells = []
    for value in column:
        if value is None or value != value:
            cells.append("")
        elif categories:
            cells.append(str(categories[int(value)]).strip())
        else:
            cells.append(f"{float(value):.15g}")
    return cells


def _read(path):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows:
        raise csv.Error("it is empty")
    return rows[0], rows[1:]


def _check_contents(entry, header, rows, where):
    ragged = [i for i, row in enumerate(rows, start=2) if len(row) != len(header)]
    if ragged:
        raise ValueError(
            f"{where} is not {entry.name}: line {ragged[0]} has {len(rows[ragged[0] - 2])} cells, "
            f"the first line {len(header)}. Remove it, or fetch it again."
        )
    shape = (len(rows), len(header) - 1)
    if shape != (entry.rows, entry.features):
        raise ValueError(
            f"{where} is not {entry.name}: expected {entry.rows} rows of {entry.features} features,"
            f" found {shape[0]} of {shape[1]}. Remove it, or fetch it again."
        )
    counts = dict(sorted(Counter(row[-1] for row in rows).items()))
    if counts != dict(sorted(entry.class_counts.items())):
        raise ValueError(
            f"{where} is not {entry.name}: expected the classes {entry.class_counts}, "
            f"found {counts}. Remove it, or fetch it again."
        )


def _check_sum(path, *expected):
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found not in expected:
        raise ValueError(
            f"{path} is damaged or another version: expected the sha256 {expected[0][:12]}..., "
            f"found {found[:12]}.... Remove it, or put the right file in its place."
        )


def _encode_column(column, votes):
    """Return a column as floats, and the words behind them where it is not of numbers."""
    if votes:
        return np.array([VOTE_CODES[cell] for cell in column]), ()
    try:
        return np.array([float(cell) if cell else np.nan for cell in column]), ()
    except ValueError:
        words = tuple(sorted({cell for cell in column if cell}))
        return np.array([words.index(cell) if cell else np.nan for cell in column]), words


def _labels(column):
    try:
        return np.array([int(cell) for cell in column])
    except ValueError:
        return np.array(column)


def _bundled(name):
    bunch = BUNDLED[name]()
    return Bunch(
        data=bunch.data,
        target=bunch.target_names[bunch.target],
        feature_names=list(bunch.feature_names),
        categories={},
        DESCR=bunch.DESCR,
    )


def _parse_mapping(text):
    return dict(item.split("=") for item in text.split(";") if item)
