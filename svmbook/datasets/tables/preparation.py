"""Tables as prepared by each source: complete rows, binary labels, scaled features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import Bunch

from .loaders import load_table, manifest

__all__ = ["PREPARATIONS", "Preparation", "load"]


@dataclass(frozen=True)
class Preparation:
    """How a source prepares its tables."""

    table_names: tuple  # the tables that the source uses
    binarise_labels: bool  # whether the labels become -1 and +1
    scaler: object  # unfitted; copies are fitted on all rows of a table; None for no scaling


#: Preparations by source; the keys are the values of ``prepare`` in `load`.
PREPARATIONS = {
    "lin2005": Preparation(
        table_names=(
            *("australian", "breast", "breast_id", "cleveland", "diabetes", "german", "heart"),
            *("ionosphere", "sonar", "vote84"),
        ),
        binarise_labels=True,
        scaler=MinMaxScaler((-1.0, 1.0)),
    ),
    "usvc2004": Preparation(
        table_names=(
            *("breast", "bupa", "cleveland", "dermatology", "diabetes", "haberman", "heart"),
            *("hepatitis", "image", "postoperative", "thyroid"),
        ),
        binarise_labels=True,
        scaler=StandardScaler(),
    ),
    "shen2013": Preparation(
        table_names=("glass", "iris", "segment", "vehicle"), binarise_labels=False, scaler=None
    ),
}


def load(name: str, *, prepare: str | None = None, leak_free: bool = False) -> Bunch:
    """Load a table by name, optionally prepared as in a source.

    Preparation removes rows with an empty cell. Lin (2005) then maps each feature to [-1, 1];
    Navia-Vazquez et al. (2004) standardise it. Both scale the whole table before it is split, so
    the scale of the training rows depends on the test rows. Shen (2013) does not scale.

    Parameters
    ----------
    name : str
        A name in `manifest`, or "iris", "wdbc" or "digits", which are scikit-learn's copies.
    prepare : {"lin2005", "usvc2004", "shen2013"}, default=None
        The source whose preparation to use; None returns the original table.
    leak_free : bool, default=False
        Whether to leave the features unscaled, so that ``scaler`` can be fitted on training rows.

    Returns
    -------
    Bunch
        ``data``, an array of floats, NaN where a cell is empty; ``target``, the original labels,
        or -1 and +1 for a source with binary problems; ``feature_names``; ``categories``, for each
        text column the categories that the codes 0, 1, 2 and so on encode; ``DESCR``, with origin
        and licence; ``scaler``: fitted on all rows, unfitted if ``leak_free``, or None. The values
        of ``vote84`` are -1 (nay), 0 (neither) and 1 (yea), and none is missing.

    Raises
    ------
    FileNotFoundError
        There is no local file, and the download failed; the message names the folders searched.
    ValueError
        The table or the source is unknown, the source does not use the table, or the file is not
        the table that the manifest describes.

    Examples
    --------
    >>> from svmbook.datasets import load
    >>> iris = load("iris", prepare="shen2013")
    >>> iris.data.shape, iris.target[0]
    ((150, 4), np.str_('setosa'))
    """
    if prepare is None:
        return Bunch(**load_table(name), scaler=None)
    if prepare not in PREPARATIONS:
        raise ValueError(f"there is no source {prepare!r}; choose from {', '.join(PREPARATIONS)}.")
    preparation = PREPARATIONS[prepare]
    if name not in preparation.table_names:
        raise ValueError(
            f"{prepare} does not use {name!r}; it uses {', '.join(preparation.table_names)}."
        )
    table = load_table(name)
    is_complete = np.isfinite(table.data).all(axis=1)
    X, y = table.data[is_complete], table.target[is_complete]
    if preparation.binarise_labels:
        y = np.where(np.isin(y.astype(str), manifest()[name].positive_labels), 1.0, -1.0)
    scaler = clone(preparation.scaler) if preparation.scaler is not None else None
    if scaler is not None and not leak_free:
        X = scaler.fit_transform(X)
    return Bunch(**{**table, "data": X, "target": y, "scaler": scaler})
