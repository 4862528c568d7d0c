"""The home of `Table`, which every chapter shows its figures in, and of what reports are made of.

It knows nothing of machines, data or experiments.
"""

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
_MINUS = re.compile(r"(`[^`]*`)|(?<![\w-])-(?=\.?\d)")  # or code, which keeps its hyphens


@dataclass(frozen=True, repr=False)
class Table:
    r"""A table that a notebook shows as Markdown.

    Whatever a cell holds stays in its cell: line breaks become blanks, and a bar is written
    ``\|``, or, in a formula between dollar signs, ``\vert`` (and ``\|`` is written ``\Vert``).
    The hyphen before a number becomes a minus sign, which is as wide as a plus and ends no line.

    Parameters
    ----------
    columns : iterable of str
        Headings, at least one.
    rows : iterable of iterables
        Cells, shown by ``str``; each row has as many as there are columns.

    Raises
    ------
    ValueError
        There are no columns, or a row has more or fewer cells than there are columns.
    TypeError
        The headings, the rows or one row is a string, or nothing that can be iterated over.

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
        columns = _cells(self.columns, "columns")
        if not columns:
            raise ValueError("columns is empty; a table needs at least one heading.")
        rows = []
        for number, row in enumerate(_cells(self.rows, "rows")):
            rows.append(row := _cells(row, f"row {number}"))
            if len(row) != len(columns):
                raise ValueError(
                    f"row {number} has {len(row)} cells for {len(columns)} columns: {row!r}; "
                    "give one cell a column."
                )
        object.__setattr__(self, "columns", columns)  # the class is frozen
        object.__setattr__(self, "rows", tuple(rows))

    def __repr__(self):
        def line(cells):
            return "| " + " | ".join(map(_markdown, cells)) + " |"

        rule = "|" + "---|" * len(self.columns)
        return "\n".join([line(self.columns), rule, *map(line, self.rows)])

    _repr_markdown_ = __repr__  # what a notebook asks for


@dataclass(frozen=True, repr=False)
class Report:
    """A table of what a source reports and what came out, and how it was made.

    Parameters
    ----------
    table : Table
        In the layout of the source.
    rows : tuple of dict
        The numbers behind it, unrounded, one dict a data set and method.
    notes : tuple of str
        Command, runs, versions.

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
        """Return the numbers as a pandas DataFrame, a line for each of ``rows``.

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
    """Return rows as a pandas DataFrame, or raise an ImportError that says how to install it."""
    try:
        import pandas as pd  # nothing else of the package needs it
    except ImportError as error:
        raise ImportError(
            'pandas is missing; install it by: pip install "svmbook[tables]"'
        ) from error
    return pd.DataFrame(list(rows), columns=columns)


def plus_minus(value: float, uncertainty: float, digits: str = ".2f") -> str:
    """Return a value and its uncertainty as text that is not broken over two lines.

    A value that is rounded to zero has no minus sign.

    Parameters
    ----------
    value, uncertainty : float
        Both in the same unit; an uncertainty that is NaN, of a single run, is left out.
    digits : str, default=".2f"
        Format of the value; the uncertainty has the same without a sign, or two decimals.

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
    plain = digits.lstrip("+")
    sign = "+" if digits != plain else ""
    shown = f"{value:{sign}z{plain}}"
    if isnan(uncertainty):
        return shown
    return f"{shown}\u00a0±\u00a0{uncertainty:{plain if digits.endswith('f') else '.2f'}}"


def _cells(cells, name):
    """Return a sequence as a tuple, so that an iterator is not used up by the first showing."""
    if isinstance(cells, str) or not hasattr(cells, "__iter__"):
        raise TypeError(f"{name} is {cells!r}; give a sequence, such as a list.")
    return tuple(cells)


def _markdown(cell):
    r"""Return a cell as Markdown on one line, without a bar that would end the cell.

    JupyterLab reads formulas before tables and MyST the other way round, so ``\|`` inside a formula
    is a double bar to one and a single bar to the other; the commands are the same to both.
    """
    parts = _FORMULA.split(" ".join(str(cell).splitlines()))
    parts[::2] = [
        re.sub(r"\\?\|", r"\\|", _MINUS.sub(_replace_hyphen, text)) for text in parts[::2]
    ]
    parts[1::2] = [f.replace(r"\|", r"\Vert{}").replace("|", r"\vert{}") for f in parts[1::2]]
    return "".join(parts)


def _replace_hyphen(found):
    return found[1] or "\N{MINUS SIGN}"
