"""Cells of an assignment, as nbgrader's metadata describe them: names, tests and hidden lines."""

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

NOTE = "svmbook"  # key of this package in the metadata of notebooks and cells
STUDENT = "student"  # name of the cell and of the variable for the id, which seeds personal numbers

# The lines from one delimiter to the other, which nbgrader removes from the released notebook.
HIDDEN, SCHEME = (
    re.compile(rf"^.*BEGIN {region}.*\n((?:.*\n)*?).*END {region}.*$", re.M)
    for region in ("HIDDEN TESTS", "MARK SCHEME")
)


def item_of(cell):
    """Return the name of a cell in nbgrader's metadata, or None."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def is_test(cell):
    """Return whether a cell is an automatic test."""
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def handed_out(cell):
    """Return the text of a cell as students see it, without hidden tests and mark scheme."""
    return SCHEME.sub("", HIDDEN.sub("", cell.source)).rstrip()


def hidden_lines(source):
    """Return the numbers of the lines of a test that are not handed out, from 1."""
    numbers = []
    for region in HIDDEN.finditer(source):
        first, last = (source.count("\n", 0, end) + 1 for end in region.span())
        numbers += range(first, last + 1)
    return numbers


def key_of(cell):
    """Return the name of a cell, or a digest of its text, by which `svmbook check` finds it."""
    return item_of(cell) or "#" + hashlib.sha256(cell.source.encode()).hexdigest()[:16]


def describe_assignment(nb, source, files=()):
    """Record the names of answers, the cells and the data files in the metadata of a notebook.

    Parameters
    ----------
    nb : NotebookNode
        A version of the assignment, which is modified.
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
    """Return the names of answers that `describe_assignment` recorded, or an empty list."""
    return nb.metadata.get(NOTE, {}).get("answers", [])
