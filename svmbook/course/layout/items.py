"""Cells of an assignment as nbgrader marks them: names, tests, and what is not handed out."""

import hashlib
import re

from nbgrader.utils import is_grade, is_solution

from ..execution.source import defined_names, imported_names

__all__ = [
    "NOTE",
    "STUDENT",
    "answers_of",
    "describe_assignment",
    "handed_out",
    "hidden_lines",
    "is_test",
    "item_of",
    "key_of",
]

NOTE = "svmbook"  # our entry in the metadata of notebooks and cells
STUDENT = "student"  # the cell, and its name, for the id from which personal numbers are drawn

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


def key_of(cell):
    """Return the name of a cell, or else a digest of its text: what it is found by at home."""
    return item_of(cell) or "#" + hashlib.sha256(cell.source.encode()).hexdigest()[:16]


def describe_assignment(nb, source, files=()):
    """Note in a notebook which names are answers, and which cells and data files it has.

    Parameters
    ----------
    nb : NotebookNode
        A version of the assignment, which is changed.
    source : NotebookNode
        The instructor's version, with solutions.
    files : iterable of str
        Names of data files.
    """
    names = set()
    for cell in source.cells:
        if cell.cell_type == "code" and is_solution(cell) and item_of(cell) != STUDENT:
            names |= defined_names(cell.source) - imported_names(cell.source)
    cells = [key_of(cell) for cell in source.cells]
    nb.metadata[NOTE] = {"answers": sorted(names), "cells": cells, "files": sorted(files)}


def answers_of(nb):
    """Return the names that `describe_assignment` noted; none of a notebook without a note."""
    return nb.metadata.get(NOTE, {}).get("answers", [])
