"""What each source did to its tables before it used them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import Bunch

from .loaders import load_table, manifest

__all__ = ["SOURCES", "Treatment", "load"]


@dataclass(frozen=True)
class Treatment:
    """How a source treats its tables."""

    tables: tuple  # names it uses
    binary: bool  # whether the target becomes -1 and +1
    scaler: object  # what it scales with, fitted on all rows before they are split; or None


#: The treatments by source.
SOURCES = {
    "lin2005": Treatment(
        tables=(
            *("australian", "breast", "breast_id", "cleveland", "diabetes", "german", "heart"),
            *("ionosphere", "sonar", "vote84"),
        ),
        binary=True,
        scaler=MinMaxScaler((-1.0, 1.0)),
    ),
    "usvc2004": Treatment(
        tables=(
            *("breast", "bupa", "cleveland", "dermatology", "diabetes", "haberman", "heart"),
            *("hepatitis", "image", "postoperative", "thyroid"),
        ),
        binary=True,
        scaler=StandardScaler(),
    ),
    "shen2013": Treatment(("glass", "iris", "segment", "vehicle"), binary=False, scaler=None),
}


def load(name: str, *, prepare: str | None = None, leak_free: bool = False) -> Bunch:
    """Load a table by name, as it is or treated as a source did.

    For a treatment rows with an empty cell are left out. Lin (2005) then maps each feature to
    [-1, 1], Navia-Vazquez et al. (2004) to mean zero and standard deviation one, both over the
    whole table, before it is split: the test rows have a say in the scale of the training rows.
    Shen (2013) takes the features as they are.

    Parameters
    ----------
    name : str
        A name in `manifest`, or "iris", "wdbc" or "digits", which come from scikit-learn's own
        copies.
    prepare : {"lin2005", "usvc2004", "shen2013"}, default=None
        Whose treatment; without one the table comes as it is.
    leak_free : bool, default=False
        Whether to leave the features unscaled, so that ``scaler`` can be fitted on training rows.

    Returns
    -------
    Bunch
        ``data``, an array of floats, NaN where a cell is empty; ``target``, the original labels,
        or -1 and +1 for a source of two classes; ``feature_names``; ``categories``, by feature, the
        words behind the codes 0, 1, 2 and so on of a column of words; ``DESCR``, with origin and
        licence; ``scaler``: fitted on all rows, unfitted if ``leak_free``, or None. In ``vote84``
        the answers are -1 (nay), 0 (neither) and 1 (yea), and nothing is missing.

    Raises
    ------
    FileNotFoundError
        The table is nowhere, and cannot be fetched; the message says where it was looked for.
    ValueError
        There is no such table or source, the source does not use the table, or what was found is
        not the table that the manifest describes.

    Examples
    --------
    >>> from svmbook.datasets import load
    >>> iris = load("iris", prepare="shen2013")
    >>> iris.data.shape, iris.target[0]
    ((150, 4), np.str_('setosa'))
    """
    if prepare is None:
        return Bunch(**load_table(name), scaler=None)
    if prepare not in SOURCES:
        raise ValueError(f"there is no source {prepare!r}; there are {', '.join(SOURCES)}.")
    treatment = SOURCES[prepare]
    if name not in treatment.tables:
        raise ValueError(f"{prepare} does not use {name!r}; it uses {', '.join(treatment.tables)}.")
    table = load_table(name)
    complete = np.isfinite(table.data).all(axis=1)
    X, y = table.data[complete], table.target[complete]
    if treatment.binary:
        y = np.where(np.isin(y.astype(str), manifest()[name].positive), 1.0, -1.0)
    scaler = clone(treatment.scaler) if treatment.scaler is not None else None
    if scaler is not None and not leak_free:
        X = scaler.fit_transform(X)
    return Bunch(**{**table, "data": X, "target": y, "scaler": scaler})
