"""Tables for the pages of the book."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """A table that a notebook shows as Markdown.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequences
        Cells, shown by ``str``.

    Examples
    --------
    >>> from svmbook.experiments.tables import Table
    >>> Table(["n", "time"], [[10, "2 s"], [100, "7 s"]])
    | n | time |
    |---|---|
    | 10 | 2 s |
    | 100 | 7 s |
    """

    columns: tuple
    rows: tuple

    def _repr_markdown_(self):
        def line(cells):
            return "| " + " | ".join(map(str, cells)) + " |"

        rule = "|" + "---|" * len(self.columns)
        return "\n".join([line(self.columns), rule, *map(line, self.rows)])

    def __repr__(self):
        return self._repr_markdown_()
