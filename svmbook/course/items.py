"""Cells of an assignment as nbgrader marks them: names, tests, and what is not handed out."""

from __future__ import annotations

import re

from nbgrader.utils import is_grade, is_solution

__all__ = ["handed_out", "hidden_lines", "is_test", "item_of"]

# Whole lines from one mark to the other, as nbgrader takes them out of what is handed out.
HIDDEN, SCHEME = (
    re.compile(rf"^.*BEGIN {what}.*\n((?:.*\n)*?).*END {what}.*$", re.M)
    for what in ("HIDDEN TESTS", "MARK SCHEME")
)


def item_of(cell):
    """Return the name by which nbgrader knows a cell, or None."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def is_test(cell):
    """Return whether a cell is a test that runs."""
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def handed_out(cell):
    """Return the text of a cell as students see it, without hidden tests and mark scheme."""
    return SCHEME.sub("", HIDDEN.sub("", cell.source)).rstrip()


def hidden_lines(source):
    """Return the numbers of the lines of a test that are not handed out, from 1."""
    spans = [
        (source.count("\n", 0, found.start()) + 1, source.count("\n", 0, found.end()) + 1)
        for found in HIDDEN.finditer(source)
    ]
    return [number for first, last in spans for number in range(first, last + 1)]
