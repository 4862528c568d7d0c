"""Tables that notebooks show as Markdown, and reports, which are tables with notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Report", "Table", "data_frame", "plus_minus"]

_FORMULA = re.compile(r"(\$[^$]+\$)")
# Group 1 is code, which keeps its hyphens; the alternative is a hyphen before a number.
_CODE_OR_HYPHEN = re.compile(r"(`[^`]*`)|(?<![\w-])-(?=\.?\d)")


@dataclass(frozen=True, repr=False)
class Table:
    r"""A table that a notebook shows as Markdown.

    The text of a cell cannot break the table: line breaks become spaces, and a vertical bar is
    written ``\|``, or, in a formula between dollar signs, ``\vert`` (and ``\|`` becomes ``\Vert``).
    The hyphen before a number becomes a minus sign, which is as wide as a plus sign and does not
    allow a line break.

    Parameters
    ----------
    columns : iterable of str
        Headings, at least one.
    rows : iterable of iterables
        Cells, converted by ``str``, one per column.

    Raises
    ------
    ValueError
        There are no columns, or a row has more or fewer cells than there are columns.
    TypeError
        ``columns``, ``rows`` or a row is a string or not iterable.

    Examples
    --------
    >>> from svmbook.tables import Table
    >>> Table(["n", "time"], [[10, "2 s"], [100, "7 s"]])
    | n | time |
    |---|---|
    | 10 | 2 s |
    | 100 | 7 s |
    """

    columns: tuple
    rows: tuple

    def __post_init__(self):
        columns = _as_tuple(self.columns, "columns")
        if not columns:
            raise ValueError("columns is empty; a table needs at least one heading.")
        rows = []
        for number, row in enumerate(_as_tuple(self.rows, "rows")):
            rows.append(row := _as_tuple(row, f"row {number}"))
            if len(row) != len(columns):
                raise ValueError(
                    f"row {number} has length {len(row)}, but columns has length {len(columns)}: "
                    f"{row!r}; give one cell per column."
                )
        object.__setattr__(self, "columns", columns)  # the class is frozen
        object.__setattr__(self, "rows", tuple(rows))

    def __repr__(self):
        def markdown_row(cells):
            return "| " + " | ".join(map(_markdown_cell, cells)) + " |"

        delimiter_row = "|" + "---|" * len(self.columns)
        return "\n".join([markdown_row(self.columns), delimiter_row, *map(markdown_row, self.rows)])

    _repr_markdown_ = __repr__  # called by notebooks


@dataclass(frozen=True, repr=False)
class Report:
    """A table of reported and measured results, with notes on how the latter were obtained.

    Parameters
    ----------
    table : Table
        The results in the layout of the publication that reported them.
    rows : tuple of dict
        The unrounded numbers, one dict per data set and method.
    notes : tuple of str
        The command, the number of runs, and the versions of packages.

    Examples
    --------
    >>> from svmbook.tables import Report, Table
    >>> Report(Table(["error"], [["2.6 %"]]), ({"error": 2.638},), ("One run.",))
    | error |
    |---|
    | 2.6 % |
    <BLANKLINE>
    One run.
    """

    table: Table
    rows: tuple
    notes: tuple

    def to_frame(self) -> DataFrame:
        """Return the unrounded numbers as a pandas DataFrame, one row for each of ``rows``.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        return data_frame(self.rows)

    def __repr__(self):
        return "\n\n".join([repr(self.table), *self.notes])

    _repr_markdown_ = __repr__


def data_frame(rows: Iterable, columns: Sequence[str] | None = None) -> DataFrame:
    """Return rows as a pandas DataFrame; if pandas is missing, the error says how to install it."""
    try:
        import pandas as pd  # an optional dependency
    except ImportError as error:
        raise ImportError(
            'pandas is missing; install it with: pip install "svmbook[tables]"'
        ) from error
    return pd.DataFrame(list(rows), columns=columns)


def plus_minus(value: float, uncertainty: float, format_spec: str = ".2f") -> str:
    """Return a value and its uncertainty as text that cannot be broken across lines.

    A value that is rounded to zero has no minus sign.

    Parameters
    ----------
    value, uncertainty : float
        Both in the same unit. An uncertainty of NaN, as from a single run, is omitted.
    format_spec : str, default=".2f"
        Format of the value. If it ends with "f", the uncertainty has the same format without a
        sign, else it has two decimals.

    Returns
    -------
    str

    Examples
    --------
    >>> from svmbook.tables import plus_minus
    >>> plus_minus(18.0, 0.31, "#.3g").split()
    ['18.0', '±', '0.31']
    >>> plus_minus(-0.02, 0.04, "+.1f").split()
    ['+0.0', '±', '0.0']
    """
    unsigned_spec = format_spec.lstrip("+")
    sign = "+" if format_spec != unsigned_spec else ""
    text = f"{value:{sign}z{unsigned_spec}}"
    if isnan(uncertainty):
        return text
    uncertainty_spec = unsigned_spec if format_spec.endswith("f") else ".2f"
    return f"{text}\u00a0±\u00a0{uncertainty:{uncertainty_spec}}"


def _as_tuple(iterable, name):
    """Return an iterable as a tuple, because an iterator could be used only once."""
    if isinstance(iterable, str) or not hasattr(iterable, "__iter__"):
        raise TypeError(f"{name} is {iterable!r}; give a sequence, such as a list.")
    return tuple(iterable)


def _markdown_cell(cell):
    r"""Return a cell as Markdown on one line, with all bars escaped.

    ``\|`` in a formula is a double bar in JupyterLab, which parses formulas before tables, and a
    single bar in MyST, which parses tables first. ``\vert`` and ``\Vert`` are the same in both.
    """
    parts = _FORMULA.split(" ".join(str(cell).splitlines()))
    parts[::2] = [
        re.sub(r"\\?\|", r"\\|", _CODE_OR_HYPHEN.sub(_replace_hyphen, text)) for text in parts[::2]
    ]
    parts[1::2] = [
        formula.replace(r"\|", r"\Vert{}").replace("|", r"\vert{}") for formula in parts[1::2]
    ]
    return "".join(parts)


def _replace_hyphen(match):
    return match[1] or "\N{MINUS SIGN}"
